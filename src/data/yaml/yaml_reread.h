#pragma once
/* yaml_reread: what becomes of a string in sigs.k8s.io/yaml.Marshal, which writes it as JSON and
 * reads that as YAML before it writes YAML. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** Replace *text by what is read; *heap receives what the caller frees, if anything.
 * @return 0 | SW_INVALID: YAML cannot hold it, or not as a key */
int sw_yaml_reread(const char **text, size_t *len_bytes, bool is_key, char **heap,
                   struct sw_err *err);
