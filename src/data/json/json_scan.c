#include "data/json/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/utf8.h"

/* What may come next. A scan begins with the first of them. */
enum { VALUE, ITEM_OR_END, KEY_OR_END, KEY, COLON, NEXT_ITEM, NEXT_MEMBER, NOTHING };

static const char *const expectations[] = {
    [VALUE] = "a value",
    [ITEM_OR_END] = "a value or ']'",
    [KEY_OR_END] = "a key or '}'",
    [KEY] = "a key",
    [COLON] = "':'",
    [NEXT_ITEM] = "',' or ']'",
    [NEXT_MEMBER] = "',' or '}'",
    [NOTHING] = "nothing more",
};

/* ---- errors ------------------------------------------------------------------------------------
 */

/* An error at byte @at, counted from the beginning of the first piece. */
static int fail(struct sw_json_scan *s, size_t at, struct sw_err *err, const char *what)
{
    s->offset = at + 1;
    return sw_err_set(err, SW_INVALID, "%s", what);
}

/* An error: the grammar does not allow the character @p here. */
static int unexpected(struct sw_json_scan *s, size_t at, const char *p, const char *end,
                      struct sw_err *err)
{
    uint32_t rune;
    bool valid;
    const size_t len = sw_utf8_decode(p, end, &rune, &valid);
    const char *what = expectations[s->expected];
    s->offset = at + 1;
    if (!valid || rune < 0x20 || rune == 0x7f)
        return sw_err_set(err, SW_INVALID, "expected %s, not byte 0x%02x", what,
                          (unsigned)(unsigned char)*p);
    return sw_err_set(err, SW_INVALID, "expected %s, not '%.*s'", what, (int)len, p);
}

/* ---- strings -----------------------------------------------------------------------------------
 */

enum { PLAIN, QUOTE, BACKSLASH, CONTROL, HIGH };

static const unsigned char string_class[256] = {
    [0 ... 0x1f] = CONTROL,
    ['"'] = QUOTE,
    ['\\'] = BACKSLASH,
    [0x80 ... 0xff] = HIGH,
};

/* The first byte from @p on that is not PLAIN. Eight bytes are tested at a time: the arithmetic
 * sets the highest bit of each byte that is not PLAIN. Borrows only affect later bytes, so the
 * first byte marked is always correct. */
static const char *skip_plain(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = 0x0101010101010101;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        const uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';
        const uint64_t found = ((quote - ones) | (backslash - ones) | (v - ones * 0x20) | v) &
                               ones * 0x80;
        if (found)
            return p + __builtin_ctzll(found) / 8;
    }
#endif
    while (p < end && string_class[(unsigned char)*p] == PLAIN)
        p++;
    return p;
}

/* Skip the characters of a string from @p to its closing quote, a control character, or the end of
 * the piece. @plain is cleared when an escape or a character outside ASCII is found. */
static const char *find_quote(struct sw_json_scan *s, const char *p, const char *end, bool *plain)
{
    if (s->escaped && p < end) {
        s->escaped = false;
        p++;
    }
    for (; (p = skip_plain(p, end)) < end; p++) {
        const unsigned char class = string_class[(unsigned char)*p];
        if (class == QUOTE || class == CONTROL)
            return p;
        *plain = false;
        if (class == BACKSLASH && ++p == end) {
            s->escaped = true;
            break;
        }
    }
    return p;
}

/* The value of four hexadecimal digits, or -1. */
static int hex4(const char *p, const char *end)
{
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char c = p[i], low = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            v = v * 16 + c - '0';
        else if (low >= 'a' && low <= 'f')
            v = v * 16 + low - 'a' + 10;
        else
            return -1;
    }
    return v;
}

/* Decode one escape; of \uXXXX also the next one if both are a surrogate pair.
 * @return the end, or NULL */
static const char *unescape_one(struct sw_buffer *out, const char *p, const char *end)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *simple = end - p < 2 ? NULL : memchr(from, p[1], sizeof from - 1);
    if (simple) {
        sw_buffer_char(out, into[simple - from]);
        return p + 2;
    }
    if (end - p < 2 || p[1] != 'u')
        return NULL;
    int rune = hex4(p + 2, end);
    if (rune < 0)
        return NULL;
    p += 6;
    if (rune >= 0xd800 && rune < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        const int low = hex4(p + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            rune = 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
    }
    sw_buffer_need(out, 4);
    out->len += sw_utf8_encode((uint32_t)rune, out->text + out->len);
    return p;
}

/* Check the text between the quotes of a string and resolve its escapes into s->text. @at: the
 * offset of the first byte. */
static int unescape(struct sw_json_scan *s, const char *text, size_t len, size_t at,
                    struct sw_err *err)
{
    const char *end = text + len, *p = text;
    const size_t valid = sw_utf8_valid_len(text, len);
    if (valid < len)
        return fail(s, at + valid, err, "a string is not UTF-8");
    s->text.len = 0;
    sw_buffer_need(&s->text, len); /* an escape is never shorter than what it stands for */
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        sw_buffer_put(&s->text, p, (size_t)((escape ? escape : end) - p));
        p = escape ? unescape_one(&s->text, escape, end) : end;
        if (!p)
            return fail(s, at + (size_t)(escape - text), err, "a malformed escape in a string");
    }
    return 0;
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

static void ended(struct sw_json_scan *s)
{
    s->expected = s->after[s->depth];
}

static int give_string(struct sw_json_scan *s, const char *text, size_t len, struct sw_err *err)
{
    if (s->expected == KEY || s->expected == KEY_OR_END) {
        s->expected = COLON;
        return s->ops->key(s->arg, text, len, err);
    }
    ended(s);
    return s->ops->string(s->arg, text, len, err);
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Check a number (RFC 8259, section 6). @return NULL, or the first character that is wrong */
static const char *find_mistake(const char *p, const char *end)
{
    const char *digits = p + (*p == '-');
    p = skip_digits(digits, end);
    if (p > digits + 1 && *digits == '0')
        return digits + 1;
    if (p > digits && p < end && *p == '.') {
        digits = p + 1;
        p = skip_digits(digits, end);
    }
    if (p > digits && p < end && (*p | 0x20) == 'e') {
        digits = p + 1;
        digits += digits < end && (*digits == '+' || *digits == '-');
        p = skip_digits(digits, end);
    }
    return p > digits && p == end ? NULL : p;
}

/* A whole number or word, which ends at s->offset. */
static int take_bare(struct sw_json_scan *s, const char *token, size_t len, struct sw_err *err)
{
    static const char *const words[] = { "null", "false", "true" };
    const size_t begin = s->offset - len;
    if (*token == '-' || (*token >= '0' && *token <= '9')) {
        const char *mistake = find_mistake(token, token + len);
        if (mistake)
            return fail(s, begin + (size_t)(mistake - token), err, "a malformed number");
        ended(s);
        return s->ops->number(s->arg, token, len, err);
    }
    for (size_t i = 0; i < SW_COUNT(words); i++)
        if (len == strlen(words[i]) && memcmp(token, words[i], len) == 0) {
            ended(s);
            return s->ops->word(s->arg, (enum sw_json_word)i, err);
        }
    return unexpected(s, begin, token, token + len, err);
}

static int open_container(struct sw_json_scan *s, bool map, struct sw_err *err)
{
    const int max = s->max_depth > 0 && s->max_depth < SW_JSON_SCAN_DEPTH ? s->max_depth
                                                                          : SW_JSON_SCAN_DEPTH;
    if (s->depth == max)
        return sw_err_set(err, SW_INVALID, "nested more than %d levels deep", max);
    s->after[++s->depth] = map ? NEXT_MEMBER : NEXT_ITEM;
    s->expected = map ? KEY_OR_END : ITEM_OR_END;
    return s->ops->begin(s->arg, map, err);
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* The classes of characters. */
enum { OTHER, BLANK, STRING, BARE, MAP, LIST, END_MAP, END_LIST, COMMA, IS, N_CLASSES };

static const unsigned char token_class[256] = {
    [' '] = BLANK,        ['\t'] = BLANK, ['\n'] = BLANK, ['\r'] = BLANK, ['"'] = STRING,
    ['0' ... '9'] = BARE, ['-'] = BARE,   ['+'] = BARE,   ['.'] = BARE,   ['a' ... 'z'] = BARE,
    ['A' ... 'Z'] = BARE, ['_'] = BARE,   ['{'] = MAP,    ['['] = LIST,   ['}'] = END_MAP,
    [']'] = END_LIST,     [','] = COMMA,  [':'] = IS,
};

/* The grammar: the action for each expected token and class of the next character. */
enum { REFUSE, SKIP, TEXT, WORD, OPEN_MAP, OPEN_LIST, CLOSE, TO_VALUE, TO_KEY };

static const unsigned char grammar[][N_CLASSES] = {
#define ANY_VALUE                                                                                  \
    [BLANK] = SKIP, [STRING] = TEXT, [BARE] = WORD, [MAP] = OPEN_MAP, [LIST] = OPEN_LIST
    [VALUE] = { ANY_VALUE },
    [ITEM_OR_END] = { ANY_VALUE, [END_LIST] = CLOSE },
    [KEY_OR_END] = { [BLANK] = SKIP, [STRING] = TEXT, [END_MAP] = CLOSE },
    [KEY] = { [BLANK] = SKIP, [STRING] = TEXT },
    [COLON] = { [BLANK] = SKIP, [IS] = TO_VALUE },
    [NEXT_ITEM] = { [BLANK] = SKIP, [COMMA] = TO_VALUE, [END_LIST] = CLOSE },
    [NEXT_MEMBER] = { [BLANK] = SKIP, [COMMA] = TO_KEY, [END_MAP] = CLOSE },
    [NOTHING] = { [BLANK] = SKIP },
#undef ANY_VALUE
};

/* Read a string or a bare token at @p, or the rest of one that began in an earlier piece. @*next is
 * set to its end. */
static int take_token(struct sw_json_scan *s, const char *bytes, const char *p, const char *end,
                      const char **next, struct sw_err *err)
{
    const bool resumed = s->part.len > 0;
    const bool string = (resumed ? *s->part.text : *p) == '"';
    bool plain = !resumed, whole;
    const char *stop = resumed ? p : p + 1;
    if (string) {
        stop = find_quote(s, stop, end, &plain);
        whole = stop < end && *stop == '"';
        stop += whole;
    } else {
        while (stop < end && token_class[(unsigned char)*stop] == BARE)
            stop++;
        whole = stop < end;
    }
    *next = stop;
    if (!whole && stop < end)
        return fail(s, s->before + (size_t)(stop - bytes), err, "a control character in a string");
    if (resumed || !whole)
        sw_buffer_put(&s->part, p, (size_t)(stop - p));
    if (!whole)
        return 0;
    const char *token = resumed ? s->part.text : p;
    const size_t len = resumed ? s->part.len : (size_t)(stop - p);
    s->part.len = 0;
    s->offset = s->before + (size_t)(stop - bytes);
    if (!string)
        return take_bare(s, token, len, err);
    if (plain)
        return give_string(s, token + 1, len - 2, err);
    const int rc = unescape(s, token + 1, len - 2, s->offset - (len - 1), err);
    return rc < 0 ? rc : give_string(s, s->text.text, s->text.len, err);
}

/* Read the string at @p. The fast path is for strings without escapes that lie in one piece. */
static int take_text(struct sw_json_scan *s, const char *bytes, const char *p, const char *end,
                     const char **next, struct sw_err *err)
{
    const char *stop = skip_plain(p + 1, end);
    if (stop == end || *stop != '"')
        return take_token(s, bytes, p, end, next, err);
    *next = stop + 1;
    s->offset = s->before + (size_t)(*next - bytes);
    return give_string(s, p + 1, (size_t)(stop - p) - 1, err);
}

/* Skip indentation, eight blanks at a time. */
static const char *skip_blanks(const char *p, const char *end)
{
    while (end - p >= 8 && memcmp(p, "        ", 8) == 0)
        p += 8;
    while (p < end && token_class[(unsigned char)*p] == BLANK)
        p++;
    return p;
}

int sw_json_scan_feed(struct sw_json_scan *scan, const char *bytes, size_t len_bytes,
                      struct sw_err *err)
{
    struct sw_json_scan *s = scan;
    const char *p = bytes, *end = bytes + len_bytes;
    int rc = 0;
    s->after[0] = s->many ? VALUE : NOTHING;
    if (s->part.len && len_bytes)
        rc = take_token(s, bytes, p, end, &p, err);
    while (rc == 0 && p < end) {
        const unsigned char action = grammar[s->expected][token_class[(unsigned char)*p]];
        switch (action) {
        case SKIP:
            p = skip_blanks(p + 1, end);
            break;
        case TO_VALUE:
        case TO_KEY:
            s->expected = action == TO_KEY ? KEY : VALUE;
            p++;
            break;
        case TEXT:
            rc = take_text(s, bytes, p, end, &p, err);
            break;
        case WORD:
            rc = take_token(s, bytes, p, end, &p, err);
            break;
        case OPEN_MAP:
        case OPEN_LIST:
            p++;
            s->offset = s->before + (size_t)(p - bytes);
            rc = open_container(s, action == OPEN_MAP, err);
            break;
        case CLOSE:
            p++;
            s->offset = s->before + (size_t)(p - bytes);
            s->depth--;
            ended(s);
            rc = s->ops->end(s->arg, p[-1] == '}', err);
            break;
        default:
            rc = unexpected(s, s->before + (size_t)(p - bytes), p, end, err);
        }
    }
    s->before += len_bytes;
    return rc;
}

int sw_json_scan_end(struct sw_json_scan *scan, struct sw_err *err)
{
    struct sw_json_scan *s = scan;
    /* a number or a word may end where the text does */
    if (s->part.len && *s->part.text != '"') {
        const int rc = sw_json_scan_feed(s, "\n", 1, err);
        s->before--;
        if (rc < 0)
            return rc;
    }
    const bool complete = s->expected == NOTHING || (s->many && s->depth == 0);
    if (s->part.len == 0 && complete)
        return 0;
    s->offset = s->before + 1;
    return sw_err_set(err, SW_UNAVAILABLE, "unexpected end");
}

void sw_json_scan_done(struct sw_json_scan *scan)
{
    free(scan->part.text);
    free(scan->text.text);
    scan->part = scan->text = (struct sw_buffer){ 0 };
}
