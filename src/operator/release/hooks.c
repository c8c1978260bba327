#include "operator/release/hooks.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/recipe.h"
#include "chart/recipe/render/hook.h"
#include "data/data.h"
#include "data/text/base64.h"

/* ---- what SRO has run --------------------------------------------------------------------------
 */

const struct sw_hook_marker sw_hook_markers[] = {
    { "sh.helm.hooks.pre-install", SW_HOOK_PRE_INSTALL },
    { "sh.helm.hooks.post-install", SW_HOOK_POST_INSTALL },
    { 0 },
};

bool sw_hook_marker_is_of(struct json_object *map, const char *uid)
{
    return sw_obj_has_owner(map, uid);
}

/* ---- its hooks ---------------------------------------------------------------------------------
 */

static int by_weight(const void *a, const void *b)
{
    const struct sw_release_hook *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    int c = strcmp(sw_obj_name(x->doc), sw_obj_name(y->doc));
    return c ? c : x->at < y->at ? -1 : 1; /* there they are in the order of their kinds */
}

static int take(struct json_object *item, const char *event, const char *ns,
                struct sw_release_hooks *out, struct sw_err *err)
{
    const char *text = sw_json_str(item, "", "manifest", NULL),
               *path = sw_json_str(item, "hook", "path", NULL);
    SW_AUTO_JSON *doc = NULL;
    struct sw_helm_hook hook;
    int rc = sw_yaml_parse(text, strlen(text), &(struct sw_yaml_opts){ .file = path }, &doc, err);
    if (rc < 0)
        return rc;
    if (!*sw_obj_kind(doc) || !*sw_obj_name(doc) || !sw_helm_hook_read(doc, &hook))
        return sw_err_set(err, SW_INVALID, "%s: a hook without kind or name", path);
    const char *own = sw_obj_namespace(doc);
    ns = sw_json_str(item, ns, SW_RELEASE_HOOK_NAMESPACE, NULL);
    SW_GROW(out->items, out->n, out->cap);
    struct sw_release_hook *to = &out->items[out->n++];
    *to = (struct sw_release_hook){ .policies = hook.policies, .weight = hook.weight };
    to->key = sw_printf("%s %s %s/%s", event, sw_obj_kind(doc), *own ? own : ns, sw_obj_name(doc));
    to->ns = sw_strdup(ns);
    const char *shared = sw_json_str(item, NULL, SW_RELEASE_HOOK_SHARED, NULL);
    to->shared = sw_strdup(shared);
    to->doc = SW_TAKE(doc);
    return 0;
}

int sw_release_hooks_read(struct json_object *release, const char *event, const char *ns,
                          struct sw_release_hooks *out, struct sw_err *err)
{
    struct json_object *list = sw_json_get(release, "hooks");
    struct sw_release_hooks all = { 0 };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        if (sw_json_has_text(sw_json_get(sw_json_at(list, i), "events"), event)) {
            rc = take(sw_json_at(list, i), event, ns, &all, err);
            if (rc == 0)
                all.items[all.n - 1].at = i;
        }
    if (rc < 0) {
        sw_release_hooks_done(&all);
        return rc;
    }
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, by_weight);
    *out = all;
    return 0;
}

void sw_release_hook_done(struct sw_release_hook *hook)
{
    json_object_put(hook->doc);
    free(hook->key);
    free(hook->ns);
    free(hook->shared);
}

void sw_release_hooks_done(struct sw_release_hooks *hooks)
{
    for (size_t i = 0; i < hooks->n; i++)
        sw_release_hook_done(&hooks->items[i]);
    free(hooks->items);
    *hooks = (struct sw_release_hooks){ 0 };
}

/* ---- how far one is ----------------------------------------------------------------------------
 */

static bool is_true(struct json_object *live, const char *type)
{
    return sw_streq(sw_json_str(sw_obj_condition(live, type), "", "status", NULL), "True");
}

bool sw_release_hook_shows_log(struct json_object *doc)
{
    static const char policy[] = "hook-succeeded", blanks[] = " ,";
    const char *text = sw_obj_annotation(doc, "helm.sh/hook-output-log-policy");
    for (text = text ? text : ""; *text; text += strcspn(text, blanks)) {
        text += strspn(text, blanks);
        if (strcspn(text, blanks) == strlen(policy) && strncmp(text, policy, strlen(policy)) == 0)
            return true;
    }
    return false;
}

enum sw_hook_outcome sw_release_hook_outcome(struct json_object *live, const char **why)
{
    const char *phase = sw_json_str(live, "Pending", "status", "phase", NULL);
    *why = "runs";
    if (sw_streq(sw_obj_kind(live), "Pod")) {
        *why = sw_json_str(live, phase, "status", "message", NULL);
        return sw_streq(phase, "Succeeded") ? SW_HOOK_SUCCEEDED
               : sw_streq(phase, "Failed")  ? SW_HOOK_FAILED
                                            : SW_HOOK_RUNS;
    }
    if (!sw_streq(sw_obj_kind(live), "Job") || is_true(live, "Complete"))
        return SW_HOOK_SUCCEEDED;
    if (!is_true(live, "Failed"))
        return SW_HOOK_RUNS;
    *why = sw_json_str(sw_obj_condition(live, "Failed"), "it failed", "message", NULL);
    return SW_HOOK_FAILED;
}

/* ---- how one went ------------------------------------------------------------------------------
 */

struct json_object *sw_release_run(const char *started_at, const char *completed_at,
                                   const char *phase)
{
    struct json_object *run = json_object_new_object();
    sw_json_set_str(run, started_at, "started_at", NULL);
    sw_json_set_str(run, completed_at, "completed_at", NULL);
    sw_json_set_str(run, phase, "phase", NULL);
    return run;
}

struct json_object *sw_release_run_of_object(struct json_object *live)
{
    const char *why, *made = sw_json_str(live, "", "metadata", "creationTimestamp", NULL);
    bool passed = sw_release_hook_outcome(live, &why) == SW_HOOK_SUCCEEDED;
    struct json_object *containers = sw_json_find(live, "status", "containerStatuses", NULL);
    const char *ended = made;
    if (sw_streq(sw_obj_kind(live), "Job")) {
        ended = sw_json_str(sw_obj_condition(live, passed ? "Complete" : "Failed"), "",
                            "lastTransitionTime", NULL);
    } else if (sw_streq(sw_obj_kind(live), "Pod")) {
        ended = ""; /* when its last container did */
        for (size_t i = 0; i < sw_json_len(containers); i++) {
            const char *at = sw_json_str(sw_json_at(containers, i), "", "state", "terminated",
                                         "finishedAt", NULL);
            ended = strcmp(at, ended) > 0 ? at : ended;
        }
    }
    return sw_release_run(made, ended, passed ? "Succeeded" : "Failed");
}

/* ---- those of a deletion -----------------------------------------------------------------------
 */

struct json_object *sw_release_hooks_past(struct json_object *record, const char *uid, bool removed)
{
    const char *text = sw_obj_annotation(record, SW_DELETION_DONE_NOTE);
    SW_AUTO_JSON *note = NULL;
    if (text && sw_json_parse(text, strlen(text), NULL, &note, NULL) == 0 &&
        sw_streq(sw_json_str(note, "", "uid", NULL), uid) &&
        (removed || !sw_json_bool(note, false, "removed", NULL)) &&
        json_object_is_type(sw_json_get(note, "hooks"), json_type_object))
        return sw_json_copy(sw_json_get(note, "hooks"));
    return json_object_new_object();
}

struct json_object *sw_release_hooks_note(struct json_object *past, const char *uid, bool removed)
{
    SW_AUTO_JSON *all = json_object_new_object();
    sw_json_set_str(all, uid, "uid", NULL);
    if (removed) /* it may be Managed again before it is deleted */
        sw_json_set(all, json_object_new_boolean(true), "removed", NULL);
    (void)json_object_object_add(all, "hooks", json_object_get(past));
    SW_AUTO_CHARS *text = sw_json_text(all, SW_JSON_PLAIN, NULL);
    struct json_object *patch = json_object_new_object();
    sw_json_set_str(patch, text, "metadata", "annotations", SW_DELETION_DONE_NOTE, NULL);
    return patch;
}

char *sw_release_hooks_mark(const char *event, const char *record_uid, bool removed)
{
    return sw_printf("%s %s%s", event, record_uid, removed ? " removed" : "");
}
