#pragma once
/* yaml_scalar: what an unquoted YAML 1.1 scalar means to gopkg.in/yaml.v2. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sw_yaml_kind {
    SW_YAML_STRING,
    SW_YAML_NULL,
    SW_YAML_BOOL,
    SW_YAML_INT,
    SW_YAML_UINT, /* larger than INT64_MAX */
    SW_YAML_FLOAT,
};

struct sw_yaml_scalar {
    enum sw_yaml_kind kind;
    bool b;
    int64_t i;
    uint64_t u;
    double d; /* may be infinite or NaN */
};

/** Timestamps are STRING: ask sw_yaml_is_timestamp().
 * Source: yaml.v2 2.4.0, resolve.go. */
struct sw_yaml_scalar sw_yaml_resolve(const char *text, size_t len_bytes);

bool sw_yaml_is_timestamp(const char *text, size_t len_bytes);

/** Whether printing it bare would make something else than a string of it (or would for readers
 * that know base 60). Source: yaml.v2 2.4.0, encode.go. */
bool sw_yaml_needs_quotes(const char *text, size_t len_bytes);
