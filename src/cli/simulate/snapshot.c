#include "cli/simulate/snapshot.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/text/diff.h"
#include "data/yaml/yaml.h"
#include "emulator/store/store.h"

/* Names that the server made up: one a generated object. */
struct names {
    struct {
        const char *name;
        size_t stem; /* so much of it was asked for */
    } * items;
    size_t n, cap;
    size_t shortest; /* of the names */
};

struct painter {
    struct sw_store *store;
    struct json_object *snapshot;
    struct names names;
};

#define TOKEN_VOLUME "kube-api-access-" /* and five characters that the server made up */

/* ---- what differs each time --------------------------------------------------------------------
 */

static bool is_time(const char *s)
{
    static const char form[] = "0000-00-00T00:00:00";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)s[i]) : s[i] != form[i])
            return false;
    return true;
}

static bool is_uid(const char *s)
{
    if (strlen(s) != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
            return false;
    }
    return true;
}

/* Keys whose values are given by the server, one after the other, or at random. */
static bool is_given(const char *key)
{
    static const char *const keys[] = { "resourceVersion", "clusterIP", "clusterIPs", "podIP",
                                        "podIPs",          "nodePort",  "ip",         "containerID",
                                        "caBundle",        "shutAt",    "addresses",  "hostIP" };
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        if (keys[i][0] == key[0] && strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static struct json_object *mask_text(const struct painter *p, const char *s)
{
    if (is_time(s))
        return json_object_new_string("<time>");
    if (is_uid(s))
        return json_object_new_string("<uid>");
    if (strstr(s, "-----BEGIN ") || strstr(s, "sha256:"))
        return json_object_new_string("<given>");
    for (size_t i = 0; i < p->names.n && strlen(s) >= p->names.shortest; i++) {
        const char *name = p->names.items[i].name, *at = strstr(s, name);
        if (!at)
            continue;
        SW_AUTO_CHARS *text = sw_printf("%.*s%.*s*%s", (int)(at - s), s,
                                        (int)p->names.items[i].stem, name, at + strlen(name));
        struct json_object *more = mask_text(p, text);
        return more ? more : json_object_new_string(text);
    }
    const char *token = strstr(s, TOKEN_VOLUME);
    if (!token || token[sizeof TOKEN_VOLUME - 1] == '*' || strlen(token) < sizeof TOKEN_VOLUME + 4)
        return NULL;
    SW_AUTO_CHARS *text = sw_printf("%.*s" TOKEN_VOLUME "*%s", (int)(token - s), s,
                                    token + sizeof TOKEN_VOLUME + 4);
    return json_object_new_string(text);
}

static struct json_object *mask(const struct painter *p, struct json_object *v);

/* Items of lists in managedFields are keys: k:{"uid":"..."}. NULL: as it is. */
static struct json_object *mask_key(const struct painter *p, const char *key)
{
    if (key[0] != 'k' || key[1] != ':')
        return NULL;
    return sw_starts_with(key, "k:{\"uid\":") ? json_object_new_string("k:{uid}")
                                              : mask_text(p, key);
}

static struct json_object *mask_map(const struct painter *p, struct json_object *map)
{
    struct json_object *out = json_object_new_object();
    bool secret = sw_streq(sw_obj_kind(map), "Secret");
    json_object_object_foreach(map, key, v)
    {
        bool given = is_given(key) || (secret && sw_streq(key, "data"));
        SW_AUTO_JSON *name = mask_key(p, key);
        json_object_object_add(out, name ? json_object_get_string(name) : key,
                               given ? json_object_new_string("<given>") : mask(p, v));
    }
    return out;
}

/* What others wrote on their way tells how they went; what slipway owns is part of the end. */
static bool is_others_way(struct json_object *item)
{
    const char *manager = sw_json_str(item, NULL, "manager", NULL);
    return manager && sw_json_get(item, "fieldsV1") && !sw_streq(manager, "slipway");
}

static struct json_object *mask_list(const struct painter *p, struct json_object *list)
{
    struct json_object *out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (!is_others_way(sw_json_at(list, i)))
            json_object_array_add(out, mask(p, sw_json_at(list, i)));
    return out;
}

/* @return a new reference */
static struct json_object *mask(const struct painter *p, struct json_object *v)
{
    switch (json_object_get_type(v)) {
    case json_type_object:
        return mask_map(p, v);
    case json_type_array:
        return mask_list(p, v);
    case json_type_string: {
        struct json_object *masked = mask_text(p, json_object_get_string(v));
        return masked ? masked : json_object_get(v);
    }
    default:
        return json_object_get(v);
    }
}

/* ---- objects -----------------------------------------------------------------------------------
 */

static bool is_shown(const struct sw_emu_kind *kind)
{
    return !kind->stored_as && strcmp(kind->kind, "Event") != 0 && strcmp(kind->kind, "Lease") != 0;
}

static int by_tag(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "tag", NULL), sw_json_str(*y, "", "tag", NULL));
}

/* An ImageStream's tags stand in the order in which they were built. */
static void mask_order(struct json_object *doc)
{
    struct json_object *tags = sw_json_find(doc, "status", "tags", NULL);
    if (json_object_is_type(tags, json_type_array))
        json_object_array_sort(tags, by_tag);
}

/* Where a pod goes that may go anywhere depends on what was there first. */
static void mask_place(struct json_object *doc)
{
    struct json_object *owner = sw_json_at(sw_json_find(doc, "metadata", "ownerReferences", NULL),
                                           0);
    if (sw_streq(sw_obj_kind(doc), "Pod") &&
        !sw_streq(sw_json_str(owner, "", "kind", NULL), "DaemonSet"))
        sw_json_set_str(doc, "<given>", "spec", "nodeName", NULL);
    struct json_object *endpoints = sw_json_get(doc, "endpoints");
    if (endpoints)
        (void)sw_json_del(doc, "metadata", "generation", NULL);
    for (size_t i = 0; i < sw_json_len(endpoints); i++)
        sw_json_set_str(sw_json_at(endpoints, i), "<given>", "nodeName", NULL);
    struct json_object *subsets = sw_json_get(doc, "subsets");
    for (size_t i = 0; i < sw_json_len(subsets); i++)
        sw_json_set(sw_json_at(subsets, i), NULL, "addresses", NULL);
}

static void add(struct painter *p, json_object *doc)
{
    struct json_object *copy = mask(p, doc);
    mask_place(copy);
    mask_order(copy);
    const char *ns = sw_obj_namespace(doc);
    char *key = sw_printf("%s %s%s%s", sw_obj_kind(doc), ns, *ns ? "/" : "", sw_obj_name(copy));
    if (sw_json_find(doc, "metadata", "generateName", NULL)) {
        sw_append(&key, " on %s", sw_json_str(copy, "", "spec", "nodeName", NULL));
    }
    for (int i = 2; json_object_object_get_ex(p->snapshot, key, NULL); i++) {
        sw_append(&key, " #%d", i);
    }
    json_object_object_add(p->snapshot, key, copy);
    free(key);
}

/* How much of its name was asked for; 0: all of it. */
static size_t stem_of(json_object *doc)
{
    const char *name = sw_obj_name(doc);
    const char *stem = sw_json_str(doc, "", "metadata", "generateName", NULL);
    if (*stem && sw_starts_with(name, stem))
        return strlen(stem);
    if (sw_streq(sw_obj_kind(doc), "InstallPlan") && sw_starts_with(name, "install-"))
        return strlen("install-");                 /* OLM makes these up itself, */
    const char *end = strstr(name, "-dockercfg-"); /* and OpenShift those */
    return end ? (size_t)(end - name) + strlen("-dockercfg-") : 0;
}

static void note_name(struct painter *p, json_object *doc)
{
    size_t stem = stem_of(doc);
    if (!stem)
        return;
    SW_GROW(p->names.items, p->names.n, p->names.cap);
    size_t len = strlen(sw_obj_name(doc));
    if (!p->names.n || len < p->names.shortest)
        p->names.shortest = len;
    p->names.items[p->names.n].name = sw_obj_name(doc);
    p->names.items[p->names.n++].stem = stem;
}

static void each(struct painter *p, void (*visit)(struct painter *p, json_object *doc))
{
    const struct sw_emu_kind *kind;
    for (size_t k = 0; (kind = sw_store_nth_kind(p->store, k)); k++) {
        SW_STORE_LIST(list);
        if (!is_shown(kind))
            continue;
        sw_store_list(p->store, kind, NULL, &list);
        for (size_t i = 0; i < list.n; i++)
            visit(p, list.items[i]);
    }
}

struct json_object *sw_snapshot(struct sw_store *store)
{
    struct painter p = { .store = store, .snapshot = json_object_new_object() };
    each(&p, note_name);
    each(&p, add);
    free(p.names.items);
    return p.snapshot;
}

char *sw_snapshot_diff(struct json_object *want, struct json_object *got)
{
    if (sw_json_equal(want, got))
        return NULL;
    struct json_object *a = json_object_new_object(), *b = json_object_new_object();
    json_object_object_foreach(want, key, v)
    {
        struct json_object *other = sw_json_get(got, key);
        if (sw_json_equal(v, other))
            continue;
        json_object_object_add(a, key, json_object_get(v));
        if (other)
            json_object_object_add(b, key, json_object_get(other));
    }
    json_object_object_foreach(got, more, w)
    {
        if (!json_object_object_get_ex(want, more, NULL))
            json_object_object_add(b, more, json_object_get(w));
    }
    SW_AUTO_CHARS *a_text = sw_yaml_text(a, NULL), *b_text = sw_yaml_text(b, NULL);
    json_object_put(a);
    json_object_put(b);
    return sw_diff(a_text, b_text, "undisturbed", "disturbed");
}
