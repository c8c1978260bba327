#pragma once
/* yaml_scalar: what an unquoted YAML 1.1 scalar means to gopkg.in/yaml.v2. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The type of a scalar. */
enum sw_yaml_kind {
    SW_YAML_STRING,
    SW_YAML_NULL,
    SW_YAML_BOOL,
    SW_YAML_INT,
    SW_YAML_UINT, /* larger than INT64_MAX */
    SW_YAML_FLOAT,
};

/** The type and value of a scalar; the field that belongs to the type is set. */
struct sw_yaml_scalar {
    enum sw_yaml_kind kind;
    bool b;
    int64_t i;
    uint64_t u;
    double d; /* may be infinite or NaN */
};

/** Resolve an unquoted scalar. Timestamps are SW_YAML_STRING; see sw_yaml_is_timestamp().
 * Source: yaml.v2 2.4.0, resolve.go. */
struct sw_yaml_scalar sw_yaml_resolve(const char *text, size_t len_bytes);

/** Whether yaml.v2 reads the unquoted scalar as a timestamp. Source: yaml.v2 2.4.0, resolve.go. */
bool sw_yaml_is_timestamp(const char *text, size_t len_bytes);

/** Whether a string must be quoted since a reader would take it for another type without quotes
 * (including base 60 numbers of YAML 1.1). Source: yaml.v2 2.4.0, encode.go. */
bool sw_yaml_needs_quotes(const char *text, size_t len_bytes);
