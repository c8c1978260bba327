/* Kubernetes' named formats: format.dns1123Label().validate(text). */
#include <ctype.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/cel/urls.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "data/text/time.h"

/** A format; @fault: what is wrong with a text, NULL: nothing. */
struct cel_format {
    const char *name;
    const char *(*fault)(struct cel_run *x, const char *text);
};

/* The words of the API server for what does not fit; those for lengths are as they are. */
static const char *worded(const char *fault, const char *words)
{
    return fault && !strstr(fault, "no more than") ? words : fault;
}

static const char *label(struct cel_run *x, const char *text)
{
    (void)x;
    return worded(
        sw_dns_label_fault(text),
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
        "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
        "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
}

static const char *subdomain(struct cel_run *x, const char *text)
{
    (void)x;
    return worded(sw_dns_subdomain_fault(text),
                  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                  "characters, '-' or '.', and must start and end with an alphanumeric character "
                  "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?"
                  "(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

/* What is generated gets more behind it: a dash at the end does no harm. */
static const char *prefix(struct cel_run *x, const char *text)
{
    const size_t len = strlen(text);
    return len > 1 && text[len - 1] == '-' ? sw_arena_printf(x->arena, "%.*sa", (int)len - 1, text)
                                           : text;
}

static const char *label_prefix(struct cel_run *x, const char *text)
{
    return label(x, prefix(x, text));
}

static const char *subdomain_prefix(struct cel_run *x, const char *text)
{
    return subdomain(x, prefix(x, text));
}

static const char *label_1035(struct cel_run *x, const char *text)
{
    const size_t len = strlen(text);
    (void)x;
    if (len > 63)
        return "must be no more than 63 characters";
    return len && islower((unsigned char)text[0]) && text[len - 1] != '-' &&
                   strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len
               ? NULL
               : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
                 "start with an alphabetic character, and end with an alphanumeric character "
                 "(e.g. 'my-name',  or 'abc-123', regex used for validation is "
                 "'[a-z]([-a-z0-9]*[a-z0-9])?')";
}

static const char *label_1035_prefix(struct cel_run *x, const char *text)
{
    return label_1035(x, prefix(x, text));
}

static const char *label_value(struct cel_run *x, const char *text)
{
    (void)x;
    return worded(sw_label_value_fault(text),
                  "a valid label must be an empty string or consist of alphanumeric characters, "
                  "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
                  "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
}

static const char *qualified_name(struct cel_run *x, const char *text)
{
    const char *slash = strchr(text, '/'), *name = slash ? slash + 1 : text;
    const char *fault = slash ? sw_dns_subdomain_fault(
                                    sw_arena_strndup(x->arena, text, (size_t)(slash - text)))
                              : NULL;
    if (fault)
        return sw_arena_printf(x->arena, "prefix part %s", fault);
    if (!*name)
        return "name part must be non-empty";
    fault = sw_label_value_fault(name);
    return fault ? sw_arena_printf(x->arena, "name part %s", fault) : NULL;
}

static const char *uri(struct cel_run *x, const char *text)
{
    return sw_cel_read_url(x, text)
               ? NULL
               : sw_arena_printf(x->arena, "parse \"%s\": invalid URI for request", text);
}

static const char *uuid(struct cel_run *x, const char *text)
{
    static const char wrong[] = "does not match the UUID format";
    (void)x;
    if (strlen(text) != 36)
        return wrong;
    for (size_t i = 0; i < 36; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return wrong;
    }
    return NULL;
}

static const char *byte(struct cel_run *x, const char *text)
{
    size_t len = 0;
    (void)x;
    SW_AUTO_CHARS *bytes = sw_base64_decode(text, strlen(text), &len);
    return bytes ? NULL : "invalid base64";
}

static const char *datetime(struct cel_run *x, const char *text)
{
    int64_t ms;
    (void)x;
    return sw_time_parse(text, &ms, NULL) < 0 ? "invalid datetime" : NULL;
}

static const char *date(struct cel_run *x, const char *text)
{
    return strlen(text) != 10 || datetime(x, sw_arena_printf(x->arena, "%sT00:00:00Z", text))
               ? "invalid date"
               : NULL;
}

static const struct cel_format formats[] = {
    { "dns1123Label", label },
    { "dns1123Subdomain", subdomain },
    { "dns1035Label", label_1035 },
    { "dns1123LabelPrefix", label_prefix },
    { "dns1123SubdomainPrefix", subdomain_prefix },
    { "dns1035LabelPrefix", label_1035_prefix },
    { "qualifiedName", qualified_name },
    { "labelValue", label_value },
    { "uri", uri },
    { "uuid", uuid },
    { "byte", byte },
    { "date", date },
    { "datetime", datetime },
};

static struct cel_value of_format(struct cel_run *x, const struct cel_value *args, int which)
{
    (void)x;
    (void)args;
    return (struct cel_value){ .kind = CEL_FORMAT, .format = &formats[which] };
}

static struct cel_value named(struct cel_run *x, const struct cel_value *args, int variant)
{
    const char *name = sw_cel_chars(x, args[0]);
    (void)variant;
    for (size_t i = 0; i < SW_COUNT(formats); i++) {
        const struct cel_value v = of_format(x, args, (int)i);
        if (sw_streq(formats[i].name, name))
            return sw_cel_optional(x, &v);
    }
    return sw_cel_optional(x, NULL);
}

/* optional.none(): nothing is wrong */
static struct cel_value validate(struct cel_run *x, const struct cel_value *args, int variant)
{
    const char *fault = args[0].format->fault(x, sw_cel_chars(x, args[1]));
    (void)variant;
    if (!fault)
        return sw_cel_optional(x, NULL);
    struct cel_value *item = sw_arena_alloc(x->arena, sizeof *item);
    *item = sw_cel_static(fault);
    const struct cel_value list = sw_cel_list(x, item, 1);
    return sw_cel_optional(x, &list);
}

const struct cel_function sw_cel_formats[] = {
    { "format.dns1123Label", ">F", of_format, 0 },
    { "format.dns1123Subdomain", ">F", of_format, 1 },
    { "format.dns1035Label", ">F", of_format, 2 },
    { "format.dns1123LabelPrefix", ">F", of_format, 3 },
    { "format.dns1123SubdomainPrefix", ">F", of_format, 4 },
    { "format.dns1035LabelPrefix", ">F", of_format, 5 },
    { "format.qualifiedName", ">F", of_format, 6 },
    { "format.labelValue", ">F", of_format, 7 },
    { "format.uri", ">F", of_format, 8 },
    { "format.uuid", ">F", of_format, 9 },
    { "format.byte", ">F", of_format, 10 },
    { "format.date", ">F", of_format, 11 },
    { "format.datetime", ">F", of_format, 12 },
    { "format.named", "s>OF", named, 0 },
    { "validate", "F.s>OLs", validate, 0 },
    { 0 },
};
