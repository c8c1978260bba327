#include "recipe/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "recipe/schema_format.h"
#include "recipe/schema_tree.h"
#include "template/regex.h"

enum {
    MAX_STEPS = 1 << 20, /* schemas that one check may visit: anyOf in anyOf doubles each time */
    MAX_DEPTH = 400,     /* of them in each other: $ref to itself */
    MAX_PROBLEMS = 20,   /* that are listed */
};

struct pattern {
    const char *text; /* in the schema: the address is the pattern */
    struct sw_regex *regex;
};

struct sw_schema {
    struct sw_arena *arena;
    struct sw_value root;
    struct pattern *patterns; /* those that were used; owned */
    size_t n_patterns, cap_patterns;
};

/* Where in the values a check stands. */
struct spot {
    const struct spot *up;
    const char *key; /* NULL: an index, or the root */
    size_t key_len;
    size_t index;
};

struct check {
    const struct sw_schema *schema;
    struct sw_arena *arena;
    const struct sw_map *owner; /* the schema whose keyword is looked at */
    const struct spot *spot;
    size_t steps, depth;
    size_t n_problems;
    char *problems; /* owned; NULL: nobody asks why (inside anyOf, not, if) */
    bool quiet;
    bool gave_up; /* too many steps: no verdict */
    struct sw_err *err;
};

static bool fits(struct check *c, struct sw_value schema, struct sw_value v);

/* ---- what is wrong, and where -------------------------------------------------------------------
 */

static const char *place(struct sw_arena *arena, const struct spot *spot)
{
    if (!spot || !spot->up)
        return "(root)";
    const char *up = spot->up->up ? place(arena, spot->up) : NULL;
    if (!spot->key)
        return sw_arena_printf(arena, "%s[%zu]", up ? up : "", spot->index);
    return sw_arena_printf(arena, "%s%s%.*s", up ? up : "", up ? "." : "", (int)spot->key_len,
                           spot->key);
}

static bool problem(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* @return false, for the caller to pass on */
static bool problem(struct check *c, const char *fmt, ...)
{
    if (c->quiet || c->n_problems++ >= MAX_PROBLEMS)
        return false;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    char *all = sw_printf("%s\n- %s: %s", c->problems ? c->problems : "", place(c->arena, c->spot),
                          what);
    free(c->problems);
    c->problems = all;
    return false;
}

/* A schema that cannot be used: not the values' fault, but nothing can be said about them. */
static bool give_up(struct check *c, const char *why)
{
    if (!c->gave_up)
        (void)sw_err_set(c->err, SW_INVALID, "%s: %s", place(c->arena, c->spot), why);
    c->gave_up = true;
    return false;
}

static bool enter(struct check *c, struct sw_value schema, struct sw_value v, struct spot spot)
{
    const struct spot *before = c->spot;
    spot.up = before;
    c->spot = &spot;
    bool ok = fits(c, schema, v);
    c->spot = before;
    return ok;
}

/* Whether @v fits, without a word about why not. */
static bool fits_quietly(struct check *c, struct sw_value schema, struct sw_value v)
{
    bool before = c->quiet;
    c->quiet = true;
    bool ok = fits(c, schema, v);
    c->quiet = before;
    return ok;
}

/* ---- types --------------------------------------------------------------------------------------
 */

static double number_of(struct sw_value v)
{
    return v.type == SW_T_FLOAT64 ? v.as.f : (double)v.as.i;
}

static bool is_whole(struct sw_value v)
{
    return v.type != SW_T_FLOAT64 || (isfinite(v.as.f) && floor(v.as.f) == v.as.f);
}

static const char *type_of(struct sw_value v)
{
    if (sw_value_is_nil(v))
        return "null";
    if (v.type == SW_T_BOOL)
        return "boolean";
    if (sw_value_is_string(v))
        return "string";
    if (sw_value_is_map(v))
        return "object";
    if (sw_value_is_list(v))
        return "array";
    return is_whole(v) ? "integer" : "number";
}

static bool is_text(struct sw_value v, const char *text)
{
    return sw_value_is_string(v) && v.len == strlen(text) && memcmp(v.as.s, text, v.len) == 0;
}

static bool is_of_type(struct sw_value v, struct sw_value type)
{
    return is_text(type, type_of(v)) || (is_text(type, "number") && sw_value_is_number(v));
}

static bool check_type(struct check *c, struct sw_value want, struct sw_value v)
{
    if (sw_value_is_string(want))
        return is_of_type(v, want) ||
               problem(c, "expected %.*s, found %s", (int)want.len, want.as.s, type_of(v));
    if (!sw_value_is_list(want))
        return true;
    SW_AUTO_CHARS *words = sw_strdup("");
    for (size_t i = 0; i < want.as.list->n; i++) {
        struct sw_value type = want.as.list->items[i];
        if (is_of_type(v, type))
            return true;
        char *more = sw_printf("%s%s%s", words, i ? " or " : "", sw_value_print(c->arena, type));
        sw_chars_auto(&words);
        words = more;
    }
    return problem(c, "expected %s, found %s", words, type_of(v));
}

/* Equal as JSON: 1 is 1.0. */
static bool same(struct sw_value a, struct sw_value b)
{
    if (sw_value_is_number(a) && sw_value_is_number(b))
        return number_of(a) == number_of(b);
    if (sw_value_is_map(a) && sw_value_is_map(b)) {
        size_t n = sw_map_count(a.as.map);
        if (n != sw_map_count(b.as.map))
            return false;
        const struct sw_entry *e = sw_map_sorted(a.as.map), *f = sw_map_sorted(b.as.map);
        for (size_t i = 0; i < n; i++)
            if (e[i].key_len != f[i].key_len || memcmp(e[i].key, f[i].key, e[i].key_len) != 0 ||
                !same(e[i].value, f[i].value))
                return false;
        return true;
    }
    if (sw_value_is_list(a) && sw_value_is_list(b)) {
        bool ok = a.as.list->n == b.as.list->n;
        for (size_t i = 0; ok && i < a.as.list->n; i++)
            ok = same(a.as.list->items[i], b.as.list->items[i]);
        return ok;
    }
    return sw_value_equal(a, b);
}

static const char *shown(struct check *c, struct sw_value v)
{
    if (sw_value_is_string(v))
        return sw_arena_printf(c->arena, "'%.*s'", (int)v.len, v.as.s);
    return sw_value_is_nil(v) ? "null" : sw_value_print(c->arena, v);
}

static bool check_enum(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(want))
        return true;
    const char *words = "";
    for (size_t i = 0; i < want.as.list->n; i++) {
        if (same(want.as.list->items[i], v))
            return true;
        if (i < 20)
            words = sw_arena_printf(c->arena, "%s%s%s", words, i ? ", " : "",
                                    shown(c, want.as.list->items[i]));
    }
    return problem(c, "%s is not one of %s", shown(c, v), words);
}

static bool check_const(struct check *c, struct sw_value want, struct sw_value v)
{
    return same(want, v) || problem(c, "%s is not %s", shown(c, v), shown(c, want));
}

/* ---- numbers ------------------------------------------------------------------------------------
 */

static const char *digits(struct check *c, double d)
{
    char buf[SW_FLOAT_LEN];
    return sw_arena_strndup(c->arena, buf, sw_float_go(d, 'g', 64, buf));
}

/* exclusiveMinimum of draft 4 is a bool beside minimum. */
static bool is_exclusive(struct check *c, const char *keyword)
{
    const struct sw_value *v = sw_map_find_cstr(c->owner, keyword);
    return v && v->type == SW_T_BOOL && v->as.b;
}

static bool check_minimum(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_number(v) || !sw_value_is_number(want))
        return true;
    bool exclusive = is_exclusive(c, "exclusiveMinimum");
    double least = number_of(want), d = number_of(v);
    return (exclusive ? d > least : d >= least) ||
           problem(c, "%s, expected %s %s", digits(c, d), exclusive ? "more than" : "at least",
                   digits(c, least));
}

static bool check_maximum(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_number(v) || !sw_value_is_number(want))
        return true;
    bool exclusive = is_exclusive(c, "exclusiveMaximum");
    double most = number_of(want), d = number_of(v);
    return (exclusive ? d < most : d <= most) ||
           problem(c, "%s, expected %s %s", digits(c, d), exclusive ? "less than" : "at most",
                   digits(c, most));
}

static bool check_above(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_number(v) || !sw_value_is_number(want) || number_of(v) > number_of(want) ||
           problem(c, "%s, expected more than %s", digits(c, number_of(v)),
                   digits(c, number_of(want)));
}

static bool check_below(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_number(v) || !sw_value_is_number(want) || number_of(v) < number_of(want) ||
           problem(c, "%s, expected less than %s", digits(c, number_of(v)),
                   digits(c, number_of(want)));
}

static bool check_multiple(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_number(v) || !sw_value_is_number(want) || number_of(want) <= 0)
        return true;
    double times = number_of(v) / number_of(want);
    return fabs(times - nearbyint(times)) < 1e-9 * fmax(1, fabs(times)) ||
           problem(c, "%s is no multiple of %s", digits(c, number_of(v)),
                   digits(c, number_of(want)));
}

/* ---- strings ------------------------------------------------------------------------------------
 */

static size_t count_runes(struct sw_value v)
{
    size_t n = 0;
    for (size_t i = 0; i < v.len; i++)
        n += ((unsigned char)v.as.s[i] & 0xC0) != 0x80;
    return n;
}

static bool at_least(struct check *c, struct sw_value want, size_t n, const char *what)
{
    return !sw_value_is_number(want) || (double)n >= number_of(want) ||
           problem(c, "%zu %s, expected at least %s", n, what, digits(c, number_of(want)));
}

static bool at_most(struct check *c, struct sw_value want, size_t n, const char *what)
{
    return !sw_value_is_number(want) || (double)n <= number_of(want) ||
           problem(c, "%zu %s, expected at most %s", n, what, digits(c, number_of(want)));
}

static bool check_min_length(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_string(v) || at_least(c, want, count_runes(v), "characters");
}

static bool check_max_length(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_string(v) || at_most(c, want, count_runes(v), "characters");
}

/* A schema's expressions are few, and each is used often: for every key of a map. */
static const struct sw_regex *find_regex(struct check *c, struct sw_value pattern)
{
    struct sw_schema *schema = (struct sw_schema *)c->schema; /* its cache is no part of it */
    for (size_t i = 0; i < schema->n_patterns; i++)
        if (schema->patterns[i].text == pattern.as.s)
            return schema->patterns[i].regex;
    struct sw_regex *regex = NULL;
    SW_ERR(why);
    if (sw_regex_compile(pattern.as.s, pattern.len, &regex, &why) < 0) {
        (void)give_up(c, sw_arena_strdup(c->arena, sw_err_text(&why)));
        return NULL;
    }
    SW_GROW(schema->patterns, schema->n_patterns, schema->cap_patterns);
    schema->patterns[schema->n_patterns++] = (struct pattern){ pattern.as.s, regex };
    return regex;
}

/* Whether a text fits a regular expression of the schema somewhere; false with c->gave_up where it
 * cannot be told. Searching a long text with a large expression counts as many steps. */
static bool matches(struct check *c, struct sw_value pattern, const char *text, size_t len)
{
    const struct sw_regex *regex = find_regex(c, pattern);
    if (!regex)
        return false;
    c->steps += len * sw_regex_size(regex) / 256;
    if (c->steps > MAX_STEPS)
        return give_up(c, "the check takes too long");
    long *spans = sw_arena_alloc(c->arena, 2 * sw_regex_n_groups(regex) * sizeof *spans);
    return sw_regex_find(regex, text, len, 0, spans);
}

static bool check_pattern(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_string(v) || !sw_value_is_string(want))
        return true;
    return matches(c, want, v.as.s, v.len) ||
           (!c->gave_up &&
            problem(c, "%s does not match '%.*s'", shown(c, v), (int)want.len, want.as.s));
}

static bool check_format(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_string(v) || !sw_value_is_string(want))
        return true;
    const char *format = sw_arena_strndup(c->arena, want.as.s, want.len);
    const char *text = sw_arena_strndup(c->arena, v.as.s, v.len);
    return (strlen(text) == v.len && sw_schema_format(format, text)) ||
           problem(c, "%s is no %s", shown(c, v), format);
}

/* ---- lists --------------------------------------------------------------------------------------
 */

static bool enter_item(struct check *c, struct sw_value schema, struct sw_value v, size_t i)
{
    return enter(c, schema, v.as.list->items[i], (struct spot){ .index = i });
}

/* @want: one schema for all from item @from on. */
static bool check_rest(struct check *c, struct sw_value want, struct sw_value v, size_t from)
{
    bool ok = true;
    if (want.type == SW_T_BOOL && !want.as.b && v.as.list->n > from)
        return problem(c, "%zu items, expected at most %zu", v.as.list->n, from);
    for (size_t i = from; i < v.as.list->n && !c->gave_up; i++)
        ok &= enter_item(c, want, v, i);
    return ok;
}

/* A schema an item (items of draft 4 to 7, prefixItems since). */
static bool check_tuple(struct check *c, struct sw_value want, struct sw_value v,
                        const char *rest_keyword)
{
    bool ok = true;
    size_t n = want.as.list->n;
    for (size_t i = 0; i < n && i < v.as.list->n && !c->gave_up; i++)
        ok &= enter_item(c, want.as.list->items[i], v, i);
    const struct sw_value *rest = sw_map_find_cstr(c->owner, rest_keyword);
    return rest ? check_rest(c, *rest, v, n) && ok : ok;
}

static bool check_items(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(v) || sw_map_find_cstr(c->owner, "prefixItems"))
        return true; /* prefixItems looks at items itself */
    return sw_value_is_list(want) ? check_tuple(c, want, v, "additionalItems")
                                  : check_rest(c, want, v, 0);
}

static bool check_prefix_items(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(v) || !sw_value_is_list(want) || check_tuple(c, want, v, "items");
}

static bool check_contains(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(v))
        return true;
    for (size_t i = 0; i < v.as.list->n; i++)
        if (fits_quietly(c, want, v.as.list->items[i]))
            return true;
    return problem(c, "no item fits 'contains'");
}

static bool check_unique(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(v) || want.type != SW_T_BOOL || !want.as.b)
        return true;
    for (size_t i = 0; i < v.as.list->n; i++)
        for (size_t j = i + 1; j < v.as.list->n; j++) {
            if (c->steps++ > MAX_STEPS)
                return give_up(c, "the check takes too long");
            if (same(v.as.list->items[i], v.as.list->items[j]))
                return problem(c, "items %zu and %zu are the same", i, j);
        }
    return true;
}

static bool check_min_items(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(v) || at_least(c, want, v.as.list->n, "items");
}

static bool check_max_items(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(v) || at_most(c, want, v.as.list->n, "items");
}

/* ---- maps ---------------------------------------------------------------------------------------
 */

static bool check_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_map(want))
        return true;
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++) {
        const struct sw_value *schema = sw_map_find(want.as.map, all[i].key, all[i].key_len);
        if (schema)
            ok &= enter(c, *schema, all[i].value,
                        (struct spot){ .key = all[i].key, .key_len = all[i].key_len });
    }
    return ok;
}

static bool check_pattern_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_map(want))
        return true;
    const struct sw_entry *patterns = sw_map_sorted(want.as.map);
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t p = 0; p < sw_map_count(want.as.map); p++)
        for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++) {
            struct sw_value pattern = sw_value_text(patterns[p].key, patterns[p].key_len);
            if (matches(c, pattern, all[i].key, all[i].key_len))
                ok &= enter(c, patterns[p].value, all[i].value,
                            (struct spot){ .key = all[i].key, .key_len = all[i].key_len });
        }
    return ok;
}

/* Whether properties or patternProperties speak of the key. */
static bool is_declared(struct check *c, const struct sw_entry *e)
{
    const struct sw_value *properties = sw_map_find_cstr(c->owner, "properties");
    if (properties && sw_value_is_map(*properties) &&
        sw_map_find(properties->as.map, e->key, e->key_len))
        return true;
    const struct sw_value *patterns = sw_map_find_cstr(c->owner, "patternProperties");
    if (!patterns || !sw_value_is_map(*patterns))
        return false;
    const struct sw_entry *all = sw_map_sorted(patterns->as.map);
    for (size_t i = 0; i < sw_map_count(patterns->as.map); i++)
        if (matches(c, sw_value_text(all[i].key, all[i].key_len), e->key, e->key_len))
            return true;
    return false;
}

static bool check_additional(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || (want.type == SW_T_BOOL && want.as.b))
        return true;
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++) {
        if (is_declared(c, &all[i]))
            continue;
        if (want.type == SW_T_BOOL)
            ok = problem(c, "'%.*s' is not known here", (int)all[i].key_len, all[i].key);
        else
            ok &= enter(c, want, all[i].value,
                        (struct spot){ .key = all[i].key, .key_len = all[i].key_len });
    }
    return ok;
}

static bool check_required(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_list(want))
        return true;
    for (size_t i = 0; i < want.as.list->n; i++) {
        struct sw_value name = want.as.list->items[i];
        if (sw_value_is_string(name) && !sw_map_find(v.as.map, name.as.s, name.len))
            ok = problem(c, "'%.*s' is missing", (int)name.len, name.as.s);
    }
    return ok;
}

static bool check_property_names(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v))
        return true;
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++)
        if (!fits_quietly(c, want, sw_value_text(all[i].key, all[i].key_len)))
            ok = problem(c, "'%.*s' is not allowed as a name", (int)all[i].key_len, all[i].key);
    return ok;
}

static bool check_dependencies(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_map(want))
        return true;
    const struct sw_entry *all = sw_map_sorted(want.as.map);
    for (size_t i = 0; i < sw_map_count(want.as.map) && !c->gave_up; i++) {
        if (!sw_map_find(v.as.map, all[i].key, all[i].key_len))
            continue;
        ok &= sw_value_is_list(all[i].value) ? check_required(c, all[i].value, v)
                                             : fits(c, all[i].value, v);
    }
    return ok;
}

static bool check_min_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_map(v) || at_least(c, want, sw_map_count(v.as.map), "keys");
}

static bool check_max_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_map(v) || at_most(c, want, sw_map_count(v.as.map), "keys");
}

/* ---- schemas in schemas -------------------------------------------------------------------------
 */

static bool check_all_of(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    for (size_t i = 0; sw_value_is_list(want) && i < want.as.list->n && !c->gave_up; i++)
        ok &= fits(c, want.as.list->items[i], v);
    return ok;
}

static size_t count_fits(struct check *c, struct sw_value want, struct sw_value v)
{
    size_t n = 0;
    for (size_t i = 0; i < want.as.list->n && !c->gave_up; i++)
        n += fits_quietly(c, want.as.list->items[i], v);
    return n;
}

static bool check_any_of(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(want) || count_fits(c, want, v) > 0 ||
           problem(c, "fits none of the %zu forms allowed (anyOf)", want.as.list->n);
}

static bool check_one_of(struct check *c, struct sw_value want, struct sw_value v)
{
    size_t n = sw_value_is_list(want) ? count_fits(c, want, v) : 1;
    return n == 1 || problem(c, "fits %zu of the %zu forms, expected exactly one (oneOf)", n,
                             want.as.list->n);
}

static bool check_not(struct check *c, struct sw_value want, struct sw_value v)
{
    return !fits_quietly(c, want, v) || problem(c, "fits a form that is forbidden (not)");
}

static bool check_if(struct check *c, struct sw_value want, struct sw_value v)
{
    const char *keyword = fits_quietly(c, want, v) ? "then" : "else";
    const struct sw_value *schema = sw_map_find_cstr(c->owner, keyword);
    return !schema || fits(c, *schema, v);
}

/* One step of a JSON pointer, ~0, ~1 and %XX decoded; at most @cap - 1 bytes. */
static size_t pointer_token(const char **at, const char *end, char *buf, size_t cap)
{
    size_t n = 0;
    while (*at < end && **at != '/' && n + 1 < cap) {
        unsigned byte;
        if (**at == '~' && *at + 1 < end) {
            buf[n++] = (*at)[1] == '1' ? '/' : '~';
            *at += 2;
        } else if (**at == '%' && *at + 2 < end && sscanf(*at + 1, "%2x", &byte) == 1) {
            buf[n++] = (char)byte;
            *at += 3;
        } else {
            buf[n++] = *(*at)++;
        }
    }
    return n;
}

static const struct sw_value *resolve(const struct sw_schema *schema, struct sw_value ref)
{
    const char *at = ref.as.s, *end = at + ref.len;
    if (ref.len == 0 || *at++ != '#')
        return NULL;
    const struct sw_value *v = &schema->root;
    while (v && at < end) {
        char token[512];
        if (*at++ != '/')
            return NULL;
        size_t len = pointer_token(&at, end, token, sizeof token);
        token[len] = '\0';
        char *stop;
        if (sw_value_is_map(*v)) {
            v = sw_map_find(v->as.map, token, len);
        } else if (sw_value_is_list(*v)) {
            size_t i = strtoul(token, &stop, 10);
            v = len && !*stop && i < v->as.list->n ? &v->as.list->items[i] : NULL;
        } else {
            v = NULL;
        }
    }
    return v;
}

static bool check_ref(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_string(want))
        return true;
    const struct sw_value *schema = resolve(c->schema, want);
    if (!schema)
        return give_up(c, sw_arena_printf(c->arena, "$ref '%.*s' leads nowhere in the schema",
                                          (int)want.len, want.as.s));
    return fits(c, *schema, v);
}

/* ---- the keywords -------------------------------------------------------------------------------
 */

static const struct keyword {
    const char *name;
    bool (*check)(struct check *c, struct sw_value want, struct sw_value v);
} keywords[] = {
    { "additionalProperties", check_additional },
    { "allOf", check_all_of },
    { "anyOf", check_any_of },
    { "const", check_const },
    { "contains", check_contains },
    { "dependencies", check_dependencies },
    { "dependentRequired", check_dependencies },
    { "dependentSchemas", check_dependencies },
    { "enum", check_enum },
    { "exclusiveMaximum", check_below },
    { "exclusiveMinimum", check_above },
    { "format", check_format },
    { "if", check_if },
    { "items", check_items },
    { "maxItems", check_max_items },
    { "maxLength", check_max_length },
    { "maxProperties", check_max_properties },
    { "maximum", check_maximum },
    { "minItems", check_min_items },
    { "minLength", check_min_length },
    { "minProperties", check_min_properties },
    { "minimum", check_minimum },
    { "multipleOf", check_multiple },
    { "not", check_not },
    { "oneOf", check_one_of },
    { "pattern", check_pattern },
    { "patternProperties", check_pattern_properties },
    { "prefixItems", check_prefix_items },
    { "properties", check_properties },
    { "propertyNames", check_property_names },
    { "required", check_required },
    { "type", check_type },
    { "uniqueItems", check_unique },
};

static int by_name(const void *key, const void *row)
{
    const struct sw_entry *e = key;
    const char *name = ((const struct keyword *)row)->name;
    int c = strncmp(e->key, name, e->key_len);
    return c ? c : name[e->key_len] ? -1 : 0;
}

static bool check_keywords(struct check *c, struct sw_value schema, struct sw_value v)
{
    const struct sw_value *ref = sw_map_find_cstr(schema.as.map, "$ref");
    if (ref) /* up to draft 7 nothing beside it counts; later drafts are rare beside it */
        return check_ref(c, *ref, v);
    const struct sw_map *before = c->owner;
    const struct sw_entry *all = sw_map_sorted(schema.as.map);
    bool ok = true;
    for (size_t i = 0; i < sw_map_count(schema.as.map) && !c->gave_up; i++) {
        const struct keyword *k = bsearch(&all[i], keywords, SW_COUNT(keywords), sizeof *keywords,
                                          by_name);
        c->owner = schema.as.map;
        ok &= !k || k->check(c, all[i].value, v);
    }
    c->owner = before;
    return ok;
}

static bool fits(struct check *c, struct sw_value schema, struct sw_value v)
{
    if (schema.type == SW_T_BOOL)
        return schema.as.b || problem(c, "nothing is allowed here");
    if (!sw_value_is_map(schema))
        return give_up(c, "the schema is neither a map nor a bool");
    if (c->steps++ > MAX_STEPS || c->depth >= MAX_DEPTH)
        return give_up(c, c->depth >= MAX_DEPTH ? "the schema's $ref go in circles, or too deep"
                                                : "the check takes too long");
    c->depth++;
    bool ok = check_keywords(c, schema, v);
    c->depth--;
    return ok && !c->gave_up;
}

/* ---- what others call ---------------------------------------------------------------------------
 */

int sw_schema_new(const char *name, const char *text, size_t len, struct sw_schema **out,
                  struct sw_err *err)
{
    SW_AUTO(sw_schema) *schema = sw_zalloc(1, sizeof *schema);
    schema->arena = sw_arena_new();
    int rc = sw_schema_tree(schema->arena, name, text, len, &schema->root, err);
    if (rc < 0)
        return rc;
    if (!sw_value_is_map(schema->root) && schema->root.type != SW_T_BOOL)
        return sw_err_set(err, SW_INVALID, "%s: a schema is a map or a bool", name);
    *out = SW_TAKE(schema);
    return 0;
}

void sw_schema_free(struct sw_schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->n_patterns; i++)
        sw_regex_free(schema->patterns[i].regex);
    free(schema->patterns);
    sw_arena_free(schema->arena);
    free(schema);
}

int sw_schema_check(const struct sw_schema *schema, struct sw_value value, struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct spot root = { 0 };
    struct check c = { .schema = schema, .arena = arena, .spot = &root, .err = err };
    bool ok = fits(&c, schema->root, value);
    SW_AUTO_CHARS *problems = c.problems;
    if (c.gave_up)
        return SW_INVALID;
    if (ok)
        return 0;
    size_t more = c.n_problems > MAX_PROBLEMS ? c.n_problems - MAX_PROBLEMS : 0;
    return more ? sw_err_set(err, SW_INVALID, "%s\n- and %zu more", problems + 1, more)
                : sw_err_set(err, SW_INVALID, "%s", problems + 1);
}
