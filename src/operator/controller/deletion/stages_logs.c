/* The end of the log of a hook that has failed, for its message, or of one that has succeeded, for
 * an Event, where its policy says so. A log is read as the resource's account: where that may not,
 * the message is without. */
#include "operator/controller/deletion/stages.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/cut.h"

enum { MAX_LINE = 240, TAIL_LINES = 20 };

bool deletion_has_log(const struct deletion *f)
{
    const char *kind = sw_obj_kind(f->live);
    return sw_streq(f->log_of, sw_obj_uid(f->live)) ||
           !(sw_streq(kind, "Job") || sw_streq(kind, "Pod"));
}

char *deletion_with_log(const struct deletion *f, const char *why)
{
    bool is_its = f->log && sw_streq(f->log_of, sw_obj_uid(f->live));
    return is_its ? sw_printf("%s; the end of its log: %s", why, f->log) : sw_strdup(why);
}

bool deletion_tells_log(const struct deletion *f)
{
    const char *kind = sw_obj_kind(f->doc);
    return (sw_streq(kind, "Job") || sw_streq(kind, "Pod")) && sw_release_hook_shows_log(f->doc);
}

void deletion_tell_success(const struct deletion *f)
{
    if (!deletion_tells_log(f))
        return;
    SW_AUTO_CHARS *message = sw_printf(
        "%s %s/%s has succeeded; %s%s", sw_obj_kind(f->doc), sw_obj_namespace(f->doc),
        sw_obj_name(f->doc), f->log ? "the end of its log: " : "its log is empty or cannot be read",
        f->log ? f->log : "");
    event_record(f->r, &(struct sw_action){ .reason = "HookSucceeded", .message = message });
}

static void on_log(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    f->req = NULL;
    if (a->code == 0 && a->text)
        f->log = f->succeeded ? sw_text_last_line(a->text, MAX_LINE)
                              : sw_text_failure(a->text, MAX_LINE);
    deletion_run_hooks(f);
}

static void read_log(struct deletion *f, const char *pod)
{
    f->req = sw_kube_logs(f->r->c->kube, sw_obj_namespace(f->doc), pod,
                          REQUEST_AS(f->r, .tail_lines = TAIL_LINES, .retries = DELETION_RETRIES),
                          on_log, f);
}

/* The last pod of the Job that has ended as the Job has. */
static void on_pods(const struct sw_kube_answer *a, void *arg)
{
    struct deletion *f = arg;
    const char *pod = NULL, *since = "";
    f->req = NULL;
    for (size_t i = 0; a->code == 0 && i < sw_json_len(a->items); i++) {
        struct json_object *item = sw_json_at(a->items, i);
        const char *begun = sw_json_str(item, "", "metadata", "creationTimestamp", NULL);
        const char *phase = sw_json_str(item, "", "status", "phase", NULL);
        if (!sw_streq(phase, f->succeeded ? "Succeeded" : "Failed") || strcmp(begun, since) < 0)
            continue;
        pod = sw_obj_name(item);
        since = begun;
    }
    if (pod)
        read_log(f, pod);
    else
        deletion_run_hooks(f);
}

void deletion_read_log(struct deletion *f)
{
    static const char *const fields[] = { "metadata.creationTimestamp", "status.phase", NULL };
    const struct sw_kind *pods = sw_kube_kind_find(f->r->c->kube, "v1", "Pod");
    free(SW_TAKE(f->log));
    sw_text_set(&f->log_of, sw_obj_uid(f->live));
    SW_AUTO_CHARS *selector = sw_printf("job-name=%s", sw_obj_name(f->live));
    if (sw_streq(sw_obj_kind(f->live), "Pod"))
        read_log(f, sw_obj_name(f->live));
    else if (pods)
        f->req = sw_kube_list(f->r->c->kube, pods, sw_obj_namespace(f->doc),
                              REQUEST_OWN(OBJECTS, .label_selector = selector, .fields = fields,
                                          .retries = DELETION_RETRIES),
                              on_pods, f);
    else
        deletion_run_hooks(f);
}
