#pragma once
/* json_scan: turns JSON text that arrives in pieces into events. It knows only the grammar (RFC
 * 8259). json_read uses it for whole documents, stream for selected fields of documents.
 * A token that lies in one piece is not copied and needs no allocation, so that skipped text costs
 * a few instructions a byte. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "data/text/buffer.h"

/** The largest depth of nested maps and lists. */
enum { SW_JSON_SCAN_DEPTH = 512 };

/** The literal names of RFC 8259. */
enum sw_json_word { SW_JSON_NULL, SW_JSON_FALSE, SW_JSON_TRUE };

/** The functions that receive the events; all must be set. Texts are borrowed for the call and not
 * NUL-terminated. The text of a number is well-formed. Strings and keys are UTF-8 with their
 * escapes resolved (half surrogates become U+FFFD, as in Go) and may contain NULs. A negative
 * return value ends the scan, which returns it. */
struct sw_json_scan_ops {
    int (*word)(void *arg, enum sw_json_word word, struct sw_err *err);
    int (*number)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*string)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*key)(void *arg, const char *text, size_t len_bytes, struct sw_err *err);
    int (*begin)(void *arg, bool map, struct sw_err *err);
    int (*end)(void *arg, bool map, struct sw_err *err);
};

/** The state of a scan. Zero-initialise, then set the fields above the line. */
struct sw_json_scan {
    const struct sw_json_scan_ops *ops;
    void *arg;
    int max_depth; /* 0 or too large: SW_JSON_SCAN_DEPTH */
    bool many;     /* values may follow one another */
    /* ---- */
    unsigned char expected; /* what may come next */
    bool escaped;           /* the previous piece ended with a backslash */
    int depth;
    size_t before;         /* bytes in all previous pieces */
    size_t offset;         /* bytes up to the end of the last event's token, or to the error */
    struct sw_buffer part; /* the beginning of a token that is not complete */
    struct sw_buffer text; /* a string with its escapes resolved */
    unsigned char after[SW_JSON_SCAN_DEPTH + 1]; /* for each open map or list: what may follow a
                                                     value in it; [0]: after the outermost value */
};

/** Scan the next piece, which is borrowed for the call. Do not call it again after an error.
 * @return 0 | SW_INVALID "expected ',' or '}', not 'x'" | what a function of ops returned */
int sw_json_scan_feed(struct sw_json_scan *scan, const char *bytes, size_t len_bytes,
                      struct sw_err *err) SW_CHECKED;
/** End the scan: there are no more pieces. A number or word at the end is reported now.
 * @return 0 | SW_UNAVAILABLE "unexpected end" | as sw_json_scan_feed() */
int sw_json_scan_end(struct sw_json_scan *scan, struct sw_err *err) SW_CHECKED;
/** Free the buffers of @scan. */
void sw_json_scan_done(struct sw_json_scan *scan);
