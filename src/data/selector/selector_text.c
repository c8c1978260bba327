/* Selectors from text. Source: k8s.io/apimachinery pkg/labels and pkg/fields. */
#include <string.h>

#include "data/selector/selector.h"
#include "data/selector/selector_build.h"
#include "data/text/buffer.h"

/* ---- label selectors ---------------------------------------------------------------------------
 */

enum token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_NOT,
    TOKEN_EQUALS, /* = and == */
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_IN,
    TOKEN_NOT_IN,
};

struct lexer {
    const char *p;
    enum token token;
    const char *text; /* of the token */
    size_t len;
    struct sw_err *err;
};

static enum token take(struct lexer *l, size_t len, enum token token)
{
    l->text = l->p;
    l->len = len;
    l->p += len;
    return token;
}

static bool is_word(const struct lexer *l, const char *word)
{
    return l->len == strlen(word) && memcmp(l->text, word, l->len) == 0;
}

/* @as_value: `in` and `notin` have no special meaning */
static void next(struct lexer *l, bool as_value)
{
    l->p += strspn(l->p, " \t\r\n");
    switch (*l->p) {
    case '\0':
        l->token = take(l, 0, TOKEN_END);
        return;
    case ',':
        l->token = take(l, 1, TOKEN_COMMA);
        return;
    case '(':
        l->token = take(l, 1, TOKEN_OPEN);
        return;
    case ')':
        l->token = take(l, 1, TOKEN_CLOSE);
        return;
    case '>':
        l->token = take(l, 1, TOKEN_GREATER);
        return;
    case '<':
        l->token = take(l, 1, TOKEN_LESS);
        return;
    case '!':
        l->token = l->p[1] == '=' ? take(l, 2, TOKEN_NOT_EQUALS) : take(l, 1, TOKEN_NOT);
        return;
    case '=':
        l->token = take(l, l->p[1] == '=' ? 2 : 1, TOKEN_EQUALS);
        return;
    default:
        l->token = take(l, strcspn(l->p, " \t\r\n,()><!="), TOKEN_WORD);
        if (!as_value && is_word(l, "in"))
            l->token = TOKEN_IN;
        if (!as_value && is_word(l, "notin"))
            l->token = TOKEN_NOT_IN;
    }
}

static int fail_expected(struct lexer *l, const char *expected)
{
    return sw_err_set(l->err, SW_INVALID, "unable to parse requirement: found '%.*s', expected: %s",
                      (int)l->len, l->text, expected);
}

/* "(a,b,)" after `in`: an empty element is the empty value. */
static int read_values(struct lexer *l, struct sw_requirement *r)
{
    next(l, true);
    if (l->token != TOKEN_OPEN)
        return fail_expected(l, "'('");
    next(l, true);
    for (;;) {
        if (l->token == TOKEN_WORD) {
            sw_requirement_add_value(r, l->text, l->len);
            next(l, true);
        } else if (l->token == TOKEN_COMMA || l->token == TOKEN_CLOSE) {
            sw_requirement_add_value(r, "", 0);
        } else {
            return fail_expected(l, "',', ')' or identifier");
        }
        if (l->token == TOKEN_CLOSE)
            break;
        if (l->token != TOKEN_COMMA)
            return fail_expected(l, "',' or ')'");
        next(l, true);
    }
    next(l, false);
    return 0;
}

static int read_condition(struct lexer *l, struct sw_requirement *r)
{
    switch (l->token) {
    case TOKEN_END:
    case TOKEN_COMMA:
        r->op = SW_SEL_EXISTS;
        return 0;
    case TOKEN_IN:
    case TOKEN_NOT_IN:
        r->op = l->token == TOKEN_IN ? SW_SEL_IN : SW_SEL_NOT_IN;
        return read_values(l, r);
    case TOKEN_EQUALS:
        r->op = SW_SEL_EQUALS;
        break;
    case TOKEN_NOT_EQUALS:
        r->op = SW_SEL_NOT_EQUALS;
        break;
    case TOKEN_GREATER:
        r->op = SW_SEL_GREATER;
        break;
    case TOKEN_LESS:
        r->op = SW_SEL_LESS;
        break;
    default:
        return fail_expected(l, "',' or 'end of string', in, notin, =, ==, !=, >, <");
    }
    next(l, true); /* the value may be missing: it is empty then */
    bool word = l->token == TOKEN_WORD;
    sw_requirement_add_value(r, word ? l->text : "", word ? l->len : 0);
    if (word)
        next(l, false);
    return 0;
}

static int read_requirement(struct lexer *l, struct sw_requirement *r)
{
    bool negated = l->token == TOKEN_NOT;
    if (negated)
        next(l, true);
    if (l->token == TOKEN_IN || l->token == TOKEN_NOT_IN)
        l->token = TOKEN_WORD;
    if (l->token != TOKEN_WORD)
        return fail_expected(l, negated ? "identifier" : "!, identifier, or 'end of string'");
    r->key = sw_strndup(l->text, l->len);
    next(l, false);
    if (negated) {
        r->op = SW_SEL_NOT_EXISTS;
        return 0;
    }
    return read_condition(l, r);
}

int sw_selector_parse(const char *text, struct sw_selector *out, struct sw_err *err)
{
    struct lexer l = { .p = text, .err = err };
    struct sw_selector s = { 0 };
    int rc = 0;
    next(&l, false);
    while (rc == 0 && l.token != TOKEN_END) {
        struct sw_requirement r = { 0 };
        rc = read_requirement(&l, &r);
        if (rc == 0)
            rc = sw_requirement_check(&r, err);
        if (rc == 0)
            sw_selector_take(&s, &r);
        sw_requirement_done(&r);
        if (rc == 0 && l.token == TOKEN_COMMA) {
            next(&l, false);
            if (l.token == TOKEN_END)
                rc = fail_expected(&l, "identifier after ','");
        } else if (rc == 0 && l.token != TOKEN_END) {
            rc = fail_expected(&l, "',' or 'end of string'");
        }
    }
    if (rc < 0) {
        sw_selector_done(&s);
        return sw_err_wrap(err, rc, "selector '%s'", text);
    }
    *out = s;
    return 0;
}

/* ---- field selectors ---------------------------------------------------------------------------
 */

static int read_field_value(struct sw_requirement *r, const char *p, const char *end,
                            struct sw_err *err)
{
    struct sw_buffer value = { 0 };
    int rc = 0;
    for (; p < end && rc == 0; p++) {
        if (*p == '\\') {
            p++;
            if (p == end || !strchr("\\,=", *p))
                rc = sw_err_set(err, SW_INVALID, "invalid escape sequence");
        } else if (*p == '=') {
            rc = sw_err_set(err, SW_INVALID, "'=' in a value must be escaped");
        }
        if (rc == 0)
            sw_buffer_char(&value, *p);
    }
    SW_AUTO_CHARS *text = sw_buffer_take(&value, NULL);
    if (rc == 0)
        sw_requirement_add_value(r, text, strlen(text));
    return rc;
}

static int read_term(const char *p, size_t len, struct sw_requirement *r, struct sw_err *err)
{
    const char *end = p + len, *eq = memchr(p, '=', len);
    if (!eq)
        return sw_err_set(err, SW_INVALID, "can't understand '%.*s': neither = nor !=", (int)len,
                          p);
    bool negated = eq > p && eq[-1] == '!';
    r->key = sw_strndup(p, (size_t)(eq - p) - negated);
    r->op = negated ? SW_SEL_NOT_EQUALS : SW_SEL_EQUALS;
    eq++;
    if (!negated && eq < end && *eq == '=')
        eq++;
    return read_field_value(r, eq, end, err);
}

int sw_field_selector_parse(const char *text, struct sw_selector *out, struct sw_err *err)
{
    struct sw_selector s = { 0 };
    int rc = 0;
    for (const char *p = text; *p && rc == 0;) {
        const char *term = p;
        while (*p && *p != ',')
            p += *p == '\\' && p[1] ? 2 : 1;
        if (p > term) {
            struct sw_requirement r = { 0 };
            rc = read_term(term, (size_t)(p - term), &r, err);
            if (rc == 0)
                sw_selector_take(&s, &r);
            sw_requirement_done(&r);
        }
        p += *p == ',';
    }
    if (rc < 0) {
        sw_selector_done(&s);
        return sw_err_wrap(err, rc, "field selector '%s'", text);
    }
    *out = s;
    return 0;
}
