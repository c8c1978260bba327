#pragma once
/* TOML, as github.com/BurntSushi/toml 1.1.0 writes and reads it for Helm. */
#include "chart/template/go/text.h"
#include "chart/template/value/types.h"

/** @return 0 | SW_INVALID: what the encoder would say */
int sw_value_write_toml(struct text *out, struct sw_value v, struct sw_err *err);
/** Integers become int64, dates time.Time. @return 0 | SW_INVALID: in the words of BurntSushi/toml
 * 1.5, pinned by test/golden/template/toml.jsonl */
int sw_value_read_toml(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err);

/** TOML's four forms of times. What has no zone in the text is in one with a telling name. */
struct sw_toml_time {
    const char *layout; /* NULL: the table's end */
    const char *zone;   /* NULL: any */
};
/** All forms, ended by one without a layout. */
extern const struct sw_toml_time sw_toml_times[];
