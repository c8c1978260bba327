/* spec.overrides: changes of a recipe's objects by its user. Each entry selects objects (all, by
 * default), and changes their pods or patches them. The last hook that changes a manifest, but for
 * the node affinity, so that patches are written against what is applied. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/manifests/hooks_internal.h"
#include "operator/manifests/overrides.h"

static struct json_object *list_of(struct json_object *resource)
{
    return sw_json_find(resource, "spec", "overrides", NULL);
}

/* ---- which objects -----------------------------------------------------------------------------
 */

static bool fits(const char *pattern, const char *text)
{
    return !*pattern || fnmatch(pattern, text, 0) == 0;
}

static bool is_target(struct json_object *override, struct json_object *doc)
{
    struct json_object *t = sw_json_get(override, "target");
    struct json_object *labels = sw_json_get(t, "labels");
    const char *kind = sw_json_str(t, "", "kind", NULL);
    bool is = (!*kind || sw_streq(kind, sw_obj_kind(doc))) &&
              fits(sw_json_str(t, "", "name", NULL), sw_obj_name(doc)) &&
              fits(sw_json_str(t, "", "namespace", NULL), sw_obj_namespace(doc));
    if (!is || !json_object_is_type(labels, json_type_object))
        return is;
    json_object_object_foreach(labels, key, value)
    {
        is = is && sw_streq(sw_obj_label(doc, key), json_object_get_string(value));
    }
    return is;
}

/* ---- their pods --------------------------------------------------------------------------------
 */

/* A merge patch: null removes an entry. */
static void merge(struct json_object *pod, const char *field, struct json_object *value)
{
    struct json_object *merged = sw_merge_apply(sw_json_find(pod, "spec", field, NULL), value);
    sw_json_set(pod, merged, "spec", field, NULL);
}

static void append(struct json_object *pod, const char *field, struct json_object *value)
{
    struct json_object *list = sw_json_need_list(pod, "spec", field, NULL);
    for (size_t i = 0; i < sw_json_len(value); i++)
        (void)json_object_array_add(list, sw_json_copy(sw_json_at(value, i)));
}

static void replace(struct json_object *pod, const char *field, struct json_object *value)
{
    sw_json_set(pod, sw_json_copy(value), "spec", field, NULL);
}

static const struct {
    const char *field;
    json_type type;
    void (*set)(struct json_object *pod, const char *field, struct json_object *value);
} pod_fields[] = {
    { "tolerations", json_type_array, append },
    { "nodeSelector", json_type_object, merge },
    { "affinity", json_type_object, merge },
    { "priorityClassName", json_type_string, replace },
};

static bool changes_pods(struct json_object *override)
{
    for (size_t i = 0; i < SW_COUNT(pod_fields); i++)
        if (sw_json_get(override, pod_fields[i].field))
            return true;
    return sw_json_get(override, "resources");
}

static int set_pods(struct json_object *override, struct json_object *doc, struct sw_err *err)
{
    struct json_object *pod = sw_pod_template(doc), *container;
    struct json_object *resources = sw_json_get(override, "resources");
    const char *pattern = sw_json_str(override, "", "container", NULL);
    size_t n = 0;
    if (!pod && *sw_json_str(override, "", "target", "kind", NULL))
        return sw_err_set(err, SW_INVALID, "a %s makes no pods: only patch can change it",
                          sw_obj_kind(doc));
    if (!pod)
        return 0; /* without a kind it is for all objects that make pods */
    for (size_t i = 0; i < SW_COUNT(pod_fields); i++) {
        struct json_object *value = sw_json_get(override, pod_fields[i].field);
        if (value)
            pod_fields[i].set(pod, pod_fields[i].field, value);
    }
    for (size_t i = 0; resources && (container = sw_pod_container(pod, i)); i++) {
        if (!fits(pattern, sw_json_str(container, "", "name", NULL)))
            continue;
        struct json_object *merged = sw_merge_apply(sw_json_get(container, "resources"), resources);
        (void)json_object_object_add(container, "resources", merged);
        n++;
    }
    if (resources && n == 0 && *pattern)
        return sw_err_set(err, SW_INVALID, "it has no container '%s'", pattern);
    return 0;
}

/* ---- patches -----------------------------------------------------------------------------------
 */

static int patch(struct json_object *override, struct json_object *doc, struct sw_err *err)
{
    struct json_object *ops = sw_json_get(override, "patch");
    SW_AUTO_JSON *patched = NULL;
    if (!ops)
        return 0;
    SW_ERR(why);
    if (sw_jsonpatch_apply(doc, ops, &patched, &why) < 0)
        return sw_err_set(err, SW_INVALID, "patch: %s", sw_err_text(&why));
    if (!json_object_is_type(patched, json_type_object) ||
        !sw_streq(sw_obj_api_version(doc), sw_obj_api_version(patched)) ||
        !sw_streq(sw_obj_kind(doc), sw_obj_kind(patched)) ||
        !sw_streq(sw_obj_name(doc), sw_obj_name(patched)) ||
        !sw_streq(sw_obj_namespace(doc), sw_obj_namespace(patched)))
        return sw_err_set(err, SW_INVALID,
                          "patch: apiVersion, kind, name and namespace cannot be changed");
    /* the caller has @doc itself: its members become those of @patched */
    json_object_object_foreach(doc, old, unused)
    {
        (void)unused;
        json_object_object_del(doc, old);
    }
    json_object_object_foreach(patched, key, value)
    {
        (void)json_object_object_add(doc, key, json_object_get(value));
    }
    return 0;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

int hook_override(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    struct json_object *list = list_of(env->resource);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list) && i < SW_MAX_OVERRIDES; i++) {
        struct json_object *override = sw_json_at(list, i);
        if (!is_target(override, doc))
            continue;
        if (env->overrides_used)
            *env->overrides_used |= UINT64_C(1) << i;
        if (changes_pods(override))
            rc = set_pods(override, doc, err);
        if (rc == 0)
            rc = patch(override, doc, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "spec.overrides[%zu]", i);
    }
    return rc;
}

static int check_type(struct json_object *override, size_t i, const char *field, json_type type,
                      struct sw_err *err)
{
    struct json_object *value = sw_json_get(override, field);
    if (!value || json_object_is_type(value, type))
        return 0;
    return sw_err_set(err, SW_INVALID, "spec.overrides[%zu].%s: expected %s, found %s", i, field,
                      json_type_to_name(type), json_type_to_name(json_object_get_type(value)));
}

static int check_one(struct json_object *override, size_t i, struct sw_err *err)
{
    static const struct {
        const char *field;
        json_type type;
    } others[] = { { "target", json_type_object },
                   { "resources", json_type_object },
                   { "container", json_type_string },
                   { "patch", json_type_array } };
    int rc = 0;
    for (size_t f = 0; rc == 0 && f < SW_COUNT(pod_fields); f++)
        rc = check_type(override, i, pod_fields[f].field, pod_fields[f].type, err);
    for (size_t f = 0; rc == 0 && f < SW_COUNT(others); f++)
        rc = check_type(override, i, others[f].field, others[f].type, err);
    if (rc == 0 && !changes_pods(override) && !sw_json_get(override, "patch"))
        return sw_err_set(err, SW_INVALID, "spec.overrides[%zu]: it changes nothing", i);
    return rc;
}

int sw_overrides_check(struct json_object *resource, struct sw_err *err)
{
    struct json_object *list = list_of(resource);
    int rc = 0;
    if (list && !json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "spec.overrides: it is no list");
    if (sw_json_len(list) > SW_MAX_OVERRIDES)
        return sw_err_set(err, SW_INVALID, "spec.overrides: more than %d", SW_MAX_OVERRIDES);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = check_one(sw_json_at(list, i), i, err);
    return rc;
}

char *sw_overrides_unused(struct json_object *resource, uint64_t used)
{
    struct json_object *list = list_of(resource);
    char *all = NULL;
    for (size_t i = 0; i < sw_json_len(list) && i < SW_MAX_OVERRIDES; i++) {
        if (used & UINT64_C(1) << i)
            continue;
        struct json_object *t = sw_json_get(sw_json_at(list, i), "target");
        const char *kind = sw_json_str(t, "", "kind", NULL);
        sw_append(&all, "%sspec.overrides[%zu] (%s '%s')", all ? ", " : "", i,
                  *kind ? kind : "any kind", sw_json_str(t, "*", "name", NULL));
    }
    return all;
}
