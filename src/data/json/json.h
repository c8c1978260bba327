#pragma once
/* json: JSON text to documents and back. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/sink.h"

/** SW_AUTO_JSON *doc = NULL; releases its reference at the end of the scope. SW_TAKE() passes the
 * reference on instead. */
#define SW_AUTO_JSON __attribute__((cleanup(sw_json_auto))) struct json_object
/** The cleanup function of SW_AUTO_JSON. */
static inline void sw_json_auto(struct json_object **doc)
{
    (void)json_object_put(*doc);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/** How to read JSON. Zero selects the default of each field. */
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

/** As sw_json_parse(), but the events of the document go to @sink.
 * @return 0 | SW_INVALID | what a function of @sink returned, with the place in @err */
int sw_json_read(const char *text, size_t len_bytes, const struct sw_json_opts *opts,
                 const struct sw_sink *sink, struct sw_err *err) SW_CHECKED;

/** A sink that builds a document. */
struct sw_json_builder;
/** A builder without a document; sw_json_builder_free() frees it. */
struct sw_json_builder *sw_json_builder_new(void);
/** Free the builder and the document that was not taken. NULL is allowed. */
void sw_json_builder_free(struct sw_json_builder *builder);
SW_DEFINE_AUTO(sw_json_builder, sw_json_builder_free)
/** The sink that feeds the builder, borrowed from it. Its functions fail only when json-c runs out
 * of memory. */
const struct sw_sink *sw_json_builder_sink(struct sw_json_builder *builder);
/** The finished document, which the caller owns (NULL: null). The builder can be used again. */
struct json_object *sw_json_builder_take(struct sw_json_builder *builder);

/* ---- writing -----------------------------------------------------------------------------------
 */

/** How JSON is written; flags that can be combined. */
enum sw_json_style {
    SW_JSON_PLAIN = 0,
    SW_JSON_SORTED = 1 << 0, /* map keys in byte order, as Go; else in the order of insertion */
    SW_JSON_PRETTY = 1 << 1, /* two spaces a level, as json.MarshalIndent(v, "", "  ") */
    SW_JSON_HTML = 1 << 2,   /* <, >, &, U+2028 and U+2029 escaped, as json.Marshal */
};

/** The text of @doc, NUL-terminated; the caller frees it. @style: of enum sw_json_style.
 * @len_bytes may be NULL. Never fails. */
char *sw_json_text(struct json_object *doc, unsigned style, size_t *len_bytes) SW_CHECKED;

/** A sink that writes JSON. It ignores SW_JSON_SORTED: the caller of sw_json_walk() chooses the
 * order of keys. */
struct sw_json_writer;
/** A writer without text; sw_json_writer_free() frees it. @style: of enum sw_json_style. */
struct sw_json_writer *sw_json_writer_new(unsigned style);
/** Free the writer and the text that was not taken. NULL is allowed. */
void sw_json_writer_free(struct sw_json_writer *writer);
SW_DEFINE_AUTO(sw_json_writer, sw_json_writer_free)
/** The sink that feeds the writer, borrowed from it. Its functions never fail. */
const struct sw_sink *sw_json_writer_sink(struct sw_json_writer *writer);
/** The text written so far, NUL-terminated; the caller frees it. The writer can be used again.
 * @len_bytes may be NULL. */
char *sw_json_writer_take(struct sw_json_writer *writer, size_t *len_bytes) SW_CHECKED;

/** An order of keys. @return <0, 0, >0 */
typedef int sw_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);
/** Send the events of @doc to @sink. @cmp orders the keys of each map (NULL: order of insertion),
 * see sw_json_key_cmp() and sw_yaml_key_cmp().
 * @return 0 | what a function of @sink returned */
int sw_json_walk(struct json_object *doc, sw_key_cmp *cmp, const struct sw_sink *sink,
                 struct sw_err *err);

/** Keys in byte order, as encoding/json sorts them. */
int sw_json_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);

/* ---- trees -------------------------------------------------------------------------------------
 */

/** A deep copy, which the caller owns; numbers keep their text. NULL gives NULL. */
struct json_object *sw_json_copy(struct json_object *doc) SW_CHECKED;

/** Shrink the tables of all maps and lists in @doc to their contents, for a document that is kept
 * for long and rarely changed. The document can still be changed. */
void sw_json_pack(struct json_object *doc);
/** The same for the map or list @doc alone, not for those in it. */
void sw_json_fit(struct json_object *doc);

/** Whether both documents are equal as JSON: the order of keys does not matter, 1 equals 1.0,
 * strings are compared by bytes. */
bool sw_json_equal(struct json_object *a, struct json_object *b);
