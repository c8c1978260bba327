#pragma once
/* yaml_emit: writes scalars and indentation as yaml.v2's emitter does. yaml_write.c decides the
 * structure of the document. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "data/text/buffer.h"
#include "data/yaml/yaml_style.h"

/** yaml.v2's defaults: columns of indentation, and the width at which lines are folded. */
enum { SW_YAML_INDENT = 2, SW_YAML_WIDTH = 80 };

/** The text written so far and the position in it. */
struct sw_yaml_out {
    struct sw_buffer text;
    int indent;      /* -1 at the root */
    bool like_v3;    /* as yaml.v3 where it differs from yaml.v2 */
    int width;       /* of a line; longer lines are folded at a space */
    int column;      /* in characters */
    bool whitespace; /* the last character was a separator */
    bool indention;  /* nothing but indentation and '-', '?', ':' is on this line yet */
};

/** Write the ASCII character @c. */
void sw_yaml_put_char(struct sw_yaml_out *o, char c);
/** Write the indentation, on a new line unless this line is empty so far. */
void sw_yaml_put_indent(struct sw_yaml_out *o);
/** Write '-', '?' or the ':' of a long key, after a space if one is needed. The next node can
 * follow on the same line. */
void sw_yaml_put_indicator(struct sw_yaml_out *o, char c);
/** Write a word of ASCII, after a space if one is needed. */
void sw_yaml_put_token(struct sw_yaml_out *o, const char *text, size_t len);
/** Write a scalar in @style. @as_key: it is a key, so it is not folded. */
void sw_yaml_put_styled(struct sw_yaml_out *o, const char *text, size_t len,
                        enum sw_yaml_style style, bool as_key);
