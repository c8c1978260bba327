#pragma once
/* types: the types that are known before an evaluation, and signatures of functions. Internal to
 * cel. */
#include "data/cel/value.h"

/** A type. */
struct cel_type {
    enum cel_kind kind;
    const struct cel_type *a, *b; /* of a list, map, optional, type */
    json_object *schema;          /* of an object */
    enum { CEL_PLAIN_OBJECT, CEL_ROOT_OBJECT, CEL_ROOT_METADATA } root;
    char param;       /* 'A', 'B'; '?' of dyn: of what is in an empty list, which may be any type */
    const char *name; /* of a message */
};

/** The type of a kind without parameters. */
const struct cel_type *sw_cel_type(enum cel_kind kind);
/** list(a), map(a, b), optional(a), type(a); in @arena. */
const struct cel_type *sw_cel_type_of(struct sw_arena *arena, enum cel_kind kind,
                                      const struct cel_type *a, const struct cel_type *b);
/** The type of what a schema describes; NULL: it has none. */
const struct cel_type *sw_cel_schema_type(struct sw_arena *arena, json_object *schema);
/** The type of a Kubernetes object that a schema describes. */
const struct cel_type *sw_cel_root_type(struct sw_arena *arena, json_object *schema);
/** The type of an object's field; NULL: it has no such field. */
const struct cel_type *sw_cel_field_type(struct sw_arena *arena, const struct cel_type *object,
                                         const char *name);
/** The type of the messages with that name, which it borrows. */
const struct cel_type *sw_cel_message_type(struct sw_arena *arena, const char *name);
/** The kind of a message's field: CEL_DYN for any of Object; CEL_ERROR: it has no such field
 * (messages.c). */
enum cel_kind sw_cel_message_field(const char *message, const char *field);
/** What is in an empty list or map: of any type, until something says of which. */
const struct cel_type *sw_cel_unbound(void);
/** The type of what is of one of two types that can be one. */
const struct cel_type *sw_cel_joined_type(struct sw_arena *arena, const struct cel_type *a,
                                          const struct cel_type *b);
/** Its name in messages; in @arena. */
const char *sw_cel_type_text(struct sw_arena *arena, const struct cel_type *type);
/** What type() gives of a kind: "int", "google.protobuf.Timestamp". */
const char *sw_cel_kind_name(enum cel_kind kind);
/** Whether both can be one type; dyn can be each. */
bool sw_cel_same_type(const struct cel_type *a, const struct cel_type *b);

/** Read one type of a signature; *@at moves behind it. */
const struct cel_type *sw_cel_signature_type(struct sw_arena *arena, const char **at);
/** Whether arguments fit a signature. @result: its type with A and B filled in. */
bool sw_cel_signature_fits(struct sw_arena *arena, const char *signature,
                           const struct cel_type *const *args, size_t n,
                           const struct cel_type **result);
/** The kinds of a signature's arguments. @return how many */
size_t sw_cel_signature_kinds(const char *signature, enum cel_kind *kinds, size_t room);
