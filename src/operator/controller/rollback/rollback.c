/* spec.rollback: the content with which each state was ready last is kept in a Secret of the
 * resource, and rendered again where newer content has failed. The Secret is used only if it is as
 * slipway wrote it: its digest is in the resource's status.
 *
 * The Secret is written when a state is ready with new content, and before a state is rolled back:
 * a controller that is restarted in between decides the same again. It is read once, when the
 * resource is first planned. */
#include "operator/controller/core.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/base64.h"
#include "operator/release/record.h"

enum { MAX_BYTES = 1024 * 1024 - 4096, RETRIES = 4, RETRY_MS = 15000, MARK_LEN = 16 };

/* The contents of a state, or of one of its variants. */
struct kept {
    char *state, *variant;
    char now[SW_SHA256_HEX], ready[SW_SHA256_HEX], failed[SW_SHA256_HEX]; /* digests; "": none */
    char *now_text;        /* an array of objects; NULL: the same as ready */
    char *ready_text;      /* the same; NULL: it was never ready */
    char *failed_revision; /* r->revision, since templates may be random */
    char *why;             /* it failed */
    bool active;           /* it was rolled back when it was rendered last */
};

struct rollback {
    struct resource *r;
    bool known;         /* the Secret was read */
    bool status_is_new; /* the status was read again since */
    bool dirty;         /* it is to be written */
    bool render_again;  /* when it is written */
    struct kept *items;
    size_t n, cap;
    struct json_object *doc;      /* the Secret that is written; or NULL */
    char digest[SW_SHA256_HEX];   /* of it */
    struct records_write *status; /* is written, or read again */
    struct sw_kube_request *req;
    struct sw_timer *timer;
};

static struct rollback *rollback_of(const struct resource *r)
{
    return r->state[CAPABILITY_rollback];
}

/* spec.rollback, else the annotation of the recipe. */
static bool is_asked(const struct resource *r)
{
    const struct json_object *chart = r->recipe ? r->recipe->metadata : NULL;
    const char *annotation = sw_json_str((struct json_object *)chart, "", "annotations",
                                         "slipway.dev/rollback", NULL); /* read only */
    return sw_json_bool(r->doc, sw_streq(annotation, "true"), "spec", "rollback", NULL);
}

static bool is_wanted(const struct resource *r)
{
    return is_asked(r) && !resource_is_deleting(r);
}

static char *secret_name(const struct resource *r)
{
    return sw_printf("slipway.rollback.%s", r->name);
}

static struct kept *need(struct rollback *b, const char *state, const char *variant)
{
    for (size_t i = 0; i < b->n; i++)
        if (sw_streq(b->items[i].state, state) && sw_streq(b->items[i].variant, variant))
            return &b->items[i];
    SW_GROW(b->items, b->n, b->cap);
    b->items[b->n] = (struct kept){ .state = sw_strdup(state), .variant = sw_strdup(variant) };
    return &b->items[b->n++];
}

/* ---- the Secret --------------------------------------------------------------------------------
 */

static void copy_hash(char to[static SW_SHA256_HEX], const char *from)
{
    bool fits = strlen(from) < SW_SHA256_HEX;
    memcpy(to, fits ? from : "", fits ? strlen(from) + 1 : 1);
}

/* An item whose digest is wrong is ignored: it was changed by others. */
static void read_item(struct rollback *b, struct json_object *doc)
{
    const char *state = sw_json_str(doc, "", "state", NULL);
    struct json_object *objects = sw_json_get(doc, "objects");
    char hash[SW_SHA256_HEX];
    if (!*state || !json_object_is_type(objects, json_type_array))
        return;
    sw_json_sha256(objects, hash);
    if (!sw_streq(hash, sw_json_str(doc, "", "ready", NULL)))
        return;
    struct kept *k = need(b, state, sw_json_str(doc, "", "variant", NULL));
    size_t len;
    copy_hash(k->ready, hash);
    copy_hash(k->failed, sw_json_str(doc, "", "failed", NULL));
    free(k->ready_text);
    k->ready_text = sw_json_text(objects, SW_JSON_SORTED, &len);
    sw_text_set(&k->failed_revision, sw_json_str(doc, NULL, "failedRevision", NULL));
    sw_text_set(&k->why, sw_json_str(doc, NULL, "why", NULL));
}

static void read_secret(struct rollback *b);

static void on_status_read(int code, const char *message SW_UNUSED, void *arg)
{
    struct rollback *b = arg;
    b->status = NULL;
    b->status_is_new = code != SW_UNAVAILABLE;
    if (b->status_is_new)
        read_secret(b);
    else
        sw_timer_set(b->timer, RETRY_MS);
}

/* May the Secret be used? One that an older version wrote has no digest yet. @return 1 | 0 |
 * SW_PENDING: the status is read again */
static int is_trusted(struct rollback *b, struct json_object *secret, const char *text)
{
    struct resource *r = b->r;
    const char *name = sw_obj_name(secret);
    char digest[SW_SHA256_HEX];
    sw_record_digest(secret, text, digest);
    enum sw_record_trust trust = record_check(r, name, digest);
    b->dirty = trust == SW_RECORD_UNKNOWN && records_are_old(r);
    if (trust == SW_RECORD_TRUSTED || b->dirty)
        return 1;
    if (!b->status_is_new) {
        b->status = records_read_again(r, on_status_read, b);
        return SW_PENDING;
    }
    record_refused(r, trust, "Secret", name, digest, true);
    return 0;
}

static int take_secret(struct rollback *b, struct json_object *secret)
{
    const char *twice = sw_json_str(secret, "", "data", "states", NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_base64_decode(twice, strlen(twice), &len);
    SW_AUTO_JSON *all = NULL;
    int rc = is_trusted(b, secret, text ? text : "");
    if (rc <= 0)
        return rc;
    if (!text || sw_release_unpack(text, len, 0, &all, NULL) < 0)
        sw_log(SW_LOG_WARN, "kept states cannot be read", "resource", b->r->name, NULL);
    struct json_object *states = sw_json_get(all, "states");
    for (size_t i = 0; i < sw_json_len(states); i++)
        read_item(b, sw_json_at(states, i));
    return 0;
}

static void on_read(const struct sw_kube_answer *a, void *arg)
{
    struct rollback *b = arg;
    b->req = NULL;
    if (a->code == SW_UNAVAILABLE) {
        sw_timer_set(b->timer, RETRY_MS); /* nothing is applied before: it may have failed */
        return;
    }
    if (a->code == 0 && sw_streq(sw_obj_label(a->object, SW_OWNED_LABEL), "true") &&
        take_secret(b, a->object) == SW_PENDING)
        return;
    b->known = true;
    plan_resume(b->r);
}

static struct json_object *item_doc(const struct kept *k)
{
    struct json_object *doc = json_object_new_object(), *objects = NULL;
    SW_ERR(err);
    if (sw_json_parse(k->ready_text, strlen(k->ready_text), NULL, &objects, &err) < 0)
        abort(); /* slipway wrote it */
    sw_json_set_str(doc, k->state, "state", NULL);
    sw_json_set_str(doc, k->variant, "variant", NULL);
    sw_json_set_str(doc, k->ready, "ready", NULL);
    sw_json_set_str(doc, k->failed, "failed", NULL);
    sw_json_set_str(doc, k->failed_revision ? k->failed_revision : "", "failedRevision", NULL);
    sw_json_set_str(doc, k->why ? k->why : "", "why", NULL);
    sw_json_set(doc, objects, "objects", NULL);
    return doc;
}

/* The kept states as text of the Secret; heap. */
static char *pack(const struct rollback *b)
{
    SW_AUTO_JSON *all = json_object_new_object();
    struct json_object *states = sw_json_need_list(all, "states", NULL);
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].ready_text && sw_plan_view_find(b->r->plan, b->items[i].state) >= 0)
            (void)json_object_array_add(states, item_doc(&b->items[i]));
    return sw_release_pack(all);
}

static void warn(struct rollback *b, const char *reason, const char *message)
{
    sw_log(SW_LOG_WARN, reason, "resource", b->r->name, "why", message, NULL);
    event_record(b->r,
                 &(struct sw_action){ .warning = true, .reason = reason, .message = message });
}

static void write_all(struct rollback *b);

/* What is kept was written, or cannot be. */
static void write_end(struct rollback *b, int code, const char *message)
{
    json_object_put(SW_TAKE(b->doc));
    if (code == SW_UNAVAILABLE || code == SW_CONFLICT) {
        b->dirty = true;
        sw_timer_set(b->timer, RETRY_MS);
        return;
    }
    if (code < 0)
        warn(b, "RollbackNotKept", message);
    if (b->dirty) {
        write_all(b);
    } else if (b->render_again) {
        b->render_again = false;
        resource_render_again(b->r);
    }
}

static void on_settled(int code, const char *message, void *arg)
{
    struct rollback *b = arg;
    b->status = NULL;
    if (code < 0) /* the content before it is trusted, too */
        sw_log(SW_LOG_DEBUG, "digest of what is kept", "error", message, NULL);
    if (code == 0)
        record_doubt_end(b->r);
    write_end(b, 0, NULL);
}

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct rollback *b = arg;
    b->req = NULL;
    if (a->code < 0) {
        write_end(b, a->code, sw_err_text(a->err));
        return;
    }
    struct json_object *change = json_object_new_object();
    records_put(change, sw_obj_name(b->doc), b->digest);
    b->status = records_write(b->r, change, on_settled, b);
}

/* The status lets the Secret have its content. */
static void on_allowed(int code, const char *message, void *arg)
{
    struct rollback *b = arg;
    struct resource *r = b->r;
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Secret");
    b->status = NULL;
    if (code < 0 || !kind)
        write_end(b, code < 0 ? code : SW_INVALID, message ? message : "no Secrets are served");
    else
        b->req = sw_kube_apply(r->c->kube, kind, resource_namespace(r), sw_obj_name(b->doc), b->doc,
                               REQUEST_OWN(RECORDS, .force = true, .retries = RETRIES), on_written,
                               b);
}

static void write_all(struct rollback *b)
{
    struct resource *r = b->r;
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Secret");
    SW_AUTO_CHARS *packed = pack(b);
    b->dirty = false;
    if (!kind || strlen(packed) > MAX_BYTES) {
        warn(b, "RollbackNotKept",
             kind ? "what the states are made of is larger than a Secret may be"
                  : "the server serves no Secrets");
        b->render_again = false;
        return;
    }
    struct json_object *doc = b->doc = json_object_new_object(), *change;
    SW_AUTO_CHARS *name = secret_name(r);
    size_t len;
    SW_AUTO_CHARS *twice = sw_base64_encode(packed, strlen(packed), &len);
    char salt[SW_RECORD_SALT_HEX];
    sw_record_salt(salt);
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Secret", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, resource_namespace(r), "metadata", "namespace", NULL);
    sw_json_set_str(doc, "true", "metadata", "labels", SW_OWNED_LABEL, NULL);
    sw_json_set(doc, resource_as_owner(r), "metadata", "ownerReferences", NULL);
    sw_json_set_str(doc, salt, "metadata", "annotations", SW_RECORD_SALT, NULL);
    sw_json_set_str(doc, "slipway.dev/rollback", "type", NULL);
    sw_json_set_str(doc, twice, "data", "states", NULL);
    sw_record_digest(doc, packed, b->digest);
    SW_AUTO_CHARS *digests = records_with(r, name, b->digest);
    change = json_object_new_object();
    records_put(change, name, digests);
    b->status = records_write(r, change, on_allowed, b);
}

static void read_secret(struct rollback *b)
{
    struct resource *r = b->r;
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Secret");
    SW_AUTO_CHARS *name = secret_name(r);
    if (!kind) {
        b->known = true;
        return;
    }
    b->req = sw_kube_get(r->c->kube, kind, resource_namespace(r), name,
                         REQUEST_OWN(RECORDS, .retries = RETRIES), on_read, b);
}

static void on_timer(void *arg)
{
    struct rollback *b = arg;
    if (b->req || b->status)
        return;
    if (!b->known)
        read_secret(b);
    else if (b->dirty && b->r->plan)
        write_all(b);
}

static void resource_close(struct resource *r)
{
    struct rollback *b = SW_TAKE(r->state[CAPABILITY_rollback]);
    if (!b)
        return;
    sw_kube_cancel(b->req);
    records_cancel(b->status);
    json_object_put(b->doc);
    sw_timer_free(b->timer);
    for (struct kept *k = b->items; k < b->items + b->n; k++) {
        free(k->state);
        free(k->variant);
        free(k->now_text);
        free(k->ready_text);
        free(k->failed_revision);
        free(k->why);
    }
    free(b->items);
    free(b);
}

static bool plan_ready(struct resource *r)
{
    if (!is_wanted(r)) {
        resource_close(r);
        return true;
    }
    if (!rollback_of(r)) {
        struct rollback *b = r->state[CAPABILITY_rollback] = sw_zalloc(1, sizeof *b);
        b->r = r;
        b->timer = sw_timer_new(r->c->loop, on_timer, b);
        read_secret(b);
    }
    return rollback_of(r)->known;
}

/* ---- renders -----------------------------------------------------------------------------------
 */

/* Has the content of now failed before? Random templates (passwords) differ each time: then the
 * revision is compared. */
static bool has_failed(const struct resource *r, const struct kept *k)
{
    return *k->failed && !sw_streq(k->now, k->ready) &&
           (sw_streq(k->now, k->failed) ||
            (r->revision && sw_streq(r->revision, k->failed_revision)));
}

/* Those of @objects that belong to a rollback; the caller's. The annotation makes its hooks differ
 * from those of the last rollback. */
static struct json_object *for_rollback(const struct kept *k, struct json_object *objects)
{
    struct json_object *list = json_object_new_array();
    const char *failed = k->failed_revision && *k->failed_revision ? k->failed_revision : k->failed;
    SW_AUTO_CHARS *mark = sw_printf("%.*s", MARK_LEN, failed);
    for (size_t i = 0; i < sw_json_len(objects); i++) {
        struct json_object *item = sw_json_at(objects, i);
        const char *only = sw_json_str(item, "", "only", NULL);
        if (sw_streq(only, RENDER_ONLY_FORWARD))
            continue;
        if (sw_streq(only, RENDER_ONLY_BACK))
            sw_json_set_str(item, mark, "doc", "metadata", "annotations", "slipway.dev/rollback-of",
                            NULL);
        (void)json_object_array_add(list, json_object_get(item));
    }
    return list;
}

static const char *rendered(struct resource *r, struct render *w)
{
    struct rollback *b = rollback_of(r);
    const char *state = render_state(w), *variant = render_variant(w);
    SW_AUTO_JSON *objects = NULL;
    SW_ERR(err);
    size_t len;
    if (!b || !b->known || sw_streq(state, SW_STATE_NAMESPACE))
        return NULL;
    SW_AUTO_JSON *fresh = render_objects(w);
    struct kept *k = need(b, state, variant ? variant : "");
    sw_json_sha256(fresh, k->now);
    free(k->now_text);
    k->now_text = sw_streq(k->now, k->ready) ? NULL : sw_json_text(fresh, SW_JSON_SORTED, &len);
    k->active = k->ready_text && has_failed(r, k) &&
                sw_json_parse(k->ready_text, strlen(k->ready_text), NULL, &objects, &err) == 0;
    if (!k->active)
        return NULL;
    SW_AUTO_JSON *kept = for_rollback(k, objects);
    render_replace(w, kept);
    return k->why && *k->why ? k->why : "what came after it failed";
}

static bool is_rolled_back(const struct resource *r)
{
    for (size_t i = 0; rollback_of(r) && i < rollback_of(r)->n; i++)
        if (rollback_of(r)->items[i].active)
            return true;
    return false;
}

/* ---- states that are ready, or have failed -----------------------------------------------------
 */

/* The state is ready with the content of now. */
static void keep(struct rollback *b, struct kept *k)
{
    if (k->active || !*k->now || sw_streq(k->now, k->ready) || !k->now_text)
        return;
    memcpy(k->ready, k->now, sizeof k->ready);
    free(k->ready_text);
    k->ready_text = SW_TAKE(k->now_text);
    k->failed[0] = '\0';
    free(SW_TAKE(k->failed_revision));
    free(SW_TAKE(k->why));
    b->dirty = true;
}

/* The content of now has failed. @return whether the state is rolled back */
static bool give_up(struct rollback *b, struct kept *k, const char *why)
{
    if (k->active || !k->ready_text || sw_streq(k->now, k->ready) || has_failed(b->r, k))
        return false;
    memcpy(k->failed, k->now, sizeof k->failed);
    sw_text_set(&k->failed_revision, b->r->revision);
    sw_text_set(&k->why, why);
    b->dirty = b->render_again = true;
    return true;
}

static void on_state(const struct sw_state_view *state, void *arg)
{
    struct rollback *b = arg;
    bool rolled = false;
    for (size_t i = 0; i < b->n; i++) {
        struct kept *k = &b->items[i];
        if (!sw_streq(k->state, state->name))
            continue;
        if (state->ready)
            keep(b, k);
        else if (state->failed)
            rolled = give_up(b, k, state->why) || rolled;
    }
    if (!rolled)
        return;
    SW_AUTO_CHARS *message = sw_printf("state %s: what it was made of when it was ready last is "
                                       "applied again, as the new failed: %s",
                                       state->name, state->why);
    warn(b, "RolledBack", message);
}

static void update(struct resource *r)
{
    struct rollback *b = rollback_of(r);
    if (!b || !b->known || !is_wanted(r) || r->fault || !r->plan || resource_is_planning(r) ||
        resource_is_rendering(r))
        return;
    sw_engine_each_state(r->engine, on_state, b);
    if (b->dirty && !b->req && !b->status)
        write_all(b);
}

/* ---- removal -----------------------------------------------------------------------------------
 */

static void on_removed(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        sw_log(SW_LOG_DEBUG, "kept states", "error", sw_err_text(a->err), NULL);
    else
        records_forget(op->r, op->key.name);
    op_free(op);
}

/* Delete the Secret when the resource is removed. */
static bool intent(struct resource *r, enum resource_intent intent)
{
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Secret");
    bool may_exist = rollback_of(r) || is_asked(r);
    if (intent != INTENT_REMOVE)
        return true;
    resource_close(r);
    if (!kind || !may_exist)
        return true;
    SW_AUTO_CHARS *name = secret_name(r);
    const struct sw_key key = { "v1", "Secret", resource_namespace(r), name };
    struct op *op = op_new(r, &key, 0);
    op->req = sw_kube_delete(r->c->kube, kind, key.ns, name,
                             REQUEST_OWN(RECORDS, .retries = RETRIES), on_removed, op);
    return true;
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static void add_revision(struct resource *r, struct json_object *all)
{
    if (rollback_of(r))
        sw_json_set(all, json_object_new_boolean(true), "rollback", NULL);
}

static unsigned extra_hooks(const struct resource *r)
{
    return rollback_of(r) ? SW_HOOK_PRE_ROLLBACK | SW_HOOK_POST_ROLLBACK : 0;
}

const struct capability capability_rollback = {
    .name = "rollback",
    .summary = "spec.rollback: a state that fails goes back to what it was ready with",
    .plan_ready = plan_ready,
    .add_revision = add_revision,
    .extra_hooks = extra_hooks,
    .rendered = rendered,
    .is_rolled_back = is_rolled_back,
    .stepped = update,
    .intent = intent,
    .resource_close = resource_close,
};
