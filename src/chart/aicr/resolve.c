/* From criteria to a RecipeResult. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/catalog.h"
#include "chart/aicr/documents.h"
#include "data/data.h"

static const char *const criteria_keys[] = { "service", "accelerator", "intent", "os", "platform" };

/* ---- criteria ----------------------------------------------------------------------------------
 */

static bool is_any(const char *value)
{
    return !*value || sw_streq(value, "any");
}

static struct json_object *spec_of(const struct sw_aicr_catalog *c, const char *overlay)
{
    return sw_json_find(c->overlays, overlay, "spec", NULL);
}

/* The values that overlays have for the criterion @key; "" where @value is one of them. The
 * caller's. */
static char *others(const struct sw_aicr_catalog *c, const char *key, const char *value)
{
    SW_AUTO_JSON *list = json_object_new_array();
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(c->names); i++) {
        const char *has = sw_json_str(spec_of(c, sw_json_str(sw_json_at(c->names, i), "", NULL)),
                                      "", "criteria", key, NULL);
        if (sw_streq(has, value)) {
            *text = '\0';
            return text;
        }
        if (is_any(has) || sw_json_has_text(list, has))
            continue;
        (void)json_object_array_add(list, json_object_new_string(has));
        sw_append(&text, "%s%s", *text ? ", " : "", has);
    }
    if (!*text)
        sw_append(&text, "none");
    return text;
}

static int set_criterion(const struct sw_aicr_catalog *c, struct json_object *to, const char *item,
                         struct sw_err *err)
{
    const char *equals = strchr(item, '=');
    SW_AUTO_CHARS *key = equals ? sw_strndup(item, (size_t)(equals - item)) : NULL;
    if (!key)
        return sw_err_set(err, SW_INVALID, "criteria: '%s' is no NAME=VALUE", item);
    if (sw_streq(key, "nodes")) {
        char *end;
        const long n = strtol(equals + 1, &end, 10);
        if (n < 0 || n > INT32_MAX || *end || !equals[1])
            return sw_err_set(err, SW_INVALID, "criteria: nodes: '%s' is no number", equals + 1);
        (void)json_object_object_add(to, key, json_object_new_int64(n));
        return 0;
    }
    size_t i = 0;
    while (i < SW_COUNT(criteria_keys) && !sw_streq(key, criteria_keys[i]))
        i++;
    if (i == SW_COUNT(criteria_keys))
        return sw_err_set(err, SW_INVALID,
                          "criteria: '%s' is none of service, accelerator, intent, os, platform, "
                          "nodes",
                          key);
    SW_AUTO_CHARS *known = is_any(equals + 1) ? sw_strdup("") : others(c, key, equals + 1);
    if (*known)
        return sw_err_set(err, SW_INVALID, "criteria: no overlay is for %s '%s'; there are: %s",
                          key, equals + 1, known);
    sw_json_set_str(to, is_any(equals + 1) ? "any" : equals + 1, key, NULL);
    return 0;
}

int sw_aicr_criteria(const struct sw_aicr_catalog *c, const char *text, struct json_object **out,
                     struct sw_err *err)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    SW_AUTO_CHARS *copy = sw_strdup(text);
    for (size_t i = 0; i < SW_COUNT(criteria_keys); i++)
        sw_json_set_str(doc, "any", criteria_keys[i], NULL);
    for (char *rest = copy, *item; (item = strsep(&rest, ","));) {
        const int rc = *item ? set_criterion(c, doc, item, err) : 0;
        if (rc < 0)
            return rc;
    }
    *out = SW_TAKE(doc);
    return 0;
}

/* ---- matching ----------------------------------------------------------------------------------
 */

/* What an overlay says must be what was asked for; what it leaves open may be anything. */
static bool matches(struct json_object *has, struct json_object *wanted)
{
    const int64_t nodes = sw_json_int(has, 0, "nodes", NULL);
    if (nodes && nodes != sw_json_int(wanted, 0, "nodes", NULL))
        return false;
    for (size_t i = 0; i < SW_COUNT(criteria_keys); i++) {
        const char *value = sw_json_str(has, "", criteria_keys[i], NULL);
        if (!is_any(value) && !sw_streq(value, sw_json_str(wanted, "any", criteria_keys[i], NULL)))
            return false;
    }
    return true;
}

static int n_stated(struct json_object *criteria)
{
    int n = sw_json_int(criteria, 0, "nodes", NULL) != 0;
    for (size_t i = 0; i < SW_COUNT(criteria_keys); i++)
        n += !is_any(sw_json_str(criteria, "", criteria_keys[i], NULL));
    return n;
}

/* Those that match, from the least to the most that they state, and by name. The caller's. */
static struct json_object *find_matches(const struct sw_aicr_catalog *c,
                                        struct json_object *criteria)
{
    struct json_object *found = json_object_new_array();
    const int n_max = (int)SW_COUNT(criteria_keys) + 1;
    for (int stated = 0; stated <= n_max; stated++)
        for (size_t i = 0; i < sw_json_len(c->names); i++) {
            struct json_object *name = sw_json_at(c->names, i);
            struct json_object *has = sw_aicr_overlay_criteria(c, sw_json_str(name, "", NULL));
            if (has && n_stated(has) == stated && matches(has, criteria) &&
                !sw_streq(sw_json_str(name, "", NULL), "base"))
                (void)json_object_array_add(found, json_object_get(name));
        }
    return found;
}

/* Add @overlay to @chain behind those that it inherits from, "base" first. */
static int add_chain(const struct sw_aicr_catalog *c, const char *overlay,
                     struct json_object *chain, size_t depth, struct sw_err *err)
{
    if (sw_json_has_text(chain, overlay))
        return 0;
    struct json_object *doc = sw_json_get(c->overlays, overlay);
    if (!doc)
        return sw_err_set(err, SW_INVALID, "overlays: there is no '%s', which others inherit from",
                          overlay);
    if (depth > sw_json_len(c->names))
        return sw_err_set(err, SW_INVALID, "overlay '%s' inherits from itself", overlay);
    const char *base = sw_json_str(doc, "", "spec", "base", NULL);
    int rc = 0;
    if (!sw_streq(overlay, "base"))
        rc = add_chain(c, *base ? base : "base", chain, depth + 1, err);
    if (rc == 0)
        (void)json_object_array_add(chain, json_object_new_string(overlay));
    return rc;
}

/* ---- merging -----------------------------------------------------------------------------------
 */

/* The item @name of the list @key of @to, made if it is missing. */
static struct json_object *need_item(struct json_object *to, const char *key, const char *name)
{
    struct json_object *list = sw_json_need_list(to, key, NULL);
    struct json_object *item = sw_json_find_by(list, "name", name);
    if (!item) {
        item = json_object_new_object();
        sw_json_set_str(item, name, "name", NULL);
        (void)json_object_array_add(list, item);
    }
    return item;
}

static bool is_empty(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return true;
    case json_type_string:
        return json_object_get_string_len(value) == 0;
    case json_type_array:
        return json_object_array_length(value) == 0;
    case json_type_object:
        return json_object_object_length(value) == 0;
    case json_type_boolean:
        return !json_object_get_boolean(value);
    default:
        return false;
    }
}

static void add_missing(struct json_object *to, const char *key, struct json_object *texts)
{
    struct json_object *list = sw_json_need_list(to, key, NULL);
    for (size_t i = 0; i < sw_json_len(texts); i++) {
        struct json_object *text = sw_json_at(texts, i);
        if (!sw_json_has_text(list, sw_json_str(text, "", NULL)))
            (void)json_object_array_add(list, json_object_get(text));
    }
}

/* What an overlay says of a component goes before what was said; what it leaves empty stays. */
static void merge_component(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        if (is_empty(value))
            continue;
        if (sw_streq(key, "overrides"))
            sw_aicr_merge(sw_json_need_map(to, key, NULL), value);
        else if (sw_streq(key, "dependencyRefs") || sw_streq(key, "manifestFiles") ||
                 sw_streq(key, "preManifestFiles"))
            add_missing(to, key, value);
        else
            (void)json_object_object_add(to, key, sw_json_copy(value));
    }
}

static void merge_constraints(struct json_object *to, struct json_object *list)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        struct json_object *item = need_item(to, "constraints", sw_json_str(c, "", "name", NULL));
        json_object_object_foreach(c, key, value)(void)
            json_object_object_add(item, key, sw_json_copy(value));
    }
}

/* Up to 0.11 a phase is replaced as a whole; since then its checks and constraints add up. */
static void merge_validation(struct json_object *to, struct json_object *from, bool replaces)
{
    if (!json_object_is_type(from, json_type_object))
        return;
    json_object_object_foreach(from, phase, value)
    {
        struct json_object *has = sw_json_get(to, phase);
        if (!has || replaces) {
            (void)json_object_object_add(to, phase, sw_json_copy(value));
            continue;
        }
        json_object_object_foreach(value, key, field)
        {
            if (sw_streq(key, "checks"))
                add_missing(has, key, field);
            else if (sw_streq(key, "constraints"))
                merge_constraints(has, field);
            else if (!is_empty(field))
                (void)json_object_object_add(has, key, sw_json_copy(field));
        }
    }
}

static void merge_spec(struct json_object *to, struct json_object *spec, bool replaces)
{
    struct json_object *list = sw_json_get(spec, "componentRefs");
    merge_constraints(to, sw_json_get(spec, "constraints"));
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        merge_component(need_item(to, "componentRefs", sw_json_str(c, "", "name", NULL)), c);
    }
    if (sw_json_get(spec, "validation"))
        merge_validation(sw_json_need_map(to, "validation", NULL), sw_json_get(spec, "validation"),
                         replaces);
    add_missing(to, "mixins", sw_json_get(spec, "mixins"));
}

/* A mixin adds; it changes nothing but where a component is and which manifests it has. */
static int check_mixin(const char *name, struct json_object *to, struct json_object *spec,
                       struct sw_err *err)
{
    static const char *const may[] = { "name",          "namespace",        "healthCheckAsserts",
                                       "manifestFiles", "preManifestFiles", NULL };
    struct json_object *list = sw_json_get(spec, "constraints");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *what = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        if (sw_json_find_by(sw_json_get(to, "constraints"), "name", what))
            return sw_err_set(err, SW_INVALID, "mixin '%s': the constraint '%s' is there already",
                              name, what);
    }
    list = sw_json_get(spec, "componentRefs");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        const char *what = sw_json_str(c, "", "name", NULL);
        SW_AUTO_CHARS *file = sw_printf("mixin '%s'", name);
        SW_AUTO_CHARS *where = sw_printf("component '%s', which is there already", what);
        if (sw_json_find_by(sw_json_get(to, "componentRefs"), "name", what) &&
            sw_aicr_known(file, where, c, may, err) < 0)
            return SW_INVALID;
    }
    return 0;
}

static int merge_mixins(const struct sw_aicr_catalog *c, struct json_object *to, struct sw_err *err)
{
    SW_AUTO_JSON *names = json_object_get(sw_json_get(to, "mixins"));
    for (size_t i = 0; i < sw_json_len(names); i++) {
        const char *name = sw_json_str(sw_json_at(names, i), "", NULL);
        struct json_object *spec = sw_json_find(c->mixins, name, "spec", NULL);
        if (!spec)
            return sw_err_set(err, SW_INVALID, "mixins: there is no '%s'", name);
        const int rc = check_mixin(name, to, spec, err);
        if (rc < 0)
            return rc;
        merge_spec(to, spec, false);
    }
    (void)sw_json_del(to, "mixins", NULL);
    return 0;
}

/* ---- the result --------------------------------------------------------------------------------
 */

static void set_default(struct json_object *component, const char *key, const char *value)
{
    if (*value && !*sw_json_str(component, "", key, NULL))
        sw_json_set_str(component, value, key, NULL);
}

/* What the registry says of a component that no overlay says. */
static void set_defaults(struct json_object *component, struct json_object *registered)
{
    struct json_object *helm = sw_json_get(registered, "helm"),
                       *kustomize = sw_json_get(registered, "kustomize");
    set_default(component, "type", kustomize && !helm ? "Kustomize" : "Helm");
    if (strcasecmp(sw_json_str(component, "", "type", NULL), "Kustomize") == 0) {
        set_default(component, "source", sw_json_str(kustomize, "", "defaultSource", NULL));
        set_default(component, "tag", sw_json_str(kustomize, "", "defaultTag", NULL));
        set_default(component, "path", sw_json_str(kustomize, "", "defaultPath", NULL));
    } else {
        const char *chart = sw_json_str(helm, "", "defaultChart", NULL);
        const char *slash = strrchr(chart, '/');
        set_default(component, "source", sw_json_str(helm, "", "defaultRepository", NULL));
        set_default(component, "version", sw_json_str(helm, "", "defaultVersion", NULL));
        set_default(component, "namespace", sw_json_str(helm, "", "defaultNamespace", NULL));
        set_default(component, "chart", slash ? slash + 1 : chart);
    }
    if (!sw_json_len(sw_json_get(component, "manifestFiles")))
        add_missing(component, "manifestFiles", sw_json_get(registered, "manifestFiles"));
    if (!sw_json_get(component, "source"))
        sw_json_set_str(component, "", "source", NULL);
    static const char *const lists[] = { "dependencyRefs", "manifestFiles", "preManifestFiles" };
    for (size_t i = 0; i < SW_COUNT(lists); i++)
        if (!sw_json_len(sw_json_get(component, lists[i])))
            (void)sw_json_del(component, lists[i], NULL);
}

static int finish(const struct sw_aicr_catalog *c, struct json_object *result, struct sw_err *err)
{
    struct json_object *order = NULL,
                       *components = sw_json_need_list(result, "componentRefs", NULL);
    int rc = merge_mixins(c, result, err);
    if (rc == 0)
        rc = sw_aicr_order(components, &order, err);
    if (rc < 0)
        return rc;
    json_object_array_sort(components, sw_aicr_by_name);
    json_object_array_sort(sw_json_need_list(result, "constraints", NULL), sw_aicr_by_name);
    for (size_t i = 0; i < sw_json_len(components); i++) {
        struct json_object *component = sw_json_at(components, i);
        set_defaults(component, sw_aicr_component(c, sw_json_str(component, "", "name", NULL)));
    }
    (void)json_object_object_add(result, "deploymentOrder", order);
    return 0;
}

int sw_aicr_resolve(const struct sw_aicr_catalog *c, struct json_object *criteria,
                    struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *result = json_object_new_object(), *found = find_matches(c, criteria),
                 *chain = json_object_new_array();
    const char *version = sw_json_str(c->overlays, "", "base", "apiVersion", NULL);
    int rc = add_chain(c, "base", chain, 0, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(found); i++)
        rc = add_chain(c, sw_json_str(sw_json_at(found, i), "", NULL), chain, 0, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(chain); i++) {
        const char *name = sw_json_str(sw_json_at(chain, i), "", NULL);
        struct json_object *spec = spec_of(c, name);
        if (sw_json_get(spec, "profile"))
            rc = sw_err_set(err, SW_INVALID,
                            "overlay '%s': spec.profile: a choice of profiles is not known here",
                            name);
        else
            merge_spec(result, spec, sw_streq(version, "aicr.nvidia.com/v1alpha1"));
    }
    sw_json_set_str(result, "RecipeResult", "kind", NULL);
    sw_json_set_str(result, version, "apiVersion", NULL);
    sw_json_set(result, json_object_get(chain), "metadata", "appliedOverlays", NULL);
    (void)json_object_object_add(result, "criteria", sw_json_copy(criteria));
    if (rc == 0)
        rc = finish(c, result, err);
    if (rc == 0)
        *out = SW_TAKE(result);
    return rc;
}
