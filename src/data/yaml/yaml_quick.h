#pragma once
/* yaml_quick: a fast reader for the common subset of YAML: block maps and lists, scalars on one
 * line, literal blocks, short flow collections, comments, several documents. For all other text,
 * including every syntax error, it returns false without an event, and libyaml reads the text. Its
 * events are those of libyaml; the fuzz target yaml_quick compares them. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "data/yaml/yaml_source.h"

/** Read all of @text. @events: all events except the start of the stream; @bytes: the memory that
 * their texts point into. The caller frees both. @return false: use libyaml; nothing was read */
bool sw_yaml_quick(const char *text, size_t len_bytes, int first_line,
                   struct sw_yaml_event **events, size_t *n_events, char **bytes);
