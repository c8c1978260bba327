/* The keyword format: the forms of text that schemas name. */
#include "chart/recipe/schema/check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

bool sw_check_format(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_string(v) || !sw_value_is_string(want))
        return true;
    const char *format = sw_arena_strndup(c->arena, want.as.s, want.len);
    const char *text = sw_arena_strndup(c->arena, v.as.s, v.len);
    bool ok = strlen(text) == v.len; /* any text has a format that is not in the table */
    for (size_t i = 0; i < SW_COUNT(formats) && ok; i++)
        ok = strcmp(formats[i].name, format) != 0 || formats[i].is(text);
    return ok || sw_check_problem(c, "%s is no %s", sw_check_shown(c, v), format);
}
