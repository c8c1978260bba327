#pragma once
/* condition: conditions in the status of Kubernetes objects, as metav1.Condition has them. */
#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

/** What to write; everything is borrowed. */
struct sw_condition {
    const char *type;
    bool is; /* its status: True or False */
    const char *reason, *message;
    const int64_t *generation; /* observedGeneration; NULL: none */
    int64_t at_ms;             /* now, since the epoch */
};

/** Add one to @list. Its lastTransitionTime is that of its type in the list @old where the status
 * is the same there, else now. @old may be NULL. */
void sw_condition_add(struct json_object *list, struct json_object *old,
                      const struct sw_condition *condition);
