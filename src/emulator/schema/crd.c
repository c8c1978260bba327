#include "emulator/schema/crd.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/schema.h"
#include "emulator/store/status.h"

json_object *sw_crd_version(const struct sw_emu_kind *kind, const char *version)
{
    return sw_json_find_by(sw_json_find(kind->crd, "spec", "versions", NULL), "name",
                           version ? version : kind->storage_version);
}

json_object *sw_crd_schema(const struct sw_emu_kind *kind, const char *version)
{
    return sw_json_find(sw_crd_version(kind, version), "schema", "openAPIV3Schema", NULL);
}

/* ---- documents ----------------------------------------------------------------------------------
 */

struct unknown {
    char *fields; /* "unknown field \"spec.a\", unknown field \"spec.b\"" */
    struct sw_write *w;
    bool warn;
};

static void on_unknown(const char *path, void *arg)
{
    struct unknown *u = arg;
    sw_append(&u->fields, "%sunknown field \"%s\"", u->fields ? ", " : "", path);
    if (u->warn)
        sw_status_warn(u->w->status, "unknown field \"%s\"", path);
}

int sw_crd_decode(struct sw_write *w)
{
    const char *version = w->opts->version ? w->opts->version : w->kind->storage_version;
    json_object *schema = sw_crd_schema(w->kind, version);
    const char *mode = w->opts->field_validation ? w->opts->field_validation : "Ignore";
    if (!schema)
        return 0;
    struct unknown u = { .w = w, .warn = strcmp(mode, "Warn") == 0 };
    bool strict = strcmp(mode, "Strict") == 0;
    sw_structural_prune(w->doc, schema, strict || u.warn ? on_unknown : NULL, &u);
    SW_AUTO_CHARS *fields = u.fields;
    if (strict && fields)
        return sw_status_bad_request(w->status,
                                     "%s in version \"%s\" cannot be handled as a %s: strict "
                                     "decoding error: %s",
                                     w->kind->kind, version, w->kind->kind, fields);
    sw_structural_default(w->doc, schema);
    return 0;
}

void sw_crd_default(struct sw_write *w)
{
    json_object *schema = sw_crd_schema(w->kind, w->opts->version);
    if (schema)
        sw_structural_default(w->doc, schema);
}

/* Errors with which rules are not evaluated. */
static bool is_blocking(const struct sw_field_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++) {
        const enum sw_field_error type = errors->items[i].type;
        if (type == SW_FIELD_NOT_SUPPORTED || type == SW_FIELD_REQUIRED ||
            type == SW_FIELD_TOO_LONG || type == SW_FIELD_TOO_MANY || type == SW_FIELD_TYPE)
            return true;
    }
    return false;
}

void sw_crd_validate(struct sw_write *w, struct sw_field_errors *errors)
{
    json_object *schema = sw_crd_schema(w->kind, w->opts->version);
    if (!schema)
        return;
    const bool is_old = sw_store_minor(w->store) < 36;
    SW_FIELD_ERRORS(kept);
    sw_structural_validate(w->doc, schema, "", errors);
    if (errors->n == 0)
        sw_structural_rules(w->doc, w->old, schema, is_old, errors, &kept);
    else if (is_blocking(errors) && sw_structural_has_rules(schema))
        sw_field_error_str(errors, SW_FIELD_INVALID, "<nil>", "null",
                           "some validation rules were not checked because the object was invalid; "
                           "correct the existing errors to complete validation");
    for (size_t i = 0; i < kept.n && !is_old; i++)
        sw_status_warn(w->status, "%s: %s", kept.items[i].field, kept.items[i].body);
}

/* ---- checks of a CRD ----------------------------------------------------------------------------
 */

static void require(json_object *doc, const char *first, const char *second,
                    struct sw_field_errors *errors)
{
    SW_AUTO_CHARS *field = sw_printf("%s%s%s", first, second ? "." : "", second ? second : "");
    if (!sw_json_str(doc, "", first, second, NULL)[0])
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, field, NULL, NULL);
}

/* Whether all versions have one schema, as the server keeps it in spec.validation then. */
static bool has_one_schema(json_object *versions)
{
    for (size_t i = 1; i < sw_json_len(versions); i++)
        if (!sw_json_equal(sw_json_get(sw_json_at(versions, i), "schema"),
                           sw_json_get(sw_json_at(versions, 0), "schema")))
            return false;
    return true;
}

/* The schema of a version; borrowed, NULL: there is none. */
static json_object *schema_of_version(json_object *versions, const char *name)
{
    return sw_json_find(sw_json_find_by(versions, "name", name), "schema", "openAPIV3Schema", NULL);
}

/* @before: the versions of what is updated; NULL: it is new. */
static void check_versions(json_object *versions, json_object *before,
                           struct sw_field_errors *errors)
{
    size_t n_storage = 0;
    const bool one = has_one_schema(versions);
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        json_object *version = sw_json_at(versions, i);
        json_object *schema = sw_json_find(version, "schema", "openAPIV3Schema", NULL);
        const char *name = sw_json_str(version, "", "name", NULL);
        SW_AUTO_CHARS *name_at = sw_printf("spec.versions[%zu].name", i);
        SW_AUTO_CHARS *schema_at = sw_printf("spec.versions[%zu].schema.openAPIV3Schema", i);
        n_storage += sw_json_bool(version, false, "storage", NULL);
        if (sw_dns_label_fault(name))
            sw_field_error_str(errors, SW_FIELD_INVALID, name_at, name, sw_dns_label_fault(name));
        if (!schema) {
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, schema_at, NULL, "schemas are required");
            continue;
        }
        const char *at = one ? "spec.validation.openAPIV3Schema" : schema_at;
        json_object *was = schema_of_version(before, name);
        sw_structural_check(schema, at, true, errors);
        sw_structural_check_costs(schema, at, was && sw_json_equal(was, schema), errors);
    }
    if (n_storage != 1)
        sw_field_error(errors, SW_FIELD_INVALID, "spec.versions", versions,
                       "must have exactly one version marked as storage version");
}

static void check_immutable(struct sw_write *w, const char *first, const char *second,
                            struct sw_field_errors *errors)
{
    json_object *was = sw_json_find(w->old, "spec", first, second, NULL);
    json_object *is = sw_json_find(w->doc, "spec", first, second, NULL);
    SW_AUTO_CHARS *field = sw_printf("spec.%s%s%s", first, second ? "." : "", second ? second : "");
    if (w->op == SW_OP_UPDATE && !sw_json_equal(was, is))
        sw_field_error(errors, SW_FIELD_INVALID, field, is, "field is immutable");
}

void sw_crd_check(struct sw_write *w, struct sw_field_errors *errors)
{
    json_object *spec = sw_json_get(w->doc, "spec");
    const char *group = sw_json_str(spec, "", "group", NULL);
    const char *plural = sw_json_str(spec, "", "names", "plural", NULL);
    const char *scope = sw_json_str(spec, "", "scope", NULL);
    SW_AUTO_CHARS *expected = sw_printf("%s.%s", plural, group);
    if (strcmp(w->name, expected) != 0)
        sw_field_error_str(errors, SW_FIELD_INVALID, "metadata.name", w->name,
                           "must be spec.names.plural+\".\"+spec.group");
    require(spec, "group", NULL, errors);
    require(spec, "names", "plural", errors);
    require(spec, "names", "kind", errors);
    if (strcmp(scope, "Namespaced") != 0 && strcmp(scope, "Cluster") != 0)
        sw_field_error_str(errors, SW_FIELD_NOT_SUPPORTED, "spec.scope", scope,
                           "supported values: \"Cluster\", \"Namespaced\"");
    check_versions(sw_json_get(spec, "versions"), sw_json_find(w->old, "spec", "versions", NULL),
                   errors);
    check_immutable(w, "scope", NULL, errors);
    check_immutable(w, "group", NULL, errors);
    check_immutable(w, "names", "kind", errors);
}

void sw_crd_set(struct sw_emu_kind *kind, json_object *crd)
{
    json_object_put(kind->crd);
    kind->crd = json_object_get(crd);
}
