#include "emulator/rules/rules_internal.h"

#include "data/patch/merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- comparing ----------------------------------------------------------------------------------
 */

static bool is_within(json_object *want, json_object *have);

/* The element of @list with the same name, type or key as @want (containers, conditions, taints);
 * NULL: there is none, or @want has none of these. Mostly it has the same index @i. */
static json_object *namesake(json_object *list, json_object *want, size_t i)
{
    static const char *const keys[] = { "name", "type", "key" };
    for (size_t k = 0; k < SW_COUNT(keys); k++) {
        const char *value = sw_json_str(want, NULL, keys[k], NULL);
        if (!value)
            continue;
        json_object *same = i < sw_json_len(list) ? sw_json_at(list, i) : NULL;
        json_object *found = sw_streq(sw_json_str(same, "", keys[k], NULL), value)
                                 ? same
                                 : sw_json_find_by(list, keys[k], value);
        if (found)
            return found;
    }
    return NULL;
}

/* Elements with names are compared by name, and @have may contain others; else one by one. */
static bool list_is_within(json_object *want, json_object *have)
{
    bool named = sw_json_len(want) > 0;
    for (size_t i = 0; i < sw_json_len(want); i++)
        named = named && namesake(have, sw_json_at(want, i), i);
    if (!named && sw_json_len(want) != sw_json_len(have))
        return false;
    for (size_t i = 0; i < sw_json_len(want); i++) {
        json_object *w = sw_json_at(want, i);
        if (!is_within(w, named ? namesake(have, w, i) : sw_json_at(have, i)))
            return false;
    }
    return true;
}

/* Whether @have has all fields of @want with the same values. It may have more: a server adds
 * defaults. */
static bool is_within(json_object *want, json_object *have)
{
    if (!want)
        return !have;
    if (json_object_is_type(want, json_type_array))
        return (json_object_is_type(have, json_type_array) || !sw_json_len(want)) &&
               list_is_within(want, have);
    if (!json_object_is_type(want, json_type_object))
        return sw_json_equal(want, have);
    if (have && !json_object_is_type(have, json_type_object))
        return false;
    json_object_object_foreach(want, key, value)
    {
        if (!is_within(value, sw_json_get(have, key)))
            return false;
    }
    return have != NULL || sw_json_len(want) == 0;
}

/* ---- writing ------------------------------------------------------------------------------------
 */

static struct sw_rules_ref ref_of(json_object *doc)
{
    const char *ns = sw_obj_namespace(doc);
    return (struct sw_rules_ref){ sw_obj_api_version(doc), sw_obj_kind(doc), *ns ? ns : NULL,
                                  sw_obj_name(doc), NULL };
}

/* @return 1 written, 0 nothing to write, or an error */
static int write_patch(struct sw_rules *rules, json_object *have, bool status, json_object *patch,
                       struct sw_err *err)
{
    if (is_within(patch, have))
        return 0;
    struct sw_rules_ref ref = ref_of(have);
    int rc = rules->backend.patch(rules->backend.self, &ref, status, patch, err);
    return rc < 0 ? sw_err_wrap(err, rc, "patch %s %s", sw_obj_kind(have), sw_obj_name(have)) : 1;
}

/* A new list: the conditions of @have, with those of @want merged by type. */
static json_object *merge_conditions(struct sw_rules *rules, json_object *have, json_object *want)
{
    json_object *list = sw_json_copy(sw_json_find(have, "status", "conditions", NULL));
    int64_t now = sw_loop_now_ms(rules->loop);
    if (!json_object_is_type(list, json_type_array)) {
        json_object_put(list);
        list = json_object_new_array();
    }
    for (size_t i = 0; i < sw_json_len(want); i++) {
        json_object *w = sw_json_at(want, i);
        const char *type = sw_json_str(w, "", "type", NULL);
        json_object *c = sw_json_find_by(list, "type", type);
        bool changed = !c || !sw_streq(sw_json_str(c, "", "status", NULL),
                                       sw_json_str(w, "", "status", NULL));
        json_object *merged = sw_merge_apply(c, w);
        if (changed && !sw_json_get(w, "lastTransitionTime"))
            json_object_object_add(merged, "lastTransitionTime", sw_time(now));
        if (!c) {
            json_object_array_add(list, merged);
            continue;
        }
        json_object_object_foreach(merged, key, value)
        {
            json_object_object_add(c, key, json_object_get(value));
        }
        json_object_put(merged);
    }
    return list;
}

/* Write these fields of the status; @status is borrowed. @return as write_patch() */
static int write_status(struct sw_rules *rules, json_object *have, json_object *status,
                        struct sw_err *err)
{
    json_object *want = sw_json_copy(status), *conditions = sw_json_get(want, "conditions");
    if (conditions)
        json_object_object_add(want, "conditions", merge_conditions(rules, have, conditions));
    SW_AUTO_JSON *patch = sw_doc_new("status", want, NULL);
    return write_patch(rules, have, true, patch, err);
}

/* ---- whole objects ------------------------------------------------------------------------------
 */

/* The object as it is; counted, NULL: it does not exist. */
static json_object *find(struct sw_rules *rules, json_object *doc)
{
    const struct sw_rules_ref ref = ref_of(doc);
    return json_object_get(rules->backend.find(rules->backend.self, &ref));
}

/* @doc without the status, and without apiVersion where @any_version; it shares all the rest. */
static json_object *without_status(json_object *doc, bool any_version)
{
    json_object *copy = json_object_new_object();
    json_object_object_foreach(doc, key, value)
    {
        if (!sw_streq(key, "status") && !(any_version && sw_streq(key, "apiVersion")))
            json_object_object_add(copy, key, json_object_get(value));
    }
    return copy;
}

static int create_object(struct sw_rules *rules, json_object *doc, struct sw_err *err)
{
    SW_AUTO_JSON *bare = without_status(doc, false);
    int rc = rules->backend.create(rules->backend.self, bare, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "create %s %s", sw_obj_kind(doc), sw_obj_name(doc));
    SW_AUTO_JSON *have = sw_json_get(doc, "status") ? find(rules, doc) : NULL;
    rc = have ? write_status(rules, have, sw_json_get(doc, "status"), err) : 0;
    return rc < 0 ? rc : 1;
}

/* Write what differs from @doc. */
static int complete_object(struct sw_rules *rules, json_object *have, json_object *doc,
                           struct sw_err *err)
{
    SW_AUTO_JSON *patch = without_status(doc, true); /* of the same kind in any version */
    json_object *status = sw_json_get(doc, "status");
    int rc = write_patch(rules, have, false, patch, err);
    int more = rc >= 0 && status ? write_status(rules, have, status, err) : 0;
    return rc < 0 ? rc : more < 0 ? more : rc + more;
}

/* Write the status of an object that was created, unless it has one of its fields. The backend may
 * create objects asynchronously, so that create_object() does not find them. */
static int write_first_status(struct sw_rules *rules, json_object *have, json_object *doc,
                              struct sw_err *err)
{
    json_object *want = sw_json_get(doc, "status"), *is = sw_json_get(have, "status");
    if (!want)
        return 0;
    json_object_object_foreach(want, key, unused)
    {
        (void)unused;
        if (sw_json_get(is, key))
            return 0;
    }
    return write_status(rules, have, want, err);
}

int sw_object_put(struct sw_rules *rules, json_object *doc, bool only_create, struct sw_err *err)
{
    const char *api_version = sw_obj_api_version(doc), *name = sw_obj_kind(doc);
    const char *missing = !*api_version        ? "apiVersion"
                          : !*name             ? "kind"
                          : !*sw_obj_name(doc) ? "metadata.name"
                                               : NULL;
    if (missing)
        return sw_err_set(err, SW_INVALID, "an object without %s", missing);
    SW_AUTO_CHARS *kind = sw_rules_kind_key(api_version, name);
    sw_depend_on(rules, "%s/%s/%s", kind, sw_obj_namespace(doc), sw_obj_name(doc));
    if (rules->backend.is_namespaced(rules->backend.self, api_version, name) < 0) {
        sw_depend_on(rules, "apiextensions.k8s.io/CustomResourceDefinition*");
        return sw_err_set(err, SW_PENDING, "kind %s of %s is not served", name, api_version);
    }
    SW_AUTO_JSON *have = find(rules, doc);
    return !have         ? create_object(rules, doc, err)
           : only_create ? write_first_status(rules, have, doc, err)
                         : complete_object(rules, have, doc, err);
}

bool sw_object_is_whole(struct sw_rules *rules, json_object *doc)
{
    SW_AUTO_JSON *have = find(rules, doc);
    return have && (!sw_json_len(sw_json_get(doc, "status")) || sw_json_get(have, "status"));
}

/* ---- actions ------------------------------------------------------------------------------------
 */

/* Evaluate `if`. @return 1, 0, or an error */
static int is_wanted(const struct action *action, struct scope *scope, struct sw_err *err)
{
    static const char *const no[] = { "", "false", "no", "0", "<no value>" };
    SW_AUTO_CHARS *text = NULL;
    int rc = action->condition ? sw_text_render(scope, action->condition, &text, err) : 0;
    if (rc < 0 || !text)
        return rc < 0 ? rc : 1;
    for (size_t i = 0; i < SW_COUNT(no); i++)
        if (sw_streq(text, no[i]))
            return 0;
    return 1;
}

static int put_objects(struct sw_rules *rules, const struct action *action, struct scope *scope,
                       struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = sw_body_render(scope, action->body, true, &list, err), written = 0;
    for (size_t i = 0; rc >= 0 && i < sw_json_len(list); i++) {
        json_object *doc = sw_json_at(list, i);
        const char *ns = sw_obj_namespace(scope->object);
        if (*ns && !*sw_obj_namespace(doc) &&
            rules->backend.is_namespaced(rules->backend.self, sw_obj_api_version(doc),
                                         sw_obj_kind(doc)) == 1)
            sw_json_set_str(doc, ns, "metadata", "namespace", NULL);
        if (action->owned && scope->object)
            sw_json_set(doc, sw_doc_list(sw_doc_owner_ref(scope->object), NULL), "metadata",
                        "ownerReferences", NULL);
        rc = sw_object_put(rules, doc, action->verb == VERB_CREATE, err);
        written += rc > 0 ? rc : 0;
    }
    return rc < 0 ? rc : written;
}

static int change_target(struct sw_rules *rules, const struct action *action, struct scope *scope,
                         json_object *target, struct sw_err *err)
{
    SW_AUTO_JSON *body = NULL;
    if (action->verb == VERB_DELETE) {
        struct sw_rules_ref ref = ref_of(target);
        if (sw_doc_is_deleted(target) && !action->now)
            return 0;
        enum sw_rules_removal how = action->now     ? SW_RULES_DELETE_NOW
                                    : action->evict ? SW_RULES_EVICT
                                                    : SW_RULES_DELETE;
        int rc = rules->backend.remove(rules->backend.self, &ref, how, err);
        return rc < 0 ? rc : 1;
    }
    int rc = sw_body_render(scope, action->body, false, &body, err);
    if (rc < 0 || !body)
        return rc;
    if (!json_object_is_type(body, json_type_object))
        return sw_err_set(err, SW_INVALID, "expected a mapping to patch with");
    return action->verb == VERB_STATUS ? write_status(rules, target, body, err)
                                       : write_patch(rules, target, false, body, err);
}

int sw_action_run(struct sw_rules *rules, const struct action *action, struct scope *scope,
                  struct sw_err *err)
{
    int rc = is_wanted(action, scope, err);
    if (rc <= 0)
        return rc;
    if (action->verb == VERB_APPLY || action->verb == VERB_CREATE)
        return put_objects(rules, action, scope, err);
    SW_AUTO_JSON *target = NULL, *list = NULL;
    if (!action->has_target) {
        target = find(rules, scope->object);
    } else {
        rc = sw_clause_find(&action->target, scope, 1, &list, err);
        if (rc < 0)
            return rc;
        target = json_object_get(sw_json_at(list, 0));
    }
    return target ? change_target(rules, action, scope, target, err) : 0;
}
