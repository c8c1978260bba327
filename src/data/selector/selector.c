/* Building, matching and printing selectors. */
#include "data/selector/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/path.h"
#include "data/selector/selector_build.h"
#include "data/text/buffer.h"

/* ---- building ----------------------------------------------------------------------------------
 */

void sw_requirement_done(struct sw_requirement *r)
{
    for (size_t i = 0; i < r->n_values; i++)
        free(r->values[i]);
    free(r->values);
    free(r->key);
    *r = (struct sw_requirement){ 0 };
}

void sw_selector_done(struct sw_selector *selector)
{
    for (size_t i = 0; i < selector->n_reqs; i++)
        sw_requirement_done(&selector->reqs[i]);
    free(selector->reqs);
    *selector = (struct sw_selector){ 0 };
}

void sw_requirement_add_value(struct sw_requirement *r, const char *text, size_t len)
{
    r->values = sw_realloc(r->values, r->n_values + 1, sizeof *r->values);
    r->values[r->n_values++] = sw_strndup(text, len);
}

void sw_selector_take(struct sw_selector *s, struct sw_requirement *r)
{
    SW_GROW(s->reqs, s->n_reqs, s->cap);
    s->reqs[s->n_reqs++] = *r;
    *r = (struct sw_requirement){ 0 };
}

static bool is_integer(const char *text)
{
    char *end;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return *text && !*end && errno == 0 && *text != ' ';
}

int sw_requirement_check(const struct sw_requirement *r, struct sw_err *err)
{
    const char *fault = sw_label_key_fault(r->key);
    if (fault)
        return sw_err_set(err, SW_INVALID, "label key '%s' %s", r->key, fault);
    bool ordered = r->op == SW_SEL_GREATER || r->op == SW_SEL_LESS;
    for (size_t i = 0; i < r->n_values; i++) {
        if (ordered && !is_integer(r->values[i]))
            return sw_err_set(err, SW_INVALID,
                              "for Gt and Lt, the value of '%s' must be an "
                              "integer, not '%s'",
                              r->key, r->values[i]);
        fault = sw_label_value_fault(r->values[i]);
        if (fault)
            return sw_err_set(err, SW_INVALID, "label value '%s' of key '%s' %s", r->values[i],
                              r->key, fault);
    }
    return 0;
}

/* ---- matching ----------------------------------------------------------------------------------
 */

static bool has_value(const struct sw_requirement *r, const char *value)
{
    for (size_t i = 0; i < r->n_values; i++)
        if (strcmp(r->values[i], value) == 0)
            return true;
    return false;
}

/* @value: NULL where the key is missing */
static bool holds(const struct sw_requirement *r, const char *value)
{
    switch (r->op) {
    case SW_SEL_EQUALS:
    case SW_SEL_IN:
        return value && has_value(r, value);
    case SW_SEL_NOT_EQUALS:
    case SW_SEL_NOT_IN:
        return !value || !has_value(r, value);
    case SW_SEL_EXISTS:
        return value != NULL;
    case SW_SEL_NOT_EXISTS:
        return value == NULL;
    case SW_SEL_GREATER:
    case SW_SEL_LESS:
        if (!value || !is_integer(value))
            return false;
        long long a = strtoll(value, NULL, 10), b = strtoll(r->values[0], NULL, 10);
        return r->op == SW_SEL_GREATER ? a > b : a < b;
    }
    return false;
}

static bool matches(const struct sw_selector *s, sw_label_fn *value, void *arg)
{
    if (s->nothing)
        return false;
    for (size_t i = 0; i < s->n_reqs; i++)
        if (!holds(&s->reqs[i], value(s->reqs[i].key, arg)))
            return false;
    return true;
}

static const char *label_of(const char *key, void *labels)
{
    struct json_object *value = sw_json_get(labels, key);
    return value ? json_object_get_string(value) : NULL;
}

bool sw_selector_selects(const struct sw_selector *selector, sw_label_fn *label, void *arg)
{
    return matches(selector, label, arg);
}

bool sw_selector_matches(const struct sw_selector *selector, struct json_object *labels)
{
    return matches(selector, label_of, labels);
}

bool sw_selector_matches_object(const struct sw_selector *selector, struct json_object *object)
{
    return sw_selector_matches(selector, sw_json_find(object, "metadata", "labels", NULL));
}

/* The text at a dotted path; "" where there is none. */
static const char *field_of(const char *path, void *arg)
{
    struct json_object *object = arg;
    SW_AUTO_CHARS *copy = sw_strdup(path);
    char *rest = copy, *key;
    while (object && (key = strsep(&rest, ".")))
        object = sw_json_get(object, key);
    bool leaf = object && !json_object_is_type(object, json_type_object) &&
                !json_object_is_type(object, json_type_array);
    return leaf ? json_object_get_string(object) : "";
}

bool sw_field_selector_matches(const struct sw_selector *selector, struct json_object *object)
{
    return matches(selector, field_of, object);
}

/* metadata.name is the only field that the API server allows in a NodeSelector. */
static const char *node_field(const char *path, void *name)
{
    return strcmp(path, "metadata.name") == 0 ? name : "";
}

bool sw_node_selector_selects(const struct sw_node_selector *s, const char *name,
                              sw_label_fn *label, void *arg)
{
    for (size_t i = 0; i < s->n_terms; i++)
        if (matches(&s->terms[i].labels, label, arg) &&
            matches(&s->terms[i].fields, node_field, (void *)name))
            return true;
    return s->everything;
}

bool sw_node_selector_matches(const struct sw_node_selector *s, struct json_object *node)
{
    return sw_node_selector_selects(s, sw_obj_name(node), label_of,
                                    sw_json_find(node, "metadata", "labels", NULL));
}

bool sw_toleration_tolerates(struct json_object *toleration, const char *key, const char *value,
                             const char *effect)
{
    const char *its_key = sw_json_str(toleration, "", "key", NULL);
    const char *its_effect = sw_json_str(toleration, "", "effect", NULL);
    if ((*its_effect && strcmp(its_effect, effect) != 0) || (*its_key && strcmp(its_key, key) != 0))
        return false;
    return strcmp(sw_json_str(toleration, "", "operator", NULL), "Exists") == 0 ||
           (*its_key && strcmp(sw_json_str(toleration, "", "value", NULL), value) == 0);
}

/* ---- text --------------------------------------------------------------------------------------
 */

static int compare_requirements(const void *a, const void *b)
{
    const struct sw_requirement *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put(struct sw_buffer *out, const char *text)
{
    sw_buffer_put(out, text, strlen(text));
}

static void put_set(struct sw_buffer *out, const struct sw_requirement *r)
{
    char **values = sw_alloc((r->n_values + 1) * sizeof *values);
    if (r->n_values)
        memcpy(values, r->values, r->n_values * sizeof *values);
    qsort(values, r->n_values, sizeof *values, compare_texts);
    put(out, r->op == SW_SEL_IN ? " in (" : " notin (");
    for (size_t i = 0; i < r->n_values; i++) {
        put(out, i ? "," : "");
        put(out, values[i]);
    }
    put(out, ")");
    free(values);
}

static void put_requirement(struct sw_buffer *out, const struct sw_requirement *r)
{
    static const char *const signs[] = { [SW_SEL_EQUALS] = "=",
                                         [SW_SEL_NOT_EQUALS] = "!=",
                                         [SW_SEL_GREATER] = ">",
                                         [SW_SEL_LESS] = "<" };
    const char *sign = r->op < SW_COUNT(signs) ? signs[r->op] : NULL;
    if (r->op == SW_SEL_NOT_EXISTS)
        put(out, "!");
    put(out, r->key);
    if (r->op == SW_SEL_IN || r->op == SW_SEL_NOT_IN) {
        put_set(out, r);
    } else if (sign && r->n_values > 0) {
        put(out, sign);
        put(out, r->values[0]);
    }
}

char *sw_selector_text(const struct sw_selector *selector)
{
    struct sw_buffer out = { 0 };
    size_t n = selector->n_reqs;
    const struct sw_requirement **sorted = sw_alloc((n + 1) * sizeof(void *));
    for (size_t i = 0; i < n; i++)
        sorted[i] = &selector->reqs[i];
    qsort(sorted, n, sizeof(void *), compare_requirements);
    for (size_t i = 0; i < n; i++) {
        put(&out, i ? "," : "");
        put_requirement(&out, sorted[i]);
    }
    free(sorted);
    return sw_buffer_take(&out, NULL);
}
