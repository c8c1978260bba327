#include "chart/recipe/schema/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/schema/check.h"
#include "data/go/strconv.h"
#include "data/go/text.h"

/* A key as a step of a JSON pointer. */
static const char *step_of(struct sw_arena *arena, const char *key, size_t len)
{
    SW_AUTO_CHARS *step = sw_strdup("");
    for (size_t i = 0; i < len; i++)
        if (key[i] == '~' || key[i] == '/')
            sw_append(&step, "%s", key[i] == '~' ? "~0" : "~1");
        else
            sw_append(&step, "%c", key[i]);
    return sw_arena_strdup(arena, step);
}

static const char *place(struct sw_arena *arena, const struct spot *spot)
{
    if (!spot || !spot->up)
        return "";
    const char *up = place(arena, spot->up);
    if (!spot->key)
        return sw_arena_printf(arena, "%s/%zu", up, spot->index);
    return sw_arena_printf(arena, "%s/%s", up, step_of(arena, spot->key, spot->key_len));
}

struct problem *sw_problem(struct check *c, const char *fmt, ...)
{
    struct problem *p = sw_arena_alloc(c->arena, sizeof *p);
    *p = (struct problem){ .kind = PROBLEM_PLAIN };
    if (c->quiet || c->n_problems++ >= SW_CHECK_MAX_PROBLEMS)
        return p;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    p->text = sw_arena_strdup(c->arena, text);
    const char *at = place(c->arena, c->spot);
    p->place = sw_problem_quoted(c, at, strlen(at));
    return p;
}

void sw_problem_add(struct problem *above, struct problem *p)
{
    if (!p)
        return;
    if (above->last)
        above->last->next = p;
    else
        above->first = p;
    above->last = p;
}

void sw_problem_print(char **text, const struct problem *p, int indent)
{
    bool is_passed = p->kind == PROBLEM_REFERENCE && p->first && p->first == p->last;
    if (!is_passed && p->text)
        sw_append(text, "%s%*s- at %s: %s", *text && **text ? "\n" : "", 2 * indent, "", p->place,
                  p->text);
    for (const struct problem *below = p->first; below; below = below->next)
        sw_problem_print(text, below, indent + !is_passed);
}

/* ---- what is in messages ------------------------------------------------------------------------
 */

const char *sw_problem_quoted(struct check *c, const char *s, size_t len)
{
    const char *quoted = sw_quoted(c->arena, s, len);
    size_t n = strlen(quoted);
    char *out = sw_arena_alloc(c->arena, 2 * n + 1), *to = out;
    *to++ = '\'';
    for (size_t i = 1; i + 1 < n; i++) {
        if (quoted[i] == '\\' && quoted[i + 1] == '"')
            continue; /* double quotes need no escape within single ones */
        if (quoted[i] == '\'')
            *to++ = '\\';
        *to++ = quoted[i];
    }
    *to++ = '\'';
    *to = '\0';
    return out;
}

const char *sw_problem_shown(struct check *c, struct sw_value v)
{
    if (sw_value_is_string(v))
        return sw_problem_quoted(c, v.as.s, v.len);
    if (sw_value_is_map(v) || sw_value_is_list(v))
        return "value";
    if (v.type == SW_T_FLOAT64 && fabs(v.as.f) < 1e21 && floor(v.as.f) == v.as.f)
        return sw_arena_printf(c->arena, "%.0f", v.as.f); /* as people write it */
    return sw_value_is_nil(v) ? "<nil>" : sw_value_print(c->arena, v);
}

/* Digits up to the first that is none, a comma before each three but the first; then the rest. */
static void append_grouped(char **out, const char *digits, size_t len)
{
    size_t sign = *digits == '-', whole = sign + strspn(digits + sign, "0123456789");
    for (size_t i = 0; i < len; i++)
        sw_append(out, "%s%c", i > sign && i < whole && (whole - i) % 3 == 0 ? "," : "", digits[i]);
}

const char *sw_problem_count(struct check *c, size_t n)
{
    char digits[32];
    SW_AUTO_CHARS *out = sw_strdup("");
    int len = snprintf(digits, sizeof digits, "%zu", n);
    append_grouped(&out, digits, (size_t)len);
    return sw_arena_strdup(c->arena, out);
}

const char *sw_problem_number(struct check *c, double d)
{
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    struct text go = { .limit = 64 };
    sw_float_format(&go, d, 'g', -1);
    SW_AUTO_CHARS *digits = sw_strndup(go.p, go.len), *out = sw_strdup("");
    free(go.p);
    append_grouped(&out, digits, strcspn(digits, "e"));
    const char *e = strchr(digits, 'e');
    if (e)
        sw_append(&out, "×10%s", e[1] == '-' ? "⁻" : "");
    for (const char *at = e ? e + 2 : ""; *at; at++)
        sw_append(&out, "%s", raised[*at - '0']);
    return sw_arena_strdup(c->arena, out);
}
