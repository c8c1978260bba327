/* sprig's regular expressions. */
#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"
#include "data/go/regex.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

/* How a function fails when its expression is not valid; and whether a replacement has references
 * to groups. */
enum { RETURNS, PANICS, SILENT, STYLE = 3, LITERAL = 4 };

static int compile(struct call *c, struct sw_regex **re)
{
    SW_ERR(err);
    struct sw_value expr = c->args[0];
    if (sw_regex_compile(expr.as.s, expr.len, re, &err) < 0) {
        if ((c->func->variant & STYLE) == RETURNS)
            return sw_call_fail(c, "%s", sw_err_text(&err));
        const char *quoted = sw_can_backquote(expr.as.s, expr.len)
                                 ? sw_arena_printf(c->arena, "`%.*s`", (int)expr.len, expr.as.s)
                                 : sw_quoted(c->arena, expr.as.s, expr.len);
        return sw_call_fail(c, "regexp: Compile(%s): %s", quoted, sw_err_text(&err));
    }
    int rc = sw_call_charge(c, sw_regex_size(*re) / 8);
    return rc < 0 ? rc : sw_call_room(c, sw_regex_search_bytes(*re));
}

/* sw_regex_find() for the steps that are left; false where they are not enough: the next step
 * fails.
 */
static bool find(struct call *c, const struct sw_regex *re, struct sw_value s, size_t from,
                 long *spans)
{
    enum { WORK_PER_STEP = 2 };
    uint64_t before = c->x->fuel * WORK_PER_STEP, work = before;
    bool found = sw_regex_find_within(re, s.as.s, s.len, from, spans, &work);
    (void)sw_call_charge(c, (before - work) / WORK_PER_STEP);
    return found;
}

static long *new_spans(struct call *c, const struct sw_regex *re)
{
    return sw_arena_alloc(c->arena, sw_regex_n_groups(re) * 2 * sizeof(long));
}

static int fn_match(struct call *c)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct sw_value expr = c->args[0], s = c->args[1];
    if (c->func->variant == SILENT && sw_regex_compile(expr.as.s, expr.len, &re, NULL) < 0)
        return sw_return(c, sw_value_bool(false));
    int rc = re ? sw_call_room(c, sw_regex_search_bytes(re)) : compile(c, &re);
    if (rc < 0)
        return rc;
    bool found = find(c, re, s, 0, new_spans(c, re));
    return sw_return(c, sw_value_bool(found));
}

static int fn_find(struct call *c)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct sw_value s = c->args[1];
    int rc = compile(c, &re);
    if (rc < 0)
        return rc;
    long *span = new_spans(c, re);
    if (!find(c, re, s, 0, span))
        return sw_return(c, sw_value_text("", 0));
    return sw_return(c, sw_value_text(s.as.s + span[0], (size_t)(span[1] - span[0])));
}

/* ---- all matches ---- */

struct matches {
    struct call *c;
    const struct sw_regex *re;
    const char *s;
    size_t len, at; /* @at: where the next match may begin */
    long last_end;
    long *spans; /* of the match, see sw_regex_find() */
};

/* The next match, but not an empty one directly after another. @return false: no more */
static bool next_match(struct matches *m)
{
    while (m->at <= m->len && find(m->c, m->re, sw_value_text(m->s, m->len), m->at, m->spans)) {
        bool accept = true;
        if ((size_t)m->spans[1] == m->at) {
            uint32_t r;
            size_t w = sw_rune_decode(m->s + m->at, m->len - m->at, &r);
            accept = m->spans[0] != m->last_end;
            m->at = w ? m->at + w : m->len + 1;
        } else {
            m->at = (size_t)m->spans[1];
        }
        m->last_end = m->spans[1];
        if (accept)
            return true;
    }
    return false;
}

static struct matches all_matches(struct call *c, const struct sw_regex *re, struct sw_value s)
{
    return (struct matches){ c, re, s.as.s, s.len, 0, -1, new_spans(c, re) };
}

static int fn_find_all(struct call *c)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct sw_value s = c->args[1];
    int64_t n = c->args[2].as.i;
    struct sw_list *list = NULL;
    int rc = compile(c, &re);
    if (rc < 0)
        return rc;
    struct matches m = all_matches(c, re, s);
    for (int64_t i = 0; (n < 0 || i < n) && rc == 0 && next_match(&m); i++) {
        if (!list)
            list = sw_list_new(c->arena, 4);
        rc = sw_call_charge(c, 1);
        sw_list_add(list, sw_value_text(s.as.s + m.spans[0], (size_t)(m.spans[1] - m.spans[0])));
    }
    return rc < 0 ? rc : sw_return(c, sw_value_typed_list(SW_T_STRINGS, list));
}

static int fn_split(struct call *c)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct sw_value s = c->args[1];
    int64_t n = c->args[2].as.i;
    int rc = compile(c, &re);
    if (rc < 0)
        return rc;
    if (n == 0)
        return sw_return(c, sw_value_typed_list(SW_T_STRINGS, NULL));
    struct sw_list *list = sw_list_new(c->arena, 4);
    if (c->args[0].len > 0 && s.len == 0) {
        sw_list_add(list, s);
        return sw_return(c, sw_value_typed_list(SW_T_STRINGS, list));
    }
    struct matches m = all_matches(c, re, s);
    size_t begin = 0, end = 0;
    while ((n < 0 || (int64_t)list->n < n - 1) && rc == 0 && next_match(&m)) {
        end = (size_t)m.spans[0];
        if (m.spans[1] != 0)
            sw_list_add(list, sw_value_text(s.as.s + begin, end - begin));
        begin = (size_t)m.spans[1];
        rc = sw_call_charge(c, 1);
    }
    if (end != s.len)
        sw_list_add(list, sw_value_text(s.as.s + begin, s.len - begin));
    return rc < 0 ? rc : sw_return(c, sw_value_typed_list(SW_T_STRINGS, list));
}

/* ---- replacement ---- */

/* After a '$': "name", "{name}". @return its length, 0: not a reference */
static size_t reference(const char *s, size_t len, const char **name, size_t *name_len)
{
    size_t brace = len > 0 && s[0] == '{', i = brace;
    uint32_t r;
    while (i < len) {
        size_t w = sw_rune_decode(s + i, len - i, &r);
        if (!sw_rune_is_letter(r) && !sw_rune_is_digit(r) && r != '_')
            break;
        i += w;
    }
    *name = s + brace;
    *name_len = i - brace;
    if (*name_len == 0 || (brace && (i >= len || s[i] != '}')))
        return 0;
    return i + brace;
}

/* Append @template with the text of the groups that it refers to. */
static void expand(struct text *t, const struct matches *m, struct sw_value template)
{
    const char *p = template.as.s, *end = p + template.len;
    while (p < end) {
        const char *dollar = memchr(p, '$', (size_t)(end - p)), *name;
        size_t name_len;
        sw_text_put(t, p, (size_t)((dollar ? dollar : end) - p));
        if (!dollar)
            return;
        p = dollar + 1;
        if (p < end && *p == '$') {
            sw_text_char(t, '$');
            p++;
            continue;
        }
        size_t used = reference(p, (size_t)(end - p), &name, &name_len);
        if (used == 0) {
            sw_text_char(t, '$');
            continue;
        }
        p += used;
        uint64_t number;
        bool is_number = sw_parse_uint(name, name_len, 10, &number) == SW_PARSE_OK &&
                         (name[0] != '0' || name_len == 1) && number < 1000000000;
        long group = is_number ? (long)number : sw_regex_group(m->re, name, name_len, m->spans);
        if (group >= 0 && (size_t)group < sw_regex_n_groups(m->re) && m->spans[2 * group] >= 0)
            sw_text_put(t, m->s + m->spans[2 * group],
                        (size_t)(m->spans[2 * group + 1] - m->spans[2 * group]));
    }
}

static int fn_replace(struct call *c)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct sw_value s = c->args[1], with = c->args[2];
    int rc = compile(c, &re);
    if (rc < 0)
        return rc;
    struct matches m = all_matches(c, re, s);
    struct text *t = c->text;
    size_t last_end = 0, at = 0;
    while (at <= s.len && !t->over && rc == 0 && find(c, re, s, at, m.spans)) {
        size_t from = (size_t)m.spans[0], to = (size_t)m.spans[1];
        uint32_t r;
        rc = sw_call_charge(c, 1);
        sw_text_put(t, s.as.s + last_end, from - last_end);
        if (to > last_end || from == 0) { /* no empty match directly after another */
            if (c->func->variant & LITERAL)
                sw_text_put(t, with.as.s, with.len);
            else
                expand(t, &m, with);
        }
        last_end = to;
        size_t w = sw_rune_decode(s.as.s + at, s.len - at, &r);
        at = at + w > to ? at + w : at + 1 > to ? at + 1 : to;
    }
    sw_text_put(t, s.as.s + last_end, s.len - last_end);
    return rc < 0 ? rc : sw_return_text(c);
}

static int fn_quote_meta(struct call *c)
{
    for (size_t i = 0; i < c->args[0].len; i++) {
        char ch = c->args[0].as.s[i];
        if (ch && strchr("\\.+*?()|[]{}^$", ch))
            sw_text_char(c->text, '\\');
        sw_text_char(c->text, ch);
    }
    return sw_return_text(c);
}

const struct func sw_funcs_regex[] = {
    { "regexMatch", fn_match, "ss", "whether the expression matches somewhere", SILENT, 0 },
    { "mustRegexMatch", fn_match, "ss", "as regexMatch, or an error", RETURNS, 0 },
    { "regexFind", fn_find, "ss", "the first match, or \"\"", PANICS, 0 },
    { "mustRegexFind", fn_find, "ss", "as regexFind", RETURNS, 0 },
    { "regexFindAll", fn_find_all, "ssi", "the matches, at most so many", PANICS, 0 },
    { "mustRegexFindAll", fn_find_all, "ssi", "as regexFindAll", RETURNS, 0 },
    { "regexReplaceAll", fn_replace, "sss", "matches replaced; ${1} is a group", PANICS, 0 },
    { "mustRegexReplaceAll", fn_replace, "sss", "as regexReplaceAll", RETURNS, 0 },
    { "regexReplaceAllLiteral", fn_replace, "sss", "matches replaced by a text as it is",
      PANICS | LITERAL, 0 },
    { "mustRegexReplaceAllLiteral", fn_replace, "sss", "as regexReplaceAllLiteral",
      RETURNS | LITERAL, 0 },
    { "regexSplit", fn_split, "ssi", "what is between matches, at most so many parts", PANICS, 0 },
    { "mustRegexSplit", fn_split, "ssi", "as regexSplit", RETURNS, 0 },
    { "regexQuoteMeta", fn_quote_meta, "s", "the text as an expression that matches it alone", 0,
      0 },
    { 0 },
};
