#include "data/yaml/yaml.h"

#include <stdlib.h>

#include "data/json/json.h"
#include "data/yaml/yaml_decode.h"

enum { DEFAULT_MAX_DEPTH = 512 };
static const size_t default_max_bytes = (size_t)16 << 20;

static int decoder_init(struct sw_yaml_decoder *d, const char *text, size_t len_bytes,
                        const struct sw_yaml_opts *opts, const struct sw_sink *sink,
                        struct sw_err *err)
{
    static const struct sw_yaml_opts defaults;
    if (!opts)
        opts = &defaults;
    size_t max_bytes = opts->max_bytes ? opts->max_bytes : default_max_bytes;
    if (len_bytes > max_bytes) {
        int rc = sw_err_set(err, SW_INVALID, "%zu bytes are more than the %zu allowed", len_bytes,
                            max_bytes);
        return opts->file ? sw_err_wrap(err, rc, "%s", opts->file) : rc;
    }
    *d = (struct sw_yaml_decoder){
        .sink = sink,
        .err = err,
        .allow_duplicate = opts->allow_duplicate,
        .max_depth = opts->max_depth ? opts->max_depth : DEFAULT_MAX_DEPTH,
        .max_alias_bytes = max_bytes,
    };
    sw_yaml_source_init(&d->src, text, len_bytes, opts->file, opts->first_line, err);
    d->src.go_words = opts->go_words;
    return 0;
}

static void decoder_done(struct sw_yaml_decoder *d)
{
    sw_yaml_source_done(&d->src);
    sw_keyset_done(&d->keys);
}

/* go-yaml reads a document whole before it looks at what is in it, so errors of syntax win. */
static void read_rest(struct sw_yaml_decoder *d)
{
    struct sw_yaml_event e = { 0 };
    if (sw_yaml_source_is_broken(&d->src))
        return;
    while (e.type != YAML_DOCUMENT_END_EVENT && e.type != YAML_STREAM_END_EVENT)
        if (sw_yaml_source_next(&d->src, &e) < 0)
            return;
}

int sw_yaml_read(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                 const struct sw_sink *sink, struct sw_err *err)
{
    struct sw_yaml_decoder d;
    int line, rc = decoder_init(&d, text, len_bytes, opts, sink, err);
    if (rc < 0)
        return rc;
    rc = sw_yaml_decode(&d, &line);
    if (rc == 0)
        rc = sink->ops->null(sink->arg, err); /* no document at all */
    if (rc < 0 && d.src.go_words)
        read_rest(&d);
    decoder_done(&d);
    return rc < 0 ? rc : 0;
}

int sw_yaml_parse(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                  struct json_object **out, struct sw_err *err)
{
    SW_AUTO(sw_json_builder) *builder = sw_json_builder_new();
    int rc = sw_yaml_read(text, len_bytes, opts, sw_json_builder_sink(builder), err);
    if (rc < 0)
        return rc;
    *out = sw_json_builder_take(builder);
    return 0;
}

int sw_yaml_parse_all(const char *text, size_t len_bytes, const struct sw_yaml_opts *opts,
                      struct sw_yaml_docs *out, struct sw_err *err)
{
    SW_AUTO(sw_json_builder) *builder = sw_json_builder_new();
    struct sw_yaml_docs found = { 0 };
    struct sw_yaml_decoder d;
    size_t cap = 0;
    int line, rc = decoder_init(&d, text, len_bytes, opts, sw_json_builder_sink(builder), err);
    if (rc < 0)
        return rc;
    while ((rc = sw_yaml_decode(&d, &line)) > 0) {
        struct json_object *object = sw_json_builder_take(builder);
        if (!object)
            continue;
        SW_GROW(found.docs, found.n_docs, cap);
        found.docs[found.n_docs++] = (struct sw_yaml_doc){ .object = object, .line = line };
    }
    decoder_done(&d);
    if (rc < 0) {
        sw_yaml_docs_done(&found);
        return rc;
    }
    *out = found;
    return 0;
}

void sw_yaml_docs_done(struct sw_yaml_docs *docs)
{
    for (size_t i = 0; i < docs->n_docs; i++)
        (void)json_object_put(docs->docs[i].object);
    free(docs->docs);
    *docs = (struct sw_yaml_docs){ 0 };
}
