#include "chart/aicr/check.h"

#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "data/jmespath/jmespath.h"
#include "data/text/time.h"
#include "data/yaml/yaml.h"

/* "Step one!" as a part of an object's name: "step-one". The caller's. */
static char *as_name(const char *text)
{
    enum { MAX_NAME = 200 };
    char *name = sw_strndup(text, strnlen(text, MAX_NAME)), *to = name;
    for (const char *at = name; *at; at++) {
        const char c = *at >= 'A' && *at <= 'Z' ? (char)(*at + 'a' - 'A') : *at;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            *to++ = c;
        else if (to > name && to[-1] != '-')
            *to++ = '-';
    }
    if (to > name && to[-1] == '-')
        to--;
    *to = '\0';
    return name;
}

/* What @resource says besides of which object it speaks. The caller's. */
static struct json_object *asserted(struct json_object *resource, bool is_one)
{
    struct json_object *tree = sw_json_copy(resource);
    (void)sw_json_del(tree, "apiVersion", NULL);
    (void)sw_json_del(tree, "kind", NULL);
    (void)sw_json_del(tree, "metadata", "namespace", NULL);
    if (is_one)
        (void)sw_json_del(tree, "metadata", "name", NULL);
    if (!sw_json_len(sw_json_get(tree, "metadata")))
        (void)sw_json_del(tree, "metadata", NULL);
    return tree;
}

/* The only field of a map, borrowed; NULL: it has none, or more. */
static const char *only_field(struct json_object *map, struct json_object **value)
{
    const char *key = NULL;
    if (!json_object_is_type(map, json_type_object) || json_object_object_length(map) != 1)
        return NULL;
    json_object_object_foreach(map, name, below)
    {
        key = name;
        *value = below;
    }
    return key;
}

/* How long a statement may take to hold: as it says itself (@body), else its step, else the test.
 * An error without a time of its own has that of asserts. @*out is borrowed; NULL: nobody says it.
 */
static int timeout_of(struct json_object *test, struct json_object *step, struct json_object *body,
                      bool is_error, const char **out, struct sw_err *err)
{
    struct json_object *const said[] = { sw_json_get(step, "timeouts"),
                                         sw_json_find(test, "spec", "timeouts", NULL) };
    const char *text = sw_json_str(body, NULL, "timeout", NULL);
    int64_t ms;
    for (size_t i = 0; i < SW_COUNT(said) && !text; i++) {
        text = is_error ? sw_json_str(said[i], NULL, "error", NULL) : NULL;
        text = text ? text : sw_json_str(said[i], NULL, "assert", NULL);
    }
    *out = text;
    return text ? sw_span_parse(text, &ms, err) : 0;
}

static int add_statement(const char *step, size_t n, struct json_object *item, const char *timeout,
                         struct json_object *to, struct sw_err *err)
{
    struct json_object *body = NULL;
    const char *what = only_field(item, &body);
    const bool is_error = sw_streq(what, "error");
    struct json_object *resource = sw_json_get(body, "resource");
    if (!is_error && !sw_streq(what, "assert"))
        return sw_err_set(
            err, SW_INVALID,
            "step '%s', try[%zu]: '%s' has no counterpart here: assert and error have", step, n,
            what ? what : "");
    if (!*sw_obj_kind(resource) || !*sw_obj_api_version(resource))
        return sw_err_set(
            err, SW_INVALID,
            "step '%s', try[%zu].%s: a resource with apiVersion and kind was expected", step, n,
            what);
    const bool is_one = !is_error && *sw_obj_name(resource);
    SW_AUTO_JSON *tree = asserted(resource, is_one);
    SW_AUTO(sw_assertion) *compiled = NULL;
    int rc = sw_assertion_compile(tree, &compiled, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "step '%s', try[%zu].%s", step, n, what);
    struct json_object *s = json_object_new_object();
    SW_AUTO_CHARS *part = as_name(step),
                  *name = sw_printf("%s%s%zu", part, *part ? "-" : "", n + 1);
    sw_json_set_str(s, name, "name", NULL);
    sw_json_set_str(s, is_one ? "one" : is_error ? "none" : "any", "about", NULL);
    sw_json_set_str(s, sw_obj_api_version(resource), "resource", "apiVersion", NULL);
    sw_json_set_str(s, sw_obj_kind(resource), "resource", "kind", NULL);
    if (*sw_obj_namespace(resource))
        sw_json_set_str(s, sw_obj_namespace(resource), "resource", "metadata", "namespace", NULL);
    if (is_one)
        sw_json_set_str(s, sw_obj_name(resource), "resource", "metadata", "name", NULL);
    if (timeout)
        sw_json_set_str(s, timeout, "timeout", NULL);
    (void)json_object_object_add(s, "assert", SW_TAKE(tree));
    (void)json_object_array_add(to, s);
    return 0;
}

int sw_aicr_check_read(const char *file, const char *text, size_t len, struct json_object **out,
                       struct sw_err *err)
{
    SW_AUTO_JSON *test = NULL, *list = json_object_new_array();
    const struct sw_yaml_opts opts = { .file = file };
    int rc = sw_yaml_parse(text, len, &opts, &test, err);
    if (rc < 0)
        return rc;
    struct json_object *steps = sw_json_find(test, "spec", "steps", NULL);
    for (size_t i = 0; i < sw_json_len(steps); i++) {
        struct json_object *step = sw_json_at(steps, i), *todo = sw_json_get(step, "try");
        SW_AUTO_CHARS *number = sw_printf("%zu", i + 1);
        const char *name = sw_json_str(step, number, "name", NULL);
        for (size_t k = 0; rc == 0 && k < sw_json_len(todo); k++) {
            struct json_object *item = sw_json_at(todo, k), *error = sw_json_get(item, "error"),
                               *body = error ? error : sw_json_get(item, "assert");
            const char *timeout;
            rc = timeout_of(test, step, body, error, &timeout, err);
            rc = rc < 0 ? sw_err_wrap(err, rc, "step '%s', try[%zu]: timeout", name, k)
                        : add_statement(name, k, item, timeout, list, err);
        }
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s", file);
    }
    *out = SW_TAKE(list);
    return 0;
}

struct json_object *sw_aicr_check_manifest(struct json_object *statement, const char *ns)
{
    struct json_object *object = sw_json_copy(sw_json_get(statement, "resource"));
    SW_AUTO_CHARS *tree = sw_json_text(sw_json_get(statement, "assert"), SW_JSON_PLAIN, NULL);
    const char *about = sw_json_str(statement, "", "about", NULL),
               *timeout = sw_json_str(statement, NULL, "timeout", NULL);
    const bool is_one = sw_streq(about, "one");
    if (!is_one)
        sw_json_set_str(object, sw_json_str(statement, "", "name", NULL), "metadata", "name", NULL);
    if (!*sw_obj_namespace(object) && *ns)
        sw_json_set_str(object, ns, "metadata", "namespace", NULL);
    sw_json_set_str(object, is_one ? "true" : about, "metadata", "annotations",
                    "slipway.dev/observe", NULL);
    sw_json_set_str(object, tree, "metadata", "annotations", "slipway.dev/assert", NULL);
    if (timeout)
        sw_json_set_str(object, timeout, "metadata", "annotations", "slipway.dev/timeout", NULL);
    return object;
}
