/* Strings: CEL's own functions and those of its strings library. Positions are code points. */
#include <string.h>

#include "data/cel/functions.h"
#include "data/go/strconv.h"
#include "data/text/buffer.h"
#include "data/text/unicode.h"

static struct cel_value text_of(const char *p, size_t len)
{
    return (struct cel_value){ .kind = CEL_STRING, .s = { p, len } };
}

/* The text of a buffer, charged; the buffer is empty then. */
static struct cel_value take(struct cel_run *x, struct sw_buffer *b)
{
    size_t len = 0;
    SW_AUTO_CHARS *text = sw_buffer_take(b, &len);
    return sw_cel_text(x, text, len);
}

enum { CONTAINS, STARTS, ENDS };

static struct cel_value has_text(struct cel_run *x, const struct cel_value *args, int where)
{
    const struct cel_value s = args[0], t = args[1];
    (void)x;
    if (where == CONTAINS)
        return sw_cel_bool(t.s.len == 0 || (s.s.len && memmem(s.s.p, s.s.len, t.s.p, t.s.len)));
    if (t.s.len > s.s.len)
        return sw_cel_bool(false);
    const char *from = where == STARTS ? s.s.p : s.s.p + s.s.len - t.s.len;
    return sw_cel_bool(t.s.len == 0 || memcmp(from, t.s.p, t.s.len) == 0);
}

static struct cel_value out_of_range(struct cel_run *x, int64_t at)
{
    return sw_cel_fail(x, "index out of range: %lld", (long long)at);
}

static struct cel_value char_at(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value s = args[0];
    const int64_t at = args[1].i, n = (int64_t)sw_rune_count(s.s.p, s.s.len);
    uint32_t rune;
    (void)variant;
    if (at < 0 || at > n)
        return out_of_range(x, at);
    const size_t from = sw_rune_offset(s.s.p, s.s.len, (size_t)at);
    return text_of(s.s.p + from, sw_rune_decode(s.s.p + from, s.s.len - from, &rune));
}

/* indexOf(text), indexOf(text, from) */
static struct cel_value index_of(struct cel_run *x, const struct cel_value *args, int offset)
{
    const struct cel_value s = args[0], t = args[1];
    const int64_t from = offset ? args[2].i : 0;
    const size_t begin = from < 0 ? 0 : sw_rune_offset(s.s.p, s.s.len, (size_t)from);
    if (from < 0)
        return out_of_range(x, from);
    if (from > (int64_t)sw_rune_count(s.s.p, s.s.len))
        return sw_cel_int(-1);
    if (t.s.len == 0)
        return sw_cel_int(from);
    const char *found = memmem(s.s.p + begin, s.s.len - begin, t.s.p, t.s.len);
    return sw_cel_int(found ? (int64_t)sw_rune_count(s.s.p, (size_t)(found - s.s.p)) : -1);
}

static struct cel_value last_index_of(struct cel_run *x, const struct cel_value *args, int offset)
{
    const struct cel_value s = args[0], t = args[1];
    const int64_t n = (int64_t)sw_rune_count(s.s.p, s.s.len);
    const int64_t last = offset ? args[2].i : n;
    if (last < 0 || last > n)
        return out_of_range(x, last);
    if (t.s.len == 0)
        return sw_cel_int(last);
    size_t at = sw_rune_offset(s.s.p, s.s.len, (size_t)last);
    if (t.s.len > s.s.len)
        return sw_cel_int(-1);
    at = at > s.s.len - t.s.len ? s.s.len - t.s.len : at;
    for (size_t i = at + 1; i-- > 0;)
        if (memcmp(s.s.p + i, t.s.p, t.s.len) == 0)
            return sw_cel_int((int64_t)sw_rune_count(s.s.p, i));
    return sw_cel_int(-1);
}

static struct cel_value change_case(struct cel_run *x, const struct cel_value *args, int upper)
{
    const struct cel_value copy = sw_cel_text(x, args[0].s.p, args[0].s.len);
    char *p = copy.kind == CEL_STRING ? (char *)(uintptr_t)copy.s.p : NULL;
    for (size_t i = 0; p && i < copy.s.len; i++)
        if (upper ? p[i] >= 'a' && p[i] <= 'z' : p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] ^ 0x20);
    return copy;
}

static struct cel_value trim(struct cel_run *x, const struct cel_value *args, int variant)
{
    const char *p = args[0].s.p;
    size_t len = args[0].s.len, n;
    uint32_t rune;
    (void)x;
    (void)variant;
    while (len && (n = sw_rune_decode(p, len, &rune)) && sw_rune_is_space(rune)) {
        p += n;
        len -= n;
    }
    while (len && (n = sw_rune_decode_last(p, len, &rune)) && sw_rune_is_space(rune))
        len -= n;
    return text_of(p, len);
}

static struct cel_value substring(struct cel_run *x, const struct cel_value *args, int with_end)
{
    const struct cel_value s = args[0];
    const int64_t n = (int64_t)sw_rune_count(s.s.p, s.s.len);
    const int64_t from = args[1].i, to = with_end ? args[2].i : n;
    if (with_end && from > to)
        return sw_cel_fail(x, "invalid substring range. start: %lld, end: %lld", (long long)from,
                           (long long)to);
    if (from < 0 || from > n)
        return out_of_range(x, from);
    if (to < 0 || to > n)
        return out_of_range(x, to);
    const size_t begin = sw_rune_offset(s.s.p, s.s.len, (size_t)from);
    const size_t end = sw_rune_offset(s.s.p, s.s.len, (size_t)to);
    return text_of(s.s.p + begin, end - begin);
}

/* replace(old, new), replace(old, new, at most) */
static struct cel_value replace(struct cel_run *x, const struct cel_value *args, int limited)
{
    const struct cel_value s = args[0], old = args[1], with = args[2];
    int64_t left = limited && args[3].i >= 0 ? args[3].i : INT64_MAX;
    struct sw_buffer b = { 0 };
    if (!sw_cel_charge(x, (s.s.len + 1) * (with.s.len + 1) / 20))
        return sw_cel_over(x);
    size_t i = 0;
    while (i <= s.s.len) {
        const bool here = left > 0 && i + old.s.len <= s.s.len &&
                          (!old.s.len || memcmp(s.s.p + i, old.s.p, old.s.len) == 0);
        if (here) {
            sw_buffer_put(&b, with.s.p, with.s.len);
            left--;
            i += old.s.len;
        }
        if (i == s.s.len)
            break;
        if (!here || !old.s.len) {
            uint32_t rune;
            const size_t n = sw_rune_decode(s.s.p + i, s.s.len - i, &rune);
            sw_buffer_put(&b, s.s.p + i, n);
            i += n;
        }
    }
    return take(x, &b);
}

/* split(by), split(by, at most) */
static struct cel_value split(struct cel_run *x, const struct cel_value *args, int limited)
{
    const struct cel_value s = args[0], by = args[1];
    const int64_t most = limited && args[2].i >= 0 ? args[2].i : INT64_MAX;
    struct cel_value *items = NULL;
    size_t n = 0, cap = 0, from = 0;
    if (!sw_cel_charge(x, s.s.len / 4))
        return sw_cel_over(x);
    while (most > 0) {
        uint32_t rune;
        const char *end = NULL;
        if ((int64_t)n + 1 < most && by.s.len)
            end = memmem(s.s.p + from, s.s.len - from, by.s.p, by.s.len);
        else if ((int64_t)n + 1 < most && from < s.s.len)
            end = s.s.p + from + sw_rune_decode(s.s.p + from, s.s.len - from, &rune);
        if (!by.s.len && (from == s.s.len || (end && end == s.s.p + s.s.len)))
            end = NULL;
        if (!by.s.len && !s.s.len)
            break;
        const size_t to = end ? (size_t)(end - s.s.p) : s.s.len;
        SW_ARENA_GROW(x->arena, items, n, cap);
        items[n++] = text_of(s.s.p + from, to - from);
        if (!end)
            break;
        from = to + by.s.len;
    }
    return sw_cel_list(x, items, n);
}

static struct cel_value join(struct cel_run *x, const struct cel_value *args, int separated)
{
    struct sw_buffer b = { 0 };
    const struct cel_list *list = args[0].list;
    for (size_t i = 0; i < list->n; i++) {
        const struct cel_value item = sw_cel_at(x, list, i);
        if (item.kind != CEL_STRING) {
            free(sw_buffer_take(&b, NULL));
            return sw_cel_no_overload(x);
        }
        if (!sw_cel_charge(x, (item.s.len + (separated ? args[1].s.len : 0)) / 10))
            break;
        if (separated && i)
            sw_buffer_put(&b, args[1].s.p, args[1].s.len);
        sw_buffer_put(&b, item.s.p, item.s.len);
    }
    return take(x, &b);
}

/* strings.quote(): only what CEL has escapes for is escaped. */
static struct cel_value quote(struct cel_run *x, const struct cel_value *args, int variant)
{
    static const char from[] = "\a\b\f\n\r\t\v\\\"", to[] = "abfnrtv\\\"";
    struct sw_buffer b = { 0 };
    (void)variant;
    sw_buffer_char(&b, '"');
    for (size_t i = 0; i < args[0].s.len; i++) {
        const char c = args[0].s.p[i];
        const char *escape = c ? strchr(from, c) : NULL;
        if (escape)
            sw_buffer_char(&b, '\\');
        sw_buffer_char(&b, escape ? to[escape - from] : c);
    }
    sw_buffer_char(&b, '"');
    return take(x, &b);
}

const struct cel_function sw_cel_strings[] = {
    { "contains", "s.s>b", has_text, CONTAINS },
    { "startsWith", "s.s>b", has_text, STARTS },
    { "endsWith", "s.s>b", has_text, ENDS },
    { "charAt", "s.i>s", char_at, 0 },
    { "indexOf", "s.s>i", index_of, 0 },
    { "indexOf", "s.si>i", index_of, 1 },
    { "lastIndexOf", "s.s>i", last_index_of, 0 },
    { "lastIndexOf", "s.si>i", last_index_of, 1 },
    { "lowerAscii", "s.>s", change_case, 0 },
    { "upperAscii", "s.>s", change_case, 1 },
    { "trim", "s.>s", trim, 0 },
    { "substring", "s.i>s", substring, 0 },
    { "substring", "s.ii>s", substring, 1 },
    { "replace", "s.ss>s", replace, 0 },
    { "replace", "s.ssi>s", replace, 1 },
    { "split", "s.s>Ls", split, 0 },
    { "split", "s.si>Ls", split, 1 },
    { "join", "Ls.>s", join, 0 },
    { "join", "Ls.s>s", join, 1 },
    { "strings.quote", "s>s", quote, 0 },
    { "format", "s.L*>s", sw_cel_format_text, 0 },
    { 0 },
};
