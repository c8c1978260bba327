#include "emulator/rules/rules_store.h"
#include "emulator/admission/pdb.h"
#include "emulator/write/write.h"

#include "data/json/path.h"
#include "data/json/table.h"

#include <stdlib.h>
#include <string.h>

struct sw_rules_store {
    struct sw_store *store;
    struct sw_rules *rules;
    struct sw_subscription *sub;
    struct lh_table *watched; /* "group/Kind" */
    void (*pods_of)(void *arg, const char *node, int (*cb)(json_object *doc, void *arg),
                    void *cb_arg);
    void *arg;
};

/* The kind in any version: its CRD may serve another one than a rule names. NULL: it is not served.
 */
static const struct sw_emu_kind *kind_of(struct sw_rules_store *self, const char *api_version,
                                         const char *kind)
{
    const char *slash = strchr(api_version, '/');
    SW_AUTO_CHARS *group = sw_strndup(api_version, slash ? (size_t)(slash - api_version) : 0);
    const struct sw_emu_kind *k = sw_store_kind(self->store, group, kind);
    return k && k->served ? k : NULL;
}

static json_object *find(void *arg, const struct sw_rules_ref *ref)
{
    struct sw_rules_store *self = arg;
    const struct sw_emu_kind *kind = kind_of(self, ref->api_version, ref->kind);
    return kind ? sw_store_get(self->store, kind, ref->ns, ref->name) : NULL;
}

static void each(void *arg, const struct sw_rules_ref *ref, int (*cb)(json_object *doc, void *arg),
                 void *cb_arg)
{
    struct sw_rules_store *self = arg;
    const struct sw_emu_kind *kind = kind_of(self, ref->api_version, ref->kind);
    SW_STORE_LIST(list);
    if (!kind)
        return;
    if (ref->node && self->pods_of) {
        self->pods_of(self->arg, ref->node, cb, cb_arg);
        return;
    }
    sw_store_list(self->store, kind, ref->ns, &list);
    for (size_t i = 0; i < list.n; i++) {
        const char *node = sw_json_str(list.items[i], "", "spec", "nodeName", NULL);
        if ((!ref->node || sw_streq(node, ref->node)) && cb(list.items[i], cb_arg))
            return;
    }
}

static int is_namespaced(void *arg, const char *api_version, const char *kind)
{
    const struct sw_emu_kind *k = kind_of(arg, api_version, kind);
    return k ? k->namespaced : -1;
}

static void watch(void *arg, const char *api_version, const char *kind)
{
    struct sw_rules_store *self = arg;
    SW_AUTO_CHARS *key = sw_rules_kind_key(api_version, kind);
    if (!lh_table_lookup_entry(self->watched, key))
        (void)lh_table_insert(self->watched, SW_TAKE(key), NULL);
}

/* @return @rc; an error has the message of the store. */
static int failed(int rc, const struct sw_status *status, struct sw_err *err)
{
    return rc < 0 ? sw_err_set(err, rc, "%s", status->message ? status->message : "refused") : 0;
}

static int create(void *arg, json_object *doc, struct sw_err *err)
{
    struct sw_rules_store *self = arg;
    SW_STATUS(status);
    const struct sw_emu_kind *kind = kind_of(self, sw_obj_api_version(doc), sw_obj_kind(doc));
    if (!kind)
        return sw_err_set(err, SW_NOTFOUND, "the kind is not served");
    int rc = sw_store_create(self->store, kind, sw_obj_namespace(doc), doc, NULL, NULL, &status);
    return failed(rc, &status, err);
}

static int patch(void *arg, const struct sw_rules_ref *ref, bool on_status, json_object *doc,
                 struct sw_err *err)
{
    struct sw_rules_store *self = arg;
    SW_STATUS(status);
    const struct sw_emu_kind *kind = kind_of(self, ref->api_version, ref->kind);
    struct sw_store_opts opts = { .subresource = on_status && kind && kind->has_status ? "status"
                                                                                       : NULL };
    if (!kind)
        return sw_err_set(err, SW_NOTFOUND, "the kind is not served");
    int rc = sw_store_patch(self->store, kind, ref->ns, ref->name, SW_PATCH_MERGE, doc, &opts, NULL,
                            &status);
    return failed(rc, &status, err);
}

static int delete (void *arg, const struct sw_rules_ref *ref, enum sw_rules_removal how,
                   struct sw_err *err)
{
    struct sw_rules_store *self = arg;
    SW_STATUS(status);
    const struct sw_emu_kind *kind = kind_of(self, ref->api_version, ref->kind);
    struct sw_store_opts opts = { .grace_set = how == SW_RULES_DELETE_NOW };
    json_object *pod = how == SW_RULES_EVICT ? find(self, ref) : NULL;
    if (pod && sw_pdb_allow(self->store, pod, &status) < 0) {
        sw_status_done(&status);
        return SW_PENDING;
    }
    int rc = kind ? sw_store_delete(self->store, kind, ref->ns, ref->name, &opts, NULL, &status)
                  : SW_NOTFOUND;
    return rc == SW_NOTFOUND ? 0 : failed(rc, &status, err);
}

static void on_event(const struct sw_store_event *event, void *arg)
{
    struct sw_rules_store *self = arg;
    SW_AUTO_CHARS *key = sw_printf("%s/%s", event->kind->group, event->kind->kind);
    if (!self->rules || !lh_table_lookup_entry(self->watched, key))
        return;
    bool gone = event->type == SW_STORE_DELETED;
    sw_rules_changed(self->rules, gone ? event->object : event->old, gone ? NULL : event->object);
}

struct sw_rules_store *sw_rules_store_new(struct sw_store *store,
                                          void (*pods_of)(void *arg, const char *node,
                                                          int (*cb)(json_object *doc, void *arg),
                                                          void *cb_arg),
                                          void *arg)
{
    struct sw_rules_store *self = sw_zalloc(1, sizeof *self);
    self->store = store;
    self->pods_of = pods_of;
    self->arg = arg;
    self->watched = lh_kchar_table_new(32, sw_table_free_key);
    return self;
}

void sw_rules_store_attach(struct sw_rules_store *self, struct sw_rules *rules)
{
    self->rules = rules;
    if (!self->sub)
        self->sub = sw_store_subscribe(self->store, NULL, on_event, self);
}

void sw_rules_store_free(struct sw_rules_store *self)
{
    if (!self)
        return;
    sw_store_unsubscribe(self->sub);
    lh_table_free(self->watched);
    free(self);
}

static void objects_created(void *arg)
{
    const struct sw_rules_store *self = arg;
    sw_store_set_first_version(self->store);
}

struct sw_rules_backend sw_rules_store_backend(struct sw_rules_store *self)
{
    return (struct sw_rules_backend){ .self = self,
                                      .find = find,
                                      .each = each,
                                      .is_namespaced = is_namespaced,
                                      .watch = watch,
                                      .create = create,
                                      .patch = patch,
                                      .remove = delete,
                                      .objects_created = objects_created };
}
