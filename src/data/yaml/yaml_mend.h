#pragma once
/* yaml_mend: rewrites two constructs that go-yaml accepts and libyaml rejects. In flow collections
 * such as `[x:, y]` and `{a:}` a ':' before one of ",[]{}" belongs to the scalar; and "it\'s" is an
 * escape. Internal to data. */
#include <stddef.h>

/** @return NULL if the text contains neither construct; else a copy in which such scalars are
 * quoted and such escapes have no backslash, so that libyaml reads the same as go-yaml. The caller
 * frees it. */
char *sw_yaml_mend(const char *text, size_t len_bytes, size_t *out_len);
