#include "emulator/rules/rules_internal.h"

#include "data/patch/merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- what should be, in what is -----------------------------------------------------------------
 */

static bool is_within(json_object *want, json_object *have);

/* A list's element of the same name (containers, ports, conditions); NULL: none, or no names. */
static json_object *namesake(json_object *list, json_object *want)
{
    static const char *const keys[] = { "name", "type", "key" };
    for (size_t k = 0; k < SW_COUNT(keys); k++) {
        const char *value = sw_json_str(want, NULL, keys[k], NULL);
        json_object *found = value ? sw_json_find_by(list, keys[k], value) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

/* By name, where others may be in the list too; else one by one. */
static bool list_is_within(json_object *want, json_object *have)
{
    bool named = sw_json_len(want) > 0;
    for (size_t i = 0; i < sw_json_len(want); i++)
        named = named && namesake(have, sw_json_at(want, i));
    if (!named && sw_json_len(want) != sw_json_len(have))
        return false;
    for (size_t i = 0; i < sw_json_len(want); i++) {
        json_object *w = sw_json_at(want, i);
        if (!is_within(w, named ? namesake(have, w) : sw_json_at(have, i)))
            return false;
    }
    return true;
}

/* Everything that @want says is so in @have, which may say more: a server adds defaults. */
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

/* Conditions are merged into those that are there, by type; the others stay. */
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
        bool turned = !c || !sw_streq(sw_json_str(c, "", "status", NULL),
                                      sw_json_str(w, "", "status", NULL));
        json_object *merged = sw_merge_apply(c, w);
        if (turned && !sw_json_get(w, "lastTransitionTime"))
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

/* @status: the fields that are wanted; borrowed. */
static int write_status(struct sw_rules *rules, json_object *have, json_object *status,
                        struct sw_err *err)
{
    json_object *want = sw_json_copy(status), *conditions = sw_json_get(want, "conditions");
    if (conditions)
        json_object_object_add(want, "conditions", merge_conditions(rules, have, conditions));
    json_object *patch = sw_doc_new("status", want, NULL);
    int rc = write_patch(rules, have, true, patch, err);
    json_object_put(patch);
    return rc;
}

/* ---- whole objects ------------------------------------------------------------------------------
 */

static int check_object(json_object *doc, struct sw_err *err)
{
    const char *missing = !*sw_obj_api_version(doc) ? "apiVersion"
                          : !*sw_obj_kind(doc)      ? "kind"
                          : !*sw_obj_name(doc)      ? "metadata.name"
                                                    : NULL;
    return missing ? sw_err_set(err, SW_INVALID, "an object without %s", missing) : 0;
}

static void find(struct sw_rules *rules, json_object *doc, json_object **out)
{
    const struct sw_rules_ref ref = ref_of(doc);
    *out = rules->backend.find(rules->backend.self, &ref);
}

/* Look at the object, and, where its kind is not served, at what may bring it. */
static int depend_on_object(struct sw_rules *rules, json_object *doc)
{
    SW_AUTO_CHARS *kind = sw_rules_kind_key(sw_obj_api_version(doc), sw_obj_kind(doc));
    int spaced = rules->backend.is_namespaced(rules->backend.self, sw_obj_api_version(doc),
                                              sw_obj_kind(doc));
    sw_depend_on(rules, "%s/%s/%s", kind, sw_obj_namespace(doc), sw_obj_name(doc));
    if (spaced < 0)
        sw_depend_on(rules, "apiextensions.k8s.io/CustomResourceDefinition*");
    return spaced;
}

static int create_object(struct sw_rules *rules, json_object *doc, struct sw_err *err)
{
    json_object *bare = sw_json_copy(doc), *status = sw_json_get(doc, "status");
    json_object_object_del(bare, "status");
    int rc = rules->backend.create(rules->backend.self, bare, err);
    json_object_put(bare);
    if (rc < 0)
        return sw_err_wrap(err, rc, "create %s %s", sw_obj_kind(doc), sw_obj_name(doc));
    json_object *have = NULL;
    if (status)
        find(rules, doc, &have);
    if (!have)
        return 1;
    json_object_get(have);
    rc = write_status(rules, have, status, err);
    json_object_put(have);
    return rc < 0 ? rc : 1;
}

static int complete_object(struct sw_rules *rules, json_object *have, json_object *doc,
                           struct sw_err *err)
{
    json_object *patch = sw_json_copy(doc), *status = sw_json_get(doc, "status");
    json_object_get(have);
    json_object_object_del(patch, "status");
    json_object_object_del(patch, "apiVersion"); /* perhaps another version of the same */
    int rc = write_patch(rules, have, false, patch, err), more = 0;
    if (rc >= 0 && status)
        more = write_status(rules, have, status, err);
    json_object_put(patch);
    json_object_put(have);
    return rc < 0 ? rc : more < 0 ? more : rc + more;
}

/* What is created gets its status by a second write, which a server may have to be asked for again.
 */
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
    json_object_get(have);
    int rc = write_status(rules, have, want, err);
    json_object_put(have);
    return rc;
}

int sw_object_put(struct sw_rules *rules, json_object *doc, bool only_create, struct sw_err *err)
{
    int rc = check_object(doc, err);
    if (rc < 0)
        return rc;
    if (depend_on_object(rules, doc) < 0)
        return sw_err_set(err, SW_PENDING, "kind %s of %s is not served", sw_obj_kind(doc),
                          sw_obj_api_version(doc));
    json_object *have = NULL;
    find(rules, doc, &have);
    if (have && only_create)
        return write_first_status(rules, have, doc, err);
    return have ? complete_object(rules, have, doc, err) : create_object(rules, doc, err);
}

bool sw_object_is_whole(struct sw_rules *rules, json_object *doc)
{
    json_object *have = NULL;
    find(rules, doc, &have);
    return have && (!sw_json_len(sw_json_get(doc, "status")) || sw_json_get(have, "status"));
}

/* ---- actions ------------------------------------------------------------------------------------
 */

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

static void add_owner(json_object *doc, json_object *owner)
{
    sw_json_set(doc, sw_doc_list(sw_doc_owner_ref(owner), NULL), "metadata", "ownerReferences",
                NULL);
}

static int put_objects(struct sw_rules *rules, const struct action *action, struct scope *scope,
                       struct sw_err *err)
{
    json_object *list = NULL;
    int rc = sw_body_render(scope, action->body, true, &list, err), written = 0;
    for (size_t i = 0; rc >= 0 && i < sw_json_len(list); i++) {
        json_object *doc = sw_json_at(list, i);
        int spaced = rules->backend.is_namespaced(rules->backend.self, sw_obj_api_version(doc),
                                                  sw_obj_kind(doc));
        if (spaced == 1 && !*sw_obj_namespace(doc) && scope->object &&
            *sw_obj_namespace(scope->object))
            sw_json_set_str(doc, sw_obj_namespace(scope->object), "metadata", "namespace", NULL);
        if (action->owned && scope->object)
            add_owner(doc, scope->object);
        rc = sw_object_put(rules, doc, action->verb == VERB_CREATE, err);
        written += rc > 0 ? rc : 0;
    }
    json_object_put(list);
    return rc < 0 ? rc : written;
}

/* The object that a patch, status or delete is about: counted, NULL where it is not there. */
static int target_of(struct sw_rules *rules, const struct action *action, struct scope *scope,
                     json_object **out, struct sw_err *err)
{
    json_object *list = NULL;
    *out = NULL;
    if (!action->has_target) {
        struct sw_rules_ref ref = ref_of(scope->object);
        *out = json_object_get(rules->backend.find(rules->backend.self, &ref));
        return 0;
    }
    int rc = sw_clause_find(&action->target, scope, 1, &list, err);
    if (rc == 0)
        *out = json_object_get(sw_json_at(list, 0));
    json_object_put(list);
    return rc;
}

static int change_target(struct sw_rules *rules, const struct action *action, struct scope *scope,
                         json_object *target, struct sw_err *err)
{
    json_object *body = NULL;
    struct sw_rules_ref ref = ref_of(target);
    if (action->verb == VERB_DELETE) {
        if (sw_doc_is_deleted(target) && !action->now)
            return 0;
        int rc = rules->backend.remove(rules->backend.self, &ref, action->now, err);
        return rc < 0 ? rc : 1;
    }
    int rc = sw_body_render(scope, action->body, false, &body, err);
    if (rc == 0 && body && !json_object_is_type(body, json_type_object))
        rc = sw_err_set(err, SW_INVALID, "expected a mapping to patch with");
    if (rc == 0 && body)
        rc = action->verb == VERB_STATUS ? write_status(rules, target, body, err)
                                         : write_patch(rules, target, false, body, err);
    json_object_put(body);
    return rc;
}

int sw_action_run(struct sw_rules *rules, const struct action *action, struct scope *scope,
                  struct sw_err *err)
{
    json_object *target = NULL;
    int rc = is_wanted(action, scope, err);
    if (rc <= 0)
        return rc;
    if (action->verb == VERB_APPLY || action->verb == VERB_CREATE)
        return put_objects(rules, action, scope, err);
    rc = target_of(rules, action, scope, &target, err);
    if (rc == 0 && target)
        rc = change_target(rules, action, scope, target, err);
    json_object_put(target);
    return rc;
}
