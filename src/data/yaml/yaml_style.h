#pragma once
/* yaml_style: chooses how a string is written in YAML. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

/** The styles of scalars. */
enum sw_yaml_style { SW_STYLE_PLAIN, SW_STYLE_SINGLE, SW_STYLE_DOUBLE, SW_STYLE_LITERAL };

/** The style that yaml.v2's encoder and emitter choose for a string (UTF-8) in block context.
 * @as_key: in front of a ':'; @like_v3: yaml.v3's, which has tabs in literals.
 * @multiline is set when it holds a line break of any kind. */
enum sw_yaml_style sw_yaml_choose_style(const char *text, size_t len_bytes, bool as_key,
                                        bool like_v3, bool *multiline);

/** Length of the line break at @p (CR, LF, NEL, LS, PS), or 0. */
size_t sw_yaml_break_len(const char *p, const char *end);
/** Whether the emitter writes the character at @p without an escape. It escapes all characters of
 * four bytes. */
bool sw_yaml_is_printable(const char *p);
