#pragma once
/* rules_read: what reads the values of a rule's document: where we are for messages, and a table of
 * keys for each mapping. rules_read.c has the plain values, rules_clause.c clauses and `each`,
 * rules_load.c actions and documents. */
#include "emulator/rules/rules_internal.h"

/** Where we are while reading, for messages: "file:line: do[1].status: ...". */
struct reader {
    struct rule_set *set;
    const char *file;
    int line;
    char path[256];
};

/** A key of a mapping and what reads its value into the structure at hand. */
struct field {
    const char *key;
    int (*read)(struct reader *r, void *into, json_object *value, struct sw_err *err);
};

/** @return SW_INVALID, with the place in front of the words. */
int sw_read_fail(const struct reader *r, struct sw_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Go down to a key, or (@key NULL) an index, of the path. @return what comes back up. */
size_t sw_read_enter(struct reader *r, const char *key, size_t index);
void sw_read_leave(struct reader *r, size_t len);

/** All keys of @map by @fields (ended by a NULL key); an unknown one is an error. */
int sw_read_fields(struct reader *r, const struct field *fields, void *into, json_object *map,
                   struct sw_err *err);
/** Parse the templates in a tree, keys too. */
int sw_read_templates(struct reader *r, json_object *tree, struct sw_err *err);
int sw_read_text(struct reader *r, char **into, json_object *value, struct sw_err *err);
int sw_read_bool(struct reader *r, bool *into, json_object *value, struct sw_err *err);
/** "200ms", "2s", "1m", "1h". */
int sw_read_delay(struct reader *r, int64_t *into, json_object *value, struct sw_err *err);
int sw_read_regex(struct reader *r, regex_t **into, json_object *value, struct sw_err *err);
/** A reference to the value, in place of the one that was there. */
void sw_read_keep(json_object **into, json_object *value);

/* rules_clause.c */
/** Of a rule: `for`, `when`, `each`. */
int sw_read_for(struct reader *r, void *rule, json_object *value, struct sw_err *err);
int sw_read_when(struct reader *r, void *rule, json_object *value, struct sw_err *err);
int sw_read_each(struct reader *r, void *rule, json_object *value, struct sw_err *err);
/** Of an action: what `target` names. */
int sw_read_target(struct reader *r, struct clause *target, json_object *value, struct sw_err *err);
/** Of an entry of `pods`: the keys of a clause. */
int sw_read_clause_name(struct reader *r, void *clause, json_object *value, struct sw_err *err);
int sw_read_clause_namespace(struct reader *r, void *clause, json_object *value,
                             struct sw_err *err);
int sw_read_clause_labels(struct reader *r, void *clause, json_object *value, struct sw_err *err);
int sw_read_clause_where(struct reader *r, void *clause, json_object *value, struct sw_err *err);
