/* Records of releases of subcharts (slipway.dev/releases), one release after the other: so that
 * helm lists them, and could go on with them. The newest revision alone is kept. They are written
 * as the resource's account, and are not believed: hooks of a deletion are those of the recipe's
 * record. */
#include "operator/controller/releases/releases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 4 };

/* The releases of a plan that are being recorded. */
struct own_records {
    struct resource *r;
    const char *status; /* NULL: they are deleted */
    struct lookups *lookups;
    char **begun; /* charts of releases that are done, or are the present one */
    size_t n_begun, cap_begun;
    char *name, *ns, *chart; /* the present one */
    char digest[SW_SHA256_HEX];
    int state;                          /* a state of it, in the plan */
    struct json_object *list, *release; /* its records; what is known without the recipe */
    size_t next;                        /* in @list: the next to be deleted */
    int64_t version;                    /* of the record that is kept; 0: none */
    char *refused;                      /* why its records may not be listed, or NULL */
    struct sw_kube_request *req;
};

static void forget_release(struct own_records *o)
{
    json_object_put(SW_TAKE(o->list));
    json_object_put(SW_TAKE(o->release));
    free(SW_TAKE(o->name));
    free(SW_TAKE(o->ns));
    free(SW_TAKE(o->chart));
    free(SW_TAKE(o->refused));
    o->next = 0;
    o->version = 0;
}

void own_records_free(struct own_records *o)
{
    if (!o)
        return;
    sw_kube_cancel(o->req);
    lookups_free(o->lookups);
    forget_release(o);
    for (size_t i = 0; i < o->n_begun; i++)
        free(o->begun[i]);
    free(o->begun);
    free(o);
}

static void next_release(struct own_records *o);

/* The present release is not recorded, or later; the others are. */
static void fail(struct own_records *o, int code, const char *why)
{
    struct resource *r = o->r;
    SW_AUTO_CHARS *message = account_message(r, code, why);
    SW_AUTO_CHARS *text = sw_printf("release %s of namespace %s: %s", o->name, o->ns, message);
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT || code == SW_GONE) {
        release_retry_later(r, text);
    } else {
        sw_log(SW_LOG_WARN, "release not recorded", "resource", r->name, "why", text, NULL);
        event_record(r, &(struct sw_action){
                            .warning = true, .reason = "ReleaseNotRecorded", .message = text });
    }
    next_release(o);
}

/* ---- older records go --------------------------------------------------------------------------
 */

static void tidy(struct own_records *o);

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct own_records *o = arg;
    o->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        fail(o, a->code, sw_err_text(a->err));
    else
        tidy(o);
}

static void tidy(struct own_records *o)
{
    struct resource *r = o->r;
    const struct sw_kind *kind = records_kind(r);
    while (kind && o->next < sw_json_len(o->list)) {
        struct json_object *old = sw_json_at(o->list, o->next++);
        if (!sw_obj_has_owner(old, r->uid) || sw_release_version(old) == o->version)
            continue;
        o->req = sw_kube_delete(r->c->kube, kind, o->ns, sw_obj_name(old),
                                REQUEST_AS(r, .uid = sw_obj_uid(old), .retries = RETRIES),
                                on_deleted, o);
        return;
    }
    next_release(o);
}

/* ---- the record --------------------------------------------------------------------------------
 */

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct own_records *o = arg;
    o->req = NULL;
    if (a->code < 0)
        fail(o, a->code, sw_err_text(a->err));
    else
        tidy(o);
}

static int make(struct own_records *o, const struct release_head *head, char **packed,
                struct sw_err *err)
{
    struct resource *r = o->r;
    char content[SW_SHA256_HEX];
    if (!o->release) /* once: its times are those of the first try */
        o->release = release_begun(r, head);
    SW_AUTO_JSON *values = resource_values(r, NULL);
    struct sw_render_env env = resource_render_env(r, o->state, values, o->lookups);
    return sw_renderer_record(r->renderer, lookups_wait(o->lookups), &env, o->chart, o->release,
                              releases_of(r)->hook_runs, packed, content, err);
}

static void write_record(void *arg)
{
    struct own_records *o = arg;
    struct resource *r = o->r;
    const struct sw_kind *kind = records_kind(r);
    const struct release_head head = { o->name, o->ns, o->status, o->digest, o->version };
    SW_AUTO_CHARS *packed = NULL;
    SW_ERR(err);
    int rc = r->renderer && kind ? make(o, &head, &packed, &err)
                                 : sw_err_set(&err, SW_UNAVAILABLE, "there is no recipe");
    if (rc == SW_PENDING)
        return;                            /* a lookup or a renderer, which calls this again */
    if (rc == SW_NOTFOUND && o->refused) { /* nor are there rights for what is not installed */
        next_release(o);
        return;
    }
    if (o->refused) {
        fail(o, SW_FORBIDDEN, o->refused);
        return;
    }
    if (rc == SW_NOTFOUND) { /* it is not installed */
        o->version = 0;
        tidy(o);
        return;
    }
    if (rc == 0)
        rc = release_check_size(packed, &err);
    if (rc < 0) {
        fail(o, rc, sw_err_text(&err));
        return;
    }
    SW_AUTO_JSON *doc = release_object(r, &head, packed);
    o->req = sw_kube_apply(r->c->kube, kind, o->ns, sw_obj_name(doc), doc,
                           REQUEST_AS(r, .force = true, .retries = RETRIES), on_written, o);
}

/* ---- what is recorded already ------------------------------------------------------------------
 */

/* Whether another resource has the release. */
static bool is_of_another(struct json_object *record)
{
    struct json_object *owners = sw_json_find(record, "metadata", "ownerReferences", NULL);
    return sw_json_find_by(owners, "kind", "SpecialResource");
}

/* Decide what to do with the records in o->list. */
static void compare(struct own_records *o)
{
    struct json_object *newest = sw_release_newest(o->list);
    bool is_ours = newest && sw_obj_has_owner(newest, o->r->uid);
    if (!o->status || (!newest && !o->r->renderer)) {
        tidy(o);
        return;
    }
    if (newest && !is_ours) { /* who came first, or went on with it, has it */
        if (is_of_another(newest))
            next_release(o); /* the two share it */
        else
            fail(o, SW_INVALID, "it was not installed by this resource");
        return;
    }
    bool is_same = newest && sw_streq(release_label(newest, DIGEST_LABEL), o->digest);
    o->version = newest ? sw_release_version(newest) + !is_same : 1;
    if (is_same && (sw_streq(release_label(newest, "status"), "deployed") ||
                    sw_streq(release_label(newest, "status"), o->status)))
        tidy(o); /* a deployed revision stays deployed, even if its pods fail later */
    else
        write_record(o);
}

static void on_list(const struct sw_kube_answer *a, void *arg)
{
    struct own_records *o = arg;
    if (sw_release_list_add(o->list, a))
        return;
    o->req = NULL;
    if (a->code == SW_FORBIDDEN && o->status) {
        o->refused = sw_strdup(sw_err_text(a->err));
        write_record(o); /* if it is installed */
    } else if (a->code < 0 && a->code != SW_NOTFOUND) {
        fail(o, a->code, sw_err_text(a->err));
    } else {
        compare(o);
    }
}

/* ---- the releases of the plan ------------------------------------------------------------------
 */

static bool is_begun(const struct own_records *o, const char *chart)
{
    for (size_t i = 0; i < o->n_begun; i++)
        if (sw_streq(o->begun[i], chart))
            return true;
    return false;
}

/* The plan may be another one than for the release before. @return the index of a state of it; -1:
 * there is none */
static int find_next(const struct own_records *o)
{
    const struct sw_plan_view *plan = o->r->plan;
    for (size_t i = 0; plan && i < plan->n_states; i++) {
        const struct sw_release_of_state *release = plan->states[i].release;
        bool is_ours = release &&
                       (o->status || !release->shared); /* shared ones may be handed over */
        if (is_ours && !is_begun(o, release->chart))
            return (int)i;
    }
    return -1;
}

static void next_release(struct own_records *o)
{
    struct resource *r = o->r;
    const struct sw_kind *kind = records_kind(r);
    o->state = kind ? find_next(o) : -1;
    forget_release(o);
    if (o->state < 0) {
        own_records_free(SW_TAKE(releases_of(r)->own));
        resource_report(r);
        return;
    }
    const struct sw_release_of_state *release = r->plan->states[o->state].release;
    o->name = sw_strdup(release->name);
    o->ns = sw_strdup(release->namespace ? release->namespace : resource_namespace(r));
    o->chart = sw_strdup(release->chart);
    SW_GROW(o->begun, o->n_begun, o->cap_begun);
    o->begun[o->n_begun++] = sw_strdup(release->chart);
    (void)snprintf(o->digest, sizeof o->digest, "%s", r->plan->digests[o->state]);
    o->list = json_object_new_array();
    o->req = sw_release_list(r->c->kube, kind, o->ns, o->name, resource_account_now(r), on_list, o);
}

void own_records_begin(struct resource *r, const char *status)
{
    struct releases *s = releases_of(r);
    own_records_free(SW_TAKE(s->own));
    if (r->c->opts.releases == SW_RELEASES_NONE)
        return;
    struct own_records *o = sw_zalloc(1, sizeof *o);
    *o = (struct own_records){ .r = r, .status = status };
    if (find_next(o) < 0) {
        own_records_free(o);
        return;
    }
    s->own = o;
    o->lookups = lookups_new(r, write_record, o);
    next_release(o);
}
