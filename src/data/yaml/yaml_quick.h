#pragma once
/* yaml_quick: the YAML that people and templates mostly write, read in one pass: block maps and
 * lists, scalars on one line, literal blocks, short flow collections, comments, several documents.
 * Whatever else there is, mistakes above all, is libyaml's: this reader then gives up
 * and has said nothing. The events are the ones that libyaml would have given; the fuzz target
 * yaml_quick compares them. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "data/yaml/yaml_source.h"

/** @events: all of the stream but its start, the caller's to free; @bytes: what their texts point
 * into, the caller's as well. @return false: nothing was read */
bool sw_yaml_quick(const char *text, size_t len_bytes, int first_line,
                   struct sw_yaml_event **events, size_t *n_events, char **bytes);
