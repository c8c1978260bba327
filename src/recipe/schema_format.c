#include "recipe/schema_format.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats ------------------------------------------------------------------------------------
 */

static bool is_ipv4(const char *s)
{
    struct in_addr addr;
    return inet_pton(AF_INET, s, &addr) == 1;
}

static bool is_ipv6(const char *s)
{
    struct in6_addr addr;
    return inet_pton(AF_INET6, s, &addr) == 1;
}

static bool is_hostname(const char *s)
{
    size_t len = strlen(s), label = 0;
    if (len == 0 || len > 253)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '.') {
            if (label == 0 || s[i - 1] == '-')
                return false;
            label = 0;
        } else if ((!isalnum((unsigned char)s[i]) && (s[i] != '-' || label == 0)) || ++label > 63) {
            return false;
        }
    }
    return s[len - 1] != '-';
}

static bool is_email(const char *s)
{
    const char *at = strrchr(s, '@');
    return at && at > s && at[1] && !strpbrk(s, " \t\r\n<>");
}

static bool is_uri(const char *s)
{
    const char *colon = strchr(s, ':');
    if (!colon || colon == s || !isalpha((unsigned char)*s) || strpbrk(s, " \t\r\n<>\""))
        return false;
    for (const char *c = s; c < colon; c++)
        if (!isalnum((unsigned char)*c) && !strchr("+-.", *c))
            return false;
    return true;
}

static bool is_uri_reference(const char *s)
{
    return !strpbrk(s, " \t\r\n<>\"");
}

/* @pattern: '9' a digit, 'h' a hexadecimal one, anything else itself. @return what is left. */
static const char *skip_form(const char *s, const char *pattern)
{
    for (; *pattern; s++, pattern++)
        if (*pattern == '9'   ? !isdigit((unsigned char)*s)
            : *pattern == 'h' ? !isxdigit((unsigned char)*s)
                              : toupper((unsigned char)*s) != *pattern)
            return NULL;
    return s;
}

static bool is_date(const char *s)
{
    static const unsigned char days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const char *end = skip_form(s, "9999-99-99");
    unsigned year, month, day;
    if (!end || *end || sscanf(s, "%4u-%2u-%2u", &year, &month, &day) != 3)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (month != 2 || day <= 28U + leap);
}

static bool is_time(const char *s)
{
    unsigned hour, minute, second;
    const char *end = skip_form(s, "99:99:99");
    if (!end || sscanf(s, "%2u:%2u:%2u", &hour, &minute, &second) != 3 || hour > 23 ||
        minute > 59 || second > 60)
        return false;
    if (*end == '.')
        for (end++; isdigit((unsigned char)*end); end++)
            ;
    if (*end == 'Z' || *end == 'z')
        return !end[1];
    const char *zone = *end == '+' || *end == '-' ? skip_form(end + 1, "99:99") : NULL;
    return zone && !*zone;
}

static bool is_date_time(const char *s)
{
    char date[11];
    if (strlen(s) < 11 || !strchr("Tt ", s[10]))
        return false;
    memcpy(date, s, 10);
    date[10] = '\0';
    return is_date(date) && is_time(s + 11);
}

static bool is_uuid(const char *s)
{
    const char *end = skip_form(s, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh");
    return end && !*end;
}

static bool is_json_pointer(const char *s)
{
    return !*s || *s == '/';
}

static const struct {
    const char *name;
    bool (*is)(const char *text);
} formats[] = {
    { "ipv4", is_ipv4 },
    { "ipv6", is_ipv6 },
    { "hostname", is_hostname },
    { "email", is_email },
    { "uri", is_uri },
    { "uri-reference", is_uri_reference },
    { "date", is_date },
    { "time", is_time },
    { "date-time", is_date_time },
    { "uuid", is_uuid },
    { "json-pointer", is_json_pointer },
};

bool sw_schema_format(const char *format, const char *text)
{
    for (size_t i = 0; i < SW_COUNT(formats); i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].is(text);
    return true;
}

/* ---- patterns -----------------------------------------------------------------------------------
 */

enum { MAX_PATTERN = 1000, MAX_REPEAT = 1000 };

/* What POSIX writes otherwise than JavaScript and Go. */
static const struct {
    const char *theirs, *ours, *in_class;
} escapes[] = {
    { "\\d", "[0-9]", "0-9" },
    { "\\D", "[^0-9]", NULL },
    { "\\w", "[A-Za-z0-9_]", "A-Za-z0-9_" },
    { "\\W", "[^A-Za-z0-9_]", NULL },
    { "\\s", "[ \t\n\r\f\v]", " \t\n\r\f\v" },
    { "\\S", "[^ \t\n\r\f\v]", NULL },
    { "\\t", "\t", "\t" },
    { "\\n", "\n", "\n" },
    { "\\r", "\r", "\r" },
    { "(?:", "(", NULL },
    { "\\-", "-", "\\-" },
    { "\\/", "/", "/" },
};

/* A large repeat makes regcomp() copy what it repeats that often. */
static bool repeats_too_often(const char *s)
{
    unsigned long product = 1;
    for (; (s = strchr(s, '{')); s++)
        for (const char *c = s + 1; *c && *c != '}'; c++)
            if (isdigit((unsigned char)*c) && !isdigit((unsigned char)c[-1])) {
                unsigned long n = strtoul(c, NULL, 10);
                product *= n ? n : 1;
                if (product > MAX_REPEAT)
                    return true;
            }
    return false;
}

/* @return the pattern as POSIX has it, in @arena; NULL: it asks for what POSIX has not. */
static const char *translate(struct sw_arena *arena, const char *s)
{
    char *out = sw_arena_alloc(arena, strlen(s) * 16 + 1), *at = out;
    bool in_class = false;
    while (*s) {
        size_t i = 0;
        while (i < SW_COUNT(escapes) && !sw_starts_with(s, escapes[i].theirs))
            i++;
        if (i < SW_COUNT(escapes) && !(in_class && *s == '(')) {
            const char *ours = in_class ? escapes[i].in_class : escapes[i].ours;
            if (!ours)
                return NULL;
            at = stpcpy(at, ours);
            s += strlen(escapes[i].theirs);
            continue;
        }
        if (sw_starts_with(s, "(?") || (*s == '\\' && isalnum((unsigned char)s[1])))
            return NULL;
        in_class = in_class ? *s != ']' : *s == '[';
        if (*s == '\\' && s[1] && !in_class)
            *at++ = *s++;
        *at++ = *s++;
    }
    *at = '\0';
    return out;
}

const char *sw_schema_match(struct sw_arena *arena, const char *pattern, size_t pattern_len,
                            const char *text, size_t len, bool *found)
{
    const char *theirs = sw_arena_strndup(arena, pattern, pattern_len);
    if (pattern_len > MAX_PATTERN || repeats_too_often(theirs))
        return "too large";
    const char *ours = translate(arena, theirs);
    regex_t re;
    if (!ours || regcomp(&re, ours, REG_EXTENDED) != 0)
        return "not a regular expression that is understood here";
    regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)len };
    *found = regexec(&re, text, 1, &range, REG_STARTEND) == 0;
    regfree(&re);
    return NULL;
}
