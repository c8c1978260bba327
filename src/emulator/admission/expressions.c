#include "emulator/admission/expressions.h"

#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/status.h"

#define STR "{\"type\":\"string\"}"
#define FIELD(name) "\"" name "\":" STR ","
#define LAST(name) "\"" name "\":" STR
#define OBJECT(fields) "{\"type\":\"object\",\"properties\":{" fields "}}"
#define STRINGS "{\"type\":\"array\",\"items\":" STR "}"
#define MAP_OF(of) "{\"type\":\"object\",\"additionalProperties\":" of "}"
#define GVK OBJECT(FIELD("group") FIELD("version") LAST("kind"))
#define GVR OBJECT(FIELD("group") FIELD("version") LAST("resource"))

/* kubernetes.AdmissionRequest; options are whatever they are. */
static const char request_schema[] = OBJECT(
    FIELD("name") FIELD("namespace") FIELD("operation") FIELD("subResource")
        FIELD("requestSubResource")
            FIELD("uid") "\"kind\":" GVK ",\"requestKind\":" GVK ",\"resource\":" GVR
                         ",\"requestResource\":" GVR ","
                         "\"dryRun\":{\"type\":\"boolean\"},\"options\":{\"x-kubernetes-int-or-"
                         "string\":true},"
                         "\"userInfo\":" OBJECT(FIELD("username") FIELD(
                             "uid") "\"groups\":" STRINGS ",\"extra\":" MAP_OF(STRINGS)));

/* A Namespace, as policies may see it. */
static const char namespace_schema[] = OBJECT(
    FIELD("apiVersion") FIELD("kind") "\"metadata\":" OBJECT(
        FIELD("name") FIELD("generateName") FIELD("namespace") FIELD("resourceVersion") FIELD("uid")
            FIELD("selfLink") "\"labels\":" MAP_OF(STR) ",\"annotations\":" MAP_OF(
                STR) ",\"creationTimestamp\":{\"type\":\"string\",\"format\":\"date-time\"},"
                     "\"deletionTimestamp\":{\"type\":\"string\",\"format\":\"date-time\"},"
                     "\"generation\":{\"type\":\"integer\"},\"deletionGracePeriodSeconds\":{"
                     "\"type\":"
                     "\"integer\"},\"finalizers\":" STRINGS) ",\"spec\":" OBJECT("\"finalizers\""
                                                                                 ":" STRINGS) ",\"s"
                                                                                              "tatu"
                                                                                              "s\""
                                                                                              ":" OBJECT(LAST(
                                                                                                  "phase")));

static json_object *constant(const char *text, json_object **schema)
{
    SW_ERR(ignored);
    const int rc = *schema ? 0 : sw_json_parse(text, strlen(text), NULL, schema, &ignored);
    assert(rc == 0);
    (void)rc;
    return *schema;
}

int sw_admission_compile(json_object *text, const struct sw_admission_scope *scope,
                         const struct sw_cel **out, struct sw_err *err)
{
    static json_object *request, *namespace; /* constants, read once */
    const char *authorizer = scope->has_no_authorizer ? "" : "authorizer";
    const struct sw_cel_variable variables[SW_N_ADMISSION_VARIABLES] = {
        [SW_V_OBJECT] = { "object", SW_CEL_DYN, NULL },
        [SW_V_OLD_OBJECT] = { "oldObject", SW_CEL_DYN, NULL },
        [SW_V_REQUEST] = { "request", SW_CEL_TYPED, constant(request_schema, &request) },
        [SW_V_AUTHORIZER] = { authorizer, SW_CEL_AUTHORIZER, NULL },
        [SW_V_RESOURCE] = { *authorizer ? "authorizer.requestResource" : "", SW_CEL_RESOURCE,
                            NULL },
        [SW_V_NAMESPACE] = { scope->is_policy ? "namespaceObject" : "", SW_CEL_TYPED,
                             constant(namespace_schema, &namespace) },
        [SW_V_PARAMS] = { scope->has_params ? "params" : "", SW_CEL_DYN, NULL },
    };
    const struct sw_cel_env env = { .variables = variables,
                                    .n_variables = SW_N_ADMISSION_VARIABLES,
                                    .names = scope->names,
                                    .composed = scope->composed,
                                    .n_composed = scope->n_composed,
                                    .makes_patches = scope->makes_patches };
    return sw_cel_keep(text, &env, out, err);
}

void sw_admission_values(struct sw_write *w, json_object *request, json_object *params,
                         json_object *values[static SW_N_ADMISSION_VARIABLES],
                         struct sw_cel_input *input)
{
    const struct sw_emu_kind *namespaces = sw_store_kind(w->store, "", "Namespace");
    values[SW_V_OBJECT] = sw_json_get(request, "object");
    values[SW_V_OLD_OBJECT] = sw_json_get(request, "oldObject");
    values[SW_V_REQUEST] = request;
    values[SW_V_AUTHORIZER] = sw_json_get(request, "userInfo");
    values[SW_V_RESOURCE] = request;
    values[SW_V_NAMESPACE] = w->kind->namespaced ? sw_store_get(w->store, namespaces, NULL, w->ns)
                                                 : NULL;
    values[SW_V_PARAMS] = params;
    *input = (struct sw_cel_input){ .values = values,
                                    .allows = w->opts->allows,
                                    .arg = w->opts->guard_arg };
}

int sw_admission_conditions(json_object *list, const struct sw_admission_scope *scope,
                            const struct sw_cel_input *input, struct sw_err *err)
{
    int all = 1;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(why);
        const struct sw_cel *cel = NULL;
        json_object *condition = sw_json_at(list, i);
        int rc = sw_admission_compile(sw_json_get(condition, "expression"), scope, &cel, &why);
        if (rc == 0)
            rc = sw_cel_holds(cel, input, NULL, &why);
        if (rc == 0)
            return 0;
        if (rc < 0 && all == 1)
            all = sw_err_set(err, SW_INVALID, "matchCondition '%s': %s",
                             sw_json_str(condition, "", "name", NULL), sw_err_text(&why));
    }
    return all;
}

/* ---- checks -------------------------------------------------------------------------------------
 */

void sw_admission_check(json_object *text, const struct sw_admission_scope *scope,
                        const char *types, const char *path, struct sw_field_errors *errors)
{
    SW_ERR(why);
    const struct sw_cel *cel = NULL;
    const char *source = text ? json_object_get_string(text) : "";
    if (!*source) {
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, path, NULL, "expression is not specified");
        return;
    }
    if (sw_admission_compile(text, scope, &cel, &why) < 0) {
        SW_AUTO_CHARS *detail = sw_printf("compilation failed: %s", sw_err_text(&why));
        sw_field_error_str(errors, SW_FIELD_INVALID, path, source, detail);
        return;
    }
    const bool several = strchr(types, ' ');
    if (sw_streq(sw_cel_type_name(cel), types) ||
        (several &&
         (sw_streq(sw_cel_type_name(cel), "string") || sw_streq(sw_cel_type_name(cel), "null"))))
        return;
    SW_AUTO_CHARS *detail = sw_printf("must evaluate to %s%s%s but got %s",
                                      several ? "one of [" : "", types, several ? "]" : "",
                                      sw_cel_type_name(cel));
    sw_field_error_str(errors, SW_FIELD_INVALID, path, source, detail);
}

void sw_admission_check_conditions(json_object *list, const struct sw_admission_scope *scope,
                                   const char *path, struct sw_field_errors *errors)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu].expression", path, i);
        sw_admission_check(sw_json_get(sw_json_at(list, i), "expression"), scope, "bool", at,
                           errors);
    }
}
