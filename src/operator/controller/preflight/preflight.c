/* PreflightValidations: the driver containers of every resource are checked against the kernel of a
 * release image, and again until all of them have an image for it. */
#include "operator/controller/core.h"
#include "operator/registries/driver_images.h"
#include "operator/registries/registries.h"
#include "operator/registries/release_image.h"

#include <stdlib.h>
#include <string.h>

enum { AGAIN_MS = 60000 };

/* One PreflightValidation. */
struct validation {
    struct sw_controller *c;
    struct validation *next;
    char *name, *image;           /* image: spec.updateImage */
    struct json_object *statuses; /* status.srStatuses as written last, or as read */
    struct json_object *fresh;    /* the same of this round */
    struct sw_release_image_read *read;
    struct sw_facts *facts; /* of the release image; NULL: not read yet */
    char *kernel, *arch;    /* arch: of the images; NULL: amd64 */
    char **names;           /* of the resources of this round */
    size_t n, at;
    struct sw_driver_images *check;
    const struct resource *rendered; /* the resource that is rendered; or NULL */
    struct lookups *lookups;         /* of its templates */
    struct sw_kube_request *write;
    char *write_fault; /* why the status was not written, as told last; or NULL */
    struct sw_timer *timer;
};

struct preflights {
    struct sw_kube_watch *watch;
    struct validation *first;
};

static void next_resource(struct validation *v);
static void on_rendered(void *validation);

static void stop(struct validation *v)
{
    sw_release_image_close(SW_TAKE(v->read));
    sw_driver_images_close(SW_TAKE(v->check));
    lookups_free(SW_TAKE(v->lookups));
    v->rendered = NULL;
    sw_kube_cancel(SW_TAKE(v->write));
    sw_timer_stop(v->timer);
    json_object_put(SW_TAKE(v->fresh));
    for (size_t i = 0; i < v->n; i++)
        free(v->names[i]);
    free(SW_TAKE(v->names));
    v->n = v->at = 0;
}

static void validation_free(struct validation *v)
{
    stop(v);
    sw_timer_free(v->timer);
    sw_facts_free(v->facts);
    json_object_put(v->statuses);
    free(v->kernel);
    free(v->arch);
    free(v->image);
    free(v->name);
    free(v->write_fault);
    free(v);
}

/* ---- the end of a round ------------------------------------------------------------------------
 */

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct validation *v = arg;
    v->write = NULL;
    if (fault_is_news(&v->write_fault, a->code < 0 ? sw_err_text(a->err) : NULL))
        sw_log(SW_LOG_WARN, "preflight status not written", "preflightvalidation", v->name, "error",
               v->write_fault, NULL);
    if (a->code == 0) {
        json_object_put(v->statuses);
        v->statuses = json_object_get(sw_json_find(a->object, "status", "srStatuses", NULL));
    }
    if (a->code < 0 && a->code != SW_NOTFOUND)
        sw_timer_set(v->timer, AGAIN_MS);
}

static void finish(struct validation *v)
{
    SW_AUTO_JSON *fresh = SW_TAKE(v->fresh);
    const struct sw_kind *kind = sw_kube_kind_find(v->c->kube, SW_GROUP_VERSION,
                                                   "PreflightValidation");
    for (size_t i = 0; i < sw_json_len(fresh); i++)
        if (!sw_streq(sw_json_str(sw_json_at(fresh, i), "", "verificationStatus", NULL), "True"))
            sw_timer_set(v->timer, AGAIN_MS);
    if (!kind || sw_json_equal(fresh, v->statuses))
        return;
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set(patch, json_object_get(fresh), "status", "srStatuses", NULL);
    v->write = sw_kube_patch(v->c->kube, kind, NULL, v->name, SW_PATCH_MERGE, patch,
                             REQUEST_OWN(KINDS, .subresource = "status", .retries = 4), on_written,
                             v);
}

/* lastTransitionTime changes with verificationStatus alone. */
static void add_status(struct validation *v, const char *name, const char *status,
                       const char *reason)
{
    char now[21];
    sw_time_rfc3339(sw_loop_wall_ms(v->c->loop), now);
    struct json_object *old = sw_json_find_by(v->statuses, "name", name);
    bool same = sw_streq(sw_json_str(old, "", "verificationStatus", NULL), status);
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, name, "name", NULL);
    sw_json_set_str(entry, status, "verificationStatus", NULL);
    sw_json_set_str(entry, reason, "statusReason", NULL);
    sw_json_set_str(entry, same ? sw_json_str(old, now, "lastTransitionTime", NULL) : now,
                    "lastTransitionTime", NULL);
    (void)json_object_array_add(v->fresh, entry);
}

/* ---- one resource ------------------------------------------------------------------------------
 */

static void on_report(const struct sw_driver_images_report *report, void *arg)
{
    struct validation *v = arg;
    v->check = NULL;
    add_status(v, v->names[v->at++], report->status, report->reason);
    next_resource(v);
}

static int render_for(struct validation *v, struct resource *r, struct sw_rendered **out,
                      struct sw_err *err)
{
    struct sw_groups groups;
    sw_facts_groups(v->facts, NULL, NULL, &groups);
    struct sw_facts_ask ask = { .groups = &groups, .resource = r->doc };
    resource_ask_values(r, &ask);
    SW_AUTO_JSON *values = sw_facts_values(v->facts, &ask);
    sw_groups_done(&groups);
    if (!v->lookups)
        v->lookups = lookups_new(r, on_rendered, v);
    v->rendered = r;
    struct sw_render_env env = resource_render_env(r, -1, values, v->lookups);
    return sw_renderer_render(r->renderer, lookups_wait(v->lookups), &env, SW_ALL_STATES, out, err);
}

static void on_rendered(void *arg)
{
    next_resource(arg);
}

/* The architecture to ask for: that of all nodes; of several: amd64. Borrowed until nodes change;
 * NULL: amd64. */
static const char *nodes_arch(const struct sw_controller *c)
{
    struct sw_groups groups;
    const char *arch = NULL;
    sw_facts_groups(c->facts, NULL, NULL, &groups);
    for (size_t i = 0; i < groups.n; i++) {
        if (arch && !sw_streq(arch, groups.items[i]->arch)) {
            arch = NULL;
            break;
        }
        arch = groups.items[i]->arch;
    }
    sw_groups_done(&groups);
    return arch && *arch ? arch : NULL;
}

static void next_resource(struct validation *v)
{
    for (; v->at < v->n; v->at++) {
        struct resource *r = resource_find(v->c, v->names[v->at]);
        SW_AUTO(sw_rendered) *rendered = NULL;
        SW_ERR(err);
        if (!r || !r->plan) {
            if (r)
                add_status(v, r->name, "Unknown",
                           r->fault_message ? r->fault_message
                                            : "its recipe has not been read yet");
            continue;
        }
        int rc = render_for(v, r, &rendered, &err);
        if (rc == SW_PENDING)
            return;
        lookups_free(SW_TAKE(v->lookups));
        v->rendered = NULL;
        if (rc < 0) {
            add_status(v, r->name, "Error", sw_err_text(&err));
            continue;
        }
        v->check = sw_driver_images_open(
            v->c->loop, v->c->registries,
            &(struct sw_driver_images_ask){ .rendered = rendered,
                                            .kernel = v->kernel,
                                            .arch = v->arch,
                                            .ns = resource_namespace(r) },
            on_report, v);
        return;
    }
    finish(v);
}

/* ---- a round -----------------------------------------------------------------------------------
 */

static void on_payload(int code, const char *message, const struct sw_release_image *p, void *arg)
{
    struct validation *v = arg;
    struct sw_release_image_read *read = SW_TAKE(v->read); /* it owns @p */
    SW_AUTO_CHARS *why = code < 0 ? sw_printf("the release image cannot be read: %s", message)
                                  : NULL;
    if (code == 0) {
        v->facts = sw_release_image_facts(p, NULL, NULL, v->arch);
        sw_text_set(&v->kernel, p->kernel);
    }
    sw_release_image_close(read);
    if (code < 0) {
        for (v->at = 0; v->at < v->n; v->at++)
            add_status(v, v->names[v->at], "Error", why);
        finish(v);
        return;
    }
    next_resource(v);
}

static void begin(void *arg)
{
    struct validation *v = arg;
    size_t cap = 0;
    stop(v);
    v->fresh = json_object_new_array();
    for (struct resource *r = v->c->resources; r; r = r->next) {
        SW_GROW(v->names, v->n, cap);
        v->names[v->n++] = sw_strdup(r->name);
    }
    if (v->facts) {
        next_resource(v);
        return;
    }
    sw_text_set(&v->arch, nodes_arch(v->c));
    v->read = sw_release_image_open(v->c->registries, v->image, v->arch, on_payload, v);
}

/* @v: the validation of that name; NULL: it is new. */
static void put(struct sw_controller *c, struct validation *v, struct json_object *doc)
{
    struct preflights *all = c->state[CAPABILITY_preflight];
    const char *image = sw_json_str(doc, "", "spec", "updateImage", NULL);
    if (v && sw_streq(v->image, image))
        return;
    if (!v) {
        v = sw_zalloc(1, sizeof *v);
        *v = (struct validation){ .c = c, .next = all->first, .name = sw_strdup(sw_obj_name(doc)) };
        v->timer = sw_timer_new(c->loop, begin, v);
        v->statuses = json_object_get(sw_json_find(doc, "status", "srStatuses", NULL));
        all->first = v;
    }
    stop(v);
    sw_facts_free(SW_TAKE(v->facts));
    sw_text_set(&v->image, image);
    sw_timer_set(v->timer, 0);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct sw_controller *c = arg;
    struct preflights *all = c->state[CAPABILITY_preflight];
    struct validation **at = &all->first;
    while (*at && !sw_streq((*at)->name, w->name))
        at = &(*at)->next;
    struct validation *v = *at;
    if (w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED) {
        put(c, v, w->object);
    } else if (w->type == SW_WATCH_DELETED && v) {
        *at = v->next;
        validation_free(v);
    }
}

static void start(struct sw_controller *c)
{
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION,
                                                   "PreflightValidation");
    struct preflights *all = c->state[CAPABILITY_preflight];
    if (!c->registries || c->only || !kind)
        return;
    if (!all)
        all = c->state[CAPABILITY_preflight] = sw_zalloc(1, sizeof *all);
    if (!all->watch)
        all->watch = sw_kube_watch_open(c->kube, kind, WATCH_OWN(KINDS), on_watch, c);
}

/* It may be in the middle of being rendered: the round begins anew. */
static void resource_close(struct resource *r)
{
    struct preflights *all = r->c->state[CAPABILITY_preflight];
    for (struct validation *v = all ? all->first : NULL; v; v = v->next) {
        if (v->rendered != r)
            continue;
        stop(v);
        sw_timer_set(v->timer, 0);
    }
}

static void stop_all(struct sw_controller *c)
{
    struct preflights *all = SW_TAKE(c->state[CAPABILITY_preflight]);
    if (!all)
        return;
    sw_kube_watch_close(all->watch);
    for (struct validation *v = all->first, *next; v; v = next) {
        next = v->next;
        validation_free(v);
    }
    free(all);
}

const struct capability capability_preflight = {
    .name = "preflight",
    .summary = "PreflightValidations are answered",
    .start = start,
    .stop = stop_all,
    .resource_close = resource_close,
};
