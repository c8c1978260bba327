#pragma once
/* yaml_decode: a document's events into a sink, as sigs.k8s.io/yaml does it: yaml.v2's rules, then
 * JSON's. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "data/json/keyset.h"
#include "data/json/sink.h"
#include "data/yaml/yaml_source.h"

struct sw_yaml_decoder {
    struct sw_yaml_source src;
    const struct sw_sink *sink;
    struct sw_err *err;
    struct sw_keyset keys;
    bool allow_duplicate;
    int depth, max_depth;
    /* what aliases have cost: yaml.v2 counts nodes, and we their text too */
    size_t n_nodes, n_alias_nodes;
    int alias_depth;
    size_t alias_bytes, max_alias_bytes;
};

/** The next document into the sink; @line: where its first node is. @return 1, 0 at the end of the
 * stream, or an error with its place */
int sw_yaml_decode(struct sw_yaml_decoder *d, int *line);
