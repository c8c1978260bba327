/* Reads JSON text and sends its events to a sink. */
#include "data/json/json.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/json_scan.h"
#include "data/json/keyset.h"
#include "data/text/number.h"
#include "data/text/place.h"

static const size_t default_max_bytes = (size_t)64 << 20;

struct reader {
    const struct sw_sink *sink;
    struct sw_keyset *keys; /* NULL: duplicates are allowed */
};

static int on_word(void *arg, enum sw_json_word word, struct sw_err *err)
{
    const struct reader *r = arg;
    if (word == SW_JSON_NULL)
        return r->sink->ops->null(r->sink->arg, err);
    return r->sink->ops->boolean(r->sink->arg, word == SW_JSON_TRUE, err);
}

static int on_number(void *arg, const char *text, size_t len, struct sw_err *err)
{
    const struct reader *r = arg;
    const struct sw_sink *s = r->sink;
    struct sw_number n = sw_number_classify(text, len);
    switch (n.kind) {
    case SW_NUMBER_INT:
        return s->ops->integer(s->arg, n.i, err);
    case SW_NUMBER_UINT:
        return s->ops->natural(s->arg, n.u, err);
    case SW_NUMBER_REAL:
        return s->ops->real(s->arg, n.d, text, len, err);
    case SW_NUMBER_RANGE:
        break;
    }
    return sw_err_set(err, SW_INVALID, "number '%.*s' is out of range", len > 40 ? 40 : (int)len,
                      text);
}

static int on_string(void *arg, const char *text, size_t len, struct sw_err *err)
{
    const struct reader *r = arg;
    return r->sink->ops->string(r->sink->arg, text, len, err);
}

static int on_key(void *arg, const char *text, size_t len, struct sw_err *err)
{
    const struct reader *r = arg;
    if (r->keys && !sw_keyset_add(r->keys, text, len))
        return sw_err_set(err, SW_INVALID, "duplicate key '%.*s'", len > 100 ? 100 : (int)len,
                          text);
    return r->sink->ops->key(r->sink->arg, text, len, err);
}

static int on_begin(void *arg, bool map, struct sw_err *err)
{
    const struct reader *r = arg;
    if (map && r->keys)
        sw_keyset_enter(r->keys);
    return (map ? r->sink->ops->begin_map : r->sink->ops->begin_list)(r->sink->arg, err);
}

static int on_end(void *arg, bool map, struct sw_err *err)
{
    const struct reader *r = arg;
    if (map && r->keys)
        sw_keyset_leave(r->keys);
    return (map ? r->sink->ops->end_map : r->sink->ops->end_list)(r->sink->arg, err);
}

static const struct sw_json_scan_ops ops = {
    .word = on_word,
    .number = on_number,
    .string = on_string,
    .key = on_key,
    .begin = on_begin,
    .end = on_end,
};

int sw_json_read(const char *text, size_t len_bytes, const struct sw_json_opts *opts,
                 const struct sw_sink *sink, struct sw_err *err)
{
    static const struct sw_json_opts defaults;
    if (!opts)
        opts = &defaults;
    size_t max_bytes = opts->max_bytes ? opts->max_bytes : default_max_bytes;
    if (len_bytes > max_bytes) {
        int rc = sw_err_set(err, SW_INVALID, "%zu bytes are more than the %zu allowed", len_bytes,
                            max_bytes);
        return opts->file ? sw_err_wrap(err, rc, "%s", opts->file) : rc;
    }
    struct sw_keyset keys = { 0 };
    struct reader r = { .sink = sink, .keys = opts->refuse_duplicate ? &keys : NULL };
    struct sw_json_scan scan = { .ops = &ops, .arg = &r, .max_depth = opts->max_depth };
    int rc = sw_json_scan_feed(&scan, text, len_bytes, err);
    if (rc == 0)
        rc = sw_json_scan_end(&scan, err);
    if (rc == SW_UNAVAILABLE)
        rc = SW_INVALID; /* there are no more pieces */
    sw_json_scan_done(&scan);
    sw_keyset_done(&keys);
    if (rc < 0)
        return sw_place_wrap(err, rc, opts->file, sw_place_at(text, len_bytes, scan.offset - 1));
    return 0;
}

int sw_json_parse(const char *text, size_t len_bytes, const struct sw_json_opts *opts,
                  struct json_object **out, struct sw_err *err)
{
    SW_AUTO(sw_json_builder) *builder = sw_json_builder_new();
    int rc = sw_json_read(text, len_bytes, opts, sw_json_builder_sink(builder), err);
    if (rc < 0)
        return rc;
    *out = sw_json_builder_take(builder);
    return 0;
}
