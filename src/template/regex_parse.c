#include <stdlib.h>
#include <string.h>

#include "template/regex_ast.h"

/* Go's regexp/syntax with its Perl flags. A function that fails returns NULL (or false) and has set
 * p->err; messages quote the part of the expression that Go quotes. */

enum {
    DEEPEST = 1000,
    MAX_REPEAT = 1000, /* all repetitions within each other multiplied */
};

enum flags {
    FOLD = 1,      /* i */
    MULTILINE = 2, /* m */
    DOT_ALL = 4,   /* s */
    SWAP_LAZY = 8, /* U */
};

struct parser {
    struct sw_arena *arena;
    const char *start, *at, *end;
    unsigned flags;
    unsigned depth;
    struct regex_names *names;
    struct sw_err *err;
};

static void *fail(struct parser *p, const char *code, const char *from, const char *to)
{
    sw_err_set(p->err, SW_INVALID, "error parsing regexp: %s: `%.*s`", code, (int)(to - from),
               from);
    return NULL;
}

static struct regex_node *new_node(struct parser *p, enum regex_kind kind)
{
    struct regex_node *n = sw_arena_alloc(p->arena, sizeof *n);
    n->kind = kind;
    return n;
}

static void append(struct regex_node *parent, struct regex_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

static bool looking_at(const struct parser *p, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

static uint32_t next_rune(struct parser *p)
{
    uint32_t r;
    p->at += sw_rune_decode(p->at, (size_t)(p->end - p->at), &r);
    return r;
}

/* ---- classes ---- */

static const struct sw_rune_range digit_ranges[] = { { '0', '9' } };
static const struct sw_rune_range space_ranges[] = { { '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' } };
static const struct sw_rune_range word_ranges[] = {
    { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' }
};
static const struct sw_rune_range alnum_ranges[] = { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } };
static const struct sw_rune_range alpha_ranges[] = { { 'A', 'Z' }, { 'a', 'z' } };
static const struct sw_rune_range ascii_ranges[] = { { 0, 0x7F } };
static const struct sw_rune_range blank_ranges[] = { { '\t', '\t' }, { ' ', ' ' } };
static const struct sw_rune_range cntrl_ranges[] = { { 0, 0x1F }, { 0x7F, 0x7F } };
static const struct sw_rune_range graph_ranges[] = { { '!', '~' } };
static const struct sw_rune_range lower_ranges[] = { { 'a', 'z' } };
static const struct sw_rune_range print_ranges[] = { { ' ', '~' } };
static const struct sw_rune_range punct_ranges[] = {
    { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' }
};
static const struct sw_rune_range posix_space_ranges[] = { { '\t', '\r' }, { ' ', ' ' } };
static const struct sw_rune_range upper_ranges[] = { { 'A', 'Z' } };
static const struct sw_rune_range xdigit_ranges[] = { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } };
static const struct sw_rune_range any_ranges[] = { { 0, SW_RUNE_MAX } };

#define CLASS(name, ranges)                                                                        \
    {                                                                                              \
        name, ranges, SW_COUNT(ranges)                                                             \
    }

static const struct sw_rune_class perl_classes[] = {
    CLASS("d", digit_ranges),
    CLASS("s", space_ranges),
    CLASS("w", word_ranges),
};

static const struct sw_rune_class posix_classes[] = {
    CLASS("alnum", alnum_ranges), CLASS("alpha", alpha_ranges),       CLASS("ascii", ascii_ranges),
    CLASS("blank", blank_ranges), CLASS("cntrl", cntrl_ranges),       CLASS("digit", digit_ranges),
    CLASS("graph", graph_ranges), CLASS("lower", lower_ranges),       CLASS("print", print_ranges),
    CLASS("punct", punct_ranges), CLASS("space", posix_space_ranges), CLASS("upper", upper_ranges),
    CLASS("word", word_ranges),   CLASS("xdigit", xdigit_ranges),
};

static const struct sw_rune_class any_class = CLASS("Any", any_ranges);

static void add_class(struct parser *p, struct sw_runes *set, const struct sw_rune_class *class,
                      bool negated)
{
    if (!(p->flags & FOLD)) {
        sw_runes_add_class(set, p->arena, class, negated);
        return;
    }
    struct sw_runes folded = { 0 };
    sw_runes_add_class(&folded, p->arena, class, false);
    sw_runes_fold(&folded, p->arena);
    const struct sw_rune_class all = { "", folded.ranges, folded.n };
    sw_runes_add_class(set, p->arena, &all, negated);
}

/* "\d" and its like. @return whether it was one */
static bool perl_class(struct parser *p, struct sw_runes *set)
{
    if (p->end - p->at < 2 || p->at[0] != '\\')
        return false;
    for (size_t i = 0; i < SW_COUNT(perl_classes); i++) {
        if ((p->at[1] | 0x20) != perl_classes[i].name[0])
            continue;
        add_class(p, set, &perl_classes[i], p->at[1] < 'a');
        p->at += 2;
        return true;
    }
    return false;
}

/* "\pN", "\p{Greek}", "\P...". @return 1: it was one, 0: it was not, -1: failed */
static int unicode_class(struct parser *p, struct sw_runes *set)
{
    const char *start = p->at;
    if (p->end - p->at < 2 || p->at[0] != '\\' || (p->at[1] | 0x20) != 'p')
        return 0;
    bool negated = p->at[1] == 'P';
    p->at += 2;
    if (p->at == p->end)
        return fail(p, "invalid character class range", start, p->at), -1;
    const char *name = p->at;
    size_t len;
    if (*name == '{') {
        const char *close = memchr(name, '}', (size_t)(p->end - name));
        if (!close)
            return fail(p, "invalid character class range", start, p->end), -1;
        name++;
        len = (size_t)(close - name);
        p->at = close + 1;
    } else {
        next_rune(p);
        len = (size_t)(p->at - name);
    }
    if (len > 0 && *name == '^') {
        negated = !negated;
        name++;
        len--;
    }
    const struct sw_rune_class *class = len == 3 && memcmp(name, "Any", 3) == 0
                                            ? &any_class
                                            : sw_rune_class_find(name, len);
    if (!class)
        return fail(p, "invalid character class range", start, p->at), -1;
    add_class(p, set, class, negated);
    return 1;
}

/* "[:alpha:]" within brackets. @return as above */
static int posix_class(struct parser *p, struct sw_runes *set)
{
    if (!looking_at(p, "[:"))
        return 0;
    const char *name = p->at + 2, *close = memmem(name, (size_t)(p->end - name), ":]", 2);
    if (!close)
        return 0;
    bool negated = name < close && *name == '^';
    name += negated;
    size_t len = (size_t)(close - name);
    for (size_t i = 0; i < SW_COUNT(posix_classes); i++) {
        const char *have = posix_classes[i].name;
        if (strncmp(have, name, len) == 0 && have[len] == '\0') {
            add_class(p, set, &posix_classes[i], negated);
            p->at = close + 2;
            return 1;
        }
    }
    return fail(p, "invalid character class range", p->at, close + 2), -1;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* After "\x": two digits, or any number of them in braces. */
static bool hex_escape(struct parser *p, uint32_t *rune)
{
    *rune = 0;
    if (p->at < p->end && *p->at == '{') {
        const char *start = ++p->at;
        while (p->at < p->end && hex_digit(*p->at) >= 0 && *rune <= SW_RUNE_MAX)
            *rune = *rune * 16 + (uint32_t)hex_digit(*p->at++);
        return p->at > start && p->at < p->end && *p->at++ == '}' && *rune <= SW_RUNE_MAX;
    }
    if (p->end - p->at < 2 || hex_digit(p->at[0]) < 0 || hex_digit(p->at[1]) < 0)
        return false;
    *rune = (uint32_t)(hex_digit(p->at[0]) * 16 + hex_digit(p->at[1]));
    p->at += 2;
    return true;
}

static bool octal_escape(struct parser *p, char first, uint32_t *rune)
{
    bool more = p->at < p->end && *p->at >= '0' && *p->at <= '7';
    if (first != '0' && !more) /* a backreference */
        return false;
    *rune = (uint32_t)(first - '0');
    for (int i = 1; i < 3 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; i++)
        *rune = *rune * 8 + (uint32_t)(*p->at++ - '0');
    return true;
}

/* A backslash and what stands for one rune. */
static bool escape(struct parser *p, uint32_t *rune)
{
    static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
    const char *start = p->at++;
    if (p->at == p->end)
        return fail(p, "trailing backslash at end of expression", p->at, p->at), false;
    char c = *p->at;
    bool ok;
    uint32_t r = next_rune(p);
    const char *name = c ? strchr(names, c) : NULL;
    if (c >= '0' && c <= '7') {
        ok = octal_escape(p, c, rune);
    } else if (c == 'x') {
        ok = hex_escape(p, rune);
    } else if (name) {
        *rune = (unsigned char)values[name - names];
        ok = true;
    } else {
        *rune = r;
        ok = r < 0x80 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9');
    }
    return ok ? true : (fail(p, "invalid escape sequence", start, p->at), false);
}

static bool class_char(struct parser *p, const char *class_start, uint32_t *rune)
{
    if (p->at == p->end)
        return fail(p, "missing closing ]", class_start, p->end), false;
    if (*p->at == '\\')
        return escape(p, rune);
    *rune = next_rune(p);
    return true;
}

static bool class_range(struct parser *p, const char *class_start, struct sw_runes *set)
{
    const char *start = p->at;
    uint32_t lo, hi;
    if (!class_char(p, class_start, &lo))
        return false;
    hi = lo;
    if (p->end - p->at >= 2 && p->at[0] == '-' && p->at[1] != ']') {
        p->at++;
        if (!class_char(p, class_start, &hi))
            return false;
        if (hi < lo)
            return fail(p, "invalid character class range", start, p->at), false;
    }
    struct sw_runes one = { 0 };
    sw_runes_add(&one, p->arena, lo, hi);
    if (p->flags & FOLD)
        sw_runes_fold(&one, p->arena);
    for (size_t i = 0; i < one.n; i++)
        sw_runes_add(set, p->arena, one.ranges[i].lo, one.ranges[i].hi);
    return true;
}

/* "[...]" */
static struct regex_node *class_node(struct parser *p)
{
    struct regex_node *n = new_node(p, RE_CLASS);
    const char *start = p->at++;
    bool negated = p->at < p->end && *p->at == '^', first = true;
    p->at += negated;
    for (; p->at == p->end || *p->at != ']' || first; first = false) {
        if (p->at == p->end)
            return fail(p, "missing closing ]", start, p->end);
        int is = posix_class(p, &n->runes);
        if (is == 0)
            is = unicode_class(p, &n->runes);
        if (is == 0)
            is = perl_class(p, &n->runes);
        if (is == 0)
            is = class_range(p, start, &n->runes) ? 1 : -1;
        if (is < 0)
            return NULL;
    }
    p->at++;
    sw_runes_normalize(&n->runes);
    if (negated)
        sw_runes_negate(&n->runes, p->arena);
    return n;
}

/* ---- single things ---- */

static struct regex_node *literal(struct parser *p, uint32_t rune)
{
    struct regex_node *n = new_node(p, RE_CLASS);
    sw_runes_add(&n->runes, p->arena, rune, rune);
    if (p->flags & FOLD)
        sw_runes_fold(&n->runes, p->arena);
    return n;
}

static struct regex_node *dot(struct parser *p)
{
    struct regex_node *n = new_node(p, RE_CLASS);
    p->at++;
    if (p->flags & DOT_ALL) {
        sw_runes_add(&n->runes, p->arena, 0, SW_RUNE_MAX);
    } else {
        sw_runes_add(&n->runes, p->arena, 0, '\n' - 1);
        sw_runes_add(&n->runes, p->arena, '\n' + 1, SW_RUNE_MAX);
    }
    return n;
}

static struct regex_node *assertion(struct parser *p, size_t skip, enum regex_kind kind)
{
    p->at += skip;
    return new_node(p, kind);
}

/* "\Q...\E": each character by itself, so that a repetition takes the last. */
static struct regex_node *quoted(struct parser *p)
{
    struct regex_node *all = new_node(p, RE_CONCAT);
    p->at += 2;
    while (p->at < p->end && !looking_at(p, "\\E"))
        append(all, literal(p, next_rune(p)));
    if (p->at < p->end)
        p->at += 2;
    return all;
}

static struct regex_node *backslash(struct parser *p)
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
    n = new_node(p, RE_CLASS);
    int is = unicode_class(p, &n->runes);
    if (is < 0)
        return NULL;
    if (is == 0 && !perl_class(p, &n->runes))
        return escape(p, &rune) ? literal(p, rune) : NULL;
    sw_runes_normalize(&n->runes);
    return n;
}

/* ---- groups ---- */

static struct regex_node *alternatives(struct parser *p);

static size_t add_group(struct parser *p, const char *name, size_t len)
{
    struct regex_names *names = p->names;
    SW_GROW(names->names, names->n, names->cap);
    names->names[names->n] = name ? sw_strndup(name, len) : NULL;
    return names->n++;
}

/* Up to the closing parenthesis; flags set within end there. */
static struct regex_node *group_body(struct parser *p, unsigned outer_flags)
{
    if (p->depth >= DEEPEST)
        return fail(p, "expression nests too deeply", p->start, p->end);
    p->depth++;
    struct regex_node *n = alternatives(p);
    p->depth--;
    if (!n)
        return NULL;
    if (p->at == p->end)
        return fail(p, "missing closing )", p->start, p->end);
    p->at++;
    p->flags = outer_flags;
    return n;
}

static struct regex_node *capture(struct parser *p, const char *name, size_t len)
{
    struct regex_node *n = new_node(p, RE_GROUP);
    n->group = add_group(p, name, len);
    n->first = group_body(p, p->flags);
    return n->first ? n : NULL;
}

static bool valid_name(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z') && !(s[i] >= '0' && s[i] <= '9') &&
            s[i] != '_')
            return false;
    }
    return len > 0;
}

/* "(?P<name>" or "(?<name>" at @start; p->at is after the "<". */
static struct regex_node *named_capture(struct parser *p, const char *start)
{
    const char *close = memchr(p->at, '>', (size_t)(p->end - p->at)), *name = p->at;
    if (!close)
        return fail(p, "invalid named capture", start, p->end);
    if (!valid_name(name, (size_t)(close - name)))
        return fail(p, "invalid named capture", start, close + 1);
    p->at = close + 1;
    return capture(p, name, (size_t)(close - name));
}

static unsigned flag_of(char c)
{
    return c == 'i' ? FOLD : c == 'm' ? MULTILINE : c == 's' ? DOT_ALL : c == 'U' ? SWAP_LAZY : 0;
}

/* "(?i)", "(?i-s:...)" at @start; p->at is after the "?". */
static struct regex_node *flags_group(struct parser *p, const char *start)
{
    unsigned outer = p->flags, flags = p->flags;
    bool clear = false, any = false;
    while (p->at < p->end) {
        char c = *p->at;
        next_rune(p);
        unsigned flag = flag_of(c);
        if (flag) {
            flags = clear ? flags & ~flag : flags | flag;
            any = true;
        } else if (c == '-' && !clear) {
            clear = true;
            any = false;
        } else if ((c == ':' || c == ')') && !(clear && !any)) {
            p->flags = flags;
            return c == ')' ? new_node(p, RE_EMPTY) : group_body(p, outer);
        } else {
            break;
        }
    }
    return fail(p, "invalid or unsupported Perl syntax", start, p->at);
}

static struct regex_node *group(struct parser *p)
{
    const char *start = p->at++;
    if (p->at == p->end || *p->at != '?')
        return capture(p, NULL, 0);
    if (looking_at(p, "?P<")) {
        p->at += 3;
        return named_capture(p, start);
    }
    if (looking_at(p, "?<") && p->end - p->at > 2) {
        p->at += 2;
        return named_capture(p, start);
    }
    p->at++;
    return flags_group(p, start);
}

/* ---- repetition ---- */

static bool number(struct parser *p, int *out)
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
static bool braces(struct parser *p, int *min, int *max)
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

static bool operator_at(struct parser *p, int *min, int *max)
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

/* The most that repetitions with counts, multiplied, make of one piece of @n. */
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
static struct regex_node *repetitions(struct parser *p, struct regex_node *n)
{
    const char *last = NULL, *start = p->at;
    int min, max;
    for (; operator_at(p, &min, &max); last = start, start = p->at) {
        bool lazy = p->at < p->end && *p->at == '?', is_braces = *start == '{';
        const char *op_end = p->at;
        p->at += lazy;
        if (is_braces && (min > MAX_REPEAT || max > MAX_REPEAT || (max >= 0 && min > max)))
            return fail(p, "invalid repeat count", start, op_end);
        if (last)
            return fail(p, "invalid nested repetition operator", last, p->at);
        struct regex_node *repeat = new_node(p, RE_REPEAT);
        repeat->min = min;
        repeat->max = max;
        repeat->lazy = lazy != ((p->flags & SWAP_LAZY) != 0);
        repeat->first = n;
        n = repeat;
        if (is_braces && (min >= 2 || max >= 2) && counted(n) > MAX_REPEAT)
            return fail(p, "invalid repeat count", start, op_end);
    }
    return n;
}

/* ---- the whole ---- */

static struct regex_node *single(struct parser *p)
{
    int min, max;
    const char *start = p->at;
    switch (*p->at) {
    case '(':
        return group(p);
    case '[':
        return class_node(p);
    case '.':
        return dot(p);
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
            p->at += p->at < p->end && *p->at == '?';
            return fail(p, "missing argument to repetition operator", start, p->at);
        }
        return literal(p, next_rune(p));
    default:
        return literal(p, next_rune(p));
    }
}

/* One single thing with its operators, added to @seq. A quoted text's last rune takes them. */
static bool add_piece(struct parser *p, struct regex_node *seq)
{
    if (looking_at(p, "\\Q")) {
        struct regex_node *all = quoted(p), *next;
        for (struct regex_node *n = all->first; n; n = next) {
            next = n->next;
            n->next = NULL;
            if (!next)
                n = repetitions(p, n);
            if (!n)
                return false;
            append(seq, n);
        }
        return true;
    }
    struct regex_node *n = single(p);
    if (!n)
        return false;
    if (n->kind == RE_EMPTY) /* "(?i)": takes no operator */
        return true;
    n = repetitions(p, n);
    if (n)
        append(seq, n);
    return n != NULL;
}

static struct regex_node *sequence(struct parser *p)
{
    struct regex_node *seq = new_node(p, RE_CONCAT);
    while (p->at < p->end && *p->at != '|' && *p->at != ')') {
        if (!add_piece(p, seq))
            return NULL;
    }
    return seq;
}

static struct regex_node *alternatives(struct parser *p)
{
    struct regex_node *first = sequence(p);
    if (!first || p->at == p->end || *p->at != '|')
        return first;
    struct regex_node *all = new_node(p, RE_ALTERNATE);
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
    struct parser p = {
        .arena = arena, .start = expr, .at = expr, .end = expr + len, .names = names, .err = err
    };
    if (!sw_utf8_valid(expr, len))
        return fail(&p, "invalid UTF-8", expr, expr + len), SW_INVALID;
    add_group(&p, NULL, 0);
    *out = alternatives(&p);
    if (!*out)
        return SW_INVALID;
    if (p.at < p.end)
        return fail(&p, "unexpected )", p.start, p.end), SW_INVALID;
    return 0;
}
