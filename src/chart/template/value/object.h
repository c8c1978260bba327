#pragma once
/* Go structs that templates can reach (.Chart, .Capabilities, a time, a semantic version): a type
 * with fields and methods, and instances of it. */
#include "chart/template/value/types.h"

struct exec;
struct func;
struct text;

/** A field of a Go struct. */
struct sw_field {
    const char *name; /* Go's; in lower case: templates cannot use it, but fmt prints it */
    const char *json; /* its name in JSON; NULL: not there */
    bool omit_empty;
    bool embedded; /* its fields are the outer struct's too */
};

/** A Go struct, or a pointer to one. */
struct sw_object_type {
    const char *name; /* as %T prints it */
    bool pointer;     /* a pointer to a struct */
    const struct sw_field *fields;
    size_t n_fields;
    const struct func *methods; /* ended by a row without a name */
    /** The Stringer, or NULL: the fields are printed. */
    void (*string)(const struct sw_object *o, struct text *out);
    bool string_of_pointer; /* it is the pointer's: an action prints it, functions do not */
    /** The GoStringer, which %#v uses, or NULL. */
    void (*go_string)(const struct sw_object *o, struct text *out);
    /** Its value in JSON; NULL: a map of its fields. */
    struct sw_value (*json)(const struct sw_object *o, struct sw_arena *arena);
    /** Go's ==, or NULL: by its fields. */
    bool (*equal)(const struct sw_object *a, const struct sw_object *b);
};

/** A value of such a type. */
struct sw_object {
    const struct sw_object_type *type;
    struct sw_value *fields; /* as many as the type has */
    void *data;              /* the type's own */
};

/** The value that @o is. */
static inline struct sw_value sw_value_object(struct sw_object *o)
{
    return (struct sw_value){ .type = SW_T_OBJECT, .as.object = o };
}

/** Whether @v is an object of @type. */
static inline bool sw_value_is_object(struct sw_value v, const struct sw_object_type *type)
{
    return v.type == SW_T_OBJECT && v.as.object->type == type;
}

/** Whether templates can use the field. */
static inline bool sw_field_is_exported(const struct sw_field *f)
{
    return f->name[0] >= 'A' && f->name[0] <= 'Z';
}

/** An object with zero fields, made in @arena; @type is borrowed. */
struct sw_object *sw_object_new(struct sw_arena *arena, const struct sw_object_type *type);
/** A field by name, embedded structs' fields included, or NULL. */
struct sw_value *sw_object_field(const struct sw_object *o, const char *name, size_t len);
