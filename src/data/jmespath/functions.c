/* The functions of JMESPath. Source: jmespath.org, "Built-in Functions". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/jmespath/ast.h"
#include "data/json/json.h"
#include "data/json/path.h"

/* Types that an argument may have, and names for messages. */
enum {
    A_NUMBER = 1,
    A_STRING = 2,
    A_LIST = 4,
    A_MAP = 8,
    A_OTHER = 16,
    A_ANY = 31,
    A_NUMBERS = 32, /* a list of numbers */
    A_TEXTS = 64,   /* a list of strings */
    A_EXPRESSION = 128,
};

struct call {
    struct jm_run *run;
    const struct jm_node *node;
    struct json_object *args[3]; /* owned */
    size_t n;
    struct json_object **out;
};

struct jm_function {
    const char *name;
    unsigned takes[2]; /* the types of its arguments; 0: none */
    bool more;         /* any number of arguments of the last type, one at least */
    int (*call)(struct call *c);
};

static unsigned type_of(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_int:
    case json_type_double:
        return A_NUMBER;
    case json_type_string:
        return A_STRING;
    case json_type_array:
        return A_LIST;
    case json_type_object:
        return A_MAP;
    default:
        return A_OTHER;
    }
}

static bool all_are(struct json_object *list, unsigned type)
{
    if (type_of(list) != A_LIST)
        return false;
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (type_of(sw_json_at(list, i)) != type)
            return false;
    return true;
}

static bool fits(struct json_object *value, unsigned takes)
{
    return (type_of(value) & takes) || ((takes & A_NUMBERS) && all_are(value, A_NUMBER)) ||
           ((takes & A_TEXTS) && all_are(value, A_STRING));
}

/* 3.0 is 3, as JSON numbers are. */
static struct json_object *number(double x)
{
    const bool whole = x >= -9e15 && x <= 9e15 && floor(x) == x;
    return whole ? json_object_new_int64((int64_t)x) : json_object_new_double(x);
}

static double num(struct json_object *value)
{
    return json_object_get_double(value);
}

static const char *str(struct json_object *value)
{
    return json_object_get_string(value);
}

/* Sort keys are all numbers or all strings; @return false: they are not */
static bool comparable(unsigned a, unsigned b)
{
    return a == b && (a == A_NUMBER || a == A_STRING);
}

static int order(struct json_object *a, struct json_object *b)
{
    if (type_of(a) == A_STRING)
        return strcmp(str(a), str(b));
    return (num(a) > num(b)) - (num(a) < num(b));
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

static int fn_abs(struct call *c)
{
    *c->out = number(fabs(num(c->args[0])));
    return 0;
}

static int fn_ceil(struct call *c)
{
    *c->out = number(ceil(num(c->args[0])));
    return 0;
}

static int fn_floor(struct call *c)
{
    *c->out = number(floor(num(c->args[0])));
    return 0;
}

static double sum_of(struct json_object *list)
{
    double all = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        all += num(sw_json_at(list, i));
    return all;
}

static int fn_sum(struct call *c)
{
    *c->out = number(sum_of(c->args[0]));
    return 0;
}

static int fn_avg(struct call *c)
{
    const size_t n = sw_json_len(c->args[0]);
    *c->out = n ? number(sum_of(c->args[0]) / (double)n) : NULL;
    return 0;
}

static int fn_to_number(struct call *c)
{
    struct json_object *value = c->args[0], *read = NULL;
    if (type_of(value) == A_NUMBER) {
        *c->out = json_object_get(value);
    } else if (type_of(value) == A_STRING) {
        if (sw_json_parse(str(value), strlen(str(value)), NULL, &read, NULL) == 0 &&
            type_of(read) == A_NUMBER)
            *c->out = read;
        else
            (void)json_object_put(read);
    }
    return 0;
}

/* ---- texts -------------------------------------------------------------------------------------
 */

static int fn_starts_with(struct call *c)
{
    *c->out = json_object_new_boolean(sw_starts_with(str(c->args[0]), str(c->args[1])));
    return 0;
}

static int fn_ends_with(struct call *c)
{
    *c->out = json_object_new_boolean(sw_ends_with(str(c->args[0]), str(c->args[1])));
    return 0;
}

static int fn_join(struct call *c)
{
    SW_AUTO_CHARS *all = sw_strdup("");
    size_t len = strlen(str(c->args[0])) * sw_json_len(c->args[1]);
    for (size_t i = 0; i < sw_json_len(c->args[1]); i++)
        len += strlen(str(sw_json_at(c->args[1], i)));
    int rc = jm_visit(c->run, len);
    for (size_t i = 0; rc == 0 && i < sw_json_len(c->args[1]); i++)
        sw_append(&all, "%s%s", i ? str(c->args[0]) : "", str(sw_json_at(c->args[1], i)));
    *c->out = rc == 0 ? json_object_new_string(all) : NULL;
    return rc;
}

static int fn_to_string(struct call *c)
{
    if (type_of(c->args[0]) == A_STRING) {
        *c->out = json_object_get(c->args[0]);
        return 0;
    }
    SW_AUTO_CHARS *text = sw_json_text(c->args[0], SW_JSON_PLAIN, NULL);
    *c->out = json_object_new_string(text);
    return jm_visit(c->run, strlen(text));
}

static int fn_type(struct call *c)
{
    const unsigned type = type_of(c->args[0]);
    *c->out = json_object_new_string(type == A_NUMBER   ? "number"
                                     : type == A_STRING ? "string"
                                     : type == A_LIST   ? "array"
                                     : type == A_MAP    ? "object"
                                     : c->args[0]       ? "boolean"
                                                        : "null");
    return 0;
}

/* The number of code points, which are the bytes that continue no other. */
static size_t text_len(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static int fn_length(struct call *c)
{
    struct json_object *value = c->args[0];
    const size_t n = type_of(value) == A_STRING ? text_len(str(value)) : sw_json_len(value);
    *c->out = json_object_new_int64((int64_t)n);
    return 0;
}

/* ---- lists and maps ----------------------------------------------------------------------------
 */

static int fn_contains(struct call *c)
{
    struct json_object *in = c->args[0], *what = c->args[1];
    bool found = false;
    if (type_of(in) == A_STRING)
        found = type_of(what) == A_STRING && strstr(str(in), str(what));
    for (size_t i = 0; type_of(in) == A_LIST && !found && i < sw_json_len(in); i++)
        found = sw_json_equal(sw_json_at(in, i), what);
    *c->out = json_object_new_boolean(found);
    return 0;
}

static int fn_keys(struct call *c)
{
    *c->out = json_object_new_array();
    json_object_object_foreach(c->args[0], key, value)
    {
        (void)value;
        (void)json_object_array_add(*c->out, json_object_new_string(key));
    }
    return 0;
}

static int fn_values(struct call *c)
{
    *c->out = json_object_new_array();
    json_object_object_foreach(c->args[0], key, value)
    {
        (void)key;
        (void)json_object_array_add(*c->out, json_object_get(value));
    }
    return 0;
}

static int fn_to_array(struct call *c)
{
    if (type_of(c->args[0]) == A_LIST) {
        *c->out = json_object_get(c->args[0]);
        return 0;
    }
    *c->out = json_object_new_array();
    (void)json_object_array_add(*c->out, json_object_get(c->args[0]));
    return 0;
}

/* A text from its end: code point by code point. */
static struct json_object *reverse_text(const char *text)
{
    const size_t len = strlen(text);
    SW_AUTO_CHARS *to = sw_alloc(len + 1);
    for (size_t at = 0; at < len;) {
        size_t n = 1;
        while (at + n < len && (text[at + n] & 0xc0) == 0x80)
            n++;
        memcpy(to + len - at - n, text + at, n);
        at += n;
    }
    to[len] = '\0';
    return json_object_new_string(to);
}

static int fn_reverse(struct call *c)
{
    if (type_of(c->args[0]) == A_STRING) {
        *c->out = reverse_text(str(c->args[0]));
        return 0;
    }
    *c->out = json_object_new_array();
    for (size_t i = sw_json_len(c->args[0]); i-- > 0;)
        (void)json_object_array_add(*c->out, json_object_get(sw_json_at(c->args[0], i)));
    return 0;
}

/* Maps, the later ones over the earlier. */
static int fn_merge(struct call *c)
{
    *c->out = json_object_new_object();
    for (size_t i = 0; i < c->node->n_items; i++) {
        /* the first is evaluated already; the others one by one, since there may be many */
        SW_AUTO_JSON *map = i == 0 ? json_object_get(c->args[0]) : NULL;
        int rc = i == 0 ? 0 : jm_eval(c->run, c->node->items[i], c->args[2], &map);
        if (rc == 0 && type_of(map) != A_MAP)
            rc = sw_err_set(c->run->err, SW_INVALID, "merge() takes maps");
        if (rc < 0)
            return rc;
        json_object_object_foreach(map, key, value)(void)
            json_object_object_add(*c->out, key, json_object_get(value));
    }
    return 0;
}

static int fn_not_null(struct call *c)
{
    int rc = 0;
    *c->out = json_object_get(c->args[0]);
    for (size_t i = 1; rc == 0 && !*c->out && i < c->node->n_items; i++)
        rc = jm_eval(c->run, c->node->items[i], c->args[2], c->out);
    return rc;
}

/* ---- by order ----------------------------------------------------------------------------------
 */

struct keyed {
    struct json_object *value, *key; /* @key is owned */
    size_t at;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    const int by_key = order(x->key, y->key);
    return by_key ? by_key : (x->at > y->at) - (x->at < y->at);
}

static void free_keyed(struct keyed *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)json_object_put(all[i].key);
    free(all);
}

/* The elements of @list with the key by which they are ordered: themselves, or what the expression
 * @by says of them. @*out is the caller's: free_keyed(). */
static int key_all(struct call *c, struct json_object *list, const struct jm_node *by,
                   struct keyed **out)
{
    const size_t n = sw_json_len(list);
    struct keyed *all = sw_zalloc(n + 1, sizeof *all);
    int rc = jm_visit(c->run, n);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        all[i].value = sw_json_at(list, i);
        all[i].at = i;
        if (by)
            rc = jm_eval(c->run, by->left, all[i].value, &all[i].key);
        else
            all[i].key = json_object_get(all[i].value);
        if (rc == 0 && !comparable(type_of(all[i].key), type_of(all[0].key)))
            rc = sw_err_set(c->run->err, SW_INVALID,
                            "%s(): the values to order by are not all numbers or all strings",
                            c->node->function->name);
    }
    if (rc < 0) {
        free_keyed(all, n);
        return rc;
    }
    *out = all;
    return 0;
}

static const struct jm_node *by_of(const struct call *c)
{
    return c->node->n_items > 1 ? c->node->items[1] : NULL;
}

static int fn_sort(struct call *c)
{
    struct keyed *all = NULL;
    const size_t n = sw_json_len(c->args[0]);
    int rc = key_all(c, c->args[0], by_of(c), &all);
    if (rc < 0)
        return rc;
    qsort(all, n, sizeof *all, compare_keyed);
    *c->out = json_object_new_array();
    for (size_t i = 0; i < n; i++)
        (void)json_object_array_add(*c->out, json_object_get(all[i].value));
    free_keyed(all, n);
    return 0;
}

/* The first of the least (@sign -1) or of the greatest (1); NULL: there is none. */
static int pick(struct call *c, int sign)
{
    struct keyed *all = NULL;
    const size_t n = sw_json_len(c->args[0]);
    int rc = key_all(c, c->args[0], by_of(c), &all);
    if (rc < 0)
        return rc;
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (order(all[i].key, all[best].key) * sign > 0)
            best = i;
    *c->out = n ? json_object_get(all[best].value) : NULL;
    free_keyed(all, n);
    return 0;
}

static int fn_max(struct call *c)
{
    return pick(c, 1);
}

static int fn_min(struct call *c)
{
    return pick(c, -1);
}

static int fn_map(struct call *c)
{
    *c->out = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(c->args[1]); i++) {
        struct json_object *one = NULL;
        int rc = jm_eval(c->run, c->node->items[0]->left, sw_json_at(c->args[1], i), &one);
        if (rc < 0)
            return rc;
        (void)json_object_array_add(*c->out, one);
    }
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static const struct jm_function functions[] = {
    { "abs", { A_NUMBER }, false, fn_abs },
    { "avg", { A_NUMBERS }, false, fn_avg },
    { "ceil", { A_NUMBER }, false, fn_ceil },
    { "contains", { A_LIST | A_STRING, A_ANY }, false, fn_contains },
    { "ends_with", { A_STRING, A_STRING }, false, fn_ends_with },
    { "floor", { A_NUMBER }, false, fn_floor },
    { "join", { A_STRING, A_TEXTS }, false, fn_join },
    { "keys", { A_MAP }, false, fn_keys },
    { "length", { A_STRING | A_LIST | A_MAP }, false, fn_length },
    { "map", { A_EXPRESSION, A_LIST }, false, fn_map },
    { "max", { A_NUMBERS | A_TEXTS }, false, fn_max },
    { "max_by", { A_LIST, A_EXPRESSION }, false, fn_max },
    { "merge", { A_MAP }, true, fn_merge },
    { "min", { A_NUMBERS | A_TEXTS }, false, fn_min },
    { "min_by", { A_LIST, A_EXPRESSION }, false, fn_min },
    { "not_null", { A_ANY }, true, fn_not_null },
    { "reverse", { A_STRING | A_LIST }, false, fn_reverse },
    { "sort", { A_NUMBERS | A_TEXTS }, false, fn_sort },
    { "sort_by", { A_LIST, A_EXPRESSION }, false, fn_sort },
    { "starts_with", { A_STRING, A_STRING }, false, fn_starts_with },
    { "sum", { A_NUMBERS }, false, fn_sum },
    { "to_array", { A_ANY }, false, fn_to_array },
    { "to_number", { A_ANY }, false, fn_to_number },
    { "to_string", { A_ANY }, false, fn_to_string },
    { "type", { A_ANY }, false, fn_type },
    { "values", { A_MAP }, false, fn_values },
};

const struct jm_function *jm_function_find(const char *name, size_t len)
{
    for (size_t i = 0; i < SW_COUNT(functions); i++)
        if (strlen(functions[i].name) == len && memcmp(functions[i].name, name, len) == 0)
            return &functions[i];
    return NULL;
}

void jm_function_arity(const struct jm_function *function, size_t *least, size_t *most)
{
    *least = function->takes[1] ? 2 : 1;
    *most = function->more ? SIZE_MAX : *least;
}

bool jm_function_takes_expression(const struct jm_function *function, size_t i)
{
    return i < SW_COUNT(function->takes) && (function->takes[i] & A_EXPRESSION);
}

int jm_call(struct jm_run *run, const struct jm_node *node, struct json_object *value,
            struct json_object **out)
{
    const struct jm_function *f = node->function;
    struct call c = { .run = run, .node = node, .out = out };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(f->takes) && f->takes[i]; i++) {
        if (f->takes[i] & A_EXPRESSION)
            continue;
        rc = jm_eval(run, node->items[i], value, &c.args[i]);
        if (rc == 0 && !fits(c.args[i], f->takes[i]))
            rc = sw_err_set(run->err, SW_INVALID, "%s(): argument %zu has another type", f->name,
                            i + 1);
        if (rc == 0 && type_of(c.args[i]) != A_STRING)
            rc = jm_visit(run, sw_json_len(c.args[i]));
    }
    c.args[2] = json_object_get(value); /* for functions that take any number */
    if (rc == 0)
        rc = f->call(&c);
    for (size_t i = 0; i < SW_COUNT(c.args); i++)
        (void)json_object_put(c.args[i]);
    if (rc < 0) {
        (void)json_object_put(*out);
        *out = NULL;
    }
    return rc;
}
