#pragma once
/* source_lines: the lines of a YAML file or of a template that makes YAML, as they are written:
 * what is a field, below which one, and what is none (comments, actions of templates, the text of
 * block scalars). It reads lines, not YAML: what is not plain is "no field". */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** A piece of a line, borrowed from the text. */
struct sw_source_piece {
    const char *at;
    size_t len;
};

/** One line, or a field of a map in braces on a line, which follows the line's own. Without a field
 * @key.len is 0. */
struct sw_source_line {
    size_t number; /* of the line, from 1 */
    size_t head;   /* which item is the line itself: this one, unless it is a field in braces */
    const char *at;
    size_t len;    /* without the line's end */
    size_t end;    /* bytes of the line's end: 0 at the end of the file, 1, or 2 (CRLF) */
    size_t indent; /* of the field: blanks and dashes before it; in braces one more than that of
                    * the field whose value they are */
    struct sw_source_piece key;
    struct sw_source_piece value; /* without quotes; empty where there is none, or where it is no
                                   * scalar on one line, or a template makes it */
    char quote;                   /* around the value: ' or "; 0: none */
    bool is_separator;            /* "---" */
    bool is_chosen;               /* in an {{ if }} with an {{ else }}, or that asks for versions */
};

/** The lines of a text, in order, and the fields in braces on them. Zero-initialise;
 * sw_source_lines_done(). */
struct sw_source_lines {
    struct sw_source_line *items; /* owned */
    size_t n, cap;
};

/** Take @text apart; it is borrowed by @out. */
void sw_source_lines_read(const char *text, size_t len, struct sw_source_lines *out);
/** Free the list; it is empty then. */
void sw_source_lines_done(struct sw_source_lines *lines);

/** Whether a piece is this text. */
bool sw_source_is(struct sw_source_piece piece, const char *text);
/** The line of the field that line @i is below; -1: it is at the top. */
int sw_source_parent(const struct sw_source_lines *lines, size_t i);
/** First line of the document that line @i is in, and in @end the one behind its last. */
size_t sw_source_document(const struct sw_source_lines *lines, size_t i, size_t *end);
