#pragma once
/* yaml_reread: how sigs.k8s.io/yaml.Marshal changes a string, since it writes JSON and reads that
 * as YAML before it writes YAML. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** Replace @*text by the string that Marshal would write. @*heap is set to memory that the caller
 * frees, or not changed.
 * @return 0 | SW_INVALID: YAML cannot hold it, or not as a key */
int sw_yaml_reread(const char **text, size_t *len_bytes, bool is_key, char **heap,
                   struct sw_err *err);
