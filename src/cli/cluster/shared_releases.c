#include "cli/cluster/shared_releases.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/inventory/inventory.h"
#include "operator/manifests/ownership.h"
#include "operator/manifests/shared_release.h"

enum { RETRIES = 5, TRIES = 8, FORGET_DEADLINE_MS = 3000 };

/* ---- reading ------------------------------------------------------------------------------------
 */

static int list_namespaces(struct sw_connection *conn, struct json_object **out, struct sw_err *err)
{
    const struct sw_request_opts opts = { .label_selector = SW_SHARED_LABEL, .retries = RETRIES };
    return sw_cluster_find(conn, "v1", "Namespace", NULL, NULL, &opts, out, err);
}

int sw_shared_releases_read(struct sw_connection *conn, struct json_object **out,
                            struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = list_namespaces(conn, &list, err);
    if (rc < 0)
        return rc;
    struct json_object *all = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_JSON *releases = sw_shared_releases_of(sw_json_at(list, i));
        json_object_object_foreach(releases, release, entry)
        {
            SW_AUTO_CHARS *name = sw_printf("%s/%s", sw_obj_name(sw_json_at(list, i)), release);
            (void)json_object_object_add(all, name, json_object_get(entry));
        }
    }
    *out = all;
    return 0;
}

struct json_object *sw_shared_releases_of_others(struct json_object *all, const char *uid)
{
    struct json_object *others = json_object_new_object();
    json_object_object_foreach(all, name, entry)
    {
        if (!sw_shared_is_owned_by(entry, uid))
            (void)json_object_object_add(
                others, name, json_object_get(sw_json_get(sw_shared_owner(entry), "name")));
    }
    if (json_object_object_length(others))
        return others;
    json_object_put(others);
    return NULL;
}

struct json_object *sw_shared_releases_report(struct json_object *all, struct json_object *names,
                                              const char *uid)
{
    struct json_object *list = json_object_new_array();
    json_object_object_foreach(all, name, entry)
    {
        SW_AUTO_CHARS *others = sw_shared_others(entry, uid);
        if (!others || !(sw_json_has_text(names, name) || sw_shared_is_used_by(entry, uid)))
            continue;
        struct json_object *item = json_object_new_object();
        sw_json_set_str(item, name, "release", NULL);
        sw_json_set_str(item, sw_json_str(entry, "", "version", NULL), "version", NULL);
        sw_json_set_str(item, sw_json_str(sw_shared_owner(entry), "", "name", NULL), "owner", NULL);
        sw_json_set_str(item, others, "sharedWith", NULL);
        (void)json_object_array_add(list, item);
    }
    return list;
}

char *sw_shared_release_line(struct json_object *item)
{
    return sw_printf("shared release %s %s: shared with %s; owner %s",
                     sw_json_str(item, "", "release", NULL), sw_json_str(item, "", "version", NULL),
                     sw_json_str(item, "", "sharedWith", NULL),
                     sw_json_str(item, "", "owner", NULL));
}

/* ---- leaving ------------------------------------------------------------------------------------
 */

/* A resource, and what its leaving comes to. */
struct leaving {
    struct sw_connection *conn;
    struct json_object *resource, *resources;
    struct json_object *heirs, *objects; /* @forgets: @objects are uids */
    bool plan, ends, forgets;
};

/* Is it there, if only for now? */
static bool exists(const struct leaving *l, struct json_object *user)
{
    const char *uid = sw_json_str(user, "", "uid", NULL);
    for (size_t i = 0; i < sw_json_len(l->resources); i++)
        if (sw_streq(sw_obj_uid(sw_json_at(l->resources, i)), uid))
            return true;
    return false;
}

/* Is it there, and not about to go? */
static bool is_there(const struct leaving *l, struct json_object *user)
{
    const char *uid = sw_json_str(user, "", "uid", NULL);
    for (size_t i = 0; i < sw_json_len(l->resources); i++) {
        struct json_object *r = sw_json_at(l->resources, i);
        if (sw_streq(sw_obj_uid(r), uid))
            return !sw_json_find(r, "metadata", "deletionTimestamp", NULL);
    }
    return false;
}

/* @return 1: @entry, of @ns, has changed | 0 | SW_CONFLICT */
static int leave_entry(struct leaving *l, struct json_object *ns, const char *name,
                       struct json_object *entry, struct sw_err *err)
{
    const char *uid = sw_obj_uid(l->resource);
    bool changes = false;
    for (size_t i = sw_json_len(sw_json_get(entry, "users")); i-- > 0;) {
        struct json_object *user = sw_json_at(sw_json_get(entry, "users"), i);
        const char *other = sw_json_str(user, "", "uid", NULL);
        if (!sw_streq(other, uid) && !is_there(l, user))
            changes = sw_shared_forget(entry, other) || changes;
    }
    if (changes)
        sw_shared_inherit_namespace(entry, name, ns);
    if (sw_shared_must_wait(entry, uid))
        return sw_err_set(err, SW_CONFLICT, "shared release %s: resource %s has not handed it over",
                          name, sw_json_str(sw_shared_owner(entry), "", "name", NULL));
    struct json_object *waiting = sw_json_get(entry, "objects");
    for (size_t i = 0; sw_shared_is_owned_by(entry, uid) && i < sw_json_len(waiting); i++)
        (void)json_object_array_add(l->objects, sw_json_copy(sw_json_at(waiting, i)));
    SW_AUTO_JSON *objects = sw_shared_objects(sw_inventory_of(sw_json_get(l->resource, "status")),
                                              name);
    changes = sw_shared_leave(entry, uid, objects) || changes;
    struct json_object *heir = sw_shared_heir(entry, uid);
    if (heir)
        (void)json_object_object_add(l->heirs, name, json_object_get(heir));
    return changes;
}

/* Users whose resource is gone, though it has not left, do not count any more. @return 1: @entry
 * has changed | 0 */
static int forget_entry(struct leaving *l, struct json_object *ns, const char *name,
                        struct json_object *entry)
{
    bool changes = false;
    for (size_t i = sw_json_len(sw_json_get(entry, "users")); i-- > 0;) {
        struct json_object *user = sw_json_at(sw_json_get(entry, "users"), i);
        SW_AUTO_CHARS *gone = sw_strdup(sw_json_str(user, "", "name", NULL));
        if (exists(l, user))
            continue;
        bool forgets = sw_shared_forget(entry, sw_json_str(user, "", "uid", NULL));
        (void)fprintf(stderr, "slipway %s: shared release %s: resource %s is gone%s\n",
                      l->conn->command, name, gone,
                      forgets ? " and does not count any more" : ", and nobody else uses it");
        changes = changes || forgets;
        if (!forgets)
            (void)json_object_array_add(l->objects, json_object_get(sw_json_get(user, "uid")));
    }
    struct json_object *from = sw_json_get(entry, "from");
    if (from && !exists(l, from)) {
        sw_shared_forget_from(entry);
        changes = true;
    }
    if (changes)
        sw_shared_inherit_namespace(entry, name, ns);
    return changes;
}

/* What hands a record over. */
struct record_heir {
    struct json_object *resource, *heir;
};

static struct json_object *handed_over(struct json_object *record, const void *arg)
{
    const struct record_heir *how = arg;
    return sw_ownership_hand_over(record, sw_obj_uid(how->resource), sw_obj_name(how->resource),
                                  how->heir);
}

/* Helm's records of a release have its owner, too. */
static int hand_over_records(struct leaving *l, const char *ns, const char *release,
                             struct json_object *heir, struct sw_err *err)
{
    static const char *const kinds[] = { "Secret", "ConfigMap" };
    SW_AUTO_CHARS *selector = sw_printf("owner=helm,name=%s", release);
    const struct sw_request_opts opts = { .label_selector = selector, .retries = RETRIES };
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < SW_COUNT(kinds); k++) {
        const struct sw_kind *kind = sw_kube_kind_find(l->conn->kube, "v1", kinds[k]);
        SW_AUTO_JSON *list = NULL;
        rc = kind ? sw_cluster_list(l->conn, kind, ns, &opts, &list, err) : 0;
        for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
            rc = sw_cluster_change(l->conn, kind, ns, sw_json_at(list, i), handed_over,
                                   &(struct record_heir){ l->resource, heir }, err);
    }
    return rc;
}

/* @return 1: @entry has changed | 0 | as requests.h. *@gone: there is to be none */
static int end_entry(struct leaving *l, const char *name, struct json_object *entry, bool *gone,
                     struct sw_err *err)
{
    const char *uid = sw_obj_uid(l->resource);
    struct json_object *heir = sw_shared_heir(entry, uid);
    bool hands_over = sw_streq(sw_json_str(entry, NULL, "from", "uid", NULL), uid);
    SW_AUTO_CHARS *ns = sw_shared_namespace(name);
    int rc = hands_over && heir ? hand_over_records(l, ns, sw_shared_name(name), heir, err) : 0;
    return rc < 0 ? rc : sw_shared_done(entry, uid, gone);
}

/* What the releases of @live are to be, in @releases. @return 1: it is something else | 0 | a code
 */
static int change(struct leaving *l, struct json_object *live, struct json_object *releases,
                  struct sw_err *err)
{
    SW_AUTO_JSON *before = sw_json_copy(releases);
    int changes = 0;
    json_object_object_foreach(before, release, ignored)
    {
        (void)ignored;
        SW_AUTO_CHARS *name = sw_printf("%s/%s", sw_obj_name(live), release);
        struct json_object *entry = sw_json_get(releases, release);
        bool gone = false;
        int rc = l->forgets ? forget_entry(l, live, name, entry)
                 : l->ends  ? end_entry(l, name, entry, &gone, err)
                            : leave_entry(l, live, name, entry, err);
        if (rc < 0)
            return rc;
        changes |= rc;
        if (gone)
            (void)json_object_object_del(releases, release);
    }
    return changes;
}

static int list_resources(struct leaving *l, struct sw_err *err)
{
    const struct sw_request_opts opts = { .retries = RETRIES };
    json_object_put(SW_TAKE(l->resources));
    return sw_cluster_find(l->conn, "sro.openshift.io/v1beta1", "SpecialResource", NULL, NULL,
                           &opts, &l->resources, err);
}

static int leave_namespace(struct leaving *l, const char *name, struct sw_err *err)
{
    const struct sw_kind *kind = sw_kube_kind_find(l->conn->kube, "v1", "Namespace");
    int rc = SW_CONFLICT;
    for (int i = 0; rc == SW_CONFLICT && i < TRIES; i++) {
        SW_AUTO_JSON *ns = NULL;
        sw_err_done(err);
        rc = sw_cluster_get(l->conn, kind, NULL, name,
                            &(struct sw_request_opts){ .retries = RETRIES }, &ns, err);
        if (rc == 0 && l->forgets) /* after it: who is named there was there before */
            rc = list_resources(l, err);
        if (rc < 0)
            break;
        SW_AUTO_JSON *releases = sw_shared_releases_of(ns);
        int changes = change(l, ns, releases, err);
        if (changes <= 0 || l->plan)
            return changes < 0 ? changes : 0;
        SW_AUTO_JSON *patch = sw_shared_releases_patch(ns, releases);
        rc = sw_cluster_patch(l->conn, kind, NULL, name, patch, err);
    }
    return rc == SW_NOTFOUND ? 0 : rc;
}

static int leave_all(struct leaving *l, struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = list_namespaces(l->conn, &list, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = leave_namespace(l, sw_obj_name(sw_json_at(list, i)), err);
    return rc;
}

int sw_shared_releases_leave(struct sw_connection *conn, struct json_object *resource,
                             struct json_object *resources, bool plan, struct json_object **heirs,
                             struct json_object **objects, struct sw_err *err)
{
    struct leaving l = { .conn = conn,
                         .resource = resource,
                         .resources = resources,
                         .heirs = json_object_new_object(),
                         .objects = json_object_new_array(),
                         .plan = plan };
    int rc = leave_all(&l, err);
    if (rc < 0) {
        json_object_put(l.heirs);
        json_object_put(l.objects);
        return rc;
    }
    *heirs = l.heirs;
    *objects = l.objects;
    return 0;
}

int sw_shared_releases_end(struct sw_connection *conn, struct json_object *resource,
                           struct sw_err *err)
{
    struct leaving l = { .conn = conn, .resource = resource, .ends = true };
    return leave_all(&l, err);
}

struct json_object *sw_shared_releases_forget_gone(struct sw_connection *conn)
{
    struct leaving l = { .conn = conn, .forgets = true, .objects = json_object_new_array() };
    conn->until_ms = sw_loop_now_ms(conn->loop) + FORGET_DEADLINE_MS;
    SW_ERR(ignored); /* who may not read or write namespaces, or resources, goes without */
    (void)leave_all(&l, &ignored);
    json_object_put(l.resources);
    return l.objects;
}
