#pragma once
/* json_scan: JSON text, as it comes in pieces, to events. It knows the grammar (RFC 8259) and
 * nothing of documents: whole ones are json_read's, those of which little is wanted stream's.
 * What is in one piece is not copied, and nothing is allocated, so that text that nobody wants
 * costs a few instructions a byte. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "data/text/buffer.h"

enum { SW_JSON_SCAN_DEPTH = 512 };

enum sw_json_word { SW_JSON_NULL, SW_JSON_FALSE, SW_JSON_TRUE };

/** All are set. Texts are borrowed for the call and not NUL-terminated; a number's is well-formed,
 * strings and keys are UTF-8 without their escapes (half surrogates are U+FFFD, as in Go) and may
 * hold NULs. A negative code ends the reading with it. */
struct sw_json_scan_ops {
    int (*word)(void *arg, enum sw_json_word word, struct sw_err *err);
    int (*number)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*string)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*key)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*begin)(void *arg, bool map, struct sw_err *err);
    int (*end)(void *arg, bool map, struct sw_err *err);
};

/** Zero-initialise, then set what is above the line. */
struct sw_json_scan {
    const struct sw_json_scan_ops *ops;
    void *arg;
    int max_depth; /* 0, or more: SW_JSON_SCAN_DEPTH */
    bool many;     /* values may follow one another */
    /* ---- */
    unsigned char expected; /* what may come next */
    bool escaped;           /* the piece before ended behind a backslash */
    int depth;
    size_t before;         /* bytes of the pieces before this one */
    size_t offset;         /* bytes up to the end of what the last event told, or of the mistake */
    struct sw_buffer part; /* of a token that is not complete */
    struct sw_buffer text; /* a string without its escapes */
    unsigned char after[SW_JSON_SCAN_DEPTH + 1]; /* for each open map or list: what may follow a
                                                     value in it; [0]: a whole one */
};

/** @return 0 | SW_INVALID "expected ',' or '}', not 'x'" | what a function of ops returned. After
 * an error there is nothing more to be fed. */
int sw_json_scan_feed(struct sw_json_scan *scan, const char *bytes, size_t len_bytes,
                      struct sw_err *err) SW_CHECKED;
/** That was all. @return 0 | SW_UNAVAILABLE "unexpected end" | as above, for a last number or word
 */
int sw_json_scan_end(struct sw_json_scan *scan, struct sw_err *err) SW_CHECKED;
void sw_json_scan_done(struct sw_json_scan *scan);
