/* Tolerations for pods that ask for an extended resource: nodes whose taints keep other pods off
 * are meant for them. As Kubernetes' admission plugin ExtendedResourceToleration does it, for
 * clusters where it is not switched on, and for taints that are not named as the resource. */
#include "slicing/webhook/tolerations.h"

#include <string.h>

#include "data/data.h"
#include "slicing/webhook/webhook.h"

/* One rule "PATTERN" or "PATTERN=KEY" of the list. */
struct rule {
    const char *pattern, *key;
    size_t n_pattern, n_key; /* 0: the resource's own name */
};

/* @return the next, NULL after the last */
static const char *next_rule(const char *at, struct rule *out)
{
    at += strspn(at, ", ");
    if (!*at)
        return NULL;
    size_t len = strcspn(at, ", "), n = strcspn(at, "=, ");
    *out = (struct rule){ .pattern = at, .n_pattern = n };
    if (n < len) {
        out->key = at + n + 1;
        out->n_key = len - n - 1;
    }
    return at + len;
}

/* Pods name as many resources and tolerations as fit into a body: each is read once, and no
 * node has more kinds of devices than this. */
enum { MAX_KEYS = 256 };

/* @wanted: the keys of taints, as a map */
static void add_wanted(const char *rules, struct json_object *map, struct json_object *wanted)
{
    if (!json_object_is_type(map, json_type_object))
        return;
    json_object_object_foreach(map, name, value)
    {
        struct rule r;
        (void)value;
        if (json_object_object_length(wanted) >= MAX_KEYS)
            return;
        /* Source: ExtendedResourceToleration takes names with a domain that is not Kubernetes' */
        if (!strchr(name, '/') || strstr(name, "kubernetes.io/") ||
            sw_starts_with(name, "requests."))
            continue;
        for (const char *at = rules; (at = next_rule(at, &r));) {
            const size_t n = r.n_pattern;
            const bool prefix = n && r.pattern[n - 1] == '*';
            if (strncmp(name, r.pattern, prefix ? n - 1 : n) != 0 || (!prefix && name[n]))
                continue;
            SW_AUTO_CHARS *key = r.n_key ? sw_strndup(r.key, r.n_key) : sw_strdup(name);
            json_object_object_add(wanted, key, NULL);
            break; /* the first that fits */
        }
    }
}

/* Take out what @spec tolerates already. @return false: everything */
static bool leave_missing(struct json_object *spec, struct json_object *wanted)
{
    struct json_object *list = sw_json_get(spec, "tolerations");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *t = sw_json_at(list, i);
        const char *key = sw_json_str(t, "", "key", NULL),
                   *effect = sw_json_str(t, "", "effect", NULL);
        if (!sw_streq(sw_json_str(t, "", "operator", NULL), "Exists") ||
            (*effect && strcmp(effect, "NoSchedule") != 0))
            continue;
        if (!*key)
            return false;
        json_object_object_del(wanted, key);
    }
    return true;
}

struct json_object *webhook_tolerations(const char *rules, struct json_object *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    struct json_object *found = json_object_new_array();
    SW_AUTO_JSON *wanted = json_object_new_object();
    for (size_t l = 0; rules && *rules && l < SW_COUNT(lists); l++) {
        struct json_object *list = sw_json_get(spec, lists[l]);
        for (size_t i = 0; i < sw_json_len(list); i++) {
            struct json_object *resources = sw_json_get(sw_json_at(list, i), "resources");
            add_wanted(rules, sw_json_get(resources, "limits"), wanted);
            add_wanted(rules, sw_json_get(resources, "requests"), wanted);
        }
    }
    if (!json_object_object_length(wanted) || !leave_missing(spec, wanted))
        return found;
    json_object_object_foreach(wanted, key, unused)
    {
        (void)unused;
        struct json_object *t = json_object_new_object();
        json_object_object_add(t, "key", json_object_new_string(key));
        json_object_object_add(t, "operator", json_object_new_string("Exists"));
        json_object_object_add(t, "effect", json_object_new_string("NoSchedule"));
        json_object_array_add(found, t);
    }
    return found;
}

const char *sw_webhook_tolerate_fault(const char *rules)
{
    struct rule r;
    for (const char *at = rules ? rules : ""; (at = next_rule(at, &r));) {
        const char *star = memchr(r.pattern, '*', r.n_pattern);
        if (!r.n_pattern)
            return "there is a rule without a resource";
        if (star && star != r.pattern + r.n_pattern - 1)
            return "* stands only at the end of a resource";
        if (!star && !memchr(r.pattern, '/', r.n_pattern))
            return "an extended resource has a domain, as nvidia.com/gpu";
        SW_AUTO_CHARS *key = r.key ? sw_strndup(r.key, r.n_key) : NULL;
        if (key && sw_label_key_fault(key))
            return "the key behind = is no taint's key";
    }
    return NULL;
}
