/* The keyword format: the forms of text that schemas name, and what is wrong with one. */
#include "chart/recipe/schema/check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/go/gotime.h"
#include "data/go/regex.h"
#include "data/go/strconv.h"
#include "data/go/text.h"

/* Each gets a text and says what is wrong with it; NULL: nothing. */

static const char *wrong_rune(struct check *c, const char *what, const char *s)
{
    struct text t = { .limit = 64 };
    uint32_t rune = (unsigned char)*s;
    size_t n = rune >= 0xF0 ? 3 : rune >= 0xE0 ? 2 : rune >= 0xC0 ? 1 : 0;
    rune = n == 3 ? rune & 7 : n == 2 ? rune & 15 : n == 1 ? rune & 31 : rune;
    for (size_t i = 1; i <= n; i++)
        rune = rune << 6 | ((unsigned char)s[i] & 63);
    sw_quote_rune(&t, rune, 0);
    const char *said = sw_arena_printf(c->arena, "%s %.*s", what, (int)t.len, t.p);
    free(t.p);
    return said;
}

static const char *json_pointer(struct check *c, const char *s)
{
    (void)c;
    if (*s && *s != '/')
        return "not starting with /";
    for (; *s; s++)
        if (*s == '~' && s[1] != '0' && s[1] != '1')
            return "~ must be followed by 0 or 1";
    return NULL;
}

static const char *relative_json_pointer(struct check *c, const char *s)
{
    size_t n = strspn(s, "0123456789");
    if (n == 0)
        return "must start with non-negative integer";
    if (n > 1 && *s == '0')
        return "starts with zero";
    return strcmp(s + n, "#") == 0 ? NULL : json_pointer(c, s + n);
}

static const char *uuid(struct check *c, const char *s)
{
    static const size_t lens[] = { 8, 4, 4, 4, 12 };
    size_t n = 1;
    for (const char *at = s; *at; at++)
        n += *at == '-';
    if (n != SW_COUNT(lens))
        return "must have 5 elements";
    for (size_t i = 0; i < SW_COUNT(lens); i++) {
        size_t len = strcspn(s, "-");
        if (len != lens[i])
            return sw_arena_printf(c->arena, "element %zu must be %zu characters long", i + 1,
                                   lens[i]);
        for (size_t k = 0; k < len; k++)
            if (!isxdigit((unsigned char)s[k]))
                return wrong_rune(c, "non-hex character", s + k);
        s += len + 1;
    }
    return NULL;
}

/* The elements of a duration before or after its T. */
static const char *duration_elements(struct check *c, const char **s, const char *units)
{
    const char *all = units;
    while (**s && **s != 'T') {
        size_t n = strspn(*s, "0123456789");
        if (n == 0)
            return "missing number";
        *s += n;
        if (!**s || **s == 'T')
            return "missing unit";
        const char *unit = strchr(units, **s);
        if (!unit)
            return sw_arena_printf(
                c->arena, strchr(all, **s) ? "unit '%c' out of order" : "invalid unit '%c'", **s);
        units = unit + 1;
        (*s)++;
    }
    return NULL;
}

static const char *duration(struct check *c, const char *s)
{
    size_t len = strlen(s);
    if (*s != 'P')
        return "must start with P";
    if (!*++s)
        return "nothing after P";
    if (s[len - 2] == 'W')
        return len == 2                                   ? "no number in week"
               : strspn(s, "0123456789") == strlen(s) - 1 ? NULL
                                                          : "invalid week";
    const char *why = duration_elements(c, &s, "YMD");
    if (why || !*s)
        return why;
    if (!*++s)
        return "no time elements";
    why = duration_elements(c, &s, "HMS");
    return why ? why : *s ? "more than one T" : NULL;
}

static const char *ipv4(struct check *c, const char *s)
{
    size_t n = 1;
    for (const char *at = s; *at; at++)
        n += *at == '.';
    if (n != 4)
        return "expected four decimals";
    for (size_t i = 0; i < 4; i++) {
        size_t len = strcspn(s, ".");
        if (len > 1 && *s == '0')
            return "leading zeros";
        if (len == 0 || strspn(s, "0123456789") < len)
            return sw_arena_printf(c->arena, "strconv.Atoi: parsing %s: invalid syntax",
                                   sw_quoted(c->arena, s, len));
        if (len > 3 || atoi(s) > 255) /* digits alone */
            return "decimal must be between 0 and 255";
        s += len + 1;
    }
    return NULL;
}

static const char *ipv6(struct check *c, const char *s)
{
    struct in6_addr addr;
    if (!strchr(s, ':'))
        return "missing colon";
    if (inet_pton(AF_INET6, s, &addr) == 1)
        return NULL;
    const char *zone = strchr(s, '%');
    const char *without = zone ? sw_arena_strndup(c->arena, s, (size_t)(zone - s)) : "";
    if (zone && zone[1] && inet_pton(AF_INET6, without, &addr) == 1)
        return "zone id is not a part of ipv6 address";
    return sw_arena_printf(c->arena, "ParseAddr(%s): unable to parse IP",
                           sw_quoted(c->arena, s, strlen(s)));
}

static const char *hostname(struct check *c, const char *s)
{
    size_t len = strlen(s);
    len -= len > 0 && s[len - 1] == '.';
    if (len > 253)
        return "more than 253 characters long";
    for (const char *end = s + len; s <= end;) {
        size_t n = strcspn(s, ".");
        n = n < (size_t)(end - s) ? n : (size_t)(end - s);
        if (n < 1 || n > 63)
            return "label must be 1 to 63 characters long";
        if (*s == '-' || s[n - 1] == '-')
            return *s == '-' ? "label starts with hyphen" : "label ends with hyphen";
        for (size_t i = 0; i < n; i++)
            if (!isalnum((unsigned char)s[i]) && s[i] != '-')
                return wrong_rune(c, "invalid character", s + i);
        s += n + 1;
    }
    return NULL;
}

static const char *email_local(struct check *c, const char *s, size_t len)
{
    if (len > 64)
        return "local part more than 64 characters long";
    if (len > 1 && *s == '"') {
        bool bad = memchr(s + 1, '\\', len - 2) || memchr(s + 1, '"', len - 2);
        return bad ? "backslash and quote are not allowed within quoted local part" : NULL;
    }
    if (len > 0 && *s == '.')
        return "starts with dot";
    if (len > 0 && s[len - 1] == '.')
        return "ends with dot";
    if (memmem(s, len, "..", 2))
        return "consecutive dots";
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr(".!#$%&'*+-/=?^_`{|}~", s[i]))
            return wrong_rune(c, "invalid character", s + i);
    return NULL;
}

static const char *email(struct check *c, const char *s)
{
    const char *at = strrchr(s, '@');
    if (strlen(s) > 254)
        return "more than 255 characters long";
    if (!at)
        return "missing @";
    const char *why = email_local(c, s, (size_t)(at - s)), *domain = at + 1;
    size_t n = strlen(domain);
    if (why)
        return why;
    if (n < 2 || *domain != '[' || domain[n - 1] != ']') {
        why = hostname(c, domain);
        return why ? sw_arena_printf(c->arena, "invalid domain: %s", why) : NULL;
    }
    const char *address = sw_arena_strndup(c->arena, domain + 1, n - 2);
    bool is_6 = sw_starts_with(address, "IPv6:");
    why = is_6 ? ipv6(c, address + 5) : ipv4(c, address);
    return why ? sw_arena_printf(c->arena, "invalid ipv%d address: %s", is_6 ? 6 : 4, why) : NULL;
}

static const char *date_of(struct check *c, const char *s, size_t len)
{
    struct sw_gotime time;
    SW_ERR(why);
    if (sw_gotime_parse(c->arena, "2006-01-02", 10, s, len, sw_zone_local(c->arena), &time, &why) ==
        0)
        return NULL;
    return sw_arena_strdup(c->arena, sw_err_text(&why));
}

static const char *date(struct check *c, const char *s)
{
    return date_of(c, s, strlen(s));
}

/* "hh:mm:ss" or "hh:mm". @return whether all are numbers */
static bool clock_numbers(const char *s, size_t n, int *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)s[3 * i]) || !isdigit((unsigned char)s[3 * i + 1]))
            return false;
        out[i] = (s[3 * i] - '0') * 10 + s[3 * i + 1] - '0';
    }
    return true;
}

/* @hm: minutes of the day, made UTC's. */
static const char *clock_offset(const char *s, int *hm)
{
    int z[2];
    if (strcmp(s, "z") == 0 || strcmp(s, "Z") == 0)
        return NULL;
    if (strlen(s) != 6)
        return "offset must be 6 characters long";
    if (*s != '+' && *s != '-')
        return "offset must begin with plus/minus";
    if (s[3] != ':')
        return "missing colon in offset in correct place";
    if (!clock_numbers(s + 1, 2, z))
        return "invalid hour/min in offset";
    if (z[0] > 23 || z[1] > 59)
        return "hour/min in offset out of range";
    *hm += (*s == '+' ? -1 : 1) * (z[0] * 60 + z[1]);
    *hm += *hm < 0 ? 24 * 60 : 0;
    return NULL;
}

static const char *clock_time(struct check *c, const char *s)
{
    int n[3];
    (void)c;
    if (strlen(s) < 9)
        return "less than 9 characters long";
    if (s[2] != ':' || s[5] != ':')
        return "missing colon in correct place";
    if (!clock_numbers(s, 3, n))
        return "invalid hour/min/sec";
    if (n[0] > 23 || n[1] > 59 || n[2] > 60)
        return "hour/min/sec out of range";
    s += 8;
    if (*s == '.') {
        size_t digits = strspn(s + 1, "0123456789");
        if (digits == 0)
            return "no digits in second fraction";
        s += 1 + digits;
    }
    int hm = n[0] * 60 + n[1];
    const char *why = clock_offset(s, &hm);
    return why ? why : n[2] >= 60 && hm != 23 * 60 + 59 ? "invalid leap second" : NULL;
}

static const char *date_time(struct check *c, const char *s)
{
    if (strlen(s) < 20)
        return "less than 20 characters long";
    if (s[10] != 't' && s[10] != 'T')
        return "11th character must be t or T";
    const char *why = date_of(c, s, 10);
    if (why)
        return sw_arena_printf(c->arena, "invalid date element: %s", why);
    why = clock_time(c, s + 11);
    return why ? sw_arena_printf(c->arena, "invalid time element: %s", why) : NULL;
}

/* @which: "start" or "end", @what: "duration" or "date-time". */
static const char *period_end(struct check *c, const char *s, const char *which)
{
    bool is_duration = *s == 'P';
    const char *why = is_duration ? duration(c, s) : date_time(c, s);
    return why ? sw_arena_printf(c->arena, "invalid %s %s: %s", which,
                                 is_duration ? "duration" : "date-time", why)
               : NULL;
}

static const char *period(struct check *c, const char *s)
{
    const char *slash = strchr(s, '/');
    if (!slash)
        return "missing slash";
    const char *start = sw_arena_strndup(c->arena, s, (size_t)(slash - s));
    const char *why = period_end(c, start, "start"), *end = slash + 1;
    if (why || *start != 'P')
        return why ? why : period_end(c, end, "end");
    why = date_time(c, end);
    return why ? sw_arena_printf(c->arena, "invalid end date-time: %s", why) : NULL;
}

/* What Go's net/url does not take: most of all control characters, wrong escapes, a colon in the
 * first step of a path. */
static const char *uri_reference(struct check *c, const char *s)
{
    const char *said = sw_quoted(c->arena, s, strlen(s));
    for (const char *at = s; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return sw_arena_printf(c->arena, "parse %s: net/url: invalid control character in URL",
                                   said);
    if (*s == ':')
        return sw_arena_printf(c->arena, "parse %s: missing protocol scheme", said);
    size_t scheme = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    bool has_scheme = isalpha((unsigned char)*s) && s[scheme] == ':';
    if (!has_scheme && memchr(s, ':', strcspn(s, "/?#")))
        return sw_arena_printf(c->arena, "parse %s: first path segment in URL cannot contain colon",
                               said);
    const char *rest = has_scheme ? s + scheme + 1 : s;
    size_t host = sw_starts_with(rest, "//") ? 2 + strcspn(rest + 2, "/?#") : 0;
    if (host > 2 && rest[2] == '[' && !memchr(rest, ']', host))
        return sw_arena_printf(c->arena, "parse %s: missing ']' in host", said);
    for (const char *at = rest + host; *at; at++)
        if (*at == '%' && (sw_hex_digit(at[1]) < 0 || sw_hex_digit(at[2]) < 0))
            return sw_arena_printf(c->arena, "parse %s: invalid URL escape %s", said,
                                   sw_quoted(c->arena, at, strnlen(at, 3)));
    for (size_t i = 2; i < host; i++)
        if (strchr(" \"<>\\^`{|}", rest[i]))
            return sw_arena_printf(c->arena, "parse %s: invalid character %s in host name", said,
                                   sw_quoted(c->arena, rest + i, 1));
    return NULL;
}

static const char *uri_reference_alone(struct check *c, const char *s)
{
    return strchr(s, '\\') ? "contains \\" : uri_reference(c, s);
}

static const char *uri(struct check *c, const char *s)
{
    const char *why = uri_reference(c, s);
    size_t scheme = strcspn(s, ":/?#");
    return why ? why : scheme == 0 || s[scheme] != ':' ? "relative url" : NULL;
}

static const char *uri_template(struct check *c, const char *s)
{
    bool is_open = false;
    const char *why = uri_reference(c, s);
    for (; *s && !why; s++) {
        if (*s == '{' || *s == '}') {
            why = is_open == (*s == '{') ? "nested curly braces" : NULL;
            is_open = *s == '{';
        } else if (*s == '/' && is_open) {
            why = "no matching closing brace";
        }
    }
    return why ? why : is_open ? "no matching closing brace" : NULL;
}

static const char *regex(struct check *c, const char *s)
{
    struct sw_regex *re = NULL;
    SW_ERR(why);
    if (sw_regex_compile(s, strlen(s), &re, &why) < 0)
        return sw_arena_strdup(c->arena, sw_err_text(&why));
    sw_regex_free(re);
    return NULL;
}

/* The identifiers behind '-' or '+'. @what: how messages call one. */
static const char *semver_identifiers(struct check *c, const char *s, size_t len, const char *what)
{
    const char *end = s + len;
    for (bool more = true; more;) {
        size_t n = strcspn(s, ".");
        n = n < (size_t)(end - s) ? n : (size_t)(end - s);
        if (n == 0)
            return sw_arena_printf(c->arena, "%s identifier is empty", what);
        for (size_t i = 0; i < n; i++)
            if (!isalnum((unsigned char)s[i]) && s[i] != '-')
                return sw_arena_printf(c->arena, "%s in %s identifier",
                                       wrong_rune(c, "invalid character", s + i), what);
        if (*what == 'p' && n > 1 && *s == '0' && strspn(s, "0123456789") >= n)
            return "pre-release numeric identifier starts with zero";
        s += n;
        more = s++ < end;
    }
    return NULL;
}

static const char *semver(struct check *c, const char *s)
{
    static const char *const names[] = { "major", "minor", "patch" };
    const char *why = NULL, *plus = strchr(s, '+');
    size_t len = plus ? (size_t)(plus - s) : strlen(s), core = strcspn(s, "-"), n = 1;
    core = core < len ? core : len;
    if (plus)
        why = plus[1] ? semver_identifiers(c, plus + 1, strlen(plus + 1), "build")
                      : "build is empty";
    if (!why && core < len)
        why = semver_identifiers(c, s + core + 1, len - core - 1, "pre-release");
    for (size_t i = 0; i < core; i++)
        n += s[i] == '.';
    if (why || n != SW_COUNT(names))
        return why ? why : "versionCore must have 3 numbers separated by dot";
    for (size_t i = 0; i < SW_COUNT(names) && !why; i++) {
        size_t digits = strspn(s, "0123456789"), used = strcspn(s, ".-+");
        why = used == 0               ? "is empty"
              : used > 1 && *s == '0' ? "starts with zero"
              : digits < used         ? "contains non-digit"
                                      : NULL;
        if (why)
            return sw_arena_printf(c->arena, "%s %s", names[i], why);
        s += used + 1;
    }
    return NULL;
}

static const struct {
    const char *name;
    const char *(*wrong)(struct check *c, const char *text);
} formats[] = {
    { "date", date },
    { "date-time", date_time },
    { "duration", duration },
    { "email", email },
    { "hostname", hostname },
    { "ipv4", ipv4 },
    { "ipv6", ipv6 },
    { "iri", uri },
    { "iri-reference", uri_reference_alone },
    { "json-pointer", json_pointer },
    { "period", period },
    { "regex", regex },
    { "relative-json-pointer", relative_json_pointer },
    { "semver", semver },
    { "time", clock_time },
    { "uri", uri },
    { "uri-reference", uri_reference_alone },
    { "uri-template", uri_template },
    { "uuid", uuid },
};

const char *sw_check_format(struct check *c, const char *format, struct sw_value text)
{
    const char *s = sw_arena_strndup(c->arena, text.as.s, text.len);
    for (size_t i = 0; i < SW_COUNT(formats); i++)
        if (sw_streq(formats[i].name, format))
            return strlen(s) < text.len ? "it holds a NUL" : formats[i].wrong(c, s);
    return NULL;
}
