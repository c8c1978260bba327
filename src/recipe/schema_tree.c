#include "recipe/schema_tree.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256, MAX_NUMBER = 64 };

struct reader {
    const char *text, *at, *end;
    const char *name;
    struct sw_arena *arena;
    int depth;
    struct sw_err *err;
};

static int fail(const struct reader *r, const char *what)
{
    size_t line = 1;
    const char *start = r->text;
    for (const char *c = r->text; c < r->at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    return sw_err_set(r->err, SW_INVALID, "%s:%zu:%zu: %s", r->name, line,
                      (size_t)(r->at - start) + 1, what);
}

/* The next character that is no blank; '\0' at the end. */
static char peek(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

/* ---- strings ------------------------------------------------------------------------------------
 */

/* From behind the first quote to the last one, which is passed. @return its length; -1: no end */
static ptrdiff_t find_quote(struct reader *r)
{
    const char *start = r->at;
    for (;;) {
        const char *quote = memchr(r->at, '"', (size_t)(r->end - r->at));
        if (!quote)
            return -1;
        size_t n = 0;
        while (quote - n > start && quote[-1 - (ptrdiff_t)n] == '\\')
            n++;
        r->at = quote + 1;
        if (n % 2 == 0)
            return quote - start;
    }
}

static int hex4(const char *s, const char *end, unsigned *out)
{
    *out = 0;
    if (end - s < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)s[i]))
            return -1;
        *out = *out * 16 +
               (unsigned)(isdigit((unsigned char)s[i]) ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
    }
    return 0;
}

static char *put_utf8(char *to, unsigned rune)
{
    if (rune < 0x80) {
        *to++ = (char)rune;
    } else if (rune < 0x800) {
        *to++ = (char)(0xC0 | rune >> 6);
        *to++ = (char)(0x80 | (rune & 0x3F));
    } else {
        if (rune < 0x10000) {
            *to++ = (char)(0xE0 | rune >> 12);
        } else {
            *to++ = (char)(0xF0 | rune >> 18);
            *to++ = (char)(0x80 | (rune >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (rune >> 6 & 0x3F));
        *to++ = (char)(0x80 | (rune & 0x3F));
    }
    return to;
}

/* \uXXXX behind the 'u', with its other half; half a pair is U+FFFD. @return behind it, or NULL */
static const char *unescape_rune(const char *s, const char *end, char **to)
{
    unsigned rune, low;
    if (hex4(s, end, &rune) < 0)
        return NULL;
    s += 4;
    if (rune >= 0xD800 && rune < 0xDC00 && end - s >= 6 && s[0] == '\\' && s[1] == 'u' &&
        hex4(s + 2, end, &low) == 0 && low >= 0xDC00 && low < 0xE000) {
        rune = 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00);
        s += 6;
    } else if (rune >= 0xD800 && rune < 0xE000) {
        rune = 0xFFFD;
    }
    *to = put_utf8(*to, rune);
    return s;
}

/* A string with backslashes in it. */
static int unescape(struct reader *r, const char *s, size_t len, struct sw_value *out)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *end = s + len;
    char *text = sw_arena_alloc(r->arena, len + 1), *to = text;
    while (s < end) {
        if (*s != '\\') {
            *to++ = *s++;
            continue;
        }
        s++; /* never the last: find_quote() saw to that */
        const char *simple = memchr(from, *s, sizeof from - 1);
        if (simple) {
            *to++ = into[simple - from];
            s++;
        } else if (*s != 'u' || !(s = unescape_rune(s + 1, end, &to))) {
            return fail(r, "a malformed escape in a string");
        }
    }
    *out = sw_value_text(text, (size_t)(to - text));
    return 0;
}

static int read_string(struct reader *r, struct sw_value *out)
{
    const char *start = ++r->at;
    ptrdiff_t len = find_quote(r);
    if (len < 0)
        return fail(r, "a string without an end");
    if ((size_t)len > UINT32_MAX)
        return fail(r, "a string that is too long");
    if (memchr(start, '\\', (size_t)len))
        return unescape(r, start, (size_t)len, out);
    *out = sw_value_text(start, (size_t)len);
    return 0;
}

/* ---- what is not read ---------------------------------------------------------------------------
 */

static bool is_one_of(struct sw_value word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == word.len && memcmp(words[i], word.as.s, word.len) == 0)
            return true;
    return false;
}

static bool is_for_people(struct sw_value key)
{
    static const char *const words[] = { "description", "title", "$comment", "examples",
                                         "markdownDescription" };
    return is_one_of(key, words, SW_COUNT(words));
}

/* Below these the keys are names that the schema's author chose. */
static bool has_names(struct sw_value key)
{
    static const char *const words[] = { "properties",      "patternProperties",
                                         "definitions",     "$defs",
                                         "dependencies",    "dependentRequired",
                                         "dependentSchemas" };
    return is_one_of(key, words, SW_COUNT(words));
}

/* One value, whatever it is: a string, or all up to where its brackets close. */
static int skip_value(struct reader *r)
{
    size_t depth = 0;
    do {
        char c = peek(r);
        if (c == '"') {
            r->at++;
            if (find_quote(r) < 0)
                return fail(r, "a string without an end");
        } else if (!c) {
            return fail(r, "unexpected end");
        } else if (depth == 0 && strchr(",:}]", c)) {
            return fail(r, "expected a value");
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            r->at++;
            if (depth == 0 && !strchr("{}[]", c))
                while (r->at < r->end && !strchr(",}] \t\r\n", *r->at))
                    r->at++;
        }
    } while (depth > 0);
    return 0;
}

/* ---- values -------------------------------------------------------------------------------------
 */

static int read_value(struct reader *r, bool names, struct sw_value *out);

static int read_member(struct reader *r, struct sw_map *map, bool names)
{
    struct sw_value key, value;
    if (peek(r) != '"')
        return fail(r, "expected a key in quotes");
    int rc = read_string(r, &key);
    if (rc < 0)
        return rc;
    if (peek(r) != ':')
        return fail(r, "expected ':'");
    r->at++;
    if (!names && is_for_people(key))
        return skip_value(r);
    rc = read_value(r, !names && has_names(key), &value);
    if (rc == 0)
        sw_map_set_borrowed(map, key.as.s, key.len, value);
    return rc;
}

/* @names: the keys are no keywords. */
static int read_map(struct reader *r, bool names, struct sw_value *out)
{
    struct sw_map *map = sw_map_new(r->arena);
    *out = sw_value_map(map);
    r->at++;
    if (peek(r) == '}') {
        r->at++;
        return 0;
    }
    for (;;) {
        int rc = read_member(r, map, names);
        if (rc < 0)
            return rc;
        char c = peek(r);
        if (c != ',' && c != '}')
            return fail(r, "expected ',' or '}'");
        r->at++;
        if (c == '}')
            return 0;
    }
}

static int read_list(struct reader *r, struct sw_value *out)
{
    struct sw_list *list = sw_list_new(r->arena, 0);
    *out = sw_value_list(list);
    r->at++;
    if (peek(r) == ']') {
        r->at++;
        return 0;
    }
    for (;;) {
        struct sw_value item;
        int rc = read_value(r, false, &item);
        if (rc < 0)
            return rc;
        sw_list_add(list, item);
        char c = peek(r);
        if (c != ',' && c != ']')
            return fail(r, "expected ',' or ']'");
        r->at++;
        if (c == ']')
            return 0;
    }
}

static int read_number(struct reader *r, struct sw_value *out)
{
    char digits[MAX_NUMBER + 1], *end;
    size_t n = 0;
    while (r->at + n < r->end && n < MAX_NUMBER &&
           (isdigit((unsigned char)r->at[n]) || strchr("+-.eE", r->at[n])))
        n++;
    memcpy(digits, r->at, n);
    digits[n] = '\0';
    double d = strtod(digits, &end);
    if (n == 0 || *end || !isfinite(d) || digits[0] == '+')
        return fail(r, "expected a value");
    r->at += n;
    *out = sw_value_float(d);
    return 0;
}

static int read_word(struct reader *r, struct sw_value *out)
{
    const struct {
        const char *word;
        struct sw_value value;
    } words[] = { { "true", sw_value_bool(true) },
                  { "false", sw_value_bool(false) },
                  { "null", sw_value_nil() } };
    for (size_t i = 0; i < SW_COUNT(words); i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= len && memcmp(r->at, words[i].word, len) == 0) {
            r->at += len;
            *out = words[i].value;
            return 0;
        }
    }
    return read_number(r, out);
}

static int read_value(struct reader *r, bool names, struct sw_value *out)
{
    if (++r->depth > MAX_DEPTH)
        return fail(r, "too deep");
    int rc;
    switch (peek(r)) {
    case '{':
        rc = read_map(r, names, out);
        break;
    case '[':
        rc = read_list(r, out);
        break;
    case '"':
        rc = read_string(r, out);
        break;
    case '\0':
        rc = fail(r, "unexpected end");
        break;
    default:
        rc = read_word(r, out);
    }
    r->depth--;
    return rc;
}

int sw_schema_tree(struct sw_arena *arena, const char *name, const char *text, size_t len,
                   struct sw_value *out, struct sw_err *err)
{
    struct reader r = {
        .text = text, .at = text, .end = text + len, .name = name, .arena = arena, .err = err
    };
    struct sw_value v;
    int rc = read_value(&r, false, &v);
    if (rc < 0)
        return rc;
    if (peek(&r) || r.at < r.end)
        return fail(&r, "something behind the schema");
    *out = v;
    return 0;
}
