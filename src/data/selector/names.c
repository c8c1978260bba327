/* Kubernetes' rules for names, label keys and values.
 * Source: Kubernetes "Object Names and IDs" and "Labels and Selectors", syntax and character set.
 */
#include <string.h>

#include "data/selector/selector.h"

enum { MAX_LABEL = 63, MAX_SUBDOMAIN = 253 };

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_lower_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?, up to 63 bytes */
static const char *label_fault(const char *text, size_t len)
{
    if (len > MAX_LABEL)
        return "must be no more than 63 characters";
    for (size_t i = 0; i < len; i++)
        if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
            return "must consist of alphanumeric characters, '-', '_' or '.'";
    if (!is_alnum(text[0]) || !is_alnum(text[len - 1]))
        return "must start and end with an alphanumeric character";
    return NULL;
}

const char *sw_label_value_fault(const char *value)
{
    return *value ? label_fault(value, strlen(value)) : NULL;
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])?; @allowed: what to say of other characters. */
static const char *dns_fault(const char *text, size_t len, const char *allowed)
{
    for (size_t i = 0; i < len; i++)
        if (!is_lower_alnum(text[i]) && text[i] != '-')
            return allowed;
    if (len == 0 || !is_lower_alnum(text[0]) || !is_lower_alnum(text[len - 1]))
        return "must start and end with a lower case alphanumeric character";
    return NULL;
}

static const char *subdomain_fault(const char *text, size_t len)
{
    if (len == 0)
        return "must not be empty";
    if (len > MAX_SUBDOMAIN)
        return "must be no more than 253 characters";
    const char *end = text + len, *fault = NULL;
    for (const char *p = text; !fault && p <= end; p++) {
        const char *dot = memchr(p, '.', (size_t)(end - p));
        if (!dot)
            dot = end;
        fault = dns_fault(p, (size_t)(dot - p),
                          "must consist of lower case alphanumeric characters, '-' or '.'");
        p = dot;
    }
    return fault;
}

const char *sw_dns_subdomain_fault(const char *name)
{
    return subdomain_fault(name, strlen(name));
}

const char *sw_dns_label_fault(const char *name)
{
    size_t len = strlen(name);
    if (len > MAX_LABEL)
        return "must be no more than 63 characters";
    return len ? dns_fault(name, len, "must consist of lower case alphanumeric characters or '-'")
               : "must not be empty";
}

const char *sw_label_key_fault(const char *key)
{
    const char *slash = strchr(key, '/'), *name = slash ? slash + 1 : key;
    if (!*name)
        return "must not be empty";
    if (slash) {
        const char *fault = subdomain_fault(key, (size_t)(slash - key));
        if (fault)
            return slash == key ? "must not have an empty prefix" : fault;
    }
    return label_fault(name, strlen(name));
}
