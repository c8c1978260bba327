#pragma once
/* yaml_emit: scalars and indentation as yaml.v2's emitter puts them; what stands where in a
 * document is yaml_write.c's business. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "data/text/buffer.h"
#include "data/yaml/yaml_style.h"

enum { SW_YAML_INDENT = 2, SW_YAML_WIDTH = 80 };

/** The text so far and where it stands. */
struct sw_yaml_out {
    struct sw_buffer text;
    int indent;      /* -1 at the root */
    bool like_v3;    /* where yaml.v3 does it otherwise */
    int width;       /* of a line; what goes beyond is folded at a space */
    int column;      /* in characters */
    bool whitespace; /* what was written last separates */
    bool indention;  /* nothing but indentation and '-', '?', ':' is on this line yet */
};

void sw_yaml_put_char(struct sw_yaml_out *o, char c);
/** Go to the indentation, on a new line unless nothing is on this one. */
void sw_yaml_put_indent(struct sw_yaml_out *o);
/** '-', '?' or the ':' of a long key, behind a space where one is needed: they keep a line's
 * indentation open. */
void sw_yaml_put_indicator(struct sw_yaml_out *o, char c);
/** A word of ASCII, behind a space where one is needed. */
void sw_yaml_put_token(struct sw_yaml_out *o, const char *text, size_t len);
/** A scalar in the style given. @as_key: it stands before a ':', so it is not folded. */
void sw_yaml_put_styled(struct sw_yaml_out *o, const char *text, size_t len,
                        enum sw_yaml_style style, bool as_key);
