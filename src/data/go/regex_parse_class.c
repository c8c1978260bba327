/* What stands for one rune in a regular expression: escapes, and classes of runes. */
#include <ctype.h>
#include <string.h>

#include "data/go/regex_parse.h"
#include "data/go/strconv.h"
#include "data/go/text.h"

void *sw_regex_fail(struct regex_parser *p, const char *code, const char *from, const char *to)
{
    sw_err_set(p->err, SW_INVALID, "error parsing regexp: %s: `%.*s`", code, (int)(to - from),
               from);
    return NULL;
}

struct regex_node *sw_regex_new_node(struct regex_parser *p, enum regex_kind kind)
{
    struct regex_node *n = sw_arena_alloc(p->arena, sizeof *n);
    n->kind = kind;
    return n;
}

bool sw_regex_is_at(const struct regex_parser *p, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

uint32_t sw_regex_next_rune(struct regex_parser *p)
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

#define CLASS(name, ranges)                                                                        \
    {                                                                                              \
        name, ranges, SW_COUNT(ranges), NULL, 0                                                    \
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

/* Add the runes of @one, or with @negated all others; with the flag FOLD all their cases first. */
static void add_set(struct regex_parser *p, struct sw_runes *set, struct sw_runes one, bool negated)
{
    if (p->flags & FOLD)
        sw_runes_fold(&one, p->arena);
    sw_runes_normalize(&one);
    if (negated)
        sw_runes_negate(&one, p->arena);
    for (size_t i = 0; i < one.n; i++)
        sw_runes_add(set, p->arena, one.ranges[i].lo, one.ranges[i].hi);
}

static void add_class(struct regex_parser *p, struct sw_runes *set,
                      const struct sw_rune_class *class, bool negated)
{
    struct sw_runes one = { 0 };
    sw_runes_add_class(&one, p->arena, class);
    add_set(p, set, one, negated);
}

/* "\d" and its like. @return whether it was one */
bool sw_regex_perl_class(struct regex_parser *p, struct sw_runes *set)
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

static const struct sw_rune_class *const cased[] = { &sw_rune_ll, &sw_rune_lt, &sw_rune_lu };

/* Other names of categories. Source: Go 1.26 unicode.CategoryAliases. */
static const char *const aliases[][2] = {
    { "Cased_Letter", "LC" },
    { "Close_Punctuation", "Pe" },
    { "Combining_Mark", "M" },
    { "Connector_Punctuation", "Pc" },
    { "Control", "Cc" },
    { "Currency_Symbol", "Sc" },
    { "Dash_Punctuation", "Pd" },
    { "Decimal_Number", "Nd" },
    { "Enclosing_Mark", "Me" },
    { "Final_Punctuation", "Pf" },
    { "Format", "Cf" },
    { "Initial_Punctuation", "Pi" },
    { "Letter", "L" },
    { "Letter_Number", "Nl" },
    { "Line_Separator", "Zl" },
    { "Lowercase_Letter", "Ll" },
    { "Mark", "M" },
    { "Math_Symbol", "Sm" },
    { "Modifier_Letter", "Lm" },
    { "Modifier_Symbol", "Sk" },
    { "Nonspacing_Mark", "Mn" },
    { "Number", "N" },
    { "Open_Punctuation", "Ps" },
    { "Other", "C" },
    { "Other_Letter", "Lo" },
    { "Other_Number", "No" },
    { "Other_Punctuation", "Po" },
    { "Other_Symbol", "So" },
    { "Paragraph_Separator", "Zp" },
    { "Private_Use", "Co" },
    { "Punctuation", "P" },
    { "Separator", "Z" },
    { "Space_Separator", "Zs" },
    { "Spacing_Mark", "Mc" },
    { "Surrogate", "Cs" },
    { "Symbol", "S" },
    { "Titlecase_Letter", "Lt" },
    { "Unassigned", "Cn" },
    { "Uppercase_Letter", "Lu" },
    { "cntrl", "Cc" },
    { "digit", "Nd" },
    { "punct", "P" },
};

/* Whether they are the same without blanks, underscores, hyphens and cases, as Go 1.26 has it. */
static bool is_loosely(const char *name, size_t len, const char *known)
{
    static const char left_out[] = " _-";
    const char *end = name + len;
    for (;; name++, known++) {
        while (name < end && *name && strchr(left_out, *name))
            name++;
        while (*known && strchr(left_out, *known))
            known++;
        if (name == end || !*known)
            return name == end && !*known;
        if (*name != *known && ((*name ^ *known) != 0x20 || !isalpha((unsigned char)*name)))
            return false;
    }
}

/* The runes of all categories, or of those that begin with @letter. */
static void add_categories(struct regex_parser *p, struct sw_runes *set, char letter)
{
    for (size_t i = 0; i < sw_rune_categories_n; i++)
        if (!letter || sw_rune_classes[i].name[0] == letter)
            sw_runes_add_class(set, p->arena, &sw_rune_classes[i]);
}

static void add_unassigned(struct regex_parser *p, struct sw_runes *set)
{
    struct sw_runes one = { 0 };
    add_categories(p, &one, '\0');
    sw_runes_normalize(&one);
    sw_runes_negate(&one, p->arena);
    for (size_t i = 0; i < one.n; i++)
        sw_runes_add(set, p->arena, one.ranges[i].lo, one.ranges[i].hi);
}

/* What \p{@name} stands for; nothing where it is no name. Source: Go 1.26 regexp/syntax,
 * unicodeTable(). */
static void add_named(struct regex_parser *p, struct sw_runes *set, const char *name, size_t len)
{
    for (size_t i = 0; i < SW_COUNT(aliases); i++)
        if (is_loosely(name, len, aliases[i][0])) {
            name = aliases[i][1];
            len = strlen(name);
        }
    if (is_loosely(name, len, "Any"))
        sw_runes_add(set, p->arena, 0, SW_RUNE_MAX);
    else if (is_loosely(name, len, "ASCII"))
        sw_runes_add(set, p->arena, 0, 0x7F);
    else if (is_loosely(name, len, "Assigned"))
        add_categories(p, set, '\0');
    else if (is_loosely(name, len, "LC"))
        for (size_t i = 0; i < SW_COUNT(cased); i++)
            sw_runes_add_class(set, p->arena, cased[i]);
    else if (len == 1)
        add_categories(p, set, (char)toupper((unsigned char)*name));
    else
        for (size_t i = 0; i < sw_rune_classes_n; i++)
            if (is_loosely(name, len, sw_rune_classes[i].name))
                sw_runes_add_class(set, p->arena, &sw_rune_classes[i]);
    if (is_loosely(name, len, "C") || is_loosely(name, len, "Cn"))
        add_unassigned(p, set);
}

/* "\pN", "\p{Greek}", "\P...". @return 1: it was one, 0: it was not, -1: failed */
int sw_regex_unicode_class(struct regex_parser *p, struct sw_runes *set)
{
    const char *start = p->at;
    if (p->end - p->at < 2 || p->at[0] != '\\' || (p->at[1] | 0x20) != 'p')
        return 0;
    bool negated = p->at[1] == 'P';
    p->at += 2;
    if (p->at == p->end)
        return sw_regex_fail(p, "invalid character class range", start, p->at), -1;
    const char *name = p->at;
    size_t len;
    if (*name == '{') {
        const char *close = memchr(name, '}', (size_t)(p->end - name));
        if (!close)
            return sw_regex_fail(p, "invalid character class range", start, p->end), -1;
        name++;
        len = (size_t)(close - name);
        p->at = close + 1;
    } else {
        sw_regex_next_rune(p);
        len = (size_t)(p->at - name);
    }
    if (len > 0 && *name == '^') {
        negated = !negated;
        name++;
        len--;
    }
    struct sw_runes one = { 0 };
    add_named(p, &one, name, len);
    if (one.n == 0)
        return sw_regex_fail(p, "invalid character class range", start, p->at), -1;
    add_set(p, set, one, negated);
    return 1;
}

/* "[:alpha:]" within brackets. @return as above */
static int posix_class(struct regex_parser *p, struct sw_runes *set)
{
    if (!sw_regex_is_at(p, "[:"))
        return 0;
    const char *name = p->at + 2, *close = memmem(name, (size_t)(p->end - name), ":]", 2);
    if (!close)
        return 0;
    bool negated = name < close && *name == '^';
    name += negated;
    size_t len = (size_t)(close - name);
    for (size_t i = 0; i < SW_COUNT(posix_classes); i++) {
        if (sw_is_text(name, len, posix_classes[i].name)) {
            add_class(p, set, &posix_classes[i], negated);
            p->at = close + 2;
            return 1;
        }
    }
    return sw_regex_fail(p, "invalid character class range", p->at, close + 2), -1;
}

/* After "\x": two digits, or any number of them in braces. */
static bool hex_escape(struct regex_parser *p, uint32_t *rune)
{
    *rune = 0;
    if (p->at < p->end && *p->at == '{') {
        const char *start = ++p->at;
        while (p->at < p->end && sw_hex_digit(*p->at) >= 0 && *rune <= SW_RUNE_MAX)
            *rune = *rune * 16 + (uint32_t)sw_hex_digit(*p->at++);
        return p->at > start && p->at < p->end && *p->at++ == '}' && *rune <= SW_RUNE_MAX;
    }
    if (p->end - p->at < 2 || sw_hex_digit(p->at[0]) < 0 || sw_hex_digit(p->at[1]) < 0)
        return false;
    *rune = (uint32_t)(sw_hex_digit(p->at[0]) * 16 + sw_hex_digit(p->at[1]));
    p->at += 2;
    return true;
}

/* A backslash and what stands for one rune. */
bool sw_regex_escape(struct regex_parser *p, uint32_t *rune)
{
    static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
    const char *start = p->at++;
    if (p->at == p->end)
        return sw_regex_fail(p, "trailing backslash at end of expression", p->at, p->at), false;
    char c = *p->at;
    bool ok;
    uint32_t r = sw_regex_next_rune(p);
    const char *name = c ? strchr(names, c) : NULL;
    if (c >= '0' && c <= '7') {
        ok = c == '0' || (p->at < p->end && *p->at >= '0' && *p->at <= '7'); /* no backreference */
        *rune = (uint32_t)(c - '0');
        for (int i = 1; ok && i < 3 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; i++)
            *rune = *rune * 8 + (uint32_t)(*p->at++ - '0');
    } else if (c == 'x') {
        ok = hex_escape(p, rune);
    } else if (name) {
        *rune = (unsigned char)values[name - names];
        ok = true;
    } else {
        *rune = r;
        ok = r < 0x80 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9');
    }
    return ok ? true : (sw_regex_fail(p, "invalid escape sequence", start, p->at), false);
}

static bool class_char(struct regex_parser *p, const char *class_start, uint32_t *rune)
{
    if (p->at == p->end)
        return sw_regex_fail(p, "missing closing ]", class_start, p->end), false;
    if (*p->at == '\\')
        return sw_regex_escape(p, rune);
    *rune = sw_regex_next_rune(p);
    return true;
}

static bool class_range(struct regex_parser *p, const char *class_start, struct sw_runes *set)
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
            return sw_regex_fail(p, "invalid character class range", start, p->at), false;
    }
    struct sw_runes one = { 0 };
    sw_runes_add(&one, p->arena, lo, hi);
    add_set(p, set, one, false);
    return true;
}

/* "[...]" */
struct regex_node *sw_regex_class_node(struct regex_parser *p)
{
    struct regex_node *n = sw_regex_new_node(p, RE_CLASS);
    const char *start = p->at++;
    bool negated = p->at < p->end && *p->at == '^', first = true;
    p->at += negated;
    for (; p->at == p->end || *p->at != ']' || first; first = false) {
        if (p->at == p->end)
            return sw_regex_fail(p, "missing closing ]", start, p->end);
        int is = posix_class(p, &n->runes);
        if (is == 0)
            is = sw_regex_unicode_class(p, &n->runes);
        if (is == 0)
            is = sw_regex_perl_class(p, &n->runes);
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
