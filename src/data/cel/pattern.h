#pragma once
/* pattern: patterns of schemas, in RE2's syntax. Source: Kubernetes' structural schemas. Pinned by
 * test/emulator/emulator/api_crd_test.c. */
#include <stdbool.h>

/** Whether @text matches a pattern. One that cannot be read matches all. */
bool sw_pattern_matches(const char *pattern, const char *text);
