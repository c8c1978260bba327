#pragma once
/* declared: which fields the built-in kinds have, by the table of their protobuf messages: those of
 * the newest Kubernetes that is known. Pinned by test/unit/emulator/emulator_declared_test.c. */
#include <json-c/json.h>

/** The path of the first field in @doc that its kind does not declare
 * ("spec.containers[0].image2"); heap, the caller's. NULL: all are declared, or the kind is not
 * known here. */
char *sw_unknown_field(const char *api_version, const char *kind, json_object *doc);
