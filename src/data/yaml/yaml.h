#pragma once
/* yaml: YAML text to documents and back, as sigs.k8s.io/yaml 1.3 does (gopkg.in/yaml.v2 2.4.0), so
 * that a manifest means here what it means to kubectl and Helm. Reading is libyaml's events;
 * writing does not use libyaml's emitter, which quotes other strings than yaml.v2. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/sink.h"

/* ---- reading -----------------------------------------------------------------------------------
 */

/** How to read YAML. Zero selects the default of each field. */
struct sw_yaml_opts {
    const char *file;     /* for messages; NULL: only line and column */
    size_t max_bytes;     /* 0: 16 MiB */
    int max_depth;        /* 0: 512 */
    int first_line;       /* line number of the text's first line; 0: 1 */
    bool go_words;        /* errors as go-yaml words them ("yaml: line 2: ..."), for templates that
                           * print them; those of syntax before all others */
    bool allow_duplicate; /* the last of equal keys wins, as sigs.k8s.io/yaml.Unmarshal; else
                           * refused. What overrides a merged (<<) key is no duplicate. */
};

/** Read the first document of @text; as in Go, the rest is ignored. Text without a document is
 * null. YAML 1.1 scalars are resolved as in yaml.v2; keys that are integers, floats or booleans
 * become strings; anchors, aliases and merges are expanded within limits. @*out is the caller's.
 * @return 0 | SW_INVALID "file:line:column: reason"
 * Source: sigs.k8s.io/yaml 1.3.0 YAMLToJSON. Pinned by test/unit/data/data_yaml_read_test.c. */
int sw_yaml_parse(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                  struct json_object **out, struct sw_err *err) SW_CHECKED;

/** As sw_yaml_parse(), but the events of the document go to @sink.
 * @return 0 | SW_INVALID | what a function of @sink returned, with the place in @err */
int sw_yaml_read(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                 const struct sw_sink *sink, struct sw_err *err) SW_CHECKED;

/** One document of a stream. */
struct sw_yaml_doc {
    struct json_object *object; /* owned */
    int line;                   /* of its first node, from 1 */
};

/** The documents of a stream. Documents that are null (only comments, or empty between two `---`)
 * are left out. */
struct sw_yaml_docs {
    struct sw_yaml_doc *docs; /* owned */
    size_t n_docs;
};

/** Read all documents of @text, each as sw_yaml_parse() does. @out is the caller's:
 * sw_yaml_docs_done(). @return 0 | SW_INVALID "file:line:column: reason" */
int sw_yaml_parse_all(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                      struct sw_yaml_docs *out, struct sw_err *err) SW_CHECKED;
/** Free the documents. */
void sw_yaml_docs_done(struct sw_yaml_docs *docs);

/* ---- writing -----------------------------------------------------------------------------------
 */

/** The document as yaml.v2 prints it, with keys in yaml.v2's order and a newline at the end.
 * NUL-terminated; the caller frees it. @len_bytes may be NULL. Never fails: characters that YAML
 * does not allow are escaped. */
char *sw_yaml_text(struct json_object *doc, size_t *len_bytes) SW_CHECKED;

/** The same text as sigs.k8s.io/yaml.Marshal, for toYaml in templates. Marshal converts the
 * document to JSON and reads that as YAML; therefore it rejects some characters (DEL, C1 controls,
 * U+FFFE) and folds U+0085. @*out is the caller's.
 * @return 0 | SW_INVALID. Pinned by test/unit/data/data_yaml_write_test.c. */
int sw_yaml_marshal(struct json_object *doc, char **out, size_t *len_bytes,
                    struct sw_err *err) SW_CHECKED;

/** A sink that writes one YAML document, with keys in the order of the events. For yaml.v2's order
 * use sw_json_walk() with sw_yaml_key_cmp(). */
struct sw_yaml_writer;
/** How to write YAML. Zero selects the default of each field. */
struct sw_yaml_writer_opts {
    bool as_marshal;  /* refuse and fold as sw_yaml_marshal() */
    bool pretty;      /* as yaml.v3 with an indent of two: lists stand indented under their key,
                       * numbers as Go prints them, lines of any length */
    size_t max_bytes; /* more is SW_INVALID: deep documents are mostly indentation; 0: no limit */
};
/** A writer without text; sw_yaml_writer_free() frees it. */
struct sw_yaml_writer *sw_yaml_writer_new(const struct sw_yaml_writer_opts *opts);
/** Free the writer and the text that was not taken. NULL is allowed. */
void sw_yaml_writer_free(struct sw_yaml_writer *writer);
SW_DEFINE_AUTO(sw_yaml_writer, sw_yaml_writer_free)
/** The sink that feeds the writer, borrowed from it. */
const struct sw_sink *sw_yaml_writer_sink(struct sw_yaml_writer *writer);
/** The text written so far, NUL-terminated, with a newline at the end; the caller frees it. The
 * writer can be used again. */
char *sw_yaml_writer_take(struct sw_yaml_writer *writer, size_t *len_bytes) SW_CHECKED;

/** The order in which yaml.v2 prints keys: letters after other characters, runs of digits by value.
 */
int sw_yaml_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);

/** The line of a field ("spec.containers[0].image") in the text of its document, counted from
 * @first_line; @first_line if the field is missing. */
int sw_yaml_line(const char *yaml, size_t len_bytes, int first_line, const char *path);
