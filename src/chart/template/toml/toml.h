#pragma once
/* TOML, as github.com/BurntSushi/toml 1.1.0 writes and reads it for Helm. */
#include "chart/template/value/types.h"
#include "data/go/text.h"

/** Append @v as TOML. @return 0 | SW_INVALID: the error of the encoder */
int sw_value_write_toml(struct text *out, struct sw_value v, struct sw_err *err);
/** Read TOML into a value made in @arena. Integers become int64, dates time.Time.
 * @return 0 | SW_INVALID: the error of BurntSushi/toml 1.5, pinned by
 * test/golden/template/toml.jsonl */
int sw_value_read_toml(struct sw_arena *arena, const char *text, size_t len, struct sw_value *out,
                       struct sw_err *err);

/** TOML's four forms of times. A time without a zone in the text gets a zone with a special name.
 */
struct sw_toml_time {
    const char *layout; /* NULL: the table's end */
    const char *zone;   /* NULL: any */
};
/** All forms, ended by one without a layout. */
extern const struct sw_toml_time sw_toml_times[];
/** Whether a key may stand without quotes. */
bool sw_toml_is_bare(const char *s, size_t len);
