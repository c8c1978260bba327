#pragma once
/* rules_read: reads the values of a rule's document: the current place for messages, and a table of
 * keys for each mapping. rules_read.c has the plain values, rules_clause.c clauses and `each`,
 * rules_load.c actions and documents. */
#include "emulator/rules/rules_internal.h"

/** The current place, for messages: "file:line: do[1].status: ...". */
struct reader {
    struct rule_set *set;
    const char *file;
    int line;
    char path[256];
};

/** A key of a mapping. @read reads its value into the member at offset @member of the structure;
 * with 0 into the structure itself, or its first member. */
struct field {
    const char *key;
    int (*read)(struct reader *r, void *into, json_object *value, struct sw_err *err);
    size_t member;
};

/** Set @err to the message with the place in front of it. @return SW_INVALID */
int sw_read_fail(const struct reader *r, struct sw_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Append a key, or (@key NULL) an index, to the path. @return what sw_read_leave() takes */
size_t sw_read_enter(struct reader *r, const char *key, size_t index);
/** Go back to the path before sw_read_enter(). */
void sw_read_leave(struct reader *r, size_t len);

/** Read all keys of @map into the structure @into; a key that is not in @fields is an error.
 * @return 0 | SW_INVALID. The other readers return the same. */
int sw_read_fields(struct reader *r, const struct field *fields, size_t n_fields, void *into,
                   json_object *map, struct sw_err *err);
/** Parse the templates in a tree, in keys too. */
int sw_read_templates(struct reader *r, json_object *tree, struct sw_err *err);
/** A string, into a char *, whose old value is freed. */
int sw_read_text(struct reader *r, void *into, json_object *value, struct sw_err *err);
/** A boolean, into a bool. */
int sw_read_bool(struct reader *r, void *into, json_object *value, struct sw_err *err);
/** A time such as "200ms", "2s", "1m", into an int64_t of milliseconds. */
int sw_read_delay(struct reader *r, void *into, json_object *value, struct sw_err *err);
/** A regular expression, into a regex_t *, whose old value is freed. */
int sw_read_regex(struct reader *r, void *into, json_object *value, struct sw_err *err);
/** Any value with templates, into a json_object *, whose old value is put. */
int sw_read_value(struct reader *r, void *into, json_object *value, struct sw_err *err);

/* rules_clause.c */
/** `for`, into a struct rule. */
int sw_read_for(struct reader *r, void *rule, json_object *value, struct sw_err *err);
/** `when`, into a struct rule. */
int sw_read_when(struct reader *r, void *rule, json_object *value, struct sw_err *err);
/** `each`, into a struct rule. */
int sw_read_each(struct reader *r, void *rule, json_object *value, struct sw_err *err);
/** An action's `target`, into a struct clause. */
int sw_read_target(struct reader *r, void *target, json_object *value, struct sw_err *err);
/** `labels`, into a struct clause. */
int sw_read_labels(struct reader *r, void *clause, json_object *value, struct sw_err *err);
/** `where`, into a struct clause. */
int sw_read_where(struct reader *r, void *clause, json_object *value, struct sw_err *err);
