#include "operator/manifests/shared_release.h"

#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "operator/manifests/hooks.h"

static struct json_object *users_of(struct json_object *entry)
{
    return sw_json_get(entry, "users");
}

static bool is_of(struct json_object *user, const char *uid)
{
    return sw_streq(sw_json_str(user, NULL, "uid", NULL), uid);
}

/* -1: it is no user. */
static int find(struct json_object *entry, const char *uid)
{
    struct json_object *users = users_of(entry);
    for (size_t i = 0; i < sw_json_len(users); i++)
        if (is_of(sw_json_at(users, i), uid))
            return (int)i;
    return -1;
}

/* ---- a namespace --------------------------------------------------------------------------------
 */

static bool is_user(struct json_object *user)
{
    return *sw_json_str(user, "", "name", NULL) && *sw_json_str(user, "", "uid", NULL);
}

static bool is_entry(struct json_object *entry)
{
    struct json_object *users = users_of(entry), *from = sw_json_get(entry, "from");
    bool good = sw_json_len(users) > 0 && (!from || is_user(from));
    for (size_t i = 0; i < sw_json_len(users); i++)
        good = good && is_user(sw_json_at(users, i));
    return good;
}

struct json_object *sw_shared_releases_of(struct json_object *ns)
{
    const char *text = ns ? sw_obj_annotation(ns, SW_SHARED_NOTE) : NULL;
    struct json_object *releases = json_object_new_object();
    SW_AUTO_JSON *doc = NULL;
    if (!text || sw_json_parse(text, strlen(text), NULL, &doc, NULL) < 0 ||
        !json_object_is_type(doc, json_type_object))
        return releases;
    json_object_object_foreach(doc, release, entry)
    {
        if (is_entry(entry))
            (void)json_object_object_add(releases, release, json_object_get(entry));
    }
    return releases;
}

struct json_object *sw_shared_releases_patch(struct json_object *ns, struct json_object *releases)
{
    struct json_object *patch = json_object_new_object();
    const char *version = sw_json_str(ns, "", "metadata", "resourceVersion", NULL);
    bool any = json_object_object_length(releases) > 0;
    SW_AUTO_CHARS *text = any ? sw_json_text(releases, SW_JSON_PLAIN, NULL) : NULL;
    if (*version)
        sw_json_set_str(patch, version, "metadata", "resourceVersion", NULL);
    sw_json_set(patch, text ? json_object_new_string(text) : NULL, "metadata", "annotations",
                SW_SHARED_NOTE, NULL);
    sw_json_set(patch, text ? json_object_new_string("true") : NULL, "metadata", "labels",
                SW_SHARED_LABEL, NULL);
    return patch;
}

const char *sw_shared_name(const char *release)
{
    const char *slash = strchr(release, '/');
    return slash ? slash + 1 : release;
}

char *sw_shared_namespace(const char *release)
{
    return sw_strndup(release, strcspn(release, "/"));
}

/* ---- who ----------------------------------------------------------------------------------------
 */

struct json_object *sw_shared_owner(struct json_object *entry)
{
    struct json_object *from = sw_json_get(entry, "from");
    return from ? from : sw_json_at(users_of(entry), 0);
}

bool sw_shared_is_owned_by(struct json_object *entry, const char *uid)
{
    return entry && is_of(sw_shared_owner(entry), uid) && find(entry, uid) == 0;
}

bool sw_shared_is_used_by(struct json_object *entry, const char *uid)
{
    return find(entry, uid) >= 0;
}

struct json_object *sw_shared_heir(struct json_object *entry, const char *uid)
{
    struct json_object *first = sw_json_at(users_of(entry), 0);
    return is_of(first, uid) || sw_json_get(entry, "leaving") ? NULL : first;
}

bool sw_shared_is_leaving(struct json_object *entry, const char *uid)
{
    return sw_json_get(entry, "leaving") && find(entry, uid) != 0;
}

char *sw_shared_others(struct json_object *entry, const char *uid)
{
    struct json_object *users = users_of(entry);
    char *names = NULL;
    for (size_t i = 0; i < sw_json_len(users); i++)
        if (!is_of(sw_json_at(users, i), uid))
            sw_append(&names, "%s%s", names ? ", " : "",
                      sw_json_str(sw_json_at(users, i), "", "name", NULL));
    return names;
}

char *sw_shared_conflict(struct json_object *entry, const struct sw_release_user *user,
                         const char *release)
{
    struct json_object *users = users_of(entry);
    if (sw_streq(sw_json_str(entry, "", "version", NULL), user->version))
        return NULL;
    for (size_t i = 0; i < sw_json_len(users); i++) {
        struct json_object *other = sw_json_at(users, i);
        const char *version = sw_json_str(other, "", "version", NULL);
        if (!is_of(other, user->uid) && !sw_streq(version, user->version))
            return sw_printf(
                "shared release %s: resource %s pins version %s, resource %s pins version %s; "
                "there is one of it in a cluster",
                release, user->name, user->version, sw_json_str(other, "", "name", NULL), version);
    }
    return NULL;
}

bool sw_shared_is_foreign(struct json_object *object, const char *release)
{
    SW_AUTO_CHARS *ns = sw_shared_namespace(release);
    bool is_owned = sw_json_len(sw_json_find(object, "metadata", "ownerReferences", NULL));
    bool is_slipways = sw_streq(sw_obj_label(object, SW_OWNED_LABEL), "true");
    return !is_slipways && !(is_owned && sw_streq(sw_obj_namespace(object), ns));
}

/* ---- changes ------------------------------------------------------------------------------------
 */

static struct json_object *new_user(const struct sw_release_user *user)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, user->name, "name", NULL);
    sw_json_set_str(doc, user->uid, "uid", NULL);
    sw_json_set_str(doc, user->version, "version", NULL);
    return doc;
}

struct json_object *sw_shared_new(const struct sw_release_user *user)
{
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, user->version, "version", NULL);
    (void)json_object_array_add(sw_json_need_list(entry, "users", NULL), new_user(user));
    return entry;
}

bool sw_shared_join(struct json_object *entry, const struct sw_release_user *user)
{
    struct json_object *users = users_of(entry);
    int at = find(entry, user->uid);
    bool changes = at < 0;
    if (at < 0) {
        (void)json_object_array_add(users, new_user(user));
    } else {
        struct json_object *mine = sw_json_at(users, (size_t)at);
        if (!sw_streq(sw_json_str(mine, "", "version", NULL), user->version)) {
            sw_json_set_str(mine, user->version, "version", NULL);
            changes = true;
        }
    }
    if (at == 0 && sw_json_get(entry, "leaving")) { /* it stays after all */
        (void)sw_json_del(entry, "leaving", NULL);
        changes = true;
    }
    SW_AUTO_CHARS *conflict = sw_shared_conflict(entry, user, "");
    if (at == 0 && !conflict && !sw_streq(sw_json_str(entry, "", "version", NULL), user->version)) {
        sw_json_set_str(entry, user->version, "version", NULL);
        changes = true;
    }
    return changes;
}

static void drop_user(struct json_object *entry, int at)
{
    (void)json_object_array_del_idx(users_of(entry), (size_t)at, 1);
}

bool sw_shared_must_wait(struct json_object *entry, const char *uid)
{
    struct json_object *from = sw_json_get(entry, "from");
    return from && find(entry, uid) == 0 && !is_of(from, uid);
}

static bool is_same_object(struct json_object *a, struct json_object *b)
{
    static const char *const fields[] = { "apiVersion", "kind", "namespace", "name" };
    bool same = true;
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        same = same &&
               sw_streq(sw_json_str(a, "", fields[i], NULL), sw_json_str(b, "", fields[i], NULL));
    return same;
}

/* Those that it was handed over itself may not be in its inventory yet: they stay listed. */
static void add_objects(struct json_object *entry, struct json_object *objects)
{
    for (size_t i = 0; i < sw_json_len(objects); i++) {
        struct json_object *list = sw_json_need_list(entry, "objects", NULL);
        bool known = false;
        for (size_t k = 0; k < sw_json_len(list); k++)
            known = known || is_same_object(sw_json_at(list, k), sw_json_at(objects, i));
        if (!known)
            (void)json_object_array_add(list, json_object_get(sw_json_at(objects, i)));
    }
}

struct json_object *sw_shared_objects(struct json_object *inventory, const char *name)
{
    static const char *const fields[] = { "uid", "seen", "failed", "failedHash" };
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *object = sw_json_at(inventory, i);
        if (!sw_streq(sw_json_str(object, NULL, "release", NULL), name))
            continue;
        object = sw_json_copy(object);
        for (size_t k = 0; k < SW_COUNT(fields); k++)
            (void)sw_json_del(object, fields[k], NULL);
        (void)json_object_array_add(list, object);
    }
    return list;
}

bool sw_shared_leave(struct json_object *entry, const char *uid, struct json_object *objects)
{
    int at = find(entry, uid);
    struct json_object *mine = sw_json_at(users_of(entry), 0);
    if (at < 0 || sw_shared_must_wait(entry, uid) || sw_json_get(entry, "leaving"))
        return false;
    if (at > 0) {
        drop_user(entry, at);
        return true;
    }
    if (sw_json_len(users_of(entry)) == 1) {
        sw_json_set(entry, json_object_new_boolean(true), "leaving", NULL);
        return true;
    }
    struct json_object *from = json_object_new_object();
    sw_json_set_str(from, sw_json_str(mine, "", "name", NULL), "name", NULL);
    sw_json_set_str(from, uid, "uid", NULL);
    sw_json_set(entry, from, "from", NULL);
    add_objects(entry, objects);
    drop_user(entry, 0);
    return true;
}

static void add_former(struct json_object *entry, struct json_object *user)
{
    struct json_object *list = sw_json_need_list(entry, "former", NULL);
    const char *name = sw_json_str(user, "", "name", NULL);
    if (!sw_json_has_text(list, name))
        (void)json_object_array_add(list, json_object_new_string(name));
}

void sw_shared_forget_from(struct json_object *entry)
{
    add_former(entry, sw_json_get(entry, "from"));
    (void)sw_json_del(entry, "from", NULL);
}

struct json_object *sw_shared_renew(struct json_object *entry, const struct sw_release_user *user)
{
    struct json_object *fresh = sw_shared_new(user);
    struct json_object *former = sw_json_get(entry, "former"), *from = sw_json_get(entry, "from");
    if (former)
        sw_json_set(fresh, sw_json_copy(former), "former", NULL);
    if (from)
        add_former(fresh, from);
    for (size_t i = 0; i < sw_json_len(users_of(entry)); i++)
        add_former(fresh, sw_json_at(users_of(entry), i));
    return fresh;
}

void sw_shared_add_namespace(struct json_object *entry, const char *release)
{
    SW_AUTO_CHARS *name = sw_shared_namespace(release);
    SW_AUTO_JSON *objects = json_object_new_array();
    struct json_object *object = json_object_new_object();
    sw_json_set_str(object, "v1", "apiVersion", NULL);
    sw_json_set_str(object, "Namespace", "kind", NULL);
    sw_json_set_str(object, name, "name", NULL);
    sw_json_set_str(object, release, "release", NULL);
    (void)json_object_array_add(objects, object);
    add_objects(entry, objects);
}

void sw_shared_inherit_namespace(struct json_object *entry, const char *release,
                                 struct json_object *ns)
{
    const char *mark = sw_obj_annotation(ns, "slipway.dev/resource");
    bool is_slipways = sw_streq(sw_obj_label(ns, SW_OWNED_LABEL), "true");
    if (mark && is_slipways && sw_json_has_text(sw_json_get(entry, "former"), mark))
        sw_shared_add_namespace(entry, release);
}

bool sw_shared_forget(struct json_object *entry, const char *uid)
{
    int at = find(entry, uid);
    if (at < 0 || sw_json_len(users_of(entry)) == 1)
        return false;
    if (at == 0)
        add_former(entry, sw_json_at(users_of(entry), 0));
    drop_user(entry, at);
    return true;
}

bool sw_shared_done(struct json_object *entry, const char *uid, bool *gone)
{
    bool leaves = sw_json_get(entry, "leaving") && find(entry, uid) == 0;
    *gone = leaves;
    if (!leaves && is_of(sw_json_get(entry, "from"), uid)) {
        (void)sw_json_del(entry, "from", NULL);
        return true;
    }
    return leaves;
}
