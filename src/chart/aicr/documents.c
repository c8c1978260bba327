#include "chart/aicr/documents.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/aicr.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

static const char *const versions[] = { "aicr.nvidia.com/v1alpha1", "aicr.run/v1alpha2",
                                        "aicr.run/v1alpha3", "aicr.run/v1beta1" };

int sw_aicr_document(const char *file, const char *text, size_t len, const char *kind,
                     struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = file };
    int rc = sw_yaml_parse(text, len, &opts, &doc, err);
    if (rc < 0)
        return rc;
    const char *has = sw_json_str(doc, "", "kind", NULL);
    if (!sw_streq(has, kind))
        return sw_err_set(err, SW_INVALID, "%s: kind: '%s' is no %s", file, has, kind);
    const char *version = sw_json_str(doc, "", "apiVersion", NULL);
    bool known = false;
    for (size_t i = 0; i < SW_COUNT(versions); i++)
        known = known || sw_streq(versions[i], version);
    if (!known)
        return sw_err_set(err, SW_INVALID, "%s: apiVersion: '%s' is not known here: %s to %s are",
                          file, version, versions[0], versions[SW_COUNT(versions) - 1]);
    *out = SW_TAKE(doc);
    return 0;
}

int sw_aicr_known(const char *file, const char *where, struct json_object *doc,
                  const char *const *known, struct sw_err *err)
{
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: %s is no map", file, where);
    json_object_object_foreach(doc, key, value)
    {
        (void)value;
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return sw_err_set(err, SW_INVALID, "%s: %s: the field '%s' is not known here", file,
                              where, key);
    }
    return 0;
}

int sw_aicr_check_criteria(const char *file, const char *where, struct json_object *criteria,
                           struct sw_err *err)
{
    static const char *const known[] = { "service",  "accelerator", "intent", "os",
                                         "platform", "nodes",       NULL };
    return criteria ? sw_aicr_known(file, where, criteria, known, err) : 0;
}

/* Each of the list @list is a map of @known, with a name. */
static int check_list(const char *file, const char *what, struct json_object *list,
                      const char *const *known, struct sw_err *err)
{
    if (list && !json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "%s: %s is no list", file, what);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        const char *name = sw_json_str(item, "", "name", NULL);
        SW_AUTO_CHARS *where = *name ? sw_printf("%s '%s'", what, name)
                                     : sw_printf("%s[%zu]", what, i);
        int rc = sw_aicr_known(file, where, item, known, err);
        if (rc == 0 && !*name)
            rc = sw_err_set(err, SW_INVALID, "%s: %s has no name", file, where);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Names of components become names of folders and releases. */
static int check_names(const char *file, struct json_object *components, struct sw_err *err)
{
    enum { MAX_NAME = 45 }; /* of Helm's 53 for a release, with "-check" behind it */
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    for (size_t i = 0; i < sw_json_len(components); i++) {
        const char *name = sw_json_str(sw_json_at(components, i), "", "name", NULL);
        const size_t len = strlen(name);
        if (len > MAX_NAME || strspn(name, letters) < len || *name == '-' || name[len - 1] == '-')
            return sw_err_set(err, SW_INVALID,
                              "%s: componentRefs: '%s' is no name: expected lower-case letters, "
                              "digits and '-' between them, %d at most",
                              file, name, MAX_NAME);
    }
    return 0;
}

int sw_aicr_check_spec(const char *file, struct json_object *spec, struct sw_err *err)
{
    static const char *const constraint[] = { "name",        "value", "severity",
                                              "remediation", "unit",  NULL };
    static const char *const component[] = { "name",
                                             "namespace",
                                             "chart",
                                             "type",
                                             "source",
                                             "version",
                                             "tag",
                                             "valuesFile",
                                             "overrides",
                                             "dependencyRefs",
                                             "manifestFiles",
                                             "preManifestFiles",
                                             "path",
                                             "cleanup",
                                             "expectedResources",
                                             "healthCheckAsserts",
                                             "healthCheckSkip",
                                             NULL };
    static const char *const phases[] = { "readiness", "deployment", "performance", "conformance",
                                          NULL };
    static const char *const phase[] = { "checks",  "constraints",    "nodeSelection",
                                         "timeout", "infrastructure", NULL };
    int rc = check_list(file, "constraints", sw_json_get(spec, "constraints"), constraint, err);
    if (rc == 0)
        rc = check_list(file, "componentRefs", sw_json_get(spec, "componentRefs"), component, err);
    if (rc == 0)
        rc = check_names(file, sw_json_get(spec, "componentRefs"), err);
    struct json_object *validation = sw_json_get(spec, "validation");
    if (rc == 0 && validation)
        rc = sw_aicr_known(file, "validation", validation, phases, err);
    for (size_t i = 0; rc == 0 && phases[i]; i++) {
        struct json_object *doc = sw_json_get(validation, phases[i]);
        SW_AUTO_CHARS *where = sw_printf("validation.%s", phases[i]);
        if (doc)
            rc = sw_aicr_known(file, where, doc, phase, err);
    }
    return rc;
}

void sw_aicr_merge(struct json_object *to, struct json_object *from)
{
    if (!json_object_is_type(from, json_type_object))
        return;
    json_object_object_foreach(from, key, value)
    {
        struct json_object *has = sw_json_get(to, key);
        if (json_object_is_type(value, json_type_object) &&
            json_object_is_type(has, json_type_object))
            sw_aicr_merge(has, value);
        else
            (void)json_object_object_add(to, key, sw_json_copy(value));
    }
}

int sw_aicr_by_name(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "name", NULL), sw_json_str(*y, "", "name", NULL));
}

/* ---- order -------------------------------------------------------------------------------------
 */

/* Are all that @component depends on in @done? */
static bool is_next(struct json_object *component, struct json_object *done)
{
    struct json_object *needs = sw_json_get(component, "dependencyRefs");
    for (size_t i = 0; i < sw_json_len(needs); i++)
        if (!sw_json_has_text(done, sw_json_str(sw_json_at(needs, i), "", NULL)))
            return false;
    return true;
}

static int check_needs(struct json_object *components, struct sw_err *err)
{
    for (size_t i = 0; i < sw_json_len(components); i++) {
        struct json_object *c = sw_json_at(components, i);
        struct json_object *needs = sw_json_get(c, "dependencyRefs");
        const char *own = sw_json_str(c, "", "name", NULL);
        if (sw_json_find_by(components, "name", own) != c)
            return sw_err_set(err, SW_INVALID, "component '%s' is there twice", own);
        for (size_t j = 0; j < sw_json_len(needs); j++) {
            const char *name = sw_json_str(sw_json_at(needs, j), "", NULL);
            if (!sw_json_find_by(components, "name", name))
                return sw_err_set(err, SW_INVALID,
                                  "component '%s': dependencyRefs: there is no component '%s'", own,
                                  name);
        }
    }
    return 0;
}

int sw_aicr_order(struct json_object *components, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *done = json_object_new_array();
    const size_t n = sw_json_len(components);
    int rc = check_needs(components, err);
    if (rc < 0)
        return rc;
    while (sw_json_len(done) < n) {
        const char *next = NULL, *left = NULL;
        for (size_t i = 0; i < n; i++) {
            struct json_object *c = sw_json_at(components, i);
            const char *name = sw_json_str(c, "", "name", NULL);
            if (sw_json_has_text(done, name))
                continue;
            left = left ? left : name;
            if (is_next(c, done) && (!next || strcmp(name, next) < 0))
                next = name;
        }
        if (!next)
            return sw_err_set(err, SW_INVALID,
                              "component '%s': its dependencyRefs are a circle, or lead to one",
                              left);
        (void)json_object_array_add(done, json_object_new_string(next));
    }
    *out = SW_TAKE(done);
    return 0;
}
