#pragma once
/* status: the errors of an API server, with its messages (metav1.Status, and the field errors of
 * k8s.io/apimachinery's validation). Each function that returns int fills @st, which may be NULL,
 * and returns the enum sw_code of the HTTP status. */
#include "emulator/store/store.h"

/** Any status: @reason is static; @fmt is that of the message. */
int sw_status_set(struct sw_status *st, int http_code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** 404. @return SW_NOTFOUND */
int sw_status_not_found(struct sw_status *st, const struct sw_emu_kind *kind, const char *name);
/** 409: it exists already. @return SW_CONFLICT */
int sw_status_exists(struct sw_status *st, const struct sw_emu_kind *kind, const char *name);
/** "Operation cannot be fulfilled on <resource> "<name>": <why>". */
int sw_status_conflict(struct sw_status *st, const struct sw_emu_kind *kind, const char *name,
                       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/** 409: the object has been modified. @return SW_CONFLICT */
int sw_status_modified(struct sw_status *st, const struct sw_emu_kind *kind, const char *name);
/** "<resource> "<name>" is forbidden: <why>". */
int sw_status_forbidden(struct sw_status *st, const struct sw_emu_kind *kind, const char *name,
                        const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/** 400. @return SW_INVALID */
int sw_status_bad_request(struct sw_status *st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Add {name, group, kind} to the details. */
void sw_status_about(struct sw_status *st, const struct sw_emu_kind *kind, const char *name);
/** Add an element of details.causes; @reason and @field may be NULL. */
void sw_status_cause(struct sw_status *st, const char *reason, const char *message,
                     const char *field);
/** Add a line to the Warning headers. */
void sw_status_warn(struct sw_status *st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** The document {"kind":"Status",...}; the caller's. */
json_object *sw_status_doc(const struct sw_status *st);
/** The enum sw_code that goes with an HTTP status. */
int sw_status_code_of(int http_code);

/* ---- field errors -------------------------------------------------------------------------------
 */

/** The types of k8s.io/apimachinery's field.Error. */
enum sw_field_error {
    SW_FIELD_REQUIRED,
    SW_FIELD_INVALID,
    SW_FIELD_NOT_SUPPORTED, /* detail: the supported values */
    SW_FIELD_FORBIDDEN,
    SW_FIELD_DUPLICATE,
    SW_FIELD_NOT_FOUND,
    SW_FIELD_TOO_LONG,
    SW_FIELD_TOO_MANY,
    SW_FIELD_TYPE,
};

/** The errors of a document's fields. Zero-initialise. */
struct sw_field_errors {
    struct {
        enum sw_field_error type;
        char *field, *body; /* "spec.replicas"; "Invalid value: -1: must be ..." */
    } * items;
    size_t n, cap;
};
#define SW_FIELD_ERRORS(name)                                                                      \
    __attribute__((cleanup(sw_field_errors_done))) struct sw_field_errors name = { 0 }
/** Free what it holds; harmless on a zeroed one. */
void sw_field_errors_done(struct sw_field_errors *errors);
/** Add an error. @value is printed after "Invalid value: " and the like; REQUIRED and FORBIDDEN
 * need none. @fmt: the detail; NULL: none. */
void sw_field_error(struct sw_field_errors *errors, enum sw_field_error type, const char *field,
                    json_object *value, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/** The same with a text as the value, printed as it is (not quoted). */
void sw_field_error_raw(struct sw_field_errors *errors, enum sw_field_error type, const char *field,
                        const char *value, const char *detail);
/** The same with a string as the value, quoted. */
void sw_field_error_str(struct sw_field_errors *errors, enum sw_field_error type, const char *field,
                        const char *value, const char *detail);
/** 422 "<Kind>.<group> "<name>" is invalid: ..." where there are errors. @return 0 | SW_INVALID */
int sw_status_invalid(struct sw_status *st, const struct sw_emu_kind *kind, const char *name,
                      const struct sw_field_errors *errors);

/** Go's %q of a string: heap. */
char *sw_status_quote(const char *s);
