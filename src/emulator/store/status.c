#include "emulator/store/status.h"

#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/document.h"
#include "emulator/store/kinds.h"

void sw_status_done(struct sw_status *st)
{
    free(SW_TAKE(st->message));
    free(SW_TAKE(st->warnings));
    json_object_put(SW_TAKE(st->details));
    st->code = 0;
}

int sw_status_code_of(int http_code)
{
    switch (http_code) {
    case 401:
    case 403:
        return SW_FORBIDDEN;
    case 404:
        return SW_NOTFOUND;
    case 409:
        return SW_CONFLICT;
    case 410:
        return SW_GONE;
    case 429:
        return SW_UNAVAILABLE;
    default:
        return http_code >= 500 ? SW_UNAVAILABLE : SW_INVALID;
    }
}

static int vset(struct sw_status *st, int http_code, const char *reason, const char *fmt,
                va_list ap)
{
    if (st) {
        free(st->message);
        json_object_put(SW_TAKE(st->details));
        st->code = http_code;
        st->reason = reason;
        st->message = sw_vprintf(fmt, ap);
    }
    return sw_status_code_of(http_code);
}

int sw_status_set(struct sw_status *st, int http_code, const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = vset(st, http_code, reason, fmt, ap);
    va_end(ap);
    return rc;
}

int sw_status_bad_request(struct sw_status *st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = vset(st, 400, "BadRequest", fmt, ap);
    va_end(ap);
    return rc;
}

static json_object *details(struct sw_status *st)
{
    if (!st->details)
        st->details = json_object_new_object();
    return st->details;
}

void sw_status_about(struct sw_status *st, const struct sw_emu_kind *kind, const char *name)
{
    if (!st)
        return;
    if (name && name[0])
        sw_json_set_str(details(st), name, "name", NULL);
    if (kind->group[0])
        sw_json_set_str(details(st), kind->group, "group", NULL);
    sw_json_set_str(details(st), kind->plural, "kind", NULL);
}

void sw_status_cause(struct sw_status *st, const char *reason, const char *message,
                     const char *field)
{
    if (!st)
        return;
    json_object_array_add(sw_json_need_list(details(st), "causes", NULL),
                          sw_doc_new("reason", reason ? sw_str(reason) : NULL, "message",
                                     sw_str(message), "field", field ? sw_str(field) : NULL, NULL));
}

void sw_status_warn(struct sw_status *st, const char *fmt, ...)
{
    if (!st)
        return;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *line = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_AUTO_CHARS *before = SW_TAKE(st->warnings);
    st->warnings = before ? sw_printf("%s\n%s", before, line) : sw_strdup(line);
}

/* "<before><resource> "<name>"<after>". */
static int set_about(struct sw_status *st, int http_code, const char *reason,
                     const struct sw_emu_kind *kind, const char *name, const char *before,
                     const char *after)
{
    SW_AUTO_CHARS *resource = sw_kind_resource(kind), *quoted = sw_status_quote(name ? name : "");
    int rc = sw_status_set(st, http_code, reason, "%s%s %s%s", before, resource, quoted, after);
    sw_status_about(st, kind, name);
    return rc;
}

int sw_status_not_found(struct sw_status *st, const struct sw_emu_kind *kind, const char *name)
{
    return set_about(st, 404, "NotFound", kind, name, "", " not found");
}

int sw_status_exists(struct sw_status *st, const struct sw_emu_kind *kind, const char *name)
{
    return set_about(st, 409, "AlreadyExists", kind, name, "", " already exists");
}

int sw_status_conflict(struct sw_status *st, const struct sw_emu_kind *kind, const char *name,
                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *why = sw_vprintf(fmt, ap), *after = sw_printf(": %s", why);
    va_end(ap);
    return set_about(st, 409, "Conflict", kind, name, "Operation cannot be fulfilled on ", after);
}

int sw_status_modified(struct sw_status *st, const struct sw_emu_kind *kind, const char *name)
{
    return sw_status_conflict(st, kind, name,
                              "the object has been modified; please apply your changes to the "
                              "latest version and try again");
}

int sw_status_forbidden(struct sw_status *st, const struct sw_emu_kind *kind, const char *name,
                        const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *why = sw_vprintf(fmt, ap), *after = sw_printf(" is forbidden: %s", why);
    va_end(ap);
    return set_about(st, 403, "Forbidden", kind, name, "", after);
}

json_object *sw_status_doc(const struct sw_status *st)
{
    bool failed = st->code >= 400;
    return sw_doc_new("kind", sw_str("Status"), "apiVersion", sw_str("v1"), "metadata",
                      json_object_new_object(), "status", sw_str(failed ? "Failure" : "Success"),
                      "message", st->message ? sw_str(st->message) : NULL, "reason",
                      st->reason ? sw_str(st->reason) : NULL, "details",
                      json_object_get(st->details), "code", failed ? sw_int(st->code) : NULL, NULL);
}

/* ---- field errors -------------------------------------------------------------------------------
 */

static const struct {
    const char *text, *reason;
} field_errors[] = {
    [SW_FIELD_REQUIRED] = { "Required value", "FieldValueRequired" },
    [SW_FIELD_INVALID] = { "Invalid value", "FieldValueInvalid" },
    [SW_FIELD_NOT_SUPPORTED] = { "Unsupported value", "FieldValueNotSupported" },
    [SW_FIELD_FORBIDDEN] = { "Forbidden", "FieldValueForbidden" },
    [SW_FIELD_DUPLICATE] = { "Duplicate value", "FieldValueDuplicate" },
    [SW_FIELD_NOT_FOUND] = { "Not found", "FieldValueNotFound" },
    [SW_FIELD_TOO_LONG] = { "Too long", "FieldValueTooLong" },
    [SW_FIELD_TOO_MANY] = { "Too many", "FieldValueTooMany" },
    [SW_FIELD_TYPE] = { "Invalid value", "FieldValueTypeInvalid" },
};

char *sw_status_quote(const char *s)
{
    struct printbuf *out = printbuf_new();
    printbuf_memappend_fast(out, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            sprintbuf(out, "\\%c", *s);
        else if (*s == '\n')
            printbuf_strappend(out, "\\n");
        else if (*s == '\t')
            printbuf_strappend(out, "\\t");
        else if ((unsigned char)*s < 0x20)
            sprintbuf(out, "\\x%02x", (unsigned char)*s);
        else
            printbuf_memappend_fast(out, s, 1);
    }
    printbuf_memappend_fast(out, "\"", 1);
    char *text = sw_strndup(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return text;
}

void sw_field_errors_done(struct sw_field_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++) {
        free(errors->items[i].field);
        free(errors->items[i].body);
    }
    free(SW_TAKE(errors->items));
    errors->n = errors->cap = 0;
}

void sw_field_error_raw(struct sw_field_errors *errors, enum sw_field_error type, const char *field,
                        const char *value, const char *detail)
{
    SW_GROW(errors->items, errors->n, errors->cap);
    bool valued = value && type != SW_FIELD_REQUIRED && type != SW_FIELD_FORBIDDEN &&
                  type != SW_FIELD_TOO_LONG;
    errors->items[errors->n].type = type;
    errors->items[errors->n].field = sw_strdup(field);
    errors->items[errors->n++].body = sw_printf(
        "%s%s%s%s%s", field_errors[type].text, valued ? ": " : "", valued ? value : "",
        detail && detail[0] ? ": " : "", detail ? detail : "");
}

void sw_field_error_str(struct sw_field_errors *errors, enum sw_field_error type, const char *field,
                        const char *value, const char *detail)
{
    SW_AUTO_CHARS *quoted = sw_status_quote(value);
    sw_field_error_raw(errors, type, field, quoted, detail);
}

void sw_field_error(struct sw_field_errors *errors, enum sw_field_error type, const char *field,
                    json_object *value, const char *fmt, ...)
{
    SW_AUTO_CHARS *detail = NULL;
    if (fmt) {
        va_list ap;
        va_start(ap, fmt);
        detail = sw_vprintf(fmt, ap);
        va_end(ap);
    }
    SW_AUTO_CHARS *shown = json_object_is_type(value, json_type_string)
                               ? sw_status_quote(json_object_get_string(value))
                               : sw_json_text(value, SW_JSON_PLAIN, NULL);
    sw_field_error_raw(errors, type, field, shown, detail);
}

int sw_status_invalid(struct sw_status *st, const struct sw_emu_kind *kind, const char *name,
                      const struct sw_field_errors *errors)
{
    if (errors->n == 0)
        return 0;
    struct printbuf *all = printbuf_new();
    for (size_t i = 0; i < errors->n; i++)
        sprintbuf(all, "%s%s: %s", i ? ", " : "", errors->items[i].field, errors->items[i].body);
    SW_AUTO_CHARS *quoted = sw_status_quote(name ? name : "");
    bool many = errors->n > 1;
    int rc = sw_status_set(st, 422, "Invalid", "%s%s%s %s is invalid: %s%s%s", kind->kind,
                           kind->group[0] ? "." : "", kind->group, quoted, many ? "[" : "",
                           all->buf, many ? "]" : "");
    printbuf_free(all);
    sw_status_about(st, kind, name);
    if (st && st->details)
        sw_json_set_str(st->details, kind->kind, "kind", NULL);
    for (size_t i = 0; i < errors->n; i++)
        sw_status_cause(st, field_errors[errors->items[i].type].reason, errors->items[i].body,
                        errors->items[i].field);
    return rc;
}
