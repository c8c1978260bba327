#include "cli/simulate/snapshot.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/text/diff.h"
#include "data/yaml/yaml.h"
#include "emulator/store/store.h"
#include "operator/inventory/inventory.h"

/* Names that the server generated. */
struct names {
    struct {
        const char *name;
        size_t prefix_len; /* of the part that is not generated */
    } * items;
    size_t n, cap;
    size_t shortest; /* length of the shortest name */
};

struct snapshot {
    struct sw_store *store;
    struct json_object *doc;
    struct names names;
};

#define TOKEN_VOLUME "kube-api-access-" /* and five characters that the server generates */
#define RANDOM_SUFFIX 5                 /* characters that `generateName` is followed by */

/* ---- what differs in each walk -----------------------------------------------------------------
 */

/* Whether @s begins as @form, in which 0 stands for a hexadecimal digit. */
static bool has_form(const char *s, const char *form)
{
    for (; *form; form++, s++)
        if (*form == '0' ? !isxdigit((unsigned char)*s) : *s != *form)
            return false;
    return true;
}

/* @return the text without what differs in each walk; NULL: it has no such part */
static struct json_object *mask_text(const struct snapshot *p, const char *s)
{
    static const char uid[] = "00000000-0000-0000-0000-000000000000";
    if (has_form(s, "0000-00-00T00:00:00"))
        return json_object_new_string("<time>");
    if (has_form(s, uid) && strlen(s) == strlen(uid))
        return json_object_new_string("<uid>");
    if (strstr(s, "-----BEGIN ") || strstr(s, "sha256:"))
        return json_object_new_string("<given>");
    for (size_t i = 0; i < p->names.n && strlen(s) >= p->names.shortest; i++) {
        const char *name = p->names.items[i].name, *at = strstr(s, name);
        if (!at)
            continue;
        SW_AUTO_CHARS *text = sw_printf("%.*s%.*s*%s", (int)(at - s), s,
                                        (int)p->names.items[i].prefix_len, name, at + strlen(name));
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

static struct json_object *mask(const struct snapshot *p, struct json_object *v);

static struct json_object *mask_map(const struct snapshot *p, struct json_object *map)
{
    /* values that the server assigns */
    static const char *const assigned[] = {
        "resourceVersion", "clusterIP", "clusterIPs", "podIP",     "podIPs", "nodePort", "ip",
        "containerID",     "caBundle",  "shutAt",     "addresses", "hostIP"
    };
    static const char *const issued[] = { "ca", "certificate", "request" }; /* of cert-manager */
    struct json_object *out = json_object_new_object();
    bool secret = sw_streq(sw_obj_kind(map), "Secret");
    json_object_object_foreach(map, key, v)
    {
        bool given = secret && sw_streq(key, "data");
        for (size_t i = 0; i < SW_COUNT(assigned) && !given; i++)
            given = assigned[i][0] == key[0] && strcmp(assigned[i], key) == 0;
        for (size_t i = 0; i < SW_COUNT(issued) && json_object_is_type(v, json_type_string); i++)
            given = given || strcmp(issued[i], key) == 0;
        SW_AUTO_JSON *name = NULL; /* of a list's item in managedFields: k:{"uid":"..."} */
        if (sw_starts_with(key, "k:{\"uid\":"))
            name = json_object_new_string("k:{uid}");
        else if (sw_starts_with(key, "k:"))
            name = mask_text(p, key);
        json_object_object_add(out, name ? json_object_get_string(name) : key,
                               given ? json_object_new_string("<given>") : mask(p, v));
    }
    return out;
}

/* @return @v without what differs in each walk, a new reference */
static struct json_object *mask(const struct snapshot *p, struct json_object *v)
{
    switch (json_object_get_type(v)) {
    case json_type_object:
        return mask_map(p, v);
    case json_type_array: {
        struct json_object *out = json_object_new_array();
        for (size_t i = 0; i < sw_json_len(v); i++) {
            struct json_object *item = sw_json_at(v, i);
            const char *manager = sw_json_str(item, NULL, "manager", NULL);
            /* of managedFields only slipway's: others depend on the order of events */
            if (!manager || !sw_json_get(item, "fieldsV1") || sw_streq(manager, "slipway"))
                json_object_array_add(out, mask(p, item));
        }
        return out;
    }
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

static int by_tag(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "tag", NULL), sw_json_str(*y, "", "tag", NULL));
}

static int by_write(const void *a, const void *b)
{
    static const char *const fields[] = { "operation", "subresource", "apiVersion" };
    struct json_object *const *x = a, *const *y = b;
    int c = 0;
    for (size_t i = 0; c == 0 && i < SW_COUNT(fields); i++)
        c = strcmp(sw_json_str(*x, "", fields[i], NULL), sw_json_str(*y, "", fields[i], NULL));
    return c;
}

/* Remove what depends on the order of events: that of managers' entries; the node of a pod that
 * fits on several, and what follows from it; how often a state has failed. */
static void mask_order(struct json_object *doc)
{
    struct json_object *owner = sw_json_at(sw_json_find(doc, "metadata", "ownerReferences", NULL),
                                           0);
    struct json_object *managers = sw_json_find(doc, "metadata", "managedFields", NULL);
    if (json_object_is_type(managers, json_type_array))
        json_object_array_sort(managers, by_write);
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
    struct json_object *states = sw_json_find(doc, "status", "states", NULL);
    for (size_t i = 0; i < sw_json_len(states); i++)
        (void)sw_json_del(sw_json_at(states, i), "failures", NULL);
    struct json_object *tags = sw_json_find(doc, "status", "tags", NULL); /* of an ImageStream */
    if (json_object_is_type(tags, json_type_array))
        json_object_array_sort(tags, by_tag);
}

static void add(struct snapshot *p, json_object *doc)
{
    SW_AUTO_JSON *plain = sw_json_copy(doc);
    (void)sw_inventory_of(sw_json_get(plain, "status")); /* packed, it shows no difference */
    struct json_object *copy = mask(p, plain);
    mask_order(copy);
    const char *ns = sw_obj_namespace(doc);
    char *key = sw_printf("%s %s%s%s", sw_obj_kind(doc), ns, *ns ? "/" : "", sw_obj_name(copy));
    if (sw_json_find(doc, "metadata", "generateName", NULL)) {
        sw_append(&key, " on %s", sw_json_str(copy, "", "spec", "nodeName", NULL));
    }
    for (int i = 2; json_object_object_get_ex(p->doc, key, NULL); i++) {
        sw_append(&key, " #%d", i);
    }
    json_object_object_add(p->doc, key, copy);
    free(key);
}

static void add_name(struct snapshot *p, const char *name, size_t prefix_len)
{
    SW_GROW(p->names.items, p->names.n, p->names.cap);
    if (!p->names.n || strlen(name) < p->names.shortest)
        p->names.shortest = strlen(name);
    p->names.items[p->names.n].name = name;
    p->names.items[p->names.n++].prefix_len = prefix_len;
}

/* Of a pod that has ended the claim is gone, and its generated name stands in the pod alone. */
static void note_claims(struct snapshot *p, json_object *pod)
{
    struct json_object *status = sw_json_get(pod, "status");
    struct json_object *claims = sw_json_get(status, "resourceClaimStatuses");
    for (size_t i = 0; i <= sw_json_len(claims); i++) {
        struct json_object *of = i < sw_json_len(claims)
                                     ? sw_json_at(claims, i)
                                     : sw_json_get(status, "extendedResourceClaimStatus");
        const char *name = sw_json_str(of, "", "resourceClaimName", NULL);
        if (strlen(name) > RANDOM_SUFFIX)
            add_name(p, name, strlen(name) - RANDOM_SUFFIX);
    }
}

/* Add the name to the generated names, if it is one. */
static void note_name(struct snapshot *p, json_object *doc)
{
    if (sw_streq(sw_obj_kind(doc), "Pod"))
        note_claims(p, doc);
    const char *name = sw_obj_name(doc);
    const char *prefix = sw_json_str(doc, "", "metadata", "generateName", NULL);
    const char *dockercfg = strstr(name, "-dockercfg-"); /* of OpenShift */
    size_t prefix_len = 0;
    if (*prefix && sw_starts_with(name, prefix))
        prefix_len = strlen(prefix);
    else if (sw_streq(sw_obj_kind(doc), "InstallPlan") && sw_starts_with(name, "install-"))
        prefix_len = strlen("install-"); /* OLM generates these */
    else if (dockercfg)
        prefix_len = (size_t)(dockercfg - name) + strlen("-dockercfg-");
    if (prefix_len)
        add_name(p, name, prefix_len);
}

static void each(struct snapshot *p, void (*visit)(struct snapshot *p, json_object *doc))
{
    const struct sw_emu_kind *kind;
    for (size_t k = 0; (kind = sw_store_nth_kind(p->store, k)); k++) {
        SW_STORE_LIST(list);
        if (kind->stored_as || sw_streq(kind->kind, "Event") || sw_streq(kind->kind, "Lease"))
            continue;
        sw_store_list(p->store, kind, NULL, &list);
        for (size_t i = 0; i < list.n; i++)
            visit(p, list.items[i]);
    }
}

struct json_object *sw_snapshot(struct sw_store *store)
{
    struct snapshot p = { .store = store, .doc = json_object_new_object() };
    each(&p, note_name);
    each(&p, add);
    free(p.names.items);
    return p.doc;
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
