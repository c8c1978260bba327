#pragma once
/* strategic_table: the lists of the built-in kinds that merge, with their merge keys. Internal to
 * data. */
#include <stdbool.h>

/** The rule for one field of a type. */
struct sw_merge_rule {
    const char *type; /* a kind, or a name of this table's own for a type within kinds */
    const char *field;
    bool merge;          /* a list whose elements merge; else the row only names @element */
    const char *key;     /* the merge key; NULL: the elements are scalars */
    const char *element; /* the type of the field, or of the list's elements; NULL: nothing in it */
};

/** The rule for a field, or NULL: maps merge, lists are replaced. @type may be NULL. */
const struct sw_merge_rule *sw_merge_rule_find(const char *type, const char *field);
/** The @i-th rule, or NULL: for tests. */
const struct sw_merge_rule *sw_merge_rule_at(unsigned i);
