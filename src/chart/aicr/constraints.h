#pragma once
/* constraints: what AICR's recipes ask of a cluster, held against what is known of one. A
 * constraint names a measurement ("K8s.server.version", "OS.release.ID",
 * "OS.sysctl./proc/sys/kernel/osrelease") and says what it has to be (">= 1.32.4", "ubuntu"). Pure.
 * Source: NVIDIA/aicr, pkg/constraints and pkg/measurement. Pinned by
 * test/unit/chart/aicr_constraints_test.c. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** The annotation of Chart.yaml with a recipe's constraints: a list in YAML, each with name, value,
 * severity, remediation and unit, as AICR has them. */
#define SW_ANN_CONSTRAINTS "slipway.dev/constraints"

/** Is @found as @expression says: >=, <=, >, <, ==, != and a value, or a value alone? The order is
 * of versions, to the precision of the one that has less of it: 1.34.2 is not greater than 1.34.
 * @return 0 | SW_INVALID: it is no expression, or what is to be ordered is no version */
int sw_aicr_is_met(const char *expression, const char *found, bool *out,
                   struct sw_err *err) SW_CHECKED;

/** What is known of a cluster is {"cluster": {NAME: VALUE}, "nodes": [{"name", "facts": {NAME:
 * VALUE}}]}; a fact that is not known is left out. */

/** A snapshot of AICR, of one node, as such facts; the caller's. @file: for messages.
 * @return 0 | SW_INVALID */
int sw_aicr_snapshot_read(const char *file, const char *text, size_t len_bytes,
                          struct json_object **out, struct sw_err *err) SW_CHECKED;

/** Hold @constraints against @facts: a list of {name, value, severity, remediation, outcome, found,
 * nodes}, the caller's. @outcome: "met", "unmet", "unknown" (nothing is known of it) or "invalid";
 * @found: the value that is not as it should be, or why it is no constraint; @nodes: the names of
 * those nodes that have it. */
struct json_object *sw_aicr_constraints_check(struct json_object *constraints,
                                              struct json_object *facts) SW_CHECKED;
/** An outcome of that list as a sentence: "OS.release.ID is rhel on node a, not ubuntu:
 * REMEDIATION"; the caller's. */
char *sw_aicr_outcome_text(struct json_object *outcome) SW_CHECKED;
/** Does it stop an installation: not met, or no constraint, and an error by its severity? */
bool sw_aicr_outcome_stops(struct json_object *outcome);
