/* sprig's functions on strings. */
#include "chart/template/funcs/cast.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/value/print.h"
#include "data/go/strconv.h"
#include "data/text/unicode.h"

static int fn_hello(struct call *c)
{
    return sw_return(c, sw_value_cstr("Hello!"));
}

/* ---- trimming, cutting ---- */

static bool contains_rune(struct sw_value set, uint32_t rune)
{
    uint32_t r;
    bool found = false;
    for (size_t i = 0; i < set.len && !found; found = r == rune)
        i += sw_rune_decode(set.as.s + i, set.len - i, &r);
    return found;
}

/* trim and trimAll: without the white space, or the runes of a set, at both ends. */
static int fn_trim(struct call *c)
{
    const struct sw_value *set = c->n > 1 ? &c->args[0] : NULL, text = c->args[c->n - 1];
    const char *s = text.as.s;
    size_t from = 0, to = text.len, w;
    uint32_t r;
    while ((w = sw_rune_decode(s + from, to - from, &r)) &&
           (set ? contains_rune(*set, r) : sw_rune_is_space(r)))
        from += w;
    while ((w = sw_rune_decode_last(s + from, to - from, &r)) &&
           (set ? contains_rune(*set, r) : sw_rune_is_space(r)))
        to -= w;
    return sw_return(c, sw_value_text(s + from, to - from));
}

enum { PREFIX, SUFFIX, TRIM }; /* TRIM is a flag */

/* hasPrefix, hasSuffix; trimPrefix, trimSuffix: the text without it */
static int fn_affix(struct call *c)
{
    struct sw_value affix = c->args[0], s = c->args[1];
    bool suffix = c->func->variant & SUFFIX;
    size_t rest = (size_t)s.len - affix.len;
    bool has = s.len >= affix.len &&
               memcmp(s.as.s + (suffix ? rest : 0), affix.as.s, affix.len) == 0;
    if (!(c->func->variant & TRIM))
        return sw_return(c, sw_value_bool(has));
    return sw_return(c, has ? sw_value_text(s.as.s + (suffix ? 0 : affix.len), rest) : s);
}

static int fn_contains(struct call *c)
{
    struct sw_value sub = c->args[0], s = c->args[1];
    return sw_return(c, sw_value_bool(memmem(s.as.s, s.len, sub.as.s, sub.len) != NULL));
}

static int fn_trunc(struct call *c)
{
    int64_t n = c->args[0].as.i;
    struct sw_value s = c->args[1];
    if (n < 0 && (int64_t)s.len + n > 0)
        return sw_return(c, sw_value_text(s.as.s + s.len + n, (size_t)-n));
    if (n >= 0 && (int64_t)s.len > n)
        return sw_return(c, sw_value_text(s.as.s, (size_t)n));
    return sw_return(c, s);
}

static int fn_substr(struct call *c)
{
    int64_t start = c->args[0].as.i, end = c->args[1].as.i;
    struct sw_value s = c->args[2];
    if (start < 0) {
        if (end < 0)
            return sw_call_fail(c, "runtime error: slice bounds out of range [:%lld]",
                                (long long)end);
        if (end > (int64_t)s.len)
            return sw_call_fail(c,
                                "runtime error: slice bounds out of range [:%lld] with length %u",
                                (long long)end, s.len);
        return sw_return(c, sw_value_text(s.as.s, (size_t)end));
    }
    if (end < 0 || end > (int64_t)s.len)
        end = s.len;
    if (start > end)
        return sw_call_fail(c, "runtime error: slice bounds out of range [%lld:%lld]",
                            (long long)start, (long long)end);
    return sw_return(c, sw_value_text(s.as.s + start, (size_t)(end - start)));
}

/* goutils.DeleteWhiteSpace goes by bytes and takes each for a rune. */
static int fn_nospace(struct call *c)
{
    struct sw_value s = c->args[0];
    bool any = false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char b = (unsigned char)s.as.s[i];
        any = any || sw_rune_is_space(b);
        if (!sw_rune_is_space(b))
            sw_text_rune(c->text, b);
    }
    if (!any) {
        c->text->len = c->mark;
        return sw_return(c, s);
    }
    return sw_return_text(c);
}

/* @len bytes of @s, or its end, with "..." where something is missing. */
static void put_abbreviated(struct text *t, const char *s, size_t len, size_t offset, size_t width)
{
    if (len <= width) {
        sw_text_put(t, s, len);
        return;
    }
    if (offset > len)
        offset = len;
    if (len - offset < width - 3)
        offset = len - (width - 3);
    if (offset <= 4) {
        sw_text_put(t, s, width - 3);
        sw_text_puts(t, "...");
        return;
    }
    if (width < 7)
        return;
    sw_text_puts(t, "...");
    if (offset + width - 3 < len)
        put_abbreviated(t, s + offset, len - offset, 0, width - 3);
    else
        sw_text_put(t, s + len - (width - 3), width - 3);
}

/* [LEFT] WIDTH TEXT */
static int fn_abbrev(struct call *c)
{
    int64_t left = c->n > 2 ? c->args[0].as.i : 0, width = c->args[c->n - 2].as.i;
    struct sw_value s = c->args[c->n - 1];
    if (width < 4 || (left > 0 && width < 7))
        return sw_return(c, s);
    put_abbreviated(c->text, s.as.s, s.len, left < 0 ? 0 : (size_t)left, (size_t)width);
    return sw_return_text(c);
}

/* wrap WIDTH TEXT, wrapWith WIDTH NEWLINE TEXT: goutils.WrapCustom, lines of at most @width bytes,
 * broken at spaces; wrapWith cuts long words. */
static int fn_wrap(struct call *c)
{
    bool cut_words = c->n > 2;
    struct sw_value newline = cut_words && c->args[1].len ? c->args[1] : sw_value_text("\n", 1);
    const char *s = c->args[c->n - 1].as.s;
    size_t len = c->args[c->n - 1].len, at = 0;
    size_t width = c->args[0].as.i < 1 ? 1 : (size_t)c->args[0].as.i;
    struct text *t = c->text;
    while (len - at > width) {
        if (s[at] == ' ') {
            at++;
            continue;
        }
        const char *space = memrchr(s + at, ' ', width + 1);
        if (!space && cut_words) {
            sw_text_put(t, s + at, width);
            sw_text_put(t, newline.as.s, newline.len);
            at += width;
            continue;
        }
        if (!space)
            space = memchr(s + at + width, ' ', len - at - width);
        size_t end = space ? (size_t)(space - s) : len;
        sw_text_put(t, s + at, end - at);
        if (!space)
            return sw_return_text(c);
        sw_text_put(t, newline.as.s, newline.len);
        at = end + 1;
    }
    sw_text_put(t, s + at, len - at);
    return sw_return_text(c);
}

/* ---- putting together ---- */

static int fn_quote(struct call *c)
{
    bool any = false;
    for (size_t i = 0; i < c->n; i++) { /* the texts first: each is made in c->text */
        if (!sw_value_is_nil(c->args[i]))
            c->args[i] = sw_cast_string(c, c->args[i]);
    }
    for (size_t i = 0; i < c->n; i++) {
        if (sw_value_is_nil(c->args[i]))
            continue;
        if (any)
            sw_text_char(c->text, ' ');
        any = true;
        sw_quote(c->text, c->args[i].as.s, c->args[i].len, 0);
    }
    return sw_return_text(c);
}

enum { SQUOTE, CAT };

/* squote, cat: the texts of all that is not nil, with spaces between. */
static int fn_cat(struct call *c)
{
    const char *quote = c->func->variant == SQUOTE ? "'" : "";
    bool any = false;
    struct text *t = c->text;
    for (size_t i = 0; i < c->n; i++) {
        if (sw_value_is_nil(c->args[i]))
            continue;
        if (any)
            sw_text_char(t, ' ');
        any = true;
        sw_text_puts(t, quote);
        sw_print_value(t, c->args[i]);
        sw_text_puts(t, quote);
    }
    return sw_return_text(c);
}

/* indent, nindent (variant 1: a newline in front). */
static int fn_indent(struct call *c)
{
    int64_t spaces = c->args[0].as.i;
    const char *s = c->args[1].as.s, *end = s + c->args[1].len;
    if (spaces < 0)
        return sw_call_fail(c, "strings: negative Repeat count");
    int rc = sw_call_check_size(c, (double)spaces);
    if (rc < 0)
        return rc;
    struct text *t = c->text;
    if (c->func->variant)
        sw_text_char(t, '\n');
    for (const char *nl;; s = nl + 1) {
        nl = memchr(s, '\n', (size_t)(end - s));
        sw_text_fill(t, ' ', (size_t)spaces);
        sw_text_put(t, s, (size_t)((nl ? nl + 1 : end) - s));
        if (!nl)
            return sw_return_text(c);
    }
}

static int fn_repeat(struct call *c)
{
    int64_t n = c->args[0].as.i;
    struct sw_value s = c->args[1];
    if (n < 0)
        return sw_call_fail(c, "strings: negative Repeat count");
    int rc = sw_call_check_size(c, (double)n * s.len);
    for (int64_t i = 0; rc == 0 && i < n && s.len > 0 && !c->text->over; i++)
        sw_text_put(c->text, s.as.s, s.len);
    return rc < 0 ? rc : sw_return_text(c);
}

static int fn_replace(struct call *c)
{
    struct sw_value old = c->args[0], new = c->args[1], s = c->args[2];
    const char *at = s.as.s, *end = at + s.len;
    struct text *t = c->text;
    if (old.len == 0) { /* it stands before each rune and at the end */
        uint32_t r;
        for (size_t w; at < end; at += w) {
            w = sw_rune_decode(at, (size_t)(end - at), &r);
            sw_text_put(t, new.as.s, new.len);
            sw_text_put(t, at, w);
        }
        sw_text_put(t, new.as.s, new.len);
        return sw_return_text(c);
    }
    const char *found = memmem(at, s.len, old.as.s, old.len);
    if (!found)
        return sw_return(c, s);
    for (; found; found = memmem(at, (size_t)(end - at), old.as.s, old.len)) {
        sw_text_put(t, at, (size_t)(found - at));
        sw_text_put(t, new.as.s, new.len);
        at = found + old.len;
    }
    sw_text_put(t, at, (size_t)(end - at));
    return sw_return_text(c);
}

static int fn_plural(struct call *c)
{
    return sw_return(c, c->args[2].as.i == 1 ? c->args[0] : c->args[1]);
}

static int fn_join(struct call *c)
{
    struct sw_value sep = c->args[0], list = sw_cast_strings(c, c->args[1]);
    for (size_t i = 0; i < sw_value_len(list); i++) {
        struct sw_value s = sw_value_at(list, i);
        if (i > 0)
            sw_text_put(c->text, sep.as.s, sep.len);
        sw_text_put(c->text, s.as.s, s.len);
    }
    return sw_return_text(c);
}

/* ---- taking apart ---- */

/* strings.SplitN; @n < 0: all. */
static struct sw_list *split(struct call *c, struct sw_value sep, int64_t n, struct sw_value s)
{
    struct sw_list *list = sw_list_new(c->arena, 0);
    const char *at = s.as.s, *end = at + s.len;
    if (n == 0)
        return list;
    while ((n < 0 || (int64_t)list->n < n - 1) && !sw_arena_is_over(c->arena)) {
        size_t skip = sep.len, len;
        if (sep.len == 0) {
            uint32_t r;
            if (at == end)
                return list;
            len = sw_rune_decode(at, (size_t)(end - at), &r);
            if (at + len == end)
                break;
        } else {
            const char *found = memmem(at, (size_t)(end - at), sep.as.s, sep.len);
            if (!found)
                break;
            len = (size_t)(found - at);
        }
        sw_list_add(list, sw_value_text(at, len));
        at += len + skip;
    }
    if (sep.len > 0 || at < end)
        sw_list_add(list, sw_value_text(at, (size_t)(end - at)));
    return list;
}

static int fn_split_list(struct call *c)
{
    return sw_return(c, sw_value_typed_list(SW_T_STRINGS, split(c, c->args[0], -1, c->args[1])));
}

/* SEPARATOR [N] TEXT: the parts under the keys _0, _1, ... */
static int fn_split(struct call *c)
{
    int64_t n = c->n > 2 ? c->args[1].as.i : -1;
    const struct sw_list *parts = split(c, c->args[0], n, c->args[c->n - 1]);
    struct sw_map *map = sw_map_new(c->arena);
    for (size_t i = 0; i < parts->n && !sw_arena_is_over(c->arena); i++) {
        const char *key = sw_arena_printf(c->arena, "_%zu", i);
        sw_map_set_borrowed(map, key, strlen(key), parts->items[i]);
    }
    return sw_return(c, sw_value_typed_map(SW_T_STRING_MAP, map));
}

/* ---- conversion ---- */

static int fn_to_string(struct call *c)
{
    return sw_return(c, sw_cast_string(c, c->args[0]));
}

static int fn_to_strings(struct call *c)
{
    return sw_return(c, sw_cast_strings(c, c->args[0]));
}

static int fn_atoi(struct call *c)
{
    int64_t i;
    sw_parse_int(c->args[0].as.s, c->args[0].len, 10, &i); /* beyond the range: its end */
    return sw_return(c, sw_value_int(i));
}

const struct func sw_funcs_strings[] = {
    { "hello", fn_hello, "", "\"Hello!\"", 0, 0 },
    { "trim", fn_trim, "s", "without white space around it", 0, 0 },
    { "trimAll", fn_trim, "ss", "without any of the given characters around it", 0, 0 },
    { "trimall", fn_trim, "ss", "as trimAll", 0, 0 },
    { "trimPrefix", fn_affix, "ss", "without the prefix, where it has it", PREFIX | TRIM, 0 },
    { "trimSuffix", fn_affix, "ss", "without the suffix, where it has it", SUFFIX | TRIM, 0 },
    { "hasPrefix", fn_affix, "ss", "whether it begins with the first argument", PREFIX, 0 },
    { "hasSuffix", fn_affix, "ss", "whether it ends with the first argument", SUFFIX, 0 },
    { "contains", fn_contains, "ss", "whether the first argument is in it", 0, 0 },
    { "trunc", fn_trunc, "is", "the first bytes; negative: the last", 0, 0 },
    { "substr", fn_substr, "iis", "the bytes from one position to another", 0, 0 },
    { "nospace", fn_nospace, "s", "without any white space", 0, 0 },
    { "abbrev", fn_abbrev, "is", "shortened to a width, ... at its end", 0, 0 },
    { "abbrevboth", fn_abbrev, "iis", "shortened at both ends", 0, 0 },
    { "wrap", fn_wrap, "is", "broken into lines at spaces", 0, 0 },
    { "wrapWith", fn_wrap, "iss", "broken by a separator, long words too", 0, 0 },
    { "quote", fn_quote, "v*", "each in double quotes, with Go's escapes", 0, 0 },
    { "squote", fn_cat, "v*", "each in single quotes", SQUOTE, 0 },
    { "cat", fn_cat, "v*", "all, with spaces between", CAT, 0 },
    { "indent", fn_indent, "is", "each line indented", 0, 0 },
    { "nindent", fn_indent, "is", "a newline, then each line indented", 1, 0 },
    { "repeat", fn_repeat, "is", "so many times", 0, 0 },
    { "replace", fn_replace, "sss", "the second for each of the first, in the third", 0, 0 },
    { "plural", fn_plural, "ssi", "the first where the number is 1, else the second", 0, 0 },
    { "join", fn_join, "sv", "a list's elements with a separator between", 0, 0 },
    { "splitList", fn_split_list, "ss", "the list of what is between separators", 0, 0 },
    { "split", fn_split, "ss", "what is between separators, under _0, _1, ...", 0, 0 },
    { "splitn", fn_split, "sis", "as split, at most so many parts", 0, 0 },
    { "toString", fn_to_string, "v", "the value's text", 0, 0 },
    { "toStrings", fn_to_strings, "v", "the texts of a list's elements", 0, 0 },
    { "atoi", fn_atoi, "s", "the decimal number, or 0", 0, 0 },
    { 0 },
};
