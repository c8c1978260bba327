/* Keywords about one value by itself: type, const, enum, format, numbers, texts. */
#include <math.h>
#include <string.h>

#include "chart/recipe/schema/check.h"

/* ---- types --------------------------------------------------------------------------------------
 */

static double number_of(struct sw_value v)
{
    return v.type == SW_T_FLOAT64 ? v.as.f : (double)v.as.i;
}

/* In the order in which messages name them. */
static const char *const type_names[] = { "null",   "boolean", "number", "integer",
                                          "string", "array",   "object" };
enum { T_NULL, T_BOOLEAN, T_NUMBER, T_INTEGER, T_STRING, T_ARRAY, T_OBJECT };

static unsigned type_of(struct sw_value v)
{
    if (sw_value_is_nil(v))
        return T_NULL;
    if (v.type == SW_T_BOOL)
        return T_BOOLEAN;
    if (sw_value_is_string(v))
        return T_STRING;
    if (sw_value_is_map(v))
        return T_OBJECT;
    return sw_value_is_list(v) ? T_ARRAY : T_NUMBER;
}

static bool is_text(struct sw_value v, const char *text)
{
    return sw_value_is_string(v) && v.len == strlen(text) && memcmp(v.as.s, text, v.len) == 0;
}

/* A set of types, a bit each. */
static unsigned types_of(const struct sw_value *want)
{
    unsigned types = 0;
    bool is_list = sw_value_is_list(*want);
    size_t n = !is_list ? 1 : want->as.list ? want->as.list->n : 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned t = 0; t < SW_COUNT(type_names); t++)
            if (is_text(is_list ? want->as.list->items[i] : *want, type_names[t]))
                types |= 1U << t;
    return types;
}

static struct problem *check_type(struct frame *f, const struct sw_value *want)
{
    unsigned types = types_of(want), type = type_of(f->v);
    double d = type == T_NUMBER ? number_of(f->v) : 0;
    bool is_whole = type == T_NUMBER && isfinite(d) && floor(d) == d;
    if (!types || (types & 1U << type) || (is_whole && (types & 1U << T_INTEGER)))
        return NULL;
    SW_AUTO_CHARS *names = sw_strdup("");
    for (unsigned t = 0; t < SW_COUNT(type_names); t++)
        if (types & 1U << t)
            sw_append(&names, "%s%s", *names ? " or " : "", type_names[t]);
    return sw_problem(f->c, "got %s, want %s", type_names[type], names);
}

/* ---- equality -----------------------------------------------------------------------------------
 */

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

static bool is_collection(struct sw_value v)
{
    return sw_value_is_map(v) || sw_value_is_list(v);
}

static struct problem *check_enum(struct frame *f, const struct sw_value *want)
{
    const struct sw_list *all = sw_value_is_list(*want) ? want->as.list : NULL;
    bool is_plain = true;
    for (size_t i = 0; all && i < all->n; i++) {
        if (sw_check_same(all->items[i], f->v))
            return NULL;
        is_plain &= !is_collection(all->items[i]);
    }
    if (!all)
        return NULL;
    if (!is_plain)
        return sw_problem(f->c, "'enum' failed");
    SW_AUTO_CHARS *words = sw_strdup("");
    for (size_t i = 0; i < all->n && !f->c->quiet; i++)
        sw_append(&words, "%s%s", i ? ", " : "", sw_problem_shown(f->c, all->items[i]));
    return sw_problem(f->c, all->n == 1 ? "value must be %s" : "value must be one of %s", words);
}

static struct problem *check_const(struct frame *f, const struct sw_value *want)
{
    if (sw_check_same(*want, f->v))
        return NULL;
    return is_collection(*want)
               ? sw_problem(f->c, "'const' failed")
               : sw_problem(f->c, "value must be %s", sw_problem_shown(f->c, *want));
}

static struct problem *check_format(struct frame *f, const struct sw_value *want)
{
    if ((f->draft >= 2019 && !f->c->schema->checks_formats) || !sw_value_is_string(*want) ||
        !sw_value_is_string(f->v))
        return NULL;
    const char *why = sw_check_format(f->c, want->as.s, f->v);
    return why ? sw_problem(f->c, "%s is not valid %s: %s", sw_problem_shown(f->c, f->v),
                            want->as.s, why)
               : NULL;
}

struct problem *sw_check_kind(struct frame *f)
{
    static const struct {
        const char *name;
        int since;
        struct problem *(*check)(struct frame *f, const struct sw_value *want);
    } rows[] = { { "type", 4, check_type },
                 { "const", 6, check_const },
                 { "enum", 4, check_enum },
                 { "format", 4, check_format } };
    bool only_ref = f->draft < 2019 && sw_keyword(f, "$ref");
    struct problem *p = NULL;
    for (size_t i = 0; i < SW_COUNT(rows) && !p; i++) {
        if (only_ref && rows[i].check != check_const) /* which Helm's library heeds there */
            continue;
        const struct sw_value *want = f->draft >= rows[i].since ? sw_keyword(f, rows[i].name)
                                                                : NULL;
        p = want ? rows[i].check(f, want) : NULL;
    }
    return p;
}

/* ---- numbers ------------------------------------------------------------------------------------
 */

static const double *number_in(const struct frame *f, const char *keyword, double *d)
{
    const struct sw_value *v = sw_keyword(f, keyword);
    if (!v || !sw_value_is_number(*v))
        return NULL;
    *d = number_of(*v);
    return d;
}

static void check_bound(struct frame *f, const char *keyword, bool fits, double want)
{
    if (!fits)
        sw_check_add(f, "%s: got %s, want %s", keyword, sw_problem_number(f->c, number_of(f->v)),
                     sw_problem_number(f->c, want));
}

/* exclusiveMinimum of draft 4 is a bool beside minimum. */
static bool is_true(const struct frame *f, const char *keyword)
{
    const struct sw_value *v = sw_keyword(f, keyword);
    return v && v->type == SW_T_BOOL && v->as.b;
}

void sw_check_number(struct frame *f)
{
    double d = number_of(f->v), want;
    bool above = is_true(f, "exclusiveMinimum"), below = is_true(f, "exclusiveMaximum");
    if (!above && number_in(f, "minimum", &want))
        check_bound(f, "minimum", d >= want, want);
    if (!below && number_in(f, "maximum", &want))
        check_bound(f, "maximum", d <= want, want);
    if (number_in(f, above ? "minimum" : "exclusiveMinimum", &want))
        check_bound(f, "exclusiveMinimum", d > want, want);
    if (number_in(f, below ? "maximum" : "exclusiveMaximum", &want))
        check_bound(f, "exclusiveMaximum", d < want, want);
    if (number_in(f, "multipleOf", &want) && want > 0) {
        double times = d / want;
        check_bound(f, "multipleOf", fabs(times - nearbyint(times)) < 1e-9 * fmax(1, fabs(times)),
                    want);
    }
}

/* ---- counts, texts ------------------------------------------------------------------------------
 */

void sw_check_count(struct frame *f, const char *keyword, size_t n, bool is_least)
{
    double want;
    if (!number_in(f, keyword, &want) || floor(want) != want)
        return;
    if (is_least ? (double)n < want : (double)n > want)
        sw_check_add(f, "%s: got %s, want %s", keyword, sw_problem_count(f->c, n),
                     sw_problem_count(f->c, want > 0 && want < 1e18 ? (size_t)want : 0));
}

static size_t count_runes(struct sw_value v)
{
    size_t n = 0;
    for (size_t i = 0; i < v.len; i++)
        n += ((unsigned char)v.as.s[i] & 0xC0) != 0x80;
    return n;
}

void sw_check_string(struct frame *f)
{
    if (sw_keyword(f, "minLength") || sw_keyword(f, "maxLength")) {
        size_t n = count_runes(f->v);
        sw_check_count(f, "minLength", n, true);
        sw_check_count(f, "maxLength", n, false);
    }
    const struct sw_value *pattern = sw_keyword(f, "pattern");
    if (pattern && sw_value_is_string(*pattern) &&
        !sw_check_matches(f->c, *pattern, f->v.as.s, f->v.len))
        sw_check_add(f, "%s does not match pattern %s", sw_problem_shown(f->c, f->v),
                     sw_problem_shown(f->c, *pattern));
}
