#pragma once
/* functions: one table a library, one row an overload: name, signature (types.c), function.
 * Internal to cel. */
#include "data/cel/value.h"

/** A function of the language. @args are as the signature says, none is an error. @variant: of the
 * row. */
typedef struct cel_value cel_fn(struct cel_run *x, const struct cel_value *args, int variant);

/** An overload. */
struct cel_function {
    const char *name, *signature;
    cel_fn *fn;
    int variant;
};

/** The libraries; each ends with a row without a name. */
extern const struct cel_function sw_cel_operators[], sw_cel_conversions[], sw_cel_strings[],
    sw_cel_times[], sw_cel_lists[], sw_cel_sequences[], sw_cel_optionals[], sw_cel_regexes[],
    sw_cel_quantities[], sw_cel_networks[], sw_cel_urls[], sw_cel_formats[], sw_cel_authorizers[],
    sw_cel_patches[];

/** The overloads of a name with @n arguments: into @out, as far as there is @room. @any: whether
 * the name is a function, or a method, of other arguments. @return how many */
size_t sw_cel_overloads(const char *name, bool method, size_t n, const struct cel_function **out,
                        size_t room, bool *any);
/** Whether the name is that of an operator: "_+_". */
bool sw_cel_is_operator(const char *name);

/** Elements in the order of their keys (sequences.c). */
struct cel_value sw_cel_sorted(struct cel_run *x, const struct cel_value *elements,
                               const struct cel_value *keys, size_t n);
/** What is wrong with a format for @n arguments; the caller's. NULL: nothing (format.c). */
char *sw_cel_format_fault(struct cel_value format, size_t n);

/* What values.c needs of the libraries. */
struct cel_value sw_cel_to_string(struct cel_run *x, const struct cel_value *args, int variant);
struct cel_value sw_cel_to_timestamp(struct cel_run *x, const struct cel_value *args, int variant);
struct cel_value sw_cel_to_duration(struct cel_run *x, const struct cel_value *args, int variant);
struct cel_value sw_cel_to_quantity(struct cel_run *x, const struct cel_value *args, int variant);
struct cel_value sw_cel_to_semver(struct cel_run *x, const struct cel_value *args, int variant);
/** Whether two values of one of Kubernetes' types are equal. */
bool sw_cel_equal_of_library(struct cel_run *x, struct cel_value a, struct cel_value b);
/** A field of a message. @return false: it has none of that name, or it is not set */
bool sw_cel_message_find(struct cel_run *x, const struct cel_message *message, const char *name,
                         struct cel_value *out);
/** A message with these fields, which are in the arena; or the error. */
struct cel_value sw_cel_message_make(struct cel_run *x, const struct cel_type *type,
                                     const char *const *names, const struct cel_value *values,
                                     size_t n);
/** Whether two messages are equal. */
bool sw_cel_message_equal(struct cel_run *x, const struct cel_message *a,
                          const struct cel_message *b);
/** A message as a document; new. @return false: it has no such form */
bool sw_cel_message_json(struct cel_run *x, const struct cel_message *message, json_object **out);
/** What is wrong with the names of the types in a result: a type in the field `spec` of Object is
 * Object.spec. In the arena; NULL: nothing. */
const char *sw_cel_misnamed(struct cel_run *x, struct cel_value v);
/** The index operator. */
struct cel_value sw_cel_index(struct cel_run *x, struct cel_value of, struct cel_value key);
/** A timestamp or duration as text. */
struct cel_value sw_cel_time_text(struct cel_run *x, struct cel_value v);
/** An address or network as text. */
struct cel_value sw_cel_net_text(struct cel_run *x, struct cel_value v);
/** "%d %s".format([1, "a"]) (format.c). */
struct cel_value sw_cel_format_text(struct cel_run *x, const struct cel_value *args, int variant);
