#pragma once
/* value: the values of CEL and the state of an evaluation. Values live in the arena of the
 * evaluation; of documents they are views, read where an expression asks for them. An error is a
 * value, too: && and || may do without it. Internal to cel. */
#include <json-c/json.h>

#include "base/base.h"
#include "data/text/quantity.h"
#include "data/text/semver.h"

/** The kinds of values, and of types. */
enum cel_kind {
    CEL_ERROR,
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_LIST,
    CEL_MAP,
    CEL_TYPE,
    CEL_TIMESTAMP,
    CEL_DURATION,
    CEL_OPTIONAL,
    CEL_QUANTITY,
    CEL_SEMVER,
    CEL_URL,
    CEL_IP,
    CEL_CIDR,
    CEL_FORMAT,
    CEL_AUTHORIZER,
    CEL_PATH_CHECK,
    CEL_GROUP_CHECK,
    CEL_RESOURCE_CHECK,
    CEL_DECISION,
    CEL_MESSAGE, /* Object{...}, JSONPatch{...} */
    CEL_N_VALUES,
    /* of types alone: */
    CEL_DYN = CEL_N_VALUES,
    CEL_OBJECT, /* fields by a schema */
    CEL_PARAM,  /* A or B of a signature */
};

/** A value; small, passed by value. */
struct cel_value {
    enum cel_kind kind;
    uint32_t nsec; /* of a timestamp */
    union {
        bool b;
        int64_t i; /* also: nanoseconds of a duration */
        struct {
            int64_t sec;    /* a timestamp's; is also i */
            int32_t offset; /* seconds east of UTC, in which it is shown */
        } time;
        uint64_t u;
        double d;
        struct {
            const char *p;
            size_t len;
        } s; /* strings, bytes, and the message of an error */
        const struct cel_list *list;
        const struct cel_map *map;
        const struct cel_type *type;
        const struct cel_value *some; /* of an optional; NULL: none */
        const struct sw_quantity *quantity;
        const struct sw_semver *semver;
        const struct cel_net *net;
        const struct cel_url *url;
        const struct cel_format *format;
        const struct cel_check *check;
        const struct cel_message *message;
    };
};

/** A list: values, or a document's array. */
struct cel_list {
    size_t n;
    const struct cel_value *items;
    json_object *json, *schema;
};

/** A map: entries (key, value, key, value ...), or a document's object. */
struct cel_map {
    size_t n;
    const struct cel_value *entries;
    json_object *json, *schema;
};

/** What an expression makes by the name of its type; of two fields with one name the last counts.
 */
struct cel_message {
    const struct cel_type *type;
    size_t n;
    const char *const *names;
    const struct cel_value *values;
};

/** An address, or with @bits a network. */
struct cel_net {
    unsigned char bytes[16];
    bool v6;
    int bits;
};

/** What asks an authorizer: texts are in the arena. */
struct cel_check {
    const char *user, *path, *group, *resource, *subresource, *ns, *name, *verb;
    json_object *groups; /* of the user; NULL with a user: of a ServiceAccount */
    bool allowed;
    const char *reason;
};

struct sw_cel;
struct sw_cel_input;

/** An evaluation. */
struct cel_run {
    struct sw_arena *arena;
    const struct sw_cel_input *input;
    struct cel_value *locals; /* of comprehensions, by depth */
    struct cel_value *kept;   /* of `variables`; kind CEL_ERROR without a text: not yet */
    uint64_t cost, limit;
    bool cancelled; /* the limit is reached: whatever the result, it is an error */
};

/* ---- making values (value.c)
 * --------------------------------------------------------------------- */

/** An error with a message. */
struct cel_value sw_cel_fail(struct cel_run *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** "no such overload". */
struct cel_value sw_cel_no_overload(struct cel_run *x);
/** Charge for work. @return false: the limit is reached */
bool sw_cel_charge(struct cel_run *x, uint64_t cost);
/** The error of an evaluation that costs too much. */
struct cel_value sw_cel_over(struct cel_run *x);
/** A copy of a text, charged; or the error. */
struct cel_value sw_cel_text(struct cel_run *x, const char *text, size_t len);
/** A list of @n values, which are in the arena. */
struct cel_value sw_cel_list(struct cel_run *x, const struct cel_value *items, size_t n);
/** A map of @n entries, which are in the arena. */
struct cel_value sw_cel_map(struct cel_run *x, const struct cel_value *entries, size_t n);
/** optional.of(*some), or optional.none(). */
struct cel_value sw_cel_optional(struct cel_run *x, const struct cel_value *some);

static inline struct cel_value sw_cel_bool(bool b)
{
    return (struct cel_value){ .kind = CEL_BOOL, .b = b };
}

static inline struct cel_value sw_cel_int(int64_t i)
{
    return (struct cel_value){ .kind = CEL_INT, .i = i };
}

static inline struct cel_value sw_cel_static(const char *text)
{
    return (struct cel_value){ .kind = CEL_STRING, .s = { text, __builtin_strlen(text) } };
}

static inline bool sw_cel_is(struct cel_value v, bool b)
{
    return v.kind == CEL_BOOL && v.b == b;
}

/* ---- reading values
 * ------------------------------------------------------------------------------ */

/** An element of a list; @i is within it. */
struct cel_value sw_cel_at(struct cel_run *x, const struct cel_list *list, size_t i);
/** The value of a key. @return whether it is there */
bool sw_cel_find(struct cel_run *x, const struct cel_map *map, struct cel_value key,
                 struct cel_value *out);
/** The entries of a map as values, key and value in turn; in the arena. */
const struct cel_value *sw_cel_entries(struct cel_run *x, const struct cel_map *map);
/** A document as a value. @schema: of it; NULL: as it is. */
struct cel_value sw_cel_from_json(struct cel_run *x, json_object *json, json_object *schema);
/** A value as a document; new. @return false: it has no such form */
bool sw_cel_to_json(struct cel_run *x, struct cel_value v, json_object **out);
/** Whether two values are equal; values of different types are not, numbers by value. */
bool sw_cel_equal(struct cel_run *x, struct cel_value a, struct cel_value b);
/** How two values compare. @return false: they do not, or one is no number */
bool sw_cel_compare(struct cel_value a, struct cel_value b, int *order);
/** A text with a NUL after it; in the arena. */
const char *sw_cel_chars(struct cel_run *x, struct cel_value text);

/** The name of a property as expressions write it: "__dash__" is "-". In @out. */
void sw_cel_unescape(const char *name, char *out, size_t room);
/** The format of a schema's texts as a kind: CEL_STRING, CEL_BYTES, CEL_TIMESTAMP ... */
enum cel_kind sw_cel_format_kind(json_object *schema);
