#pragma once
/* json: JSON text to documents and back. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/sink.h"

/** SW_AUTO_JSON *doc = NULL; drops its reference at the end of its scope. SW_TAKE() gives it away.
 */
#define SW_AUTO_JSON __attribute__((cleanup(sw_json_auto))) struct json_object
static inline void sw_json_auto(struct json_object **doc)
{
    (void)json_object_put(*doc);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/** Zero is the default of each. */
struct sw_json_opts {
    const char *file;      /* for messages ("values.yaml:3:7: ..."); NULL: only line and column */
    size_t max_bytes;      /* 0: 64 MiB */
    int max_depth;         /* at most, and 0: 512 */
    bool refuse_duplicate; /* an object that has a key twice; else the last one wins, as in Go */
};

/** Read one JSON value with nothing after it. Strict: UTF-8, no comments, no NaN, nothing that
 * encoding/json refuses. Integers of 64 bits are exact; other numbers keep their text. Half
 * surrogates become U+FFFD, as in Go. @*out is the caller's (NULL for `null`).
 * @return 0 | SW_INVALID "file:line:column: reason"
 * Pinned by test/unit/data/data_json_test.c. */
int sw_json_parse(const char *text, size_t len_bytes, const struct sw_json_opts *opts,
                  struct json_object **out, struct sw_err *err) SW_CHECKED;

/** The same, given to a sink. */
int sw_json_read(const char *text, size_t len_bytes, const struct sw_json_opts *opts,
                 const struct sw_sink *sink, struct sw_err *err) SW_CHECKED;

/** A sink that builds a document. */
struct sw_json_builder;
struct sw_json_builder *sw_json_builder_new(void);
void sw_json_builder_free(struct sw_json_builder *builder);
SW_DEFINE_AUTO(sw_json_builder, sw_json_builder_free)
const struct sw_sink *sw_json_builder_sink(struct sw_json_builder *builder);
/** The finished document, now the caller's; the builder is as new. */
struct json_object *sw_json_builder_take(struct sw_json_builder *builder);

/* ---- writing -----------------------------------------------------------------------------------
 */

enum sw_json_style {
    SW_JSON_PLAIN = 0,
    SW_JSON_SORTED = 1 << 0, /* map keys in byte order, as Go; else in the order of insertion */
    SW_JSON_PRETTY = 1 << 1, /* two spaces a level, as json.MarshalIndent(v, "", "  ") */
    SW_JSON_HTML = 1 << 2,   /* <, >, &, U+2028 and U+2029 escaped, as json.Marshal */
};

/** The document's text, NUL-terminated, the caller's. @len_bytes may be NULL. */
char *sw_json_text(struct json_object *doc, unsigned style, size_t *len_bytes) SW_CHECKED;

/** A sink that writes JSON. SW_JSON_SORTED is the walker's business, not its. */
struct sw_json_writer;
struct sw_json_writer *sw_json_writer_new(unsigned style);
void sw_json_writer_free(struct sw_json_writer *writer);
SW_DEFINE_AUTO(sw_json_writer, sw_json_writer_free)
const struct sw_sink *sw_json_writer_sink(struct sw_json_writer *writer);
/** What was written, NUL-terminated, now the caller's; the writer is as new. */
char *sw_json_writer_take(struct sw_json_writer *writer, size_t *len_bytes) SW_CHECKED;

/** Give a document to a sink. @cmp orders the keys of each map (NULL: order of insertion), see
 * sw_json_key_cmp() and sw_yaml_key_cmp(). */
typedef int sw_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);
int sw_json_walk(struct json_object *doc, sw_key_cmp *cmp, const struct sw_sink *sink,
                 struct sw_err *err);

/** Byte order. */
int sw_json_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);

/* ---- trees -------------------------------------------------------------------------------------
 */

/** A copy that shares nothing; numbers keep their text. NULL gives NULL. */
struct json_object *sw_json_copy(struct json_object *doc) SW_CHECKED;

/** Let the tree take no more memory than it needs: for one that is kept, and hardly changed. It may
 * still be. */
void sw_json_pack(struct json_object *doc);

/** Equal as JSON: maps in any order, 1 equals 1.0, strings by bytes. */
bool sw_json_equal(struct json_object *a, struct json_object *b);
