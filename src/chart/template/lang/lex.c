#include "chart/template/lang/lex.h"

#include <string.h>

#include "data/go/strconv.h"
#include "data/go/text.h"
#include "data/text/unicode.h"

/* The rules are those of Go's text/template/parse. Actions are between {{ and }}; "{{- " and
 * " -}}" eat the white space outside; a comment is an action of nothing but one. Positions are
 * bytes, lines are counted as the text is passed. */

enum { END = -1 };

void sw_lex_init(struct lexer *l, struct sw_arena *arena, const char *text, size_t len)
{
    *l = (struct lexer){ .arena = arena, .in = text, .len = len, .line = 1, .start_line = 1 };
}

static bool is_space(int r)
{
    return r == ' ' || r == '\t' || r == '\r' || r == '\n';
}

enum { ALNUM = 1, TERMINATOR = 2 };

/* ALNUM: an ASCII letter or digit, or '_'; most names have no others. TERMINATOR: may follow a
 * name.
 */
static const unsigned char classes[256] = {
    ['0' ... '9'] = ALNUM, ['A' ... 'Z'] = ALNUM, ['a' ... 'z'] = ALNUM, ['_'] = ALNUM,
    [' '] = TERMINATOR,    ['\t'] = TERMINATOR,   ['\r'] = TERMINATOR,   ['\n'] = TERMINATOR,
    ['.'] = TERMINATOR,    [','] = TERMINATOR,    ['|'] = TERMINATOR,    [':'] = TERMINATOR,
    [')'] = TERMINATOR,    ['('] = TERMINATOR,
};

static inline bool is_ascii_alnum(unsigned char c)
{
    return classes[c] & ALNUM;
}

static inline bool is_alnum(int32_t r)
{
    if (r < 0x80)
        return r >= 0 && is_ascii_alnum((unsigned char)r);
    return sw_rune_is_letter((uint32_t)r) || sw_rune_is_digit((uint32_t)r);
}

static uint32_t newlines(const char *s, size_t n)
{
    uint32_t lines = 0;
    for (const char *end = s + n; (s = memchr(s, '\n', (size_t)(end - s))); s++)
        lines++;
    return lines;
}

static inline int32_t peek_width(const struct lexer *l, size_t *width)
{
    uint32_t r;
    if (l->pos < l->len && (unsigned char)l->in[l->pos] < 0x80) {
        *width = 1;
        return l->in[l->pos];
    }
    *width = sw_rune_decode(l->in + l->pos, l->len - l->pos, &r);
    return *width ? (int32_t)r : END;
}

static inline int32_t peek(const struct lexer *l)
{
    size_t width;
    return peek_width(l, &width);
}

static int32_t next(struct lexer *l)
{
    size_t width;
    int32_t r = peek_width(l, &width);
    l->pos += width;
    l->line += r == '\n';
    return r;
}

static inline bool starts(const struct lexer *l, size_t at, const char *with)
{
    size_t n = strlen(with);
    return at <= l->len && l->len - at >= n && memcmp(l->in + at, with, n) == 0;
}

static struct token emit(struct lexer *l, enum token_kind kind)
{
    struct token t = { kind, l->in + l->start, (uint32_t)(l->pos - l->start), (uint32_t)l->start,
                       l->start_line };
    l->start = l->pos;
    l->start_line = l->line;
    return t;
}

static struct token fail_text(struct lexer *l, const char *text)
{
    struct token t = { TOK_ERROR, text, (uint32_t)strlen(text), (uint32_t)l->start, l->start_line };
    l->start = l->pos = l->len = 0;
    return t;
}

/* Skip up to @pos without a token. */
static void ignore_to(struct lexer *l, size_t pos)
{
    l->pos = pos;
    l->line += newlines(l->in + l->start, l->pos - l->start);
    l->start = l->pos;
    l->start_line = l->line;
}

static bool at_left_trim(const struct lexer *l, size_t at)
{
    return l->len >= at + 2 && l->in[at] == '-' && is_space(l->in[at + 1]);
}

static bool at_right_delim(const struct lexer *l, size_t at, bool *trim)
{
    *trim = at < l->len && is_space(l->in[at]) && starts(l, at + 1, "-}}");
    return *trim || starts(l, at, "}}");
}

static size_t skip_space(const struct lexer *l, size_t at)
{
    while (at < l->len && is_space(l->in[at]))
        at++;
    return at;
}

static const char *find_left_delim(const char *at, const char *end)
{
    while ((at = memchr(at, '{', (size_t)(end - at)))) {
        if (end - at > 1 && at[1] == '{')
            return at;
        at++;
    }
    return NULL;
}

/* Text up to the next action, or the action's left delimiter, or the end. */
static struct token lex_text(struct lexer *l)
{
    struct token t;
    for (;;) {
        const char *delim = find_left_delim(l->in + l->pos, l->in + l->len);
        if (!delim) {
            l->line += newlines(l->in + l->start, l->len - l->start);
            l->pos = l->len;
            if (l->pos > l->start)
                return emit(l, TOK_TEXT);
            t = emit(l, TOK_EOF);
            t.s = "EOF";
            t.len = 3;
            return t;
        }
        size_t at = (size_t)(delim - l->in);
        bool trim = at_left_trim(l, at + 2);
        if (at > l->pos) {
            size_t end = at;
            while (trim && end > l->start && is_space(l->in[end - 1]))
                end--;
            l->line += newlines(l->in + l->start, end - l->start);
            l->pos = end;
            t = emit(l, TOK_TEXT);
            ignore_to(l, at);
            if (t.len > 0)
                return t;
        }
        size_t comment = at + (trim ? 4 : 2);
        if (!starts(l, comment, "/*"))
            break;
        const char *close = memmem(l->in + comment + 2, l->len - comment - 2, "*/", 2);
        ignore_to(l, comment);
        if (!close)
            return fail_text(l, "unclosed comment");
        size_t after = (size_t)(close - l->in) + 2;
        if (!at_right_delim(l, after, &trim))
            return fail_text(l, "comment ends before closing delimiter");
        after += trim ? 4 : 2;
        ignore_to(l, trim ? skip_space(l, after) : after);
    }
    bool trim = at_left_trim(l, l->pos + 2);
    l->pos += 2;
    t = emit(l, TOK_LEFT_DELIM);
    l->inside = true;
    l->parens = 0;
    if (trim)
        ignore_to(l, l->pos + 2);
    return t;
}

static struct token lex_right_delim(struct lexer *l, bool trim)
{
    if (trim)
        ignore_to(l, l->pos + 2);
    l->pos += 2;
    struct token t = emit(l, TOK_RIGHT_DELIM);
    if (trim)
        ignore_to(l, skip_space(l, l->pos));
    l->inside = false;
    return t;
}

/* A run of spaces; its last one may belong to a trimming delimiter. */
static struct token lex_space(struct lexer *l)
{
    size_t n = 0;
    bool trim;
    for (; l->pos < l->len && is_space(l->in[l->pos]); n++)
        l->line += l->in[l->pos++] == '\n';
    if (at_right_delim(l, l->pos - 1, &trim) && trim) {
        l->pos--;
        l->line -= l->in[l->pos] == '\n';
        if (n == 1)
            return lex_right_delim(l, true);
    }
    return emit(l, TOK_SPACE);
}

static bool at_terminator(const struct lexer *l)
{
    return l->pos == l->len || (classes[(unsigned char)l->in[l->pos]] & TERMINATOR) ||
           starts(l, l->pos, "}}");
}

static struct token bad_character(struct lexer *l, int32_t r)
{
    struct text t = { .limit = 1 << 16 };
    sw_text_printf(&t, "bad character U+%04X", r == END ? 0 : r);
    if (r != END && sw_rune_is_print((uint32_t)r)) {
        sw_text_puts(&t, " '");
        sw_text_rune(&t, (uint32_t)r);
        sw_text_char(&t, '\'');
    }
    return fail_text(l, sw_text_end(&t, l->arena));
}

static void skip_alnum(struct lexer *l)
{
    do {
        const char *p = l->in + l->pos, *end = l->in + l->len;
        while (p < end && is_ascii_alnum((unsigned char)*p))
            p++;
        l->pos = (size_t)(p - l->in);
    } while (l->pos < l->len && (l->in[l->pos] & 0x80) && is_alnum(peek(l)) && next(l));
}

/* After '.' or '$'. */
static struct token lex_name(struct lexer *l, enum token_kind kind)
{
    if (at_terminator(l))
        return emit(l, kind == TOK_VARIABLE ? TOK_VARIABLE : TOK_DOT);
    skip_alnum(l);
    if (!at_terminator(l))
        return bad_character(l, peek(l));
    return emit(l, kind);
}

static const struct keyword {
    const char *word;
    enum token_kind kind;
} keywords[] = {
    { "block", TOK_BLOCK },
    { "break", TOK_BREAK },
    { "continue", TOK_CONTINUE },
    { "define", TOK_DEFINE },
    { "else", TOK_ELSE },
    { "end", TOK_END },
    { "if", TOK_IF },
    { "nil", TOK_NIL },
    { "range", TOK_RANGE },
    { "template", TOK_TEMPLATE },
    { "with", TOK_WITH },
    { "true", TOK_BOOL },
    { "false", TOK_BOOL },
};

static struct token lex_identifier(struct lexer *l)
{
    skip_alnum(l);
    if (!at_terminator(l))
        return bad_character(l, peek(l));
    size_t n = l->pos - l->start;
    for (size_t i = 0; i < SW_COUNT(keywords); i++) {
        const char *word = keywords[i].word, *s = l->in + l->start;
        if (word[0] == s[0] && sw_is_text(s, n, word))
            return emit(l, keywords[i].kind);
    }
    return emit(l, TOK_IDENT);
}

/* A quoted string or character constant; the opening quote is past. */
static struct token lex_quoted(struct lexer *l, int32_t quote)
{
    bool is_char = quote == '\'';
    for (;;) {
        int32_t r = next(l);
        if (r == quote)
            return emit(l, is_char ? TOK_CHAR_CONSTANT : TOK_STRING);
        if (r == '\\') {
            r = next(l);
            if (r != END && r != '\n')
                continue;
        }
        if (r == END || r == '\n')
            return fail_text(l, is_char ? "unterminated character constant"
                                        : "unterminated quoted string");
    }
}

static bool accept(struct lexer *l, const char *set)
{
    int32_t r = peek(l);
    if (r <= 0 || r >= 0x80 || !strchr(set, r))
        return false;
    l->pos++;
    return true;
}

static void accept_run(struct lexer *l, const char *set)
{
    while (accept(l, set))
        ;
}

/* Anything that may be a number; the parser decides. */
static bool scan_number(struct lexer *l)
{
    const char *digits = "0123456789_";
    bool decimal = true, hex = false;
    accept(l, "+-");
    if (accept(l, "0")) {
        if (accept(l, "xX"))
            digits = "0123456789abcdefABCDEF_", hex = true, decimal = false;
        else if (accept(l, "oO"))
            digits = "01234567_", decimal = false;
        else if (accept(l, "bB"))
            digits = "01_", decimal = false;
    }
    accept_run(l, digits);
    if (accept(l, "."))
        accept_run(l, digits);
    if ((decimal && accept(l, "eE")) || (hex && accept(l, "pP"))) {
        accept(l, "+-");
        accept_run(l, "0123456789_");
    }
    accept(l, "i");
    if (is_alnum(peek(l))) {
        next(l);
        return false;
    }
    return true;
}

static struct token lex_number(struct lexer *l)
{
    bool valid = scan_number(l);
    int32_t sign = peek(l);
    if (valid && sign != '+' && sign != '-')
        return emit(l, TOK_NUMBER);
    if (valid && scan_number(l) && l->in[l->pos - 1] == 'i')
        return emit(l, TOK_COMPLEX);
    const char *number = sw_quoted(l->arena, l->in + l->start, l->pos - l->start);
    return fail_text(l, sw_arena_printf(l->arena, "bad number syntax: %s", number));
}

static struct token lex_action(struct lexer *l)
{
    bool trim;
    if (at_right_delim(l, l->pos, &trim)) {
        if (l->parens == 0)
            return lex_right_delim(l, trim);
        return fail_text(l, "unclosed left paren");
    }
    int32_t r = peek(l);
    if (is_space(r))
        return lex_space(l);
    if (is_alnum(r) && !(r >= '0' && r <= '9'))
        return lex_identifier(l);
    char after = l->pos + 1 < l->len
                     ? l->in[l->pos + 1]
                     : '0'; /* at the end of the text: a number's beginning, as in Go */
    if (r == '+' || r == '-' || (r >= '0' && r <= '9') ||
        (r == '.' && after >= '0' && after <= '9'))
        return lex_number(l);
    next(l);
    switch (r) {
    case END:
        return fail_text(l, "unclosed action");
    case '=':
        return emit(l, TOK_ASSIGN);
    case ':':
        if (next(l) != '=')
            return fail_text(l, "expected :=");
        return emit(l, TOK_DECLARE);
    case '|':
        return emit(l, TOK_PIPE);
    case '"':
    case '\'':
        return lex_quoted(l, r);
    case '`':
        do
            r = next(l);
        while (r != '`' && r != END);
        return r == '`' ? emit(l, TOK_RAW_STRING) : fail_text(l, "unterminated raw quoted string");
    case '$':
        return lex_name(l, TOK_VARIABLE);
    case '.':
        return lex_name(l, TOK_FIELD);
    case '(':
    case ')':
        l->parens += r == '(' ? 1 : -1;
        if (l->parens < 0)
            return fail_text(l, "unexpected right paren");
        return emit(l, r == '(' ? TOK_LEFT_PAREN : TOK_RIGHT_PAREN);
    default:
        if (r < 0x80 && sw_rune_is_print((uint32_t)r))
            return emit(l, TOK_CHAR);
        return fail_text(
            l, sw_arena_printf(l->arena, "unrecognized character in action: U+%04X", (unsigned)r));
    }
}

struct token sw_lex_next(struct lexer *l)
{
    return l->inside ? lex_action(l) : lex_text(l);
}
