/* Keywords about one value by itself: type, enum, numbers, strings. */
#include <math.h>
#include <string.h>

#include "chart/recipe/schema/check.h"
#include "data/text/number.h"

/* ---- types --------------------------------------------------------------------------------------
 */

static double number_of(struct sw_value v)
{
    return v.type == SW_T_FLOAT64 ? v.as.f : (double)v.as.i;
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
    bool is_whole = v.type != SW_T_FLOAT64 || (isfinite(v.as.f) && floor(v.as.f) == v.as.f);
    return is_whole ? "integer" : "number";
}

static bool is_text(struct sw_value v, const char *text)
{
    return sw_value_is_string(v) && v.len == strlen(text) && memcmp(v.as.s, text, v.len) == 0;
}

static bool is_of_type(struct sw_value v, struct sw_value type)
{
    return is_text(type, type_of(v)) || (is_text(type, "number") && sw_value_is_number(v));
}

bool sw_check_type(struct check *c, struct sw_value want, struct sw_value v)
{
    if (sw_value_is_string(want))
        return is_of_type(v, want) ||
               sw_check_problem(c, "expected %.*s, found %s", (int)want.len, want.as.s, type_of(v));
    if (!sw_value_is_list(want))
        return true;
    SW_AUTO_CHARS *types = sw_strdup("");
    for (size_t i = 0; i < want.as.list->n; i++) {
        struct sw_value type = want.as.list->items[i];
        if (is_of_type(v, type))
            return true;
        sw_append(&types, "%s%s", i ? " or " : "", sw_value_print(c->arena, type));
    }
    return sw_check_problem(c, "expected %s, found %s", types, type_of(v));
}

/* Equal as JSON: 1 is 1.0. */
bool sw_check_same(struct sw_value a, struct sw_value b)
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
                !sw_check_same(e[i].value, f[i].value))
                return false;
        return true;
    }
    if (sw_value_is_list(a) && sw_value_is_list(b)) {
        bool ok = a.as.list->n == b.as.list->n;
        for (size_t i = 0; ok && i < a.as.list->n; i++)
            ok = sw_check_same(a.as.list->items[i], b.as.list->items[i]);
        return ok;
    }
    return sw_value_equal(a, b);
}

const char *sw_check_shown(struct check *c, struct sw_value v)
{
    if (sw_value_is_string(v))
        return sw_arena_printf(c->arena, "'%.*s'", (int)v.len, v.as.s);
    return sw_value_is_nil(v) ? "null" : sw_value_print(c->arena, v);
}

bool sw_check_enum(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(want))
        return true;
    const char *words = "";
    for (size_t i = 0; i < want.as.list->n; i++) {
        if (sw_check_same(want.as.list->items[i], v))
            return true;
        if (i < 20)
            words = sw_arena_printf(c->arena, "%s%s%s", words, i ? ", " : "",
                                    sw_check_shown(c, want.as.list->items[i]));
    }
    return sw_check_problem(c, "%s is not one of %s", sw_check_shown(c, v), words);
}

bool sw_check_const(struct check *c, struct sw_value want, struct sw_value v)
{
    return sw_check_same(want, v) ||
           sw_check_problem(c, "%s is not %s", sw_check_shown(c, v), sw_check_shown(c, want));
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

bool sw_check_minimum(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_number(v) || !sw_value_is_number(want))
        return true;
    bool exclusive = is_exclusive(c, "exclusiveMinimum");
    double least = number_of(want), d = number_of(v);
    return (exclusive ? d > least : d >= least) ||
           sw_check_problem(c, "%s, expected %s %s", digits(c, d),
                            exclusive ? "more than" : "at least", digits(c, least));
}

bool sw_check_maximum(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_number(v) || !sw_value_is_number(want))
        return true;
    bool exclusive = is_exclusive(c, "exclusiveMaximum");
    double most = number_of(want), d = number_of(v);
    return (exclusive ? d < most : d <= most) ||
           sw_check_problem(c, "%s, expected %s %s", digits(c, d),
                            exclusive ? "less than" : "at most", digits(c, most));
}

bool sw_check_above(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_number(v) || !sw_value_is_number(want) || number_of(v) > number_of(want) ||
           sw_check_problem(c, "%s, expected more than %s", digits(c, number_of(v)),
                            digits(c, number_of(want)));
}

bool sw_check_below(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_number(v) || !sw_value_is_number(want) || number_of(v) < number_of(want) ||
           sw_check_problem(c, "%s, expected less than %s", digits(c, number_of(v)),
                            digits(c, number_of(want)));
}

bool sw_check_multiple(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_number(v) || !sw_value_is_number(want) || number_of(want) <= 0)
        return true;
    double times = number_of(v) / number_of(want);
    return fabs(times - nearbyint(times)) < 1e-9 * fmax(1, fabs(times)) ||
           sw_check_problem(c, "%s is no multiple of %s", digits(c, number_of(v)),
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

bool sw_check_at_least(struct check *c, struct sw_value want, size_t n, const char *what)
{
    return !sw_value_is_number(want) || (double)n >= number_of(want) ||
           sw_check_problem(c, "%zu %s, expected at least %s", n, what, digits(c, number_of(want)));
}

bool sw_check_at_most(struct check *c, struct sw_value want, size_t n, const char *what)
{
    return !sw_value_is_number(want) || (double)n <= number_of(want) ||
           sw_check_problem(c, "%zu %s, expected at most %s", n, what, digits(c, number_of(want)));
}

bool sw_check_min_length(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_string(v) || sw_check_at_least(c, want, count_runes(v), "characters");
}

bool sw_check_max_length(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_string(v) || sw_check_at_most(c, want, count_runes(v), "characters");
}

/* A schema's expressions are few, and each is used often: for every key of a map. */
static const struct sw_regex *find_regex(struct check *c, struct sw_value pattern)
{
    struct sw_schema *schema = (struct sw_schema *)c->schema; /* only its cache changes */
    for (size_t i = 0; i < schema->n_patterns; i++)
        if (schema->patterns[i].text == pattern.as.s)
            return schema->patterns[i].regex;
    struct sw_regex *regex = NULL;
    SW_ERR(why);
    if (sw_regex_compile(pattern.as.s, pattern.len, &regex, &why) < 0) {
        (void)sw_check_give_up(c, sw_arena_strdup(c->arena, sw_err_text(&why)));
        return NULL;
    }
    SW_GROW(schema->patterns, schema->n_patterns, schema->cap_patterns);
    schema->patterns[schema->n_patterns++] = (struct pattern){ pattern.as.s, regex };
    return regex;
}

/* Searching a long text with a large expression counts as many steps. */
bool sw_check_matches(struct check *c, struct sw_value pattern, const char *text, size_t len)
{
    const struct sw_regex *regex = find_regex(c, pattern);
    if (!regex)
        return false;
    c->steps += len * sw_regex_size(regex) / 256;
    if (c->steps > SW_CHECK_MAX_STEPS)
        return sw_check_give_up(c, "the check takes too long");
    long *spans = sw_arena_alloc(c->arena, 2 * sw_regex_n_groups(regex) * sizeof *spans);
    return sw_regex_find(regex, text, len, 0, spans);
}

bool sw_check_pattern(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_string(v) || !sw_value_is_string(want))
        return true;
    return sw_check_matches(c, want, v.as.s, v.len) ||
           (!c->gave_up && sw_check_problem(c, "%s does not match '%.*s'", sw_check_shown(c, v),
                                            (int)want.len, want.as.s));
}
