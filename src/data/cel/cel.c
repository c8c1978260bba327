#include "data/cel/cel.h"

#include <stdlib.h>
#include <string.h>

#include "data/cel/cel_types.h"
#include "data/cel/pattern.h"
#include "data/data.h"

enum { MAX_DEPTH = 32 };

/* A variable of exists(); the innermost is the first of the list. */
struct var {
    const char *name;
    size_t len;
    json_object *value; /* borrowed */
    const struct var *outer;
};

/* The state of an evaluation: the expression is evaluated as it is parsed. */
struct cel {
    const char *at;
    json_object *root;
    const struct var *vars;
    int depth;
    struct sw_err *err;
};

/* The value of a part of an expression. */
struct term {
    json_object *value; /* counted; NULL: null */
    bool failed;        /* an error: a key is missing. The other side of && or || can decide */
    bool none;          /* optional.none(): a key of an optional step is missing */
};

static int unknown(struct cel *c)
{
    return sw_err_set(c->err, SW_NOTFOUND, "cannot be evaluated here at '%.20s'", c->at);
}

static void skip_space(struct cel *c)
{
    c->at += strspn(c->at, " \t\n");
}

static bool take(struct cel *c, const char *token)
{
    skip_space(c);
    size_t len = strlen(token);
    if (strncmp(c->at, token, len) != 0)
        return false;
    c->at += len;
    return true;
}

static void set(struct term *t, json_object *value)
{
    json_object_put(t->value);
    t->value = value;
}

static void set_bool(struct term *t, bool value)
{
    set(t, json_object_new_boolean(value));
}

static int cel_expr(struct cel *c, struct term *out);

/* Read the ')' after a part of an expression, which returned @rc. */
static int closed(struct cel *c, int rc)
{
    return rc == 0 && !take(c, ")") ? unknown(c) : rc;
}

/* ---- names and steps ---------------------------------------------------------------------------
 */

static size_t word_len(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static void step(struct cel *c, struct term *t, const char *key, bool optional)
{
    json_object *next = NULL;
    if (t->none)
        return;
    const bool there = json_object_is_type(t->value, json_type_object) &&
                       json_object_object_get_ex(t->value, key, &next);
    if (!there && sw_cel_is_open_map(t->value)) {
        set(t, json_object_new_object());
        return;
    }
    set(t, there ? json_object_get(next) : NULL);
    t->none = !there && optional;
    if (!there && !optional && !t->failed && !c->err->code)
        (void)sw_err_set(c->err, SW_INVALID, "no such key: %s", key);
    t->failed |= !there && !optional;
}

static int or_value(struct cel *c, struct term *out)
{
    struct term other = { 0 };
    const int rc = closed(c, cel_expr(c, &other));
    if (out->none) {
        set(out, json_object_get(other.value));
        out->failed = other.failed;
        out->none = false;
    }
    json_object_put(other.value);
    return rc;
}

typedef bool text_fn(const char *text, const char *other);

static bool starts_with(const char *text, const char *other)
{
    return sw_starts_with(text, other);
}

static bool ends_with(const char *text, const char *other)
{
    return sw_ends_with(text, other);
}

static bool contains(const char *text, const char *other)
{
    return strstr(text, other);
}

static bool matches(const char *text, const char *other)
{
    return sw_pattern_matches(other, text);
}

/* text.method(other) */
static int text_method(struct cel *c, text_fn *fn, struct term *out)
{
    struct term other = { 0 };
    const int rc = closed(c, cel_expr(c, &other));
    const bool texts = json_object_is_type(out->value, json_type_string) &&
                       json_object_is_type(other.value, json_type_string);
    const bool holds = texts &&
                       fn(json_object_get_string(out->value), json_object_get_string(other.value));
    out->failed |= other.failed || !texts;
    set_bool(out, holds);
    json_object_put(other.value);
    return rc;
}

/* The number of elements, keys or characters. */
static void size_of(struct term *t)
{
    int64_t n = 0;
    switch (json_object_get_type(t->value)) {
    case json_type_array:
        n = (int64_t)sw_json_len(t->value);
        break;
    case json_type_object:
        n = json_object_object_length(t->value);
        break;
    case json_type_string:
        for (const char *at = json_object_get_string(t->value); *at; at++)
            n += ((unsigned char)*at & 0xc0) != 0x80;
        break;
    default:
        t->failed = true;
    }
    set(t, json_object_new_int64(n));
}

/* exists(name, predicate), or all(), over the elements of a list or the keys of a map. Without any,
 * the predicate is evaluated once to parse it. */
static int quantifier(struct cel *c, bool every, struct term *out)
{
    skip_space(c);
    struct var var = { .name = c->at, .len = word_len(c->at), .outer = c->vars };
    c->at += var.len;
    if (!var.len || !take(c, ","))
        return unknown(c);
    const char *from = c->at;
    const bool list = json_object_is_type(out->value, json_type_array),
               map = json_object_is_type(out->value, json_type_object);
    SW_AUTO_JSON *keys = json_object_new_array();
    if (map) {
        json_object_object_foreach(out->value, key, value)
        {
            (void)value;
            json_object_array_add(keys, json_object_new_string(key));
        }
    }
    SW_AUTO_JSON *all = json_object_get(list ? out->value : keys);
    bool any = false, failed = !list && !map;
    size_t i = 0;
    do {
        struct term t = { 0 };
        const bool real = i < sw_json_len(all);
        var.value = real ? sw_json_at(all, i) : NULL;
        c->at = from;
        c->vars = &var;
        const int rc = closed(c, cel_expr(c, &t));
        c->vars = var.outer;
        any |= real && !t.failed && json_object_get_boolean(t.value) != every;
        failed |= real && t.failed;
        json_object_put(t.value);
        if (rc < 0)
            return rc;
    } while (++i < sw_json_len(all));
    out->failed |= failed && !any;
    set_bool(out, any != every);
    return 0;
}

/* A method of a quantity or a version: compareTo(other), sign(). On another value it is an error,
 * if it is known at all. */
static int typed_method(struct cel *c, struct term *out)
{
    static const char *const binary[] = { "compareTo", "isGreaterThan", "isLessThan" };
    static const char *const unary[] = {
        "sign", "isInteger", "asInteger", "major", "minor", "patch"
    };
    const size_t len = word_len(c->at);
    SW_AUTO_CHARS *name = sw_strndup(c->at, len);
    struct term other = { 0 };
    bool takes = false, known = false, failed = false;
    for (size_t i = 0; i < SW_COUNT(binary); i++)
        takes |= sw_streq(name, binary[i]);
    for (size_t i = 0; i < SW_COUNT(unary); i++)
        known |= sw_streq(name, unary[i]);
    if (!takes && !known)
        return unknown(c);
    c->at += len + 1;
    const int rc = closed(c, takes ? cel_expr(c, &other) : 0);
    json_object *value = takes && !other.value
                             ? NULL
                             : sw_cel_method(out->value, name, other.value, &failed);
    out->failed |= other.failed || !value;
    set(out, value);
    json_object_put(other.value);
    return rc;
}

static int cel_steps(struct cel *c, struct term *out)
{
    int rc = 0;
    while (rc == 0 && (*c->at == '.' || *c->at == '[')) {
        if (take(c, "[")) {
            skip_space(c);
            if (*c->at >= '0' && *c->at <= '9') {
                char *after;
                const unsigned long long i = strtoull(c->at, &after, 10);
                c->at = after;
                if (!take(c, "]"))
                    return unknown(c);
                const bool there = json_object_is_type(out->value, json_type_array) &&
                                   i < sw_json_len(out->value);
                set(out, there ? json_object_get(sw_json_at(out->value, (size_t)i)) : NULL);
                out->failed |= !there;
                continue;
            }
            const char *end = *c->at == '\'' || *c->at == '"' ? strchr(c->at + 1, *c->at) : NULL;
            if (!end || end[1] != ']')
                return unknown(c);
            SW_AUTO_CHARS *key = sw_strndup(c->at + 1, (size_t)(end - c->at - 1));
            c->at = end + 2;
            step(c, out, key, false);
            continue;
        }
        c->at++;
        if (take(c, "orValue("))
            rc = or_value(c, out);
        else if (take(c, "startsWith("))
            rc = text_method(c, starts_with, out);
        else if (take(c, "endsWith("))
            rc = text_method(c, ends_with, out);
        else if (take(c, "contains("))
            rc = text_method(c, contains, out);
        else if (take(c, "matches("))
            rc = text_method(c, matches, out);
        else if (take(c, "size()"))
            size_of(out);
        else if (take(c, "exists("))
            rc = quantifier(c, false, out);
        else if (take(c, "all("))
            rc = quantifier(c, true, out);
        else {
            const bool optional = take(c, "?");
            const size_t len = word_len(c->at);
            if (len && c->at[len] == '(' && !optional) {
                rc = typed_method(c, out);
                continue;
            }
            if (!len || c->at[len] == '(')
                return unknown(c); /* a function or macro that is not implemented */
            SW_AUTO_CHARS *key = sw_strndup(c->at, len);
            c->at += len;
            step(c, out, key, optional);
        }
    }
    return rc;
}

static int cel_name(struct cel *c, struct term *out)
{
    const size_t len = word_len(c->at);
    if (!len || c->at[len] == '(')
        return unknown(c);
    SW_AUTO_CHARS *name = sw_strndup(c->at, len);
    c->at += len;
    for (const struct var *v = c->vars; v; v = v->outer)
        if (v->len == len && strncmp(v->name, name, len) == 0) {
            set(out, json_object_get(v->value));
            return cel_steps(c, out);
        }
    set(out, json_object_get(c->root));
    step(c, out, name, false);
    return cel_steps(c, out);
}

/* ---- values ------------------------------------------------------------------------------------
 */

static int cel_value(struct cel *c, struct term *out);

static int cel_atom(struct cel *c, struct term *out)
{
    skip_space(c);
    if (*c->at == '\'' || *c->at == '"') {
        const char *end = strchr(c->at + 1, *c->at);
        if (!end || memchr(c->at, '\\', (size_t)(end - c->at)) || end[1] == *c->at)
            return unknown(c); /* escapes, and texts in three quotes */
        set(out, json_object_new_string_len(c->at + 1, (int)(end - c->at - 1)));
        c->at = end + 1;
        return cel_steps(c, out);
    }
    if (strspn(c->at, "0123456789") || (*c->at == '-' && strspn(c->at + 1, "0123456789"))) {
        char *end;
        set(out, json_object_new_int64(strtoll(c->at, &end, 10)));
        c->at = end;
        return 0;
    }
    static const char *const conversions[] = { "quantity", "semver", "isQuantity", "isSemver" };
    for (size_t i = 0; i < SW_COUNT(conversions); i++) {
        const size_t len = strlen(conversions[i]);
        if (strncmp(c->at, conversions[i], len) != 0 || c->at[len] != '(')
            continue;
        c->at += len + 1;
        const int rc = closed(c, cel_expr(c, out));
        bool failed = false;
        set(out, sw_cel_convert(conversions[i], out->value, &failed));
        out->failed |= failed;
        return rc == 0 ? cel_steps(c, out) : rc;
    }
    if (take(c, "size(")) {
        const int rc = closed(c, cel_expr(c, out));
        size_of(out);
        return rc;
    }
    if (take(c, "has(")) {
        skip_space(c);
        const int rc = closed(c, cel_name(c, out));
        set_bool(out, !out->failed && !out->none);
        out->failed = out->none = false;
        return rc;
    }
    const bool yes = take(c, "true");
    if (yes || take(c, "false")) {
        set_bool(out, yes);
        return 0;
    }
    if (take(c, "[")) {
        set(out, json_object_new_array());
        while (!take(c, "]")) {
            struct term item = { 0 };
            const int rc = cel_expr(c, &item);
            out->failed |= item.failed;
            (void)json_object_array_add(out->value, item.value);
            if (rc < 0)
                return rc;
            if (!take(c, ",") && *c->at != ']')
                return unknown(c);
        }
        return cel_steps(c, out);
    }
    if (take(c, "{}")) {
        set(out, json_object_new_object());
        return 0;
    }
    if (take(c, "(")) {
        const int rc = closed(c, cel_expr(c, out));
        return rc == 0 ? cel_steps(c, out) : rc;
    }
    if (take(c, "!")) {
        const int rc = cel_value(c, out);
        set_bool(out, !json_object_get_boolean(out->value));
        return rc;
    }
    return cel_name(c, out);
}

static int cel_value(struct cel *c, struct term *out)
{
    if (++c->depth > MAX_DEPTH)
        return unknown(c);
    const int rc = cel_atom(c, out);
    c->depth--;
    return rc;
}

/* ---- operators ---------------------------------------------------------------------------------
 */

/* NULL: values of these types have no sum. */
static json_object *sum(json_object *a, json_object *b)
{
    if (json_object_is_type(a, json_type_string) && json_object_is_type(b, json_type_string)) {
        SW_AUTO_CHARS *text = sw_printf("%s%s", json_object_get_string(a),
                                        json_object_get_string(b));
        return json_object_new_string(text);
    }
    if (!json_object_is_type(a, json_type_array) || !json_object_is_type(b, json_type_array))
        return NULL;
    json_object *all = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(a) + sw_json_len(b); i++)
        json_object_array_add(all, json_object_get(i < sw_json_len(a)
                                                       ? sw_json_at(a, i)
                                                       : sw_json_at(b, i - sw_json_len(a))));
    return all;
}

static int cel_sum(struct cel *c, struct term *out)
{
    int rc = cel_value(c, out);
    while (rc == 0 && take(c, "+")) {
        struct term right = { 0 };
        rc = cel_value(c, &right);
        json_object *both = sum(out->value, right.value);
        out->failed |= right.failed || !both;
        set(out, both);
        json_object_put(right.value);
    }
    return rc;
}

/* The operator of a comparison that comes next; NULL: none does. */
static const char *take_comparison(struct cel *c)
{
    static const char *const operators[] = { "==", "!=", "<=", ">=", "<", ">" };
    for (size_t i = 0; i < SW_COUNT(operators); i++)
        if (take(c, operators[i]))
            return operators[i];
    skip_space(c);
    const bool in = strncmp(c->at, "in", 2) == 0 && word_len(c->at) == 2;
    c->at += in ? 2 : 0;
    return in ? "in" : NULL;
}

static bool is_number(json_object *v)
{
    return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

/* Is @value an element of the list, or a key of the map, @of? */
static bool is_in(json_object *value, json_object *of)
{
    for (size_t i = 0; json_object_is_type(of, json_type_array) && i < sw_json_len(of); i++)
        if (sw_json_equal(value, sw_json_at(of, i)))
            return true;
    return json_object_is_type(of, json_type_object) &&
           json_object_is_type(value, json_type_string) &&
           json_object_object_get_ex(of, json_object_get_string(value), NULL);
}

static int cel_compare(struct cel *c, struct term *out)
{
    int rc = cel_sum(c, out);
    const char *operator= rc == 0 ? take_comparison(c) : NULL;
    if (!operator)
        return rc;
    struct term right = { 0 };
    rc = cel_sum(c, &right);
    json_object *a = out->value, *b = right.value;
    bool holds = false, failed = out->failed || right.failed;
    if (sw_streq(operator, "in")) {
        holds = is_in(a, b);
    } else if (operator[0] == '=' || operator[0] == '!') {
        const bool same = is_number(a) && is_number(b)
                              ? json_object_get_double(a) == json_object_get_double(b)
                              : sw_json_equal(a, b);
        holds = same == (operator[0] == '=');
    } else if (is_number(a) && is_number(b)) {
        const double x = json_object_get_double(a), y = json_object_get_double(b);
        holds = operator[0] == '<' ? x < y : x> y;
        holds = holds || (operator[1] && x == y);
    } else {
        failed = true; /* of other types there is no order here */
    }
    set_bool(out, holds);
    out->failed = failed;
    json_object_put(right.value);
    return rc;
}

/* A false side of && and a true side of || decide, even where the other side is an error. */
static int cel_chain(struct cel *c, const char *token, bool decisive,
                     int (*side)(struct cel *c, struct term *out), struct term *out)
{
    int rc = side(c, out);
    while (rc == 0 && take(c, token)) {
        struct term right = { 0 };
        rc = side(c, &right);
        bool left_wins = !out->failed && json_object_get_boolean(out->value) == decisive;
        bool right_wins = !right.failed && json_object_get_boolean(right.value) == decisive;
        json_object_put(right.value);
        out->failed = !left_wins && !right_wins && (out->failed || right.failed);
        set_bool(out, left_wins || right_wins ? decisive : !decisive);
    }
    return rc;
}

static int cel_and(struct cel *c, struct term *out)
{
    return cel_chain(c, "&&", false, cel_compare, out);
}

static int cel_or(struct cel *c, struct term *out)
{
    return cel_chain(c, "||", true, cel_and, out);
}

/* condition ? one : other. The side that is not chosen is evaluated, too, for nothing. */
static int cel_expr(struct cel *c, struct term *out)
{
    int rc = cel_or(c, out);
    if (rc < 0 || !take(c, "?"))
        return rc;
    struct term one = { 0 }, other = { 0 };
    const bool holds = !out->failed && json_object_get_boolean(out->value);
    rc = cel_expr(c, &one);
    if (rc == 0 && !take(c, ":"))
        rc = unknown(c);
    if (rc == 0)
        rc = cel_expr(c, &other);
    struct term *chosen = holds ? &one : &other;
    set(out, json_object_get(chosen->value));
    out->failed |= chosen->failed;
    out->none = chosen->none;
    json_object_put(one.value);
    json_object_put(other.value);
    return rc;
}

int sw_cel_holds(const char *expression, json_object *root, struct sw_err *err)
{
    SW_ERR(why);
    struct term t = { 0 };
    struct cel c = { .at = expression, .root = root, .err = &why };
    int rc = cel_expr(&c, &t);
    skip_space(&c);
    if (rc == 0 && *c.at)
        rc = unknown(&c);
    const bool holds = json_object_get_boolean(t.value);
    json_object_put(t.value);
    if (rc == 0 && !t.failed)
        return holds;
    sw_err_move(err, &why);
    return rc < 0 ? SW_NOTFOUND : SW_INVALID;
}
