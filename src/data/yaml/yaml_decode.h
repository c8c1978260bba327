#pragma once
/* yaml_decode: sends a YAML document's events to a sink as sigs.k8s.io/yaml would: by yaml.v2's
 * rules, then by JSON's. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "data/json/keyset.h"
#include "data/json/sink.h"
#include "data/yaml/yaml_source.h"

/** The state of decoding one stream. */
struct sw_yaml_decoder {
    struct sw_yaml_source src;
    const struct sw_sink *sink;
    struct sw_err *err;
    struct sw_keyset keys;
    bool allow_duplicate;
    int depth, max_depth;
    /* limits on aliases: yaml.v2 counts nodes; here the bytes of their text count too */
    size_t n_nodes, n_alias_nodes;
    int alias_depth;
    size_t alias_bytes, max_alias_bytes;
};

/** Send the next document to the sink; @line is set to the line of its first node. @return 1, 0 at
 * the end of the stream, or an error with its place */
int sw_yaml_decode(struct sw_yaml_decoder *d, int *line);
