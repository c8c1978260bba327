/* Records that are ConfigMaps become Secrets, where the resource asks for it. All of them are
 * written as Secrets first; then the status says that those count; then the ConfigMaps are deleted.
 * Whoever is killed in between begins that step again. */
#include "operator/controller/releases/releases.h"

enum { RETRIES = 4 };

static void fail(struct release_work *w, int code, const char *why)
{
    struct resource *r = w->r;
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT || code == SW_GONE) {
        release_retry_later(r, why);
    } else {
        SW_AUTO_CHARS *text = sw_printf("the release records stay ConfigMaps: %s", why);
        sw_log(SW_LOG_WARN, "releases not moved", "resource", r->name, "why", why, NULL);
        event_record(r, &(struct sw_action){
                            .warning = true, .reason = "ReleasesNotMoved", .message = text });
        releases_of(r)->not_moved = true; /* until the resource changes */
    }
    release_work_end(w);
}

/* The next record of the list that slipway wrote; NULL: there is none. */
static struct json_object *next_known(struct release_work *w)
{
    while (w->next < sw_json_len(w->list)) {
        struct json_object *record = sw_json_at(w->list, w->next++);
        if (record_is_known(w->r, sw_obj_name(record)))
            return record;
    }
    return NULL;
}

static const struct sw_kind *kind_of(const struct release_work *w, enum sw_releases releases)
{
    return sw_release_kind(w->r->c->kube, releases);
}

/* ---- the ConfigMaps go -------------------------------------------------------------------------
 */

static void on_moved(int code, const char *message, void *arg)
{
    struct release_work *w = arg;
    struct resource *r = w->r;
    w->write = NULL;
    if (code < 0) {
        fail(w, code, message);
        return;
    }
    event_record(r, &(struct sw_action){ .reason = "ReleasesMoved",
                                         .message = "the release records are Secrets" });
    release_work_end(w);
    resource_tell_if_walked(r);
}

static void delete_next(struct release_work *w);

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    w->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        fail(w, a->code, sw_err_text(a->err)); /* SW_CONFLICT: it is another one */
    else
        delete_next(w);
}

static void delete_next(struct release_work *w)
{
    struct resource *r = w->r;
    struct json_object *record = next_known(w);
    if (record) {
        w->req = sw_kube_delete(r->c->kube, kind_of(w, SW_RELEASES_CONFIG_MAPS),
                                resource_namespace(r), sw_obj_name(record),
                                REQUEST_OWN(RECORDS, .uid = sw_obj_uid(record), .retries = RETRIES),
                                on_deleted, w);
        return;
    }
    struct json_object *change = json_object_new_object();
    records_put_home(change, RECORDS_IN_SECRETS);
    w->write = records_write(r, change, on_moved, w);
}

/* ---- each is written as a Secret ---------------------------------------------------------------
 */

static void on_all_written(int code, const char *message, void *arg)
{
    struct release_work *w = arg;
    w->write = NULL;
    w->next = 0;
    if (code < 0)
        fail(w, code, message);
    else
        delete_next(w);
}

static void copy_next(struct release_work *w);

static void on_copied(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    w->req = NULL;
    if (a->code < 0)
        fail(w, a->code, sw_err_text(a->err));
    else
        copy_next(w);
}

/* The Secret that keeps what the ConfigMap @record does; the caller's. */
static struct json_object *secret_of(struct resource *r, struct json_object *record)
{
    struct json_object *doc = json_object_new_object();
    const char *packed = sw_json_str(record, "", "data", "release", NULL);
    static const char *const kept[] = { "labels", "annotations", "ownerReferences" };
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Secret", "kind", NULL);
    sw_json_set_str(doc, sw_obj_name(record), "metadata", "name", NULL);
    sw_json_set_str(doc, resource_namespace(r), "metadata", "namespace", NULL);
    for (size_t i = 0; i < SW_COUNT(kept); i++) {
        struct json_object *value = sw_json_find(record, "metadata", kept[i], NULL);
        if (value)
            sw_json_set(doc, sw_json_copy(value), "metadata", kept[i], NULL);
    }
    sw_json_set_str(doc, "helm.sh/release.v1", "type", NULL);
    sw_json_set(doc, sw_release_data(true, packed), "data", NULL);
    return doc;
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    struct resource *r = w->r;
    const struct sw_kind *kind = kind_of(w, SW_RELEASES_SECRETS);
    SW_AUTO_JSON *release = NULL;
    SW_ERR(err);
    char digest[SW_SHA256_HEX] = "";
    w->req = NULL;
    if (a->code == SW_NOTFOUND) {
        copy_next(w);
        return;
    }
    if (a->code < 0 || !kind) {
        fail(w, a->code < 0 ? a->code : SW_INVALID,
             a->code < 0 ? sw_err_text(a->err) : "the server serves no Secrets");
        return;
    }
    const char *name = sw_obj_name(a->object);
    if (sw_release_of_record(a->object, &release, &err) == 0)
        sw_release_digest(a->object, release, digest);
    enum sw_record_trust trust = record_check(r, name, digest);
    if (trust != SW_RECORD_TRUSTED) {
        SW_AUTO_CHARS *why = sw_record_why_not(trust, r->name, "ConfigMap", resource_namespace(r),
                                               name, *digest ? digest : NULL);
        fail(w, SW_INVALID, why);
        return;
    }
    SW_AUTO_JSON *doc = secret_of(r, a->object);
    w->req = sw_kube_apply(r->c->kube, kind, resource_namespace(r), name, doc,
                           REQUEST_OWN(RECORDS, .force = true, .retries = RETRIES), on_copied, w);
}

static void copy_next(struct release_work *w)
{
    struct resource *r = w->r;
    struct json_object *record = next_known(w);
    if (record) {
        w->req = sw_kube_get(r->c->kube, kind_of(w, SW_RELEASES_CONFIG_MAPS), resource_namespace(r),
                             sw_obj_name(record), REQUEST_OWN(RECORDS, .retries = RETRIES), on_read,
                             w);
        return;
    }
    struct json_object *change = json_object_new_object();
    records_put_home(change, RECORDS_MOVING);
    w->write = records_write(r, change, on_all_written, w);
}

/* ---- the beginning -----------------------------------------------------------------------------
 */

static void on_list(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    if (sw_release_list_add(w->list, a))
        return;
    w->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        fail(w, a->code, sw_err_text(a->err));
    else if (records_home(w->r) == RECORDS_MOVING)
        delete_next(w);
    else
        copy_next(w);
}

bool release_move(struct resource *r)
{
    struct releases *s = releases_of(r);
    bool is_asked = sw_streq(sw_obj_annotation(r->doc, RELEASES_TO), "secret") && !s->not_moved;
    bool is_due = records_home(r) == RECORDS_MOVING ||
                  (records_home(r) == RECORDS_IN_CONFIG_MAPS && is_asked);
    bool waits = s->timer && sw_timer_is_set(s->timer);
    if (!is_due || waits || s->work || r->c->opts.releases == SW_RELEASES_NONE ||
        resource_is_deleting(r) || resource_is_removed(r))
        return false;
    struct release_work *w = release_work_new(r, NULL);
    const struct sw_kind *kind = kind_of(w, SW_RELEASES_CONFIG_MAPS);
    if (kind)
        w->req = sw_release_list(r->c->kube, kind, resource_namespace(r), r->name, NULL, on_list,
                                 w);
    else
        release_work_end(w);
    return kind;
}
