/* JSON text into a sink, on YAJL. */
#include "data/json.h"

#include <stdlib.h>
#include <string.h>

#include "data/keyset.h"
#include "data/number.h"
#include "data/place.h"
#include "data/yajl_reason.h"

enum { DEFAULT_MAX_DEPTH = 512 };
static const size_t default_max_bytes = (size_t)64 << 20;

struct reader {
    const struct sw_sink *sink;
    struct sw_err *err;
    int code; /* what a callback failed with */
    int depth;
    int max_depth;
    struct sw_keyset *keys; /* NULL: duplicates are allowed */
};

static int result(struct reader *r, int code)
{
    r->code = code;
    return code == 0;
}

static int on_null(void *arg)
{
    struct reader *r = arg;
    return result(r, r->sink->ops->null(r->sink->arg, r->err));
}

static int on_boolean(void *arg, int value)
{
    struct reader *r = arg;
    return result(r, r->sink->ops->boolean(r->sink->arg, value != 0, r->err));
}

static int on_number(void *arg, const char *text, size_t len)
{
    struct reader *r = arg;
    const struct sw_sink *s = r->sink;
    struct sw_number n = sw_number_classify(text, len);
    switch (n.kind) {
    case SW_NUMBER_INT:
        return result(r, s->ops->integer(s->arg, n.i, r->err));
    case SW_NUMBER_UINT:
        return result(r, s->ops->natural(s->arg, n.u, r->err));
    case SW_NUMBER_REAL:
        return result(r, s->ops->real(s->arg, n.d, text, len, r->err));
    case SW_NUMBER_RANGE:
        break;
    }
    return result(r, sw_err_set(r->err, SW_INVALID, "number '%.*s' is out of range",
                                len > 40 ? 40 : (int)len, text));
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
    struct reader *r = arg;
    return result(r, r->sink->ops->string(r->sink->arg, (const char *)text, len, r->err));
}

static int on_key(void *arg, const unsigned char *text, size_t len)
{
    struct reader *r = arg;
    if (r->keys && !sw_keyset_add(r->keys, (const char *)text, len))
        return result(r, sw_err_set(r->err, SW_INVALID, "duplicate key '%.*s'",
                                    len > 100 ? 100 : (int)len, (const char *)text));
    return result(r, r->sink->ops->key(r->sink->arg, (const char *)text, len, r->err));
}

static int deeper(struct reader *r)
{
    if (r->depth < r->max_depth) {
        r->depth++;
        return 0;
    }
    return sw_err_set(r->err, SW_INVALID, "nested more than %d levels deep", r->max_depth);
}

static int on_begin_map(void *arg)
{
    struct reader *r = arg;
    int rc = deeper(r);
    if (rc == 0 && r->keys)
        sw_keyset_enter(r->keys);
    return result(r, rc < 0 ? rc : r->sink->ops->begin_map(r->sink->arg, r->err));
}

static int on_end_map(void *arg)
{
    struct reader *r = arg;
    r->depth--;
    if (r->keys)
        sw_keyset_leave(r->keys);
    return result(r, r->sink->ops->end_map(r->sink->arg, r->err));
}

static int on_begin_list(void *arg)
{
    struct reader *r = arg;
    int rc = deeper(r);
    return result(r, rc < 0 ? rc : r->sink->ops->begin_list(r->sink->arg, r->err));
}

static int on_end_list(void *arg)
{
    struct reader *r = arg;
    r->depth--;
    return result(r, r->sink->ops->end_list(r->sink->arg, r->err));
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_begin_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_begin_list,
    .yajl_end_array = on_end_list,
};

static int parse(yajl_handle yajl, struct reader *r, const char *text, size_t len_bytes,
                 size_t *stopped_at)
{
    yajl_status status = yajl_parse(yajl, (const unsigned char *)text, len_bytes);
    /* the byte, or the last one of the token, that it could not use has been consumed */
    size_t consumed = yajl_get_bytes_consumed(yajl);
    *stopped_at = consumed > 0 ? consumed - 1 : 0;
    if (status == yajl_status_ok) {
        *stopped_at = len_bytes;
        status = yajl_complete_parse(yajl);
    }
    /* behind a whole value YAJL takes a string that does not end for one that is to come; a line
     * end cannot be in one */
    if (status == yajl_status_ok &&
        yajl_parse(yajl, (const unsigned char *)"\n", 1) != yajl_status_ok)
        return sw_err_set(r->err, SW_INVALID, "trailing garbage");
    if (status == yajl_status_client_canceled)
        return r->code;
    return status == yajl_status_ok ? 0 : sw_yajl_reason(yajl, r->err);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* The value of four hexadecimal digits after a \u at @p, or -1. */
static int escaped_unit(const char *p, const char *end)
{
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    int v = 0;
    for (int i = 2; i < 6; i++) {
        int d = hex_digit(p[i]);
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* Half surrogates written as \uD800: Go reads U+FFFD, YAJL a question mark. @return NULL, or a copy
 * of the same length in which they are written as \ufffd. */
static char *mend_surrogates(const char *text, size_t len_bytes)
{
    char *copy = NULL;
    const char *end = text + len_bytes;
    const char *p = text;
    while (p < end && (p = memchr(p, '\\', (size_t)(end - p)))) {
        int unit = escaped_unit(p, end);
        if (unit < 0xd800 || unit > 0xdfff) {
            p += 2;
            continue;
        }
        int next = unit < 0xdc00 ? escaped_unit(p + 6, end) : -1;
        if (next >= 0xdc00 && next <= 0xdfff) {
            p += 12;
            continue;
        }
        if (!copy)
            copy = sw_strndup(text, len_bytes);
        memcpy(copy + (p - text), "\\ufffd", 6);
        p += 6;
    }
    return copy;
}

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
    struct reader r = {
        .sink = sink,
        .err = err,
        .max_depth = opts->max_depth ? opts->max_depth : DEFAULT_MAX_DEPTH,
        .keys = opts->refuse_duplicate ? &keys : NULL,
    };
    SW_AUTO_CHARS *mended = mend_surrogates(text, len_bytes);
    yajl_handle yajl = yajl_alloc(&callbacks, NULL, &r);
    size_t stopped_at;
    int rc = parse(yajl, &r, mended ? mended : text, len_bytes, &stopped_at);
    yajl_free(yajl);
    sw_keyset_done(&keys);
    if (rc < 0)
        return sw_place_wrap(err, rc, opts->file, sw_place_at(text, len_bytes, stopped_at));
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
