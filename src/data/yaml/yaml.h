#pragma once
/* yaml: YAML text to documents and back, as sigs.k8s.io/yaml 1.3 does (gopkg.in/yaml.v2 2.4.0), so
 * that a manifest means here what it means to kubectl and Helm. Reading is libyaml's events;
 * writing is our own, since libyaml's emitter quotes otherwise. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/sink.h"

/* ---- reading -----------------------------------------------------------------------------------
 */

/** Zero is the default of each. */
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

/** Read the first document of @text (what follows it is not looked at, as in Go); no document at
 * all is null. YAML 1.1 scalars as yaml.v2 resolves them; keys that are integers, floats or
 * booleans become text; anchors, aliases and merges are expanded, in bounds.
 * @return 0 | SW_INVALID "file:line:column: reason"
 * Source: sigs.k8s.io/yaml 1.3.0 YAMLToJSON. Pinned by test/unit/data/data_yaml_read_test.c. */
int sw_yaml_parse(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                  struct json_object **out, struct sw_err *err) SW_CHECKED;

/** The same, given to a sink. */
int sw_yaml_read(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                 const struct sw_sink *sink, struct sw_err *err) SW_CHECKED;

struct sw_yaml_doc {
    struct json_object *object; /* owned */
    int line;                   /* where its first node begins */
};

/** All documents of a stream that are not null (nothing but comments, `---` twice). */
struct sw_yaml_docs {
    struct sw_yaml_doc *docs; /* owned */
    size_t n_docs;
};

int sw_yaml_parse_all(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                      struct sw_yaml_docs *out, struct sw_err *err) SW_CHECKED;
void sw_yaml_docs_done(struct sw_yaml_docs *docs);

/* ---- writing -----------------------------------------------------------------------------------
 */

/** The document as yaml.v2 prints it, keys in its order, a line end last; NUL-terminated, the
 * caller's. @len_bytes may be NULL. Never fails: what YAML may not hold is escaped. */
char *sw_yaml_text(struct json_object *doc, size_t *len_bytes) SW_CHECKED;

/** Exactly sigs.k8s.io/yaml.Marshal, which goes through JSON and YAML once more and therefore
 * refuses a few texts (DEL, C1 controls, U+FFFE) and folds U+0085. For templates' toYaml.
 * @return 0 | SW_INVALID. Pinned by test/unit/data/data_yaml_write_test.c. */
int sw_yaml_marshal(struct json_object *doc, char **out, size_t *len_bytes,
                    struct sw_err *err) SW_CHECKED;

/** A sink that writes one YAML document. Map keys must come in the wanted order: walk a map sorted
 * by sw_yaml_key_cmp() to get Go's. */
struct sw_yaml_writer;
struct sw_yaml_writer_opts {
    bool as_marshal;  /* refuse and fold as sw_yaml_marshal() */
    bool pretty;      /* as yaml.v3 with an indent of two: lists stand indented under their key,
                       * numbers as Go prints them, lines of any length */
    size_t max_bytes; /* more is SW_INVALID: deep documents are mostly indentation; 0: no limit */
};
struct sw_yaml_writer *sw_yaml_writer_new(const struct sw_yaml_writer_opts *opts);
void sw_yaml_writer_free(struct sw_yaml_writer *writer);
SW_DEFINE_AUTO(sw_yaml_writer, sw_yaml_writer_free)
const struct sw_sink *sw_yaml_writer_sink(struct sw_yaml_writer *writer);
/** What was written, NUL-terminated, with a line end last, now the caller's; the writer is as new.
 */
char *sw_yaml_writer_take(struct sw_yaml_writer *writer, size_t *len_bytes) SW_CHECKED;

/** The order in which yaml.v2 prints keys: letters after other characters, runs of digits by value.
 */
int sw_yaml_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len);
