#pragma once
/* Values as JSON and YAML text, and back; inside the template module. */
#include "chart/template/value/types.h"
#include "data/go/text.h"

struct sw_yaml_opts;

/** YAML text to a value made in @arena. @return 0 | SW_INVALID, as sw_yaml_read() */
int sw_value_read_yaml(struct sw_arena *arena, const char *text, size_t len,
                       const struct sw_yaml_opts *opts, struct sw_value *out, struct sw_err *err);
/** JSON text to a value made in @arena.
 * @return 0 | SW_INVALID: the error of Go's encoding/json */
int sw_value_read_json(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err);

/** Append the error of Go's encoding/json for a text that is not JSON.
 * @return false: the text is JSON, nothing was appended */
bool sw_json_go_error(const char *text, size_t len, struct text *out);

/** Flags of sw_value_write_json(). */
enum sw_value_json_style {
    SW_VALUE_JSON_HTML = 1,   /* <, > and & escaped, as json.Marshal */
    SW_VALUE_JSON_PRETTY = 2, /* two spaces a level, as json.MarshalIndent(v, "", "  ") */
};
/** As encoding/json writes the value, map keys in byte order.
 * @return 0 | SW_INVALID: something that JSON cannot hold (a NaN, a complex number) */
int sw_value_write_json(struct text *out, struct sw_value v, unsigned style, struct sw_err *err);

/** As sigs.k8s.io/yaml.Marshal writes it, or with @pretty as Helm's toYamlPretty (yaml.v3, an
 * indent of two); a line end last. @return 0 | SW_INVALID */
int sw_value_write_yaml(struct text *out, struct sw_value v, bool pretty, struct sw_arena *arena,
                        struct sw_err *err);

/** The value that stands for @v in JSON: a map for a struct, base64 text for bytes, else @v. */
struct sw_value sw_value_jsonable(struct sw_arena *arena, struct sw_value v);

/** base64.StdEncoding of @s, appended. */
void sw_text_base64(struct text *out, const char *s, size_t len);
