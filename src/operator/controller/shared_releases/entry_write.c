/* A release's entry is changed: its namespace is read, and what is to be is written for that
 * version of it. Of two that begin at the same moment one is refused, and reads again. */
#include "operator/controller/shared_releases/shared_releases.h"
#include "operator/manifests/ownership.h"
#include "operator/release/record.h"

#include <stdlib.h>

enum { RETRIES = 4 };

/* ---- what is to be ------------------------------------------------------------------------------
 */

static enum shared_wish wish_of(const struct shared_release *p)
{
    const struct resource *r = p->r;
    if (r->leaving)
        return SHARED_LEFT;
    if (resource_is_unmanaged(r) || !r->plan || r->fault)
        return SHARED_AS_IT_IS;
    return p->version && !shared_is_off(p) ? SHARED_WANTED : SHARED_LEFT;
}

static bool exists(const struct sw_controller *c, struct json_object *user)
{
    const struct resource *r = resource_find((struct sw_controller *)c,
                                             sw_json_str(user, "", "name", NULL));
    return r && sw_streq(r->uid, sw_json_str(user, "", "uid", NULL));
}

/* Users that are gone, or are about to go without having owned it, are no heirs. */
static bool forget_users(const struct shared_release *p, struct json_object *entry)
{
    struct sw_controller *c = p->r->c;
    bool changes = false;
    if (c->only || !c->resources_synced)
        return false;
    for (size_t i = sw_json_len(sw_json_get(entry, "users")); i-- > 0;) {
        struct json_object *user = sw_json_at(sw_json_get(entry, "users"), i);
        const char *uid = sw_json_str(user, "", "uid", NULL);
        const struct resource *other = resource_find(c, sw_json_str(user, "", "name", NULL));
        bool goes = !exists(c, user) || (i > 0 && other->leaving);
        if (goes && !sw_streq(uid, p->r->uid))
            changes = sw_shared_forget(entry, uid) || changes;
    }
    struct json_object *from = sw_json_get(entry, "from");
    if (from && !exists(c, from)) {
        sw_shared_forget_from(entry);
        changes = true;
    }
    return changes;
}

/* Is the only user gone without having removed it? */
static bool is_abandoned(const struct shared_release *p, struct json_object *entry)
{
    const struct sw_controller *c = p->r->c;
    struct json_object *users = sw_json_get(entry, "users"), *user = sw_json_at(users, 0);
    bool is_gone = c->only ? sw_json_has_text(c->gone, sw_json_str(user, "", "uid", NULL))
                           : c->resources_synced && !exists(c, user);
    return is_gone && sw_json_len(users) == 1;
}

/* Or may it have some? Those that it was handed over are the engine's to remove, too. */
static bool has_objects(const struct shared_release *p, struct json_object *entry)
{
    bool comes = sw_json_get(entry, "objects") && sw_shared_is_owned_by(entry, p->r->uid) &&
                 !p->is_inherited;
    return comes || !p->r->started || sw_engine_has_release(p->r->engine, p->name);
}

/* What it takes over is marked as its own when all of it is applied. */
static bool has_taken_over(const struct shared_release *p, struct json_object *entry)
{
    const struct resource *r = p->r;
    return r->started && !r->leaving && sw_engine_phase(r->engine) == SW_PHASE_READY &&
           sw_shared_is_owned_by(entry, r->uid) && sw_engine_has_taken_over(r->engine, p->name);
}

/* @return whether @entry, of @ns, which is there, is changed. *@gone: it is to go */
static bool change(struct shared_release *p, struct json_object *ns, struct json_object *entry,
                   enum shared_wish wish, bool *gone)
{
    const struct resource *r = p->r;
    const struct sw_release_user user = { r->name, r->uid, p->version };
    bool changes = forget_users(p, entry);
    if (changes && ns)
        sw_shared_inherit_namespace(entry, p->name, ns);
    if (wish == SHARED_WANTED && !sw_shared_is_leaving(entry, r->uid)) {
        bool is_user = sw_shared_is_used_by(entry, r->uid);
        SW_AUTO_CHARS *conflict = sw_shared_conflict(entry, &user, p->name);
        if ((is_user || (shared_is_claimed(p) && !conflict)) && shared_may_begin(r))
            changes = sw_shared_join(entry, &user) || changes;
    } else if (wish == SHARED_LEFT) {
        SW_AUTO_JSON *objects = sw_shared_objects(sw_json_get(p->r->status, "inventory"), p->name);
        changes = sw_shared_leave(entry, r->uid, objects) || changes;
    }
    if (wish != SHARED_AS_IT_IS && !has_objects(p, entry))
        changes = sw_shared_done(entry, r->uid, gone) || changes;
    if (p->is_inherited && r->started && !r->leaving && sw_shared_is_owned_by(entry, r->uid) &&
        sw_json_get(entry, "objects") && sw_engine_has_recorded(r->engine, p->name)) {
        (void)sw_json_del(entry, "objects", NULL); /* they are in its status */
        changes = true;
    }
    if (sw_json_get(entry, "former") && has_taken_over(p, entry)) {
        (void)sw_json_del(entry, "former", NULL);
        changes = true;
    }
    return changes;
}

bool shared_change(struct shared_release *p, struct json_object *ns, struct json_object *entry,
                   struct json_object **out)
{
    enum shared_wish wish = wish_of(p);
    const struct sw_release_user user = { p->r->name, p->r->uid, p->version };
    bool gone = false, is_new = !entry || (wish == SHARED_WANTED && is_abandoned(p, entry));
    *out = NULL;
    if (is_new && !(wish == SHARED_WANTED && shared_is_claimed(p) && shared_may_begin(p->r)))
        return false;
    if (is_new) {
        *out = entry ? sw_shared_renew(entry, &user) : sw_shared_new(&user);
        if (ns)
            sw_shared_inherit_namespace(*out, p->name, ns);
        return true;
    }
    *out = sw_json_copy(entry);
    bool changes = change(p, ns, *out, wish, &gone);
    if (gone)
        json_object_put(SW_TAKE(*out));
    return changes;
}

/* ---- the request --------------------------------------------------------------------------------
 */

static struct shared_release *release_of(struct op *op)
{
    return op->more;
}

static void note(struct shared_release *p, int code, const char *message)
{
    SW_AUTO_CHARS *why = code < 0 ? account_message(p->r, code, message) : NULL;
    if (fault_is_news(&p->message, why))
        sw_log(SW_LOG_WARN, "shared release not written", "resource", p->r->name, "release",
               p->name, "why", why, NULL);
    p->code = code;
}

static void finish(struct op *op, int code, const char *message)
{
    struct shared_release *p = release_of(op);
    note(p, code, message);
    p->op = NULL;
    op_free(op);
    if (code == 0 || p->again)
        shared_check_soon(p->r->c);
    else
        recheck_soon(p->r->c);
    p->again = p->records_are_over = false;
}

static void failed(struct op *op, int code, const char *message)
{
    bool passes = code == SW_CONFLICT || code == SW_UNAVAILABLE || code == SW_GONE ||
                  code == SW_NOTFOUND;
    if (!passes)
        note(release_of(op), code, message);
    if (passes || op->r->leaving) /* rights may come back */
        op_again(op);
    else
        finish(op, code, message);
}

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code == SW_CONFLICT) { /* another one was first */
        op_with_kind(op);
        return;
    }
    if (a->code < 0) {
        failed(op, a->code, sw_err_text(a->err));
        return;
    }
    shared_take(op->r->c, a->object, op->key.name, false);
    finish(op, 0, NULL);
}

/* The namespace with @entry as its release, which the engine will take for its own; the caller's.
 */
static struct json_object *new_namespace(const struct op *op, struct json_object *releases)
{
    const struct shared_release *p = op->more;
    struct json_object *doc = json_object_new_object();
    sw_shared_add_namespace(sw_json_get(releases, sw_shared_name(p->name)), p->name);
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Namespace", "kind", NULL);
    sw_json_set_str(doc, op->key.name, "metadata", "name", NULL);
    sw_json_set_str(doc, op->r->name, "metadata", "annotations", "slipway.dev/resource", NULL);
    sw_json_set_str(doc, "true", "metadata", "labels", SW_OWNED_LABEL, NULL);
    SW_AUTO_JSON *patch = sw_shared_releases_patch(NULL, releases);
    SW_AUTO_JSON *plain = doc;
    return sw_merge_apply(plain, patch);
}

/* @ns NULL: it is made. */
static void write_entry(struct op *op, struct json_object *ns, struct json_object *releases)
{
    struct sw_kube *kube = op->r->c->kube;
    const struct sw_kind *kind = sw_kube_kind_find(kube, "v1", "Namespace");
    SW_AUTO_JSON *body = ns ? sw_shared_releases_patch(ns, releases) : new_namespace(op, releases);
    const struct sw_request_opts *opts = REQUEST_AS(op->r, .retries = RETRIES);
    op->req = ns ? sw_kube_patch(kube, kind, NULL, op->key.name, SW_PATCH_MERGE, body, opts,
                                 on_written, op)
                 : sw_kube_create(kube, kind, NULL, NULL, body, opts, on_written, op);
}

/* ---- Helm's records of what is handed over, or removed
 * -------------------------------------------
 */

static void hand_over_next(struct op *op);

static void on_record(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        failed(op, a->code, sw_err_text(a->err));
    else
        hand_over_next(op);
}

static void begin_write(struct op *op, const struct sw_kind *kind);

/* op->doc: the records that are left, and at last nothing. */
static void hand_over_next(struct op *op)
{
    struct resource *r = op->r;
    const struct sw_kind *kind = records_kind(r);
    struct json_object *heir = sw_shared_heir(shared_find(r->c, release_of(op)->name), r->uid);
    for (size_t n; kind && (n = sw_json_len(op->doc)) > 0;) {
        SW_AUTO_JSON *record = json_object_get(sw_json_at(op->doc, n - 1));
        (void)json_object_array_del_idx(op->doc, n - 1, 1);
        if (!sw_obj_has_owner(record, r->uid))
            continue;
        const char *name = sw_obj_name(record);
        SW_AUTO_JSON *patch = heir ? sw_ownership_hand_over(record, r->uid, r->name, heir) : NULL;
        op->req = heir
                      ? sw_kube_patch(r->c->kube, kind, op->key.name, name, SW_PATCH_MERGE, patch,
                                      REQUEST_AS(r, .retries = RETRIES), on_record, op)
                      : sw_kube_delete(r->c->kube, kind, op->key.name, name,
                                       REQUEST_AS(r, .uid = sw_obj_uid(record), .retries = RETRIES),
                                       on_record, op);
        return;
    }
    release_of(op)->records_are_over = true;
    op_with_kind(op);
}

static void on_records(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    if (sw_release_list_add(op->doc, a))
        return;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        failed(op, a->code, sw_err_text(a->err));
    else
        hand_over_next(op);
}

/* Is all of it handed over, or removed, but the records? */
static bool records_are_due(const struct op *op, struct json_object *entry)
{
    const struct shared_release *p = op->more;
    const char *uid = p->r->uid, *from = sw_json_str(entry, NULL, "from", "uid", NULL);
    bool leaves = sw_streq(from, uid) ||
                  (sw_json_get(entry, "leaving") && !sw_shared_is_leaving(entry, uid));
    return leaves && !has_objects(p, entry) && !p->records_are_over && records_kind(p->r);
}

/* ---- the namespace is read ----------------------------------------------------------------------
 */

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct shared_release *p = release_of(op);
    struct json_object *ns = a->code == 0 ? a->object : NULL;
    const char *release = sw_shared_name(p->name);
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND) {
        failed(op, a->code, sw_err_text(a->err));
        return;
    }
    shared_take(p->r->c, ns, op->key.name, !ns);
    SW_AUTO_JSON *releases = sw_shared_releases_of(ns);
    struct json_object *entry = sw_json_get(releases, release), *fresh;
    if (ns && !entry && sw_json_find(ns, "metadata", "deletionTimestamp", NULL)) {
        op_again(op); /* it is about to be gone */
        return;
    }
    if (records_are_due(op, entry)) {
        json_object_put(op->doc);
        op->doc = json_object_new_array();
        op->req = sw_release_list(p->r->c->kube, records_kind(p->r), op->key.name, release,
                                  resource_account_now(p->r), on_records, op);
        return;
    }
    if (!shared_change(p, ns, entry, &fresh)) {
        json_object_put(fresh);
        finish(op, 0, NULL);
        return;
    }
    (void)json_object_object_del(releases, release);
    if (fresh)
        (void)json_object_object_add(releases, release, fresh);
    write_entry(op, ns, releases);
}

static void begin_write(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, NULL, op->key.name,
                          REQUEST_AS(op->r, .retries = RETRIES), on_read, op);
}

void shared_settle(struct shared_release *p)
{
    struct json_object *fresh;
    if (p->op) {
        p->again = true;
        return;
    }
    bool changes = shared_change(p, NULL, shared_find(p->r->c, p->name), &fresh);
    json_object_put(fresh);
    if (!changes)
        return;
    SW_AUTO_CHARS *ns = sw_shared_namespace(p->name);
    struct op *op = p->op = op_new(p->r, &(struct sw_key){ "v1", "Namespace", NULL, ns }, 0);
    op->more = p;
    op->begin = begin_write;
    op->failed = failed;
    op_with_kind(op);
}
