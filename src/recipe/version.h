#pragma once
/* version: semantic versions and the ranges that dependencies and kubeVersion ask for. */
#include <stdbool.h>

/** "1.2.3-beta+5", "v1.2"; as Masterminds/semver reads them. */
bool sw_version_is_valid(const char *version);

/** Whether @version lies in @range (">= 1.16.0-0", "~1.2 || ^3", "1.x"). A malformed range or
 * version lies in none. Source: Helm's chartutil.IsCompatibleRange. */
bool sw_version_in_range(const char *range, const char *version);
