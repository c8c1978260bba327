#include "emulator/rules/rules_client.h"

#include "emulator/rules/rules_client_internal.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_AGAIN_MS = 1000 };

static void row_ask(struct row *row);

/* ---- objects ------------------------------------------------------------------------------------
 */

/* Where @key is, or where it is to be inserted. */
static size_t place_of(const struct row *row, const char *key, bool *found)
{
    size_t low = 0, high = row->n_entries;
    *found = false;
    while (low < high && !*found) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(row->entries[mid].key, key);
        if (order == 0) {
            low = mid;
            *found = true;
        } else if (order < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

json_object *rules_row_find(const struct row *row, const char *key)
{
    bool found;
    size_t at = place_of(row, key, &found);
    return found ? row->entries[at].doc : NULL;
}

static void entry_drop(struct row *row, size_t at)
{
    free(row->entries[at].key);
    json_object_put(row->entries[at].doc);
    row->n_entries--;
    memmove(row->entries + at, row->entries + at + 1, (row->n_entries - at) * sizeof *row->entries);
}

static void report(struct row *row, json_object *before, json_object *after)
{
    if (row->reported && (before || after))
        sw_rules_changed(row->self->rules, before, after);
}

void rules_row_put(struct row *row, const char *key, json_object *doc)
{
    bool found;
    size_t at = place_of(row, key, &found);
    json_object *before = found ? json_object_get(row->entries[at].doc) : NULL;
    if (found && doc) {
        json_object_put(row->entries[at].doc);
        row->entries[at].doc = json_object_get(doc);
    } else if (found) {
        entry_drop(row, at);
    } else if (doc) {
        SW_GROW(row->entries, row->n_entries, row->cap_entries);
        struct entry *entry = row->entries + at;
        memmove(entry + 1, entry, (row->n_entries++ - at) * sizeof *entry);
        *entry = (struct entry){ sw_strdup(key), json_object_get(doc) };
    }
    report(row, before, doc);
    json_object_put(before);
}

uint64_t rules_version_of(json_object *doc)
{
    return strtoull(sw_json_str(doc, "0", "metadata", "resourceVersion", NULL), NULL, 10);
}

/* ---- watching a kind ----------------------------------------------------------------------------
 */

static void set_state(struct row *row, enum row_state state)
{
    row->state = state;
    if (state == ROW_ABSENT || state == ROW_READ)
        sw_timer_set(row->self->settle, 0);
}

/* The key of the kind that a CRD defines; the caller's. */
static char *crd_key(json_object *doc)
{
    return sw_printf("%s/%s", sw_json_str(doc, "", "spec", "group", NULL),
                     sw_json_str(doc, "", "spec", "names", "kind", NULL));
}

static bool is_established(json_object *doc)
{
    return sw_streq(sw_cond_status(doc, "Established"), "True");
}

/* A CRD has changed, or is deleted (@gone): discover its kind, or drop the objects. */
static void on_crd(struct sw_rules_client *self, json_object *doc, bool gone)
{
    SW_AUTO_CHARS *key = crd_key(doc);
    bool established = !gone && is_established(doc);
    for (struct row *row = self->rows; row; row = row->next) {
        if (!sw_streq(row->key, key) || row->state == ROW_ASKING)
            continue;
        if (established && row->state == ROW_ABSENT) {
            row_ask(row);
        } else if (gone && row->kind) {
            sw_kube_watch_close(SW_TAKE(row->watch));
            row->kind = NULL;
            while (row->n_entries) {
                SW_AUTO_CHARS *last = sw_strdup(row->entries[row->n_entries - 1].key);
                rules_row_put(row, last, NULL);
            }
            set_state(row, ROW_ABSENT);
        }
    }
}

static void on_object(struct row *row, const struct sw_watch_event *w)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", w->ns, w->name);
    json_object *had = rules_row_find(row, key);
    uint64_t version = w->resource_version ? strtoull(w->resource_version, NULL, 10) : 0;
    bool gone = w->type == SW_WATCH_DELETED;
    if (version > row->newest)
        row->newest = version;
    /* the answer to a write of the rules may have brought it already */
    bool known = !gone && had && rules_version_of(had) >= version;
    json_object *doc = json_object_get(w->object ? w->object : had);
    if (doc && !*sw_obj_kind(doc)) /* items of a list have neither */
        sw_json_set_str(doc, row->kind->kind, "kind", NULL);
    if (doc && !*sw_obj_api_version(doc))
        sw_json_set_str(doc, row->kind->api_version, "apiVersion", NULL);
    if (!known)
        rules_row_put(row, key, gone ? NULL : doc);
    if (doc && sw_streq(row->key, "apiextensions.k8s.io/CustomResourceDefinition"))
        on_crd(row->self, doc, gone);
    json_object_put(doc);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct row *row = arg;
    switch (w->type) {
    case SW_WATCH_SYNCED:
        set_state(row, ROW_READ);
        return;
    case SW_WATCH_ERROR:
        sw_log(SW_LOG_WARN, "rules cannot watch", "kind", row->key, "error", sw_err_text(w->err),
               NULL);
        if (row->state == ROW_LISTING)
            set_state(row, ROW_READ); /* the other kinds do not wait for it */
        return;
    default:
        on_object(row, w);
    }
}

/* ---- finding a kind -----------------------------------------------------------------------------
 */

/* A search for a row's kind. */
struct search {
    const struct row *row;
    const struct sw_kind *found;
};

/* The kind may be served in another version than the rules name. */
static void same_kind(const struct sw_kind *kind, void *arg)
{
    struct search *s = arg;
    SW_AUTO_CHARS *key = sw_printf("%s/%s", kind->group, kind->kind);
    if (!s->found && sw_streq(key, s->row->key))
        s->found = kind;
}

/* Open the watch if the kind is served. @return whether it is */
static bool row_open(struct row *row)
{
    static const char *const fields[] = { "!metadata.managedFields", NULL };
    struct sw_kube *kube = row->self->kube;
    struct search s = { row, sw_kube_kind_find(kube, row->api_version, row->kind_name) };
    if (!s.found)
        sw_kube_each_kind(kube, same_kind, &s);
    if (!s.found)
        return false;
    row->kind = s.found;
    row->newest = 0;
    row->state = ROW_LISTING;
    row->watch = sw_kube_watch_open(kube, s.found, &(struct sw_watch_opts){ .fields = fields },
                                    on_watch, row);
    return true;
}

static void on_again(void *arg)
{
    row_ask(arg);
}

static void ask_again(struct row *row)
{
    if (!row->again)
        row->again = sw_timer_new(row->self->loop, on_again, row);
    sw_timer_set(row->again, ASK_AGAIN_MS);
}

static void on_kind(int code, const struct sw_kind *kind SW_UNUSED,
                    const struct sw_err *err SW_UNUSED, void *arg)
{
    struct row *row = arg;
    row->asking = NULL;
    if (code == SW_UNAVAILABLE)
        ask_again(row); /* the state is still ROW_ASKING */
    else if (!row_open(row))
        set_state(row, ROW_ABSENT);
}

/* Whether a CRD says that the kind is served; discovery may be older than that. */
static bool is_promised(const struct row *row)
{
    const struct row *crds = row->self->rows;
    while (crds && !sw_streq(crds->key, "apiextensions.k8s.io/CustomResourceDefinition"))
        crds = crds->next;
    for (size_t i = 0; crds && i < crds->n_entries; i++) {
        json_object *doc = crds->entries[i].doc;
        SW_AUTO_CHARS *key = crd_key(doc);
        if (sw_streq(key, row->key))
            return is_established(doc);
    }
    return false;
}

static void on_version(int code, const struct sw_err *err SW_UNUSED, void *arg)
{
    struct row *row = arg;
    row->asking = NULL;
    if (row_open(row))
        return;
    if (code == SW_UNAVAILABLE || is_promised(row))
        ask_again(row);
    if (code != SW_UNAVAILABLE)
        set_state(row, ROW_ABSENT);
}

static void row_ask(struct row *row)
{
    if (row->asking || row->kind)
        return;
    row->state = ROW_ASKING;
    if (is_promised(row))
        row->asking = sw_kube_discover(row->self->kube, row->api_version, on_version, row);
    else
        row->asking = sw_kube_kind(row->self->kube, row->api_version, row->kind_name, on_kind, row);
}

struct row *rules_row(struct sw_rules_client *self, const char *api_version, const char *kind)
{
    SW_AUTO_CHARS *key = sw_rules_kind_key(api_version, kind);
    struct row **end = &self->rows;
    for (; *end; end = &(*end)->next)
        if (sw_streq((*end)->key, key))
            return *end;
    struct row *row = *end = sw_zalloc(1, sizeof *row);
    row->self = self;
    row->api_version = sw_strdup(api_version);
    row->kind_name = sw_strdup(kind);
    row->key = SW_TAKE(key);
    if (row_open(row))
        return row;
    if (is_promised(row)) /* its CRD came after discovery, and before anybody asked for the kind */
        row_ask(row);
    else /* all served kinds are known: this one comes with a CRD, if at all */
        set_state(row, ROW_ABSENT);
    return row;
}

/* ---- the backend --------------------------------------------------------------------------------
 */

static json_object *find(void *arg, const struct sw_rules_ref *ref)
{
    const struct row *row = rules_row(arg, ref->api_version, ref->kind);
    SW_AUTO_CHARS *key = sw_printf("%s/%s", ref->ns ? ref->ns : "", ref->name);
    return rules_row_find(row, key);
}

static void each(void *arg, const struct sw_rules_ref *ref, int (*cb)(json_object *doc, void *arg),
                 void *cb_arg)
{
    const struct row *row = rules_row(arg, ref->api_version, ref->kind);
    for (size_t i = 0; i < row->n_entries; i++) {
        json_object *doc = row->entries[i].doc;
        const char *node = sw_json_str(doc, "", "spec", "nodeName", NULL);
        if ((!ref->ns || sw_streq(sw_obj_namespace(doc), ref->ns)) &&
            (!ref->node || sw_streq(node, ref->node)) && cb(doc, cb_arg))
            return;
    }
}

static int is_namespaced(void *arg, const char *api_version, const char *kind)
{
    const struct row *row = rules_row(arg, api_version, kind);
    return row->reported && row->kind ? row->kind->namespaced : -1;
}

static void watch(void *arg, const char *api_version, const char *kind)
{
    (void)rules_row(arg, api_version, kind);
}

struct sw_rules_backend sw_rules_client_backend(struct sw_rules_client *self)
{
    return (struct sw_rules_backend){ .self = self,
                                      .find = find,
                                      .each = each,
                                      .is_namespaced = is_namespaced,
                                      .watch = watch,
                                      .create = rules_client_create,
                                      .patch = rules_client_patch,
                                      .remove = rules_client_remove };
}

/* ---- open and close -----------------------------------------------------------------------------
 */

static void on_discovered(int code, const struct sw_err *err, void *arg)
{
    struct sw_rules_client *self = arg;
    SW_ERR(inner);
    self->discovering = NULL;
    if (code == SW_UNAVAILABLE) {
        sw_timer_set(self->settle, ASK_AGAIN_MS);
        return;
    }
    if (code < 0) {
        self->failed(err, self->arg);
        return;
    }
    self->started = true;
    sw_rules_start(self->rules);
    if (sw_rules_create_objects(self->rules, &inner) < 0)
        self->failed(&inner, self->arg);
}

static void discover(struct sw_rules_client *self)
{
    self->discovering = sw_kube_discover(self->kube, "*", on_discovered, self);
}

/* Repeat discovery; once the rules have started, report the objects when all kinds have been read.
 */
static void on_timer(void *arg)
{
    struct sw_rules_client *self = arg;
    if (!self->started) {
        discover(self);
        return;
    }
    for (struct row *row = self->rows; row; row = row->next)
        if (row->state == ROW_ASKING || row->state == ROW_LISTING)
            return; /* set_state() sets the timer again */
    for (struct row *row = self->rows; row; row = row->next) {
        bool reported = row->reported;
        row->reported = true;
        for (size_t i = 0; !reported && i < row->n_entries; i++)
            report(row, NULL, row->entries[i].doc);
    }
    sw_rules_served(self->rules);
}

struct sw_rules_client *sw_rules_client_new(struct sw_loop *loop, struct sw_kube *kube)
{
    struct sw_rules_client *self = sw_zalloc(1, sizeof *self);
    self->loop = loop;
    self->kube = kube;
    self->settle = sw_timer_new(loop, on_timer, self);
    return self;
}

void sw_rules_client_start(struct sw_rules_client *self, struct sw_rules *rules,
                           void (*failed)(const struct sw_err *err, void *arg), void *arg)
{
    self->rules = rules;
    self->failed = failed;
    self->arg = arg;
    discover(self);
}

void sw_rules_client_free(struct sw_rules_client *self)
{
    if (!self)
        return;
    sw_kube_cancel(self->discovering);
    rules_client_drop_writes(self);
    for (struct row *row = self->rows, *next; row; row = next) {
        next = row->next;
        sw_kube_cancel(row->asking);
        sw_kube_watch_close(row->watch);
        sw_timer_free(row->again);
        while (row->n_entries)
            entry_drop(row, row->n_entries - 1);
        free(row->entries);
        free(row->api_version);
        free(row->kind_name);
        free(row->key);
        free(row);
    }
    sw_timer_free(self->settle);
    free(self);
}
