#pragma once
/* yaml_mend: two things that go-yaml reads and libyaml does not. In flow collections such as `[x:,
 * y]` and `{a:}` a ':' before one of ",[]{}" belongs to the scalar; and "it\'s" is an escape.
 * Internal to data. */
#include <stddef.h>

/** @return NULL where there is nothing of the kind; else a copy in which such scalars stand in
 * quotes and such escapes without their backslash, so that libyaml reads what go-yaml would. The
 * caller's. */
char *sw_yaml_mend(const char *text, size_t len_bytes, size_t *out_len);
