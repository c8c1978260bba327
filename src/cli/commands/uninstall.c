/* slipway uninstall: delete what slipway created, whether an operator runs or not: by the inventory
 * and the node labels in each resource's status, not by rendering again. Objects that were replaced
 * since, or that existed before, are kept. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/hook_run.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/cluster/shared_releases.h"
#include "cli/commands/commands.h"
#include "cli/commands/uninstall.h"
#include "cli/view/report.h"
#include "data/data.h"
#include "operator/inventory/inventory.h"
#include "operator/manifests/ownership.h"
#include "operator/manifests/shared_release.h"

#define PART_OF "app.kubernetes.io/part-of=slipway"
#define API_VERSION "sro.openshift.io/v1beta1"

extern const struct sw_embedded sw_deploy_crds[];

static const struct sw_flag flags[] = {
    { "plan", 0, SW_FLAG_BOOL, offsetof(struct uninstall_opts, plan), NULL, NULL,
      "print what would be done, and do nothing (default)" },
    { "yes", 0, SW_FLAG_BOOL, offsetof(struct uninstall_opts, yes), NULL, NULL, "delete" },
    { "keep-operator", 0, SW_FLAG_BOOL, offsetof(struct uninstall_opts, keep_operator), NULL, NULL,
      "delete only the resources, not the operator and the definitions" },
    { "no-hooks", 0, SW_FLAG_BOOL, offsetof(struct uninstall_opts, no_hooks), NULL, NULL,
      "do not run the hooks of a deletion" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct uninstall_opts, timeout_ms), "TIME", NULL,
      "time limit for the hooks before, for those after a resource's objects are deleted, and for "
      "each object with a finalizer to go (default 5m)" },
    SW_CONNECT_FLAGS(struct uninstall_opts, connect),
    { 0 },
};

/* ---- one step ----------------------------------------------------------------------------------
 */

void uninstall_say(struct uninstall *u, const char *verb, const char *kind, const char *ns,
                   const char *name, const char *why)
{
    (void)printf("%s %s %s%s%s%s%s\n", verb, kind, ns ? ns : "", ns ? "/" : "", name,
                 *why ? ": " : "", why);
    u->n_done += !sw_streq(verb, "keep");
}

void uninstall_failed(struct uninstall *u, const struct sw_err *err)
{
    (void)fprintf(stderr, "slipway uninstall: %s\n", sw_err_text(err));
    u->n_failed++;
}

bool uninstall_is_orphaning(struct json_object *resource)
{
    return sw_streq(sw_json_str(resource, "", "spec", "deletionPolicy", NULL), "orphan");
}

static void remove_object(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                          const char *name, const char *uid, const char *why)
{
    SW_ERR(err);
    uninstall_say(u, "delete", kind->kind, ns, name, why);
    if (u->opts.plan && sw_streq(kind->kind, "Namespace"))
        uninstall_tell_foreign(u, name);
    if (u->opts.plan)
        return;
    const struct sw_request_opts opts = { .propagation = "Background", .retries = 3, .uid = uid };
    int rc = sw_cluster_delete(&u->conn, kind, ns, name, &opts, &err);
    if (rc < 0 && rc != SW_NOTFOUND)
        uninstall_failed(u, &err);
}

/* ---- resources ---------------------------------------------------------------------------------
 */

/* Of whom an object is, and whose it becomes. */
struct change_of_owner {
    struct json_object *resource; /* the former owner */
    struct json_object *heir;     /* {name, uid} */
    const char *release;          /* shared */
};

static void change_owner(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                         struct json_object *live, sw_cluster_change_fn *make,
                         const struct change_of_owner *how)
{
    SW_ERR(err);
    if (!u->opts.plan && sw_cluster_change(&u->conn, kind, ns, live, make, how, &err) < 0)
        uninstall_failed(u, &err);
}

static struct json_object *released(struct json_object *live, const void *arg)
{
    const struct change_of_owner *how = arg;
    return sw_ownership_release(live, sw_obj_uid(how->resource));
}

/* Remove the owner reference of an object that is kept, so that it is not garbage collected. */
static void release_object(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                           struct json_object *live, struct json_object *resource)
{
    change_owner(u, kind, ns, live, released, &(struct change_of_owner){ .resource = resource });
}

static struct json_object *handed_over(struct json_object *live, const void *arg)
{
    const struct change_of_owner *how = arg;
    return sw_ownership_hand_over(live, sw_obj_uid(how->resource), sw_obj_name(how->resource),
                                  how->heir);
}

/* An object of a shared release that others use becomes that of the next owner. */
static void hand_over(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                      struct json_object *live, struct json_object *resource,
                      struct json_object *heir)
{
    const struct change_of_owner how = { .resource = resource, .heir = heir };
    SW_AUTO_JSON *patch = handed_over(live, &how);
    if (!patch)
        return;
    SW_AUTO_CHARS *why = sw_printf("it is resource %s's now", sw_json_str(heir, "", "name", NULL));
    uninstall_say(u, "keep", kind->kind, ns, sw_obj_name(live), why);
    change_owner(u, kind, ns, live, handed_over, &how);
}

static struct json_object *kept_for_release(struct json_object *live, const void *arg)
{
    const struct change_of_owner *how = arg;
    return sw_ownership_keep(live, sw_obj_uid(how->resource), how->release);
}

/* An object of the kind that @definition, of @release, defines, which neither made; the caller's.
 * NULL: there is none. */
static struct json_object *find_foreign(struct uninstall *u, struct json_object *definition,
                                        const char *release)
{
    const char *group = sw_json_str(definition, "", "spec", "group", NULL),
               *kind = sw_json_str(definition, "", "spec", "names", "kind", NULL);
    struct json_object *versions = sw_json_find(definition, "spec", "versions", NULL);
    for (size_t v = 0; v < sw_json_len(versions); v++) {
        SW_AUTO_CHARS *version = sw_printf("%s/%s", group,
                                           sw_json_str(sw_json_at(versions, v), "", "name", NULL));
        SW_AUTO_JSON *list = NULL;
        SW_ERR(err);
        const struct sw_request_opts opts = { .retries = 3 };
        if (sw_cluster_find(&u->conn, version, kind, NULL, NULL, &opts, &list, &err) < 0)
            continue;
        for (size_t i = 0; i < sw_json_len(list); i++)
            if (sw_shared_is_foreign(sw_json_at(list, i), release))
                return json_object_get(sw_json_at(list, i));
        return NULL;
    }
    return NULL;
}

/* A definition of a shared release stays where somebody has objects of it. @return whether it does
 */
static bool keep_definition(struct uninstall *u, const struct sw_kind *kind,
                            struct json_object *live, struct json_object *resource,
                            const char *release)
{
    SW_AUTO_JSON *foreign = release && sw_streq(kind->kind, "CustomResourceDefinition")
                                ? find_foreign(u, live, release)
                                : NULL;
    if (!foreign)
        return false;
    SW_AUTO_CHARS *why = sw_printf("%s %s is not slipway's", sw_obj_kind(foreign),
                                   sw_obj_name(foreign));
    uninstall_say(u, "keep", kind->kind, NULL, sw_obj_name(live), why);
    change_owner(u, kind, NULL, live, kept_for_release,
                 &(struct change_of_owner){ .resource = resource, .release = release });
    return true;
}

/* What of others goes with @live, a definition, for people; the caller's. NULL: nothing does. */
static char *lost_with(struct uninstall *u, const struct sw_kind *kind, struct json_object *live,
                       struct json_object *resource)
{
    if (!sw_streq(kind->kind, "CustomResourceDefinition"))
        return NULL;
    SW_AUTO_CHARS *release = sw_printf(
        "%s/", sw_json_str(resource, sw_obj_name(resource), "spec", "namespace", NULL));
    SW_AUTO_JSON *foreign = find_foreign(u, live, release);
    const char *ns = foreign ? sw_obj_namespace(foreign) : "";
    return foreign ? sw_printf("with it goes %s %s%s%s, which slipway did not make",
                               sw_obj_kind(foreign), ns, *ns ? "/" : "", sw_obj_name(foreign))
                   : NULL;
}

/* Another resource, which stays and has objects in this namespace, or of the kind that this
 * definition defines; borrowed. NULL: there is none, or @live is something else, or a definition of
 * the shared @release. */
static struct json_object *find_user(const struct uninstall *u, const struct sw_kind *kind,
                                     struct json_object *live, const char *release)
{
    const char *group = sw_json_str(live, "", "spec", "group", NULL),
               *defined = sw_json_str(live, "", "spec", "names", "kind", NULL);
    for (size_t i = 0; u->only && i < sw_json_len(u->resources); i++) {
        struct json_object *other = sw_json_at(u->resources, i);
        if (sw_streq(u->only, sw_obj_name(other)) ||
            sw_json_find(other, "metadata", "deletionTimestamp", NULL))
            continue;
        struct json_object *inventory = sw_inventory_of(sw_json_get(other, "status"));
        if ((sw_streq(kind->kind, "Namespace") &&
             sw_inventory_needs_namespace(inventory, sw_obj_name(live))) ||
            (!release && sw_streq(kind->kind, "CustomResourceDefinition") &&
             sw_inventory_needs_kind(inventory, group, defined)))
            return other;
    }
    return NULL;
}

/* What another resource needs becomes its. @return whether it does */
static bool hand_over_needed(struct uninstall *u, const struct sw_kind *kind,
                             struct json_object *live, struct json_object *resource,
                             const char *release)
{
    struct json_object *user = find_user(u, kind, live, release);
    if (!user)
        return false;
    SW_AUTO_JSON *heir = json_object_new_object();
    sw_json_set_str(heir, sw_obj_name(user), "name", NULL);
    sw_json_set_str(heir, sw_obj_uid(user), "uid", NULL);
    hand_over(u, kind, NULL, live, resource, heir);
    return true;
}

/* Note on @resource what its removal waits for, for whoever looks at it then. */
static void tell_held(struct uninstall *u, struct json_object *resource, const char *why)
{
    const struct sw_kind *kind;
    SW_AUTO_JSON *patch = json_object_new_object();
    SW_ERR(ignored);
    sw_json_set_str(patch, why, "metadata", "annotations", SW_UNINSTALLING, NULL);
    if (sw_cluster_resource_kind(&u->conn, &kind, &ignored) == 0)
        (void)!sw_cluster_patch(&u->conn, kind, NULL, sw_obj_name(resource), patch, &ignored);
}

/* Delete @live, and wait until its controller has done with it: that needs objects which are
 * deleted after it. @return whether it has */
static bool remove_live(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                        struct json_object *live, const char *uid, const char *why,
                        struct json_object *resource)
{
    SW_ERR(err);
    remove_object(u, kind, ns, sw_obj_name(live), uid, why);
    if (u->opts.plan || !uninstall_held_by(live) ||
        uninstall_await_gone(u, kind, ns, live, &err) == 0)
        return true;
    tell_held(u, resource, sw_err_text(&err));
    (void)sw_err_wrap(&err, err.code, "%s: it stays until its objects have gone",
                      sw_obj_name(resource));
    uninstall_failed(u, &err);
    return false;
}

/* @heirs: {release: who owns it from now on}. @return whether what it needs may go, too */
static bool remove_entry(struct uninstall *u, struct json_object *resource,
                         struct json_object *entry, struct json_object *heirs)
{
    const char *release = sw_json_str(entry, NULL, "release", NULL);
    struct json_object *heir = release ? sw_json_get(heirs, release) : NULL;
    const char *kind_name = sw_json_str(entry, "", "kind", NULL);
    const char *name = sw_json_str(entry, "", "name", NULL);
    const char *ns = sw_json_str(entry, NULL, "namespace", NULL);
    const char *uid = sw_json_str(entry, NULL, "uid", NULL);
    const char *kept = sw_json_bool(entry, false, "keep", NULL)      ? "its recipe says so"
                       : sw_json_bool(entry, false, "adopted", NULL) ? "it was taken over"
                       : uninstall_is_orphaning(resource)
                           ? "the resource's deletionPolicy is orphan"
                           : NULL;
    const struct sw_kind *kind;
    SW_AUTO_JSON *live = NULL;
    SW_ERR(err);
    if (sw_cluster_kind(&u->conn, sw_json_str(entry, "", "apiVersion", NULL), kind_name, &kind,
                        &err) < 0)
        return true; /* its definition was deleted, and the object with it */
    int rc = sw_cluster_get(&u->conn, kind, kind->namespaced ? ns : NULL, name, NULL, &live, &err);
    if (rc == SW_NOTFOUND)
        return true;
    if (rc < 0)
        uninstall_failed(u, &err);
    else if (uid && *uid && !sw_streq(uid, sw_obj_uid(live)))
        uninstall_say(u, "keep", kind_name, ns, name, "it is another one than slipway made");
    else if (heir)
        hand_over(u, kind, kind->namespaced ? ns : NULL, live, resource, heir);
    else if (kept) {
        uninstall_say(u, "keep", kind_name, ns, name, kept);
        release_object(u, kind, kind->namespaced ? ns : NULL, live, resource);
    } else if (!hand_over_needed(u, kind, live, resource, release) &&
               !keep_definition(u, kind, live, resource, release)) {
        SW_AUTO_CHARS *why = release ? NULL : lost_with(u, kind, live, resource);
        return remove_live(u, kind, kind->namespaced ? ns : NULL, live, uid && *uid ? uid : NULL,
                           why ? why : "", resource);
    }
    return true;
}

/* ---- hooks of a deletion -----------------------------------------------------------------------
 */

/* Read the resource's release, unless hooks are not to be run. */
static int find_hooks(struct uninstall *u, struct json_object *resource, struct sw_hook_run *run,
                      struct sw_err *err)
{
    const char *without = sw_obj_annotation(resource, SW_DELETION_NO_HOOKS);
    if (u->opts.no_hooks || uninstall_is_orphaning(resource) || sw_streq(without, "true"))
        return 0;
    int rc = sw_hook_run_init(run, &u->conn, resource, err);
    run->is_deletion = true;
    if (rc == SW_NOTFOUND) /* it was not Ready yet, or its namespace was deleted */
        sw_err_done(err);
    return rc == SW_NOTFOUND ? 0 : rc;
}

/* @return whether the deletion may go on */
static bool run_hooks(struct uninstall *u, struct sw_hook_run *run, const char *event)
{
    bool passed = true;
    size_t n;
    SW_ERR(err);
    int rc = run->release ? sw_hook_run_read(run, event, &err) : 0;
    for (size_t i = 0; u->opts.plan && i < run->hooks.n; i++)
        (void)printf("run hook %s\n", run->hooks.items[i].key);
    if (rc == 0 && !u->opts.plan && run->hooks.n) {
        u->conn.until_ms = sw_loop_now_ms(u->conn.loop) + u->opts.timeout_ms;
        rc = sw_hook_run_all(run, &n, &passed, &err);
        u->conn.until_ms = 0;
    }
    if (rc == 0 && passed)
        return true;
    if (rc == 0)
        (void)sw_err_set(&err, SW_INVALID, "a hook failed");
    (void)sw_err_wrap(&err, err.code, "%s: %s hooks: it stays until they succeed (or --no-hooks)",
                      sw_obj_name(run->resource), event);
    uninstall_failed(u, &err);
    return false;
}

/* ---- one resource ------------------------------------------------------------------------------
 */

static int patch_resource(struct uninstall *u, const struct sw_kind *kind,
                          struct json_object *resource, struct json_object *patch)
{
    SW_ERR(err);
    int rc = sw_cluster_patch(&u->conn, kind, NULL, sw_obj_name(resource), patch, &err);
    if (rc < 0 && rc != SW_NOTFOUND)
        uninstall_failed(u, &err);
    return rc == SW_NOTFOUND ? 0 : rc;
}

/* Delete the resource, whose hooks have run: an operator must not run them again. The finalizer is
 * removed last. */
static void remove_itself(struct uninstall *u, const struct sw_kind *kind,
                          struct json_object *resource)
{
    const char *name = sw_obj_name(resource), *uid = sw_obj_uid(resource);
    SW_AUTO_JSON *no_hooks = json_object_new_object();
    SW_AUTO_JSON *no_finalizers = json_object_new_object();
    sw_json_set_str(no_hooks, "true", "metadata", "annotations", SW_DELETION_NO_HOOKS, NULL);
    sw_json_set(no_finalizers, NULL, "metadata", "finalizers", NULL);
    if (!u->opts.plan)
        (void)patch_resource(u, kind, resource, no_hooks);
    remove_object(u, kind, NULL, name, uid, "");
    if (!u->opts.plan && sw_json_len(sw_json_find(resource, "metadata", "finalizers", NULL)))
        (void)patch_resource(u, kind, resource, no_finalizers);
}

/* Delete the objects of the inventory; @last: only the namespaces, in which post-delete hooks run,
 * else all others. @return false: an object has not gone, and what it needs stays */
static bool remove_list(struct uninstall *u, struct json_object *resource,
                        struct json_object *inventory, struct json_object *heirs, bool last)
{
    bool goes = true;
    for (size_t i = sw_json_len(inventory); goes && i > 0; i--) {
        struct json_object *entry = sw_json_at(inventory, i - 1);
        bool is_ns = sw_streq(sw_json_str(entry, "", "kind", NULL), "Namespace");
        if (is_ns == last)
            goes = remove_entry(u, resource, entry, heirs);
    }
    return goes;
}

/* The first step of what it shares: @heirs and @objects as of sw_shared_releases_leave(). */
static int leave(struct uninstall *u, struct json_object *resource, bool plan,
                 struct json_object **heirs, struct json_object **objects)
{
    SW_ERR(err);
    json_object_put(SW_TAKE(*heirs));
    json_object_put(SW_TAKE(*objects));
    int rc = sw_shared_releases_leave(&u->conn, resource, u->only ? u->resources : NULL, plan,
                                      heirs, objects, &err);
    if (rc < 0)
        uninstall_failed(u, &err);
    return rc;
}

/* Keep Helm's records of objects that are kept. */
static void release_records(struct uninstall *u, struct json_object *resource, const char *ns)
{
    SW_AUTO_JSON *list = NULL;
    SW_ERR(err);
    if (!u->opts.plan && sw_releases_list(&u->conn, resource, &list, &err) < 0)
        uninstall_failed(u, &err);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *record = sw_json_at(list, i);
        release_object(u, sw_kube_kind_find(u->conn.kube, "v1", sw_obj_kind(record)), ns, record,
                       resource);
    }
}

static bool lists(struct json_object *list, const char *kind, const char *name)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(sw_json_str(sw_json_at(list, i), "", "kind", NULL), kind) &&
            sw_streq(sw_json_str(sw_json_at(list, i), "", "name", NULL), name))
            return true;
    return false;
}

/* Remove @name, which was handed over to @resource and has not come into its inventory yet, nor is
 * it among the @objects of what it shares. */
static void remove_inherited(struct uninstall *u, struct json_object *resource,
                             struct json_object *inventory, struct json_object *objects,
                             const char *api_version, const char *kind_name, const char *name)
{
    const struct sw_kind *kind;
    SW_AUTO_JSON *live = NULL;
    SW_ERR(err); /* what cannot be read stays */
    if (lists(inventory, kind_name, name) || lists(objects, kind_name, name) ||
        sw_cluster_kind(&u->conn, api_version, kind_name, &kind, &err) < 0 ||
        sw_cluster_get(&u->conn, kind, NULL, name, NULL, &live, &err) < 0 ||
        sw_json_find(live, "metadata", "deletionTimestamp", NULL) ||
        !sw_streq(sw_obj_annotation(live, "slipway.dev/resource"), sw_obj_name(resource)))
        return;
    SW_AUTO_JSON *entry = json_object_new_object();
    sw_json_set_str(entry, api_version, "apiVersion", NULL);
    sw_json_set_str(entry, kind_name, "kind", NULL);
    sw_json_set_str(entry, name, "name", NULL);
    sw_json_set_str(entry, sw_obj_uid(live), "uid", NULL);
    (void)remove_entry(u, resource, entry, NULL);
    (void)json_object_array_add(inventory, json_object_get(entry)); /* once */
}

/* The definitions and namespaces of its objects, where others have handed them over. */
static void remove_all_inherited(struct uninstall *u, struct json_object *resource,
                                 struct json_object *inventory, struct json_object *objects)
{
    for (size_t i = 0, n = sw_json_len(inventory); i < n; i++) {
        struct json_object *one = sw_json_at(inventory, i);
        const char *ns = sw_json_str(one, "", "namespace", NULL);
        const struct sw_kind *kind;
        SW_ERR(err); /* a kind that has gone needs nothing */
        if (sw_cluster_kind(&u->conn, sw_json_str(one, "", "apiVersion", NULL),
                            sw_json_str(one, "", "kind", NULL), &kind, &err) == 0 &&
            strchr(kind->group, '.')) {
            SW_AUTO_CHARS *name = sw_printf("%s.%s", kind->plural, kind->group);
            remove_inherited(u, resource, inventory, objects, "apiextensions.k8s.io/v1",
                             "CustomResourceDefinition", name);
        }
        if (*ns)
            remove_inherited(u, resource, inventory, objects, "v1", "Namespace", ns);
    }
}

/* As the operator deletes a resource. Objects that do not exist any more are no failure. */
static void remove_resource(struct uninstall *u, const struct sw_kind *kind,
                            struct json_object *resource, const struct sw_kind *node_kind,
                            struct json_object *nodes)
{
    const char *name = sw_obj_name(resource),
               *ns = sw_json_str(resource, "", "spec", "namespace", NULL);
    struct sw_hook_run run = { .resource = resource };
    struct json_object *inventory = sw_inventory_of(sw_json_get(resource, "status")), *heirs = NULL,
                       *objects = NULL;
    SW_ERR(err);
    ns = *ns ? ns : name;
    int rc = find_hooks(u, resource, &run, &err);
    if (rc < 0)
        uninstall_failed(u, &err);
    bool goes = rc == 0 && leave(u, resource, true, &heirs, &objects) == 0;
    run.kept = heirs;
    goes = goes && run_hooks(u, &run, "pre-delete");
    if (goes && !u->opts.plan) { /* a running operator must not create objects again */
        SW_AUTO_JSON *unmanaged = json_object_new_object();
        sw_json_set_str(unmanaged, "Unmanaged", "spec", "managementState", NULL);
        sw_json_set_str(unmanaged, "", "metadata", "annotations", SW_UNINSTALLING, NULL);
        goes = patch_resource(u, kind, resource, unmanaged) == 0 &&
               leave(u, resource, false, &heirs, &objects) == 0;
        run.kept = heirs;
    }
    if (goes) {
        goes = remove_list(u, resource, inventory, heirs, false) &&
               remove_list(u, resource, objects, heirs, false) && run_hooks(u, &run, "post-delete");
    }
    if (goes) {
        (void)(remove_list(u, resource, inventory, heirs, true) &&
               remove_list(u, resource, objects, heirs, true));
        if (!uninstall_is_orphaning(resource))
            remove_all_inherited(u, resource, inventory, objects);
        if (!u->opts.plan && sw_shared_releases_end(&u->conn, resource, &err) < 0)
            uninstall_failed(u, &err);
        if (uninstall_is_orphaning(resource))
            release_records(u, resource, ns);
        for (size_t i = 0; i < sw_json_len(nodes); i++)
            uninstall_clear_node(u, resource, node_kind, sw_json_at(nodes, i));
        remove_itself(u, kind, resource);
    }
    u->n_kept += !goes;
    json_object_put(heirs);
    json_object_put(objects);
    sw_hook_run_done(&run);
}

/* What a resource has left that was deleted without an operator. @return whether there is any */
static bool remove_left(struct uninstall *u, const struct sw_kind *node_kind,
                        struct json_object *nodes)
{
    const size_t before = u->n_done;
    SW_AUTO_JSON *resource = uninstall_left(u, nodes);
    struct json_object *inventory = sw_json_find(resource, "status", "inventory", NULL);
    if (sw_json_len(inventory) || sw_json_len(sw_json_find(resource, "status", "states", NULL)))
        (void)fprintf(stderr,
                      "slipway uninstall: there is no SpecialResource '%s' any more: this is what "
                      "it has left behind; hooks are not run, as the record of them is gone\n",
                      u->only);
    if (remove_list(u, resource, inventory, NULL, false))
        (void)remove_list(u, resource, inventory, NULL, true);
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        uninstall_clear_node(u, resource, node_kind, sw_json_at(nodes, i));
    return u->n_done > before;
}

static int not_found(const struct uninstall *u, struct sw_err *err)
{
    const char *meant = sw_cluster_nearest(u->resources, u->only);
    return sw_err_set(err, SW_NOTFOUND, "there is no SpecialResource '%s'%s%s%s", u->only,
                      meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

static int remove_resources(struct uninstall *u, struct sw_err *err)
{
    const struct sw_kind *kind, *node_kind;
    SW_AUTO_JSON *resources = NULL, *nodes = NULL;
    static const char *const node_fields[] = { "metadata.labels",
                                               "metadata.annotations.slipway\\.dev/taints",
                                               "spec.taints", NULL };
    int rc = sw_cluster_kind(&u->conn, API_VERSION, "SpecialResource", &kind, err);
    if (rc == SW_NOTFOUND) {
        sw_err_done(err);
        return 0; /* no definition, no resources */
    }
    if (rc == 0)
        rc = sw_cluster_kind(&u->conn, "v1", "Node", &node_kind, err);
    if (rc == 0)
        rc = sw_cluster_list(&u->conn, kind, NULL, NULL, &resources, err);
    if (rc == 0)
        rc = sw_cluster_list(&u->conn, node_kind, NULL,
                             &(struct sw_request_opts){ .fields = node_fields, .retries = 3 },
                             &nodes, err);
    bool found = !u->only, all = true; /* no resource, and no object that it has left, remains */
    u->resources = resources;
    for (size_t i = 0; rc == 0 && i < sw_json_len(resources); i++) {
        struct json_object *r = sw_json_at(resources, i);
        bool chosen = !u->only || sw_streq(u->only, sw_obj_name(r));
        all = all && chosen && !uninstall_is_orphaning(r) &&
              !sw_inventory_leaves_daemonset(sw_inventory_of(sw_json_get(r, "status")));
        if (!chosen)
            continue;
        found = true;
        remove_resource(u, kind, r, node_kind, nodes);
    }
    if (rc == 0 && !found) {
        found = remove_left(u, node_kind, nodes);
        all = !sw_json_len(resources);
    }
    if (rc == 0 && found && all && !u->n_kept && !u->n_failed)
        uninstall_clear_kernels(u, node_kind);
    if (rc == 0 && !found)
        rc = not_found(u, err);
    return rc;
}

/* ---- the operator ------------------------------------------------------------------------------
 */

/* The order in which objects of `make deploy` are deleted: the Deployment first, so that nothing is
 * created again, Namespaces last. @return -1: another kind */
static int rank_of(const struct sw_kind *kind)
{
    static const char *const order[] = { "Deployment",
                                         "ServiceMonitor",
                                         "PrometheusRule",
                                         "ConfigMap",
                                         "Service",
                                         "PodDisruptionBudget",
                                         "NetworkPolicy",
                                         "ValidatingAdmissionPolicyBinding",
                                         "ValidatingAdmissionPolicy",
                                         "ConsoleLink",
                                         "RoleBinding",
                                         "Role",
                                         "ClusterRoleBinding",
                                         "ClusterRole",
                                         "SecurityContextConstraints",
                                         "PriorityClass",
                                         "ServiceAccount",
                                         "Namespace" };
    for (size_t i = 0; i < SW_COUNT(order); i++)
        if (sw_streq(order[i], kind->kind))
            return (int)i;
    return -1;
}

static int by_rank(const void *a, const void *b)
{
    const struct sw_kind *x = *(const struct sw_kind *const *)a,
                         *y = *(const struct sw_kind *const *)b;
    int d = rank_of(x) - rank_of(y);
    return d ? d : strcmp(x->api_version, y->api_version);
}

static void remove_labelled(struct uninstall *u, const struct sw_kind *kind)
{
    SW_AUTO_JSON *items = NULL;
    SW_ERR(err);
    static const char *const fields[] = { "metadata.labels", NULL };
    if (sw_cluster_list(
            &u->conn, kind, NULL,
            &(struct sw_request_opts){ .label_selector = PART_OF, .fields = fields, .retries = 3 },
            &items, &err) < 0) {
        if (err.code != SW_NOTFOUND)
            uninstall_failed(u, &err);
        return;
    }
    for (size_t i = 0; i < sw_json_len(items); i++) {
        struct json_object *o = sw_json_at(items, i);
        remove_object(u, kind,
                      kind->namespaced ? sw_json_str(o, NULL, "metadata", "namespace", NULL) : NULL,
                      sw_obj_name(o), *sw_obj_uid(o) ? sw_obj_uid(o) : NULL, "");
    }
}

static void remove_operator(struct uninstall *u)
{
    struct sw_kind_list kinds = sw_cluster_removable(&u->conn);
    if (kinds.n)
        qsort(kinds.items, kinds.n, sizeof *kinds.items, by_rank);
    for (size_t i = 0; i < kinds.n; i++) /* a kind may be served in several versions */
        if (rank_of(kinds.items[i]) >= 0 &&
            (i == 0 || !sw_streq(kinds.items[i]->kind, kinds.items[i - 1]->kind)))
            remove_labelled(u, kinds.items[i]);
    free(kinds.items);
}

static void remove_definitions(struct uninstall *u)
{
    const struct sw_kind *kind;
    SW_ERR(err);
    if (sw_cluster_kind(&u->conn, "apiextensions.k8s.io/v1", "CustomResourceDefinition", &kind,
                        &err) < 0)
        return;
    for (const struct sw_embedded *f = sw_deploy_crds; f->name; f++) {
        SW_AUTO_JSON *doc = NULL, *live = NULL;
        SW_ERR(why);
        if (sw_yaml_parse(f->text, f->len_bytes, &(struct sw_yaml_opts){ .file = f->name }, &doc,
                          &why) < 0)
            continue;
        if (sw_cluster_get(&u->conn, kind, NULL, sw_obj_name(doc), NULL, &live, &why) == 0)
            remove_object(u, kind, NULL, sw_obj_name(doc), NULL, "");
    }
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int uninstall(struct uninstall *u)
{
    SW_ERR(err);
    if (sw_connection_init(&u->conn, "uninstall", &u->opts.connect, &err) < 0 ||
        sw_cluster_kinds(&u->conn, &err) < 0 || remove_resources(u, &err) < 0)
        return sw_cli_fail("uninstall", &err);
    bool all = !u->only && !u->opts.keep_operator;
    if (all && u->n_kept)
        (void)fprintf(stderr, "slipway uninstall: the operator and the definitions stay, as a "
                              "resource does\n");
    else if (all) {
        remove_operator(u);
        remove_definitions(u);
    }
    if (!u->n_done && !u->n_kept)
        (void)printf("nothing of slipway's is here\n");
    return u->n_failed ? SW_EXIT_FAILED : SW_EXIT_OK;
}

/* Nothing is deleted that was not asked for. */
static int uninstall_or_plan(struct uninstall *u)
{
    const bool asked = u->opts.plan || u->opts.yes;
    u->opts.plan = !u->opts.yes;
    const int rc = uninstall(u);
    if (rc == SW_EXIT_OK && !asked && u->n_done)
        (void)fprintf(stderr, "slipway uninstall: nothing was deleted: --yes deletes it\n");
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct uninstall u = { .opts = { .timeout_ms = 5 * 60000 } };
    struct sw_operands rest;
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &u.opts, 1, &rest);
    u.only = rc == 0 && rest.n ? rest.items[0] : NULL;
    if (rc)
        rc--;
    else if (u.opts.plan && u.opts.yes)
        rc = sw_cli_usage("uninstall", "either --plan, which says what would go, or --yes");
    else
        rc = uninstall_or_plan(&u);
    sw_connection_done(&u.conn);
    return rc;
}

const struct sw_command sw_command_uninstall = {
    .name = "uninstall",
    .args = "[NAME]",
    .summary = "delete what slipway created, whether an operator runs or not",
    .details = "With NAME one SpecialResource, or what one that was deleted has left behind, "
               "else all of\n"
               "them, the operator and the definitions. "
               "Deleted are the\n"
               "objects in a resource's inventory unless they were replaced since, what it has set "
               "on nodes, and\n"
               "objects with the label app.kubernetes.io/part-of=slipway.",
    .flags = flags,
    .execute = execute,
};
