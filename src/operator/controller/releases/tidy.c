/* The records of a release besides the one that was written: superseded, or too old to be kept, or
 * removed; and the digests of those that are gone. */
#include "operator/controller/releases/releases.h"

enum { HISTORY = 10, RETRIES = 4 };

static void on_settled(int code, const char *message, void *arg)
{
    struct release_work *w = arg;
    w->write = NULL;
    if (code < 0) /* more may be trusted than there is */
        sw_log(SW_LOG_DEBUG, "digests of records", "error", message, NULL);
    release_work_end(w);
}

/* Digests of what is not there any more go, when it is gone. */
static void settle_digests(struct release_work *w)
{
    if (w->removing) {
        if (!w->change)
            w->change = json_object_new_object();
        records_put_home(w->change, RECORDS_UNSETTLED);
    }
    if (w->change)
        w->write = records_write(w->r, SW_TAKE(w->change), on_settled, w);
    else
        release_work_end(w);
}

void release_put_digests(struct release_work *w, const char *name, const char *digests)
{
    if (!w->change)
        w->change = json_object_new_object();
    records_put(w->change, name, digests);
}

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    const char *name = sw_obj_name(sw_json_at(w->list, w->next - 1));
    w->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        sw_log(SW_LOG_DEBUG, "old release", "error", sw_err_text(a->err), NULL);
    else
        release_put_digests(w, name, NULL);
    release_tidy(w);
}

static void on_tidied(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    w->req = NULL;
    if (a->code < 0)
        sw_log(SW_LOG_DEBUG, "old release", "error", sw_err_text(a->err), NULL);
    release_tidy(w);
}

bool release_is_own(const struct resource *r, struct json_object *record)
{
    SW_AUTO_JSON *release = NULL;
    SW_ERR(err);
    char digest[SW_SHA256_HEX];
    if (sw_obj_has_owner(record, r->uid))
        return true;
    if (sw_release_of_record(record, &release, &err) < 0)
        return false;
    sw_release_digest(record, release, digest);
    return record_check(r, sw_obj_name(record), digest) == SW_RECORD_TRUSTED;
}

static void delete_old(struct release_work *w, const struct sw_kind *kind, const char *name,
                       const char *uid)
{
    w->req = sw_kube_delete(w->r->c->kube, kind, resource_namespace(w->r), name,
                            REQUEST_OWN(RECORDS, .uid = uid, .retries = RETRIES), on_deleted, w);
}

static bool is_too_old(struct release_work *w, struct json_object *old);

/* The kind of the records in the list. */
static const struct sw_kind *kind_of_list(const struct release_work *w)
{
    const enum sw_releases other = records_home(w->r) == RECORDS_IN_CONFIG_MAPS
                                       ? SW_RELEASES_SECRETS
                                       : SW_RELEASES_CONFIG_MAPS;
    return w->elsewhere ? sw_release_kind(w->r->c->kube, other) : records_kind(w->r);
}

/* A record whose status was deployed: make it superseded, in its label and in the record itself. Or
 * one that goes, and has to be looked at before. */
static void on_old(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    const struct sw_kind *kind = kind_of_list(w);
    w->req = NULL;
    if (a->code < 0 || !kind || !release_is_own(w->r, a->object)) {
        release_tidy(w);
        return;
    }
    if (w->removing || is_too_old(w, a->object)) {
        delete_old(w, kind, sw_obj_name(a->object), sw_obj_uid(a->object));
        return;
    }
    SW_AUTO_JSON *release = NULL, *patch = NULL;
    SW_ERR(err);
    if (sw_release_of_record(a->object, &release, &err) == 0) {
        sw_json_set_str(release, "superseded", "info", "status", NULL);
        patch = sw_release_patch(a->object, release);
    } else {
        patch = json_object_new_object();
    }
    sw_json_set_str(patch, "superseded", "metadata", "labels", "status", NULL);
    w->req = sw_kube_patch(w->r->c->kube, kind, resource_namespace(w->r), sw_obj_name(a->object),
                           SW_PATCH_MERGE, patch, REQUEST_OWN(RECORDS, .retries = RETRIES),
                           on_tidied, w);
}

/* Is @old behind the HISTORY newest? Records of others do not count. */
static bool is_too_old(struct release_work *w, struct json_object *old)
{
    size_t n_newer = 1; /* the one that was written */
    for (size_t i = 0; i < sw_json_len(w->list); i++) {
        struct json_object *record = sw_json_at(w->list, i);
        int64_t version = sw_release_version(record);
        n_newer += version > sw_release_version(old) && version != w->version &&
                   record_is_known(w->r, sw_obj_name(record));
    }
    return n_newer >= HISTORY;
}

static void on_list_elsewhere(const struct sw_kube_answer *a, void *arg)
{
    struct release_work *w = arg;
    if (sw_release_list_add(w->list, a))
        return;
    w->req = NULL;
    release_tidy(w);
}

/* Where the removal came while records were moved, some are of the other kind. @return whether they
 * are asked for */
static bool list_elsewhere(struct release_work *w)
{
    struct resource *r = w->r;
    if (!w->removing || w->elsewhere ||
        (records_home(r) != RECORDS_MOVING && !sw_obj_annotation(r->doc, RELEASES_TO)))
        return false;
    w->elsewhere = true;
    w->next = 0;
    json_object_put(w->list);
    w->list = json_object_new_array();
    const struct sw_kind *kind = kind_of_list(w);
    if (kind)
        w->req = sw_release_list(r->c->kube, kind, resource_namespace(r), r->name, NULL,
                                 on_list_elsewhere, w);
    return kind;
}

/* The other records that slipway wrote (or took over), one after the other: some are superseded
 * now, or too old to be kept. */
void release_tidy(struct release_work *w)
{
    struct resource *r = w->r;
    const struct sw_kind *kind = kind_of_list(w);
    while (kind && w->next < sw_json_len(w->list)) {
        struct json_object *old = sw_json_at(w->list, w->next++);
        const char *name = sw_obj_name(old), *ns = resource_namespace(r);
        if (!record_is_known(r, name)) /* somebody else's */
            continue;
        if (sw_release_version(old) >= w->version && !w->removing)
            continue;
        bool goes = w->removing || is_too_old(w, old);
        if (goes && sw_obj_has_owner(old, r->uid)) {
            delete_old(w, kind, name, NULL);
            return;
        }
        if (goes || (sw_streq(w->status, "deployed") &&
                     sw_streq(release_label(old, "status"), "deployed"))) {
            w->req = sw_kube_get(r->c->kube, kind, ns, name,
                                 REQUEST_OWN(RECORDS, .retries = RETRIES), on_old, w);
            return;
        }
    }
    if (!list_elsewhere(w))
        settle_digests(w);
}
