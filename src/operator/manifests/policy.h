#pragma once
/* policy: what the spec of a SpecialResource says, beyond SRO's fields, about timeouts, deletion
 * and rollback. */
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;

struct sw_policy {
    bool orphan;                  /* deletionPolicy: orphan */
    bool rollback;                /* spec.rollback */
    int64_t timeout_ms;           /* of states without a timeout of their own; 0: none */
    struct json_object *timeouts; /* by state; checked; borrowed from the document, or NULL */
};

/** Read the policy out of @doc, a SpecialResource. @out is filled as far as it could be read.
 * @return 0 | SW_INVALID: the message names the field */
int sw_policy_read(struct json_object *doc, struct sw_policy *out, struct sw_err *err);
/** The timeout of the state @name, whose label ends in @label (or NULL), and which its chart would
 * call @chart_name (or NULL), in milliseconds; 0: it has none of its own. */
int64_t sw_policy_timeout(const struct sw_policy *policy, const char *name, const char *label,
                          const char *chart_name);

/** Check all fields of @doc, a SpecialResource with its templates rendered, that concern nodes and
 * overrides (sharing.h, overrides.h). @return 0 | SW_INVALID: the message begins with the field */
int sw_spec_check(struct json_object *doc, struct sw_err *err);
