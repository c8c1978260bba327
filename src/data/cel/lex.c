#include "data/cel/lex.h"

#include <ctype.h>
#include <string.h>

#include "data/text/utf8.h"

/* A string literal while it is read. */
struct literal {
    const char *p; /* behind what was read */
    bool raw, bytes;
    char *out; /* as long as the literal */
    size_t len;
};

static int digit_of(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : 99;
}

/* A code of @n digits. @return false: it is none */
static bool read_code(struct literal *l, size_t n, int base, bool rune)
{
    uint32_t code = 0;
    for (size_t i = 0; i < n; i++) {
        const int digit = digit_of(l->p[i]);
        if (digit >= base)
            return false;
        code = code * (uint32_t)base + (uint32_t)digit;
    }
    l->p += n;
    if (l->bytes && !rune) {
        l->out[l->len++] = (char)code;
        return code < 256;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return false;
    l->len += sw_utf8_encode(code, l->out + l->len);
    return true;
}

/* What follows a backslash. @return false: no escape */
static bool read_escape(struct literal *l)
{
    static const char from[] = "abfnrtv\\'\"`?", to[] = "\a\b\f\n\r\t\v\\'\"`?";
    const char c = *l->p;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple) {
        l->out[l->len++] = to[simple - from];
        l->p++;
        return true;
    }
    if (c >= '0' && c <= '3')
        return read_code(l, 3, 8, false);
    l->p++;
    switch (c) {
    case 'x':
    case 'X':
        return read_code(l, 2, 16, false);
    case 'u':
        return !l->bytes && read_code(l, 4, 16, true);
    case 'U':
        return !l->bytes && read_code(l, 8, 16, true);
    default:
        l->p -= c == '\0';
        return false;
    }
}

/* @quote: of one or three characters. @return false: it does not end, or has what is no escape */
static bool read_literal(struct literal *l, const char *quote)
{
    const size_t n = strlen(quote);
    for (;;) {
        if (strncmp(l->p, quote, n) == 0) {
            l->p += n;
            return true;
        }
        if (!*l->p || (n == 1 && (*l->p == '\n' || *l->p == '\r')))
            return false;
        if (*l->p != '\\') {
            l->out[l->len++] = *l->p++;
            continue;
        }
        l->p++;
        if (!l->raw) {
            if (!read_escape(l))
                return false;
            continue;
        }
        l->out[l->len++] = '\\';
        if (*l->p && (n == 3 || *l->p != '\n'))
            l->out[l->len++] = *l->p++;
    }
}

/* The prefix of a string's literal: r, b, both. @return its length; -1: no string begins here */
static int string_prefix(const char *p, bool *raw, bool *bytes)
{
    int n = 0;
    for (; n < 2; n++) {
        const char c = (char)tolower((unsigned char)p[n]);
        if (c == 'r' && !*raw)
            *raw = true;
        else if (c == 'b' && !*bytes)
            *bytes = true;
        else
            break;
    }
    return p[n] == '\'' || p[n] == '"' ? n : -1;
}

static size_t number_len(const char *p, enum cel_token_kind *kind)
{
    size_t n = 0;
    *kind = CEL_T_INT;
    if (p[0] == '0' && p[1] == 'x' && isxdigit((unsigned char)p[2])) {
        for (n = 2; isxdigit((unsigned char)p[n]);)
            n++;
    } else {
        while (isdigit((unsigned char)p[n]))
            n++;
        if (p[n] == '.' && isdigit((unsigned char)p[n + 1])) {
            *kind = CEL_T_DOUBLE;
            for (n++; isdigit((unsigned char)p[n]);)
                n++;
        }
        const size_t sign = p[n] && p[n + 1] && strchr("+-", p[n + 1]) ? 1 : 0;
        if ((p[n] == 'e' || p[n] == 'E') && isdigit((unsigned char)p[n + 1 + sign])) {
            *kind = CEL_T_DOUBLE;
            for (n += 1 + sign; isdigit((unsigned char)p[n]);)
                n++;
        }
    }
    if (*kind == CEL_T_INT && (p[n] == 'u' || p[n] == 'U')) {
        *kind = CEL_T_UINT;
        n++;
    }
    return n;
}

static size_t skip_space(const char *source, size_t at)
{
    for (;;) {
        at += strspn(source + at, " \t\r\n\f");
        if (strncmp(source + at, "//", 2) != 0)
            return at;
        at += strcspn(source + at, "\n");
    }
}

static size_t operator_len(const char *p)
{
    static const char *const two[] = { "==", "!=", "<=", ">=", "&&", "||" };
    for (size_t i = 0; i < SW_COUNT(two); i++)
        if (strncmp(p, two[i], 2) == 0)
            return 2;
    return strchr("[]{}().,:?-!+*/%<>", *p) ? 1 : 0;
}

static bool lex_string(struct sw_cel *cel, struct cel_token *t)
{
    const char *p = cel->source + t->at;
    bool raw = false, bytes = false;
    const int prefix = string_prefix(p, &raw, &bytes);
    if (prefix < 0)
        return false;
    const char one[] = { p[prefix], '\0' }, three[] = { p[prefix], p[prefix], p[prefix], '\0' };
    const char *quote = strncmp(p + prefix, three, 3) == 0 ? three : one;
    struct literal l = { .p = p + prefix + strlen(quote),
                         .raw = raw,
                         .bytes = bytes,
                         .out = sw_arena_alloc(cel->arena, strlen(p) + 1) };
    t->kind = bytes ? CEL_T_BYTES : CEL_T_STRING;
    const bool complete = read_literal(&l, quote);
    t->len = (size_t)(l.p - p);
    t->value = (struct cel_value){ .kind = bytes ? CEL_BYTES : CEL_STRING, .s = { l.out, l.len } };
    if (!complete) {
        sw_cel_problem(cel, t->at, "Syntax error: token recognition error at: '%.*s'", (int)t->len,
                       p);
        t->kind = CEL_T_END;
    }
    return true;
}

/* A name, or one in backquotes after a dot. */
static size_t name_len(const char *p)
{
    size_t n = 0;
    if (*p == '`') {
        for (n = 1; isalnum((unsigned char)p[n]) || (p[n] && strchr("_.-/ ", p[n]));)
            n++;
        return n > 1 && p[n] == '`' ? n + 1 : 0;
    }
    if (!isalpha((unsigned char)*p) && *p != '_')
        return 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

struct cel_token sw_cel_lex(struct sw_cel *cel, size_t *at)
{
    for (;;) {
        struct cel_token t = { .at = skip_space(cel->source, *at) };
        const char *p = cel->source + t.at;
        if (!*p) {
            *at = t.at;
            return t;
        }
        if (lex_string(cel, &t)) {
            *at = t.at + t.len;
            if (t.kind == CEL_T_END)
                continue; /* it was noted */
            return t;
        }
        if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
            t.len = number_len(p, &t.kind);
        } else if ((t.len = name_len(p))) {
            t.kind = *p == '`' ? CEL_T_QUOTED : CEL_T_IDENT;
        } else if ((t.len = operator_len(p))) {
            t.kind = CEL_T_OP;
        } else {
            uint32_t rune;
            t.len = sw_utf8_decode(p, p + strlen(p), &rune, NULL);
            t.len += strchr("=&|", *p) && p[1] ? 1 : 0;
            sw_cel_problem(cel, t.at, "Syntax error: token recognition error at: '%.*s'",
                           (int)t.len, p);
            *at = t.at + t.len;
            continue;
        }
        *at = t.at + t.len;
        return t;
    }
}
