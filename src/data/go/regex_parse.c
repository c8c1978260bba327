#include <ctype.h>
#include <string.h>

#include "data/go/regex_parse.h"

static void append(struct regex_node *parent, struct regex_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

/* ---- single items ---- */

static struct regex_node *literal(struct regex_parser *p, uint32_t rune)
{
    struct regex_node *n = sw_regex_new_node(p, RE_CLASS);
    sw_runes_add(&n->runes, p->arena, rune, rune);
    if (p->flags & FOLD)
        sw_runes_fold(&n->runes, p->arena);
    return n;
}

static struct regex_node *assertion(struct regex_parser *p, size_t skip, enum regex_kind kind)
{
    p->at += skip;
    return sw_regex_new_node(p, kind);
}

static struct regex_node *backslash(struct regex_parser *p)
{
    struct regex_node *n;
    uint32_t rune;
    switch (p->end - p->at > 1 ? p->at[1] : '\0') {
    case 'A':
        return assertion(p, 2, RE_BEGIN_TEXT);
    case 'z':
        return assertion(p, 2, RE_END_TEXT);
    case 'b':
        return assertion(p, 2, RE_WORD);
    case 'B':
        return assertion(p, 2, RE_NO_WORD);
    default:
        break;
    }
    n = sw_regex_new_node(p, RE_CLASS);
    int is = sw_regex_unicode_class(p, &n->runes);
    if (is < 0)
        return NULL;
    if (is == 0 && !sw_regex_perl_class(p, &n->runes))
        return sw_regex_escape(p, &rune) ? literal(p, rune) : NULL;
    sw_runes_normalize(&n->runes);
    return n;
}

/* ---- groups ---- */

static struct regex_node *alternatives(struct regex_parser *p);

static size_t add_group(struct regex_parser *p, const char *name, size_t len)
{
    struct regex_names *names = p->names;
    SW_GROW(names->names, names->n, names->cap);
    names->names[names->n] = name ? sw_strndup(name, len) : NULL;
    return names->n++;
}

/* Up to the closing parenthesis, after which @outer_flags hold again. */
static struct regex_node *group_body(struct regex_parser *p, unsigned outer_flags)
{
    if (p->depth >= DEEPEST || !sw_stack_has_room())
        return sw_regex_fail(p, "expression nests too deeply", p->start, p->end);
    p->depth++;
    struct regex_node *n = alternatives(p);
    p->depth--;
    if (!n)
        return NULL;
    if (p->at == p->end)
        return sw_regex_fail(p, "missing closing )", p->start, p->end);
    p->at++;
    p->flags = outer_flags;
    return n;
}

static struct regex_node *capture(struct regex_parser *p, const char *name, size_t len)
{
    struct regex_node *n = sw_regex_new_node(p, RE_GROUP);
    n->group = add_group(p, name, len);
    n->first = group_body(p, p->flags);
    return n->first ? n : NULL;
}

/* "(?P<name>" or "(?<name>" at @start; p->at is after the "<". */
static struct regex_node *named_capture(struct regex_parser *p, const char *start)
{
    const char *close = memchr(p->at, '>', (size_t)(p->end - p->at)), *name = p->at;
    if (!close)
        return sw_regex_fail(p, "invalid named capture", start, p->end);
    const char *p_name = name;
    while (p_name < close && (isalnum((unsigned char)*p_name) || *p_name == '_'))
        p_name++;
    if (close == name || p_name < close)
        return sw_regex_fail(p, "invalid named capture", start, close + 1);
    p->at = close + 1;
    return capture(p, name, (size_t)(close - name));
}

/* "(?i)", "(?i-s:...)" at @start; p->at is after the "?". */
static struct regex_node *flags_group(struct regex_parser *p, const char *start)
{
    unsigned outer = p->flags, flags = p->flags;
    bool clear = false, any = false;
    while (p->at < p->end) {
        char c = *p->at;
        sw_regex_next_rune(p);
        unsigned flag = c == 'i'   ? FOLD
                        : c == 'm' ? MULTILINE
                        : c == 's' ? DOT_ALL
                        : c == 'U' ? SWAP_LAZY
                                   : 0;
        if (flag) {
            flags = clear ? flags & ~flag : flags | flag;
            any = true;
        } else if (c == '-' && !clear) {
            clear = true;
            any = false;
        } else if ((c == ':' || c == ')') && !(clear && !any)) {
            p->flags = flags;
            return c == ')' ? sw_regex_new_node(p, RE_EMPTY) : group_body(p, outer);
        } else {
            break;
        }
    }
    return sw_regex_fail(p, "invalid or unsupported Perl syntax", start, p->at);
}

/* ---- repetition ---- */

static bool number(struct regex_parser *p, int *out)
{
    const char *start = p->at;
    if (p->at == p->end || *p->at < '0' || *p->at > '9')
        return false;
    if (p->end - p->at >= 2 && p->at[0] == '0' && p->at[1] >= '0' && p->at[1] <= '9')
        return false;
    for (*out = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        if (p->at - start >= 8)
            *out = 100000000; /* too large in any case */
        else
            *out = *out * 10 + (*p->at - '0');
    }
    return true;
}

/* "{2,5}" at p->at. @return false: it is no repetition, p->at is as it was */
static bool braces(struct regex_parser *p, int *min, int *max)
{
    const char *start = p->at++;
    bool ok = number(p, min);
    *max = *min;
    if (ok && p->at < p->end && *p->at == ',') {
        p->at++;
        *max = -1;
        if (p->at < p->end && *p->at != '}')
            ok = number(p, max);
    }
    if (ok && p->at < p->end && *p->at == '}') {
        p->at++;
        return true;
    }
    p->at = start;
    return false;
}

static bool operator_at(struct regex_parser *p, int *min, int *max)
{
    if (p->at == p->end)
        return false;
    switch (*p->at) {
    case '*':
        *min = 0, *max = -1;
        break;
    case '+':
        *min = 1, *max = -1;
        break;
    case '?':
        *min = 0, *max = 1;
        break;
    case '{':
        return braces(p, min, max);
    default:
        return false;
    }
    p->at++;
    return true;
}

static bool is_count(int min, int max)
{
    return min <= MAX_REPEAT && max <= MAX_REPEAT && (max < 0 || min <= max);
}

/* The largest product of the counts of nested repetitions in @n. */
static int counted(const struct regex_node *n)
{
    int most = 1;
    for (const struct regex_node *c = n->first; c; c = c->next) {
        int of_child = counted(c);
        if (of_child > most)
            most = of_child;
    }
    int times = n->kind != RE_REPEAT ? 1 : n->max > 0 ? n->max : n->min > 0 ? n->min : 1;
    return times * most > MAX_REPEAT ? MAX_REPEAT + 1 : times * most;
}

/* The operators after @n. */
static struct regex_node *repetitions(struct regex_parser *p, struct regex_node *n)
{
    const char *last = NULL, *start = p->at;
    int min, max;
    for (; operator_at(p, &min, &max); last = start, start = p->at) {
        bool lazy = p->at < p->end && *p->at == '?', is_braces = *start == '{';
        const char *op_end = p->at;
        p->at += lazy;
        if (is_braces && !is_count(min, max))
            return sw_regex_fail(p, "invalid repeat count", start, op_end);
        if (last)
            return sw_regex_fail(p, "invalid nested repetition operator", last, p->at);
        struct regex_node *repeat = sw_regex_new_node(p, RE_REPEAT);
        repeat->min = min;
        repeat->max = max;
        repeat->lazy = lazy != ((p->flags & SWAP_LAZY) != 0);
        repeat->first = n;
        n = repeat;
        if (is_braces && (min >= 2 || max >= 2) && counted(n) > MAX_REPEAT)
            return sw_regex_fail(p, "invalid repeat count", start, op_end);
    }
    return n;
}

/* ---- the whole ---- */

static struct regex_node *single(struct regex_parser *p)
{
    int min, max;
    struct regex_node *n;
    const char *start = p->at;
    switch (*p->at) {
    case '(':
        p->at++;
        if (p->at == p->end || *p->at != '?')
            return capture(p, NULL, 0);
        if (sw_regex_is_at(p, "?P<") || (sw_regex_is_at(p, "?<") && p->end - p->at > 2)) {
            p->at += p->at[1] == 'P' ? 3 : 2;
            return named_capture(p, start);
        }
        p->at++;
        return flags_group(p, start);
    case '[':
        return sw_regex_class_node(p);
    case '.':
        p->at++;
        n = sw_regex_new_node(p, RE_CLASS);
        sw_runes_add(&n->runes, p->arena, 0, SW_RUNE_MAX);
        if (!(p->flags & DOT_ALL)) {
            n->runes.ranges[0].hi = '\n' - 1;
            sw_runes_add(&n->runes, p->arena, '\n' + 1, SW_RUNE_MAX);
        }
        return n;
    case '^':
        return assertion(p, 1, p->flags & MULTILINE ? RE_BEGIN_LINE : RE_BEGIN_TEXT);
    case '$':
        return assertion(p, 1, p->flags & MULTILINE ? RE_END_LINE : RE_END_TEXT);
    case '\\':
        return backslash(p);
    case '*':
    case '+':
    case '?':
    case '{':
        if (operator_at(p, &min, &max)) {
            if (*start == '{' && !is_count(min, max))
                return sw_regex_fail(p, "invalid repeat count", start, p->at);
            p->at += p->at < p->end && *p->at == '?';
            return sw_regex_fail(p, "missing argument to repetition operator", start, p->at);
        }
        return literal(p, sw_regex_next_rune(p));
    default:
        return literal(p, sw_regex_next_rune(p));
    }
}

/* Add one item with its operators to @seq. In a quoted text they apply to the last rune. */
static bool add_piece(struct regex_parser *p, struct regex_node *seq)
{
    if (sw_regex_is_at(p, "\\Q")) {
        struct regex_node *last = NULL;
        for (p->at += 2; p->at < p->end && !sw_regex_is_at(p, "\\E");) {
            if (last)
                append(seq, last);
            last = literal(p, sw_regex_next_rune(p));
        }
        if (p->at < p->end)
            p->at += 2;
        if (last && !(last = repetitions(p, last)))
            return false;
        if (last)
            append(seq, last);
        return true;
    }
    struct regex_node *n = single(p);
    if (!n)
        return false;
    if (n->kind == RE_EMPTY) { /* "(?i)": an operator after it applies to the item before it */
        if (p->at == p->end || !strchr("*+?{", *p->at) || !seq->last)
            return true;
        struct regex_node **at = &seq->first;
        n = seq->last;
        for (seq->last = NULL; *at != n; at = &(*at)->next)
            seq->last = *at;
        *at = NULL;
    }
    n = repetitions(p, n);
    if (n)
        append(seq, n);
    return n != NULL;
}

static struct regex_node *sequence(struct regex_parser *p)
{
    struct regex_node *seq = sw_regex_new_node(p, RE_CONCAT);
    while (p->at < p->end && *p->at != '|' && *p->at != ')') {
        if (!add_piece(p, seq))
            return NULL;
    }
    return seq;
}

static struct regex_node *alternatives(struct regex_parser *p)
{
    struct regex_node *first = sequence(p);
    if (!first || p->at == p->end || *p->at != '|')
        return first;
    struct regex_node *all = sw_regex_new_node(p, RE_ALTERNATE);
    append(all, first);
    while (p->at < p->end && *p->at == '|') {
        p->at++;
        struct regex_node *n = sequence(p);
        if (!n)
            return NULL;
        append(all, n);
    }
    return all;
}

int sw_regex_parse(struct sw_arena *arena, const char *expr, size_t len, struct regex_node **out,
                   struct regex_names *names, struct sw_err *err)
{
    struct regex_parser p = {
        .arena = arena, .start = expr, .at = expr, .end = expr + len, .names = names, .err = err
    };
    if (!sw_utf8_valid(expr, len))
        return sw_regex_fail(&p, "invalid UTF-8", expr, expr + len), SW_INVALID;
    add_group(&p, NULL, 0);
    *out = alternatives(&p);
    if (!*out)
        return SW_INVALID;
    if (p.at < p.end)
        return sw_regex_fail(&p, "unexpected )", p.start, p.end), SW_INVALID;
    return 0;
}
