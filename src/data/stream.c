#include "data/stream.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "data/number.h"
#include "data/path.h"
#include "data/projection.h"
#include "data/yajl_reason.h"

enum { DEFAULT_MAX_DEPTH = 512 };
static const size_t default_max_item_bytes = (size_t)16 << 20;

/* Where in the envelope the next value stands. */
enum place {
    AT_ROOT,  /* before the list, event or object */
    IN_ROOT,  /* in its map: a key says what comes */
    AT_ITEMS, /* the list's items are to come */
    IN_ITEMS, /* between two of them */
    IN_ITEM,  /* the projector has it */
    IN_TOP,   /* likewise, what else stands at the top */
};

struct sw_stream {
    struct sw_stream_opts opts;
    sw_stream_item *cb;
    void *arg;
    yajl_handle yajl;
    enum place place;
    int depth;  /* of all that is open */
    bool ended; /* the list or object is complete */
    struct sw_projector item;
    struct json_object *top; /* what stands at the top besides items; owned */
    char *key;               /* of the top's value that is read; owned */
    char *type;              /* of the event; owned */
    size_t n_items;
    size_t fed;      /* bytes before this chunk */
    size_t boundary; /* where the last item ended */
    int code;        /* of the error that ended it */
    struct sw_err err;
};

/* ---- items -------------------------------------------------------------------------------------
 */

static size_t position(const struct sw_stream *s)
{
    return s->fed + yajl_get_bytes_consumed(s->yajl);
}

static int deliver(struct sw_stream *s, struct json_object *object)
{
    s->n_items++;
    s->boundary = position(s);
    int rc = s->cb(s->arg, s->type, object, &s->err);
    (void)json_object_put(object);
    return rc;
}

static const struct sw_field_node *root_node(const struct sw_stream *s)
{
    bool whole = !s->opts.projection || sw_streq(s->type, "ERROR");
    return whole ? &sw_field_all : &s->opts.projection->root;
}

/* The projector has its value complete. */
static int item_complete(struct sw_stream *s)
{
    struct json_object *value = sw_projector_take(&s->item);
    if (s->place == IN_TOP) {
        (void)json_object_object_add(s->top, s->key, value);
        s->place = IN_ROOT;
        return 0;
    }
    if (s->opts.kind == SW_STREAM_LIST) {
        s->place = IN_ITEMS;
        return deliver(s, value);
    }
    if (s->opts.kind == SW_STREAM_OBJECT) {
        (void)json_object_put(s->top);
        s->top = value;
        s->place = AT_ROOT;
        s->ended = true;
        return deliver(s, json_object_get(value));
    }
    /* an event's object is delivered at the event's end: its type may stand behind it */
    (void)json_object_object_add(s->top, "object", value);
    s->place = IN_ROOT;
    return 0;
}

/* The outermost map has ended. */
static int root_complete(struct sw_stream *s)
{
    s->place = AT_ROOT;
    s->ended = s->opts.kind == SW_STREAM_LIST;
    if (s->ended)
        return 0;
    if (!s->type)
        return sw_err_set(&s->err, SW_INVALID, "an event without a type");
    struct json_object *object = json_object_get(sw_json_get(s->top, "object"));
    (void)json_object_put(s->top);
    s->top = json_object_new_object();
    int rc = deliver(s, object);
    free(SW_TAKE(s->type));
    return rc;
}

/* ---- the envelope ------------------------------------------------------------------------------
 */

static int fail(struct sw_stream *s, const char *what)
{
    return sw_err_set(&s->err, SW_INVALID, "%s", what);
}

static int begin_item(struct sw_stream *s, const struct sw_field_node *node, bool map)
{
    sw_projector_start(&s->item, node);
    sw_projector_begin(&s->item, map);
    return 0;
}

static int begin_root(struct sw_stream *s, bool map)
{
    if (!map)
        return fail(s, "an object was expected, not a list");
    if (s->opts.kind == SW_STREAM_OBJECT) {
        s->place = IN_ITEM;
        return begin_item(s, root_node(s), map);
    }
    s->place = IN_ROOT;
    return 0;
}

/* A map or list begins. */
static int on_begin(struct sw_stream *s, bool map)
{
    int max_depth = s->opts.max_depth ? s->opts.max_depth : DEFAULT_MAX_DEPTH;
    if (++s->depth > max_depth)
        return sw_err_set(&s->err, SW_INVALID, "nested more than %d levels deep", max_depth);
    switch (s->place) {
    case AT_ROOT:
        return begin_root(s, map);
    case AT_ITEMS:
        if (map)
            return fail(s, "items: a list was expected");
        s->place = IN_ITEMS;
        return 0;
    case IN_ITEMS:
        if (!map)
            return fail(s, "items: an object was expected, not a list");
        s->place = IN_ITEM;
        return begin_item(s, root_node(s), map);
    default:
        if (!sw_projector_open(&s->item))
            return begin_item(s, s->item.next, map);
        sw_projector_begin(&s->item, map);
        return 0;
    }
}

static int on_end(struct sw_stream *s)
{
    s->depth--;
    switch (s->place) {
    case IN_ROOT:
        return root_complete(s);
    case IN_ITEMS:
        s->place = IN_ROOT;
        return 0;
    default:
        sw_projector_end(&s->item);
        return sw_projector_open(&s->item) ? 0 : item_complete(s);
    }
}

/* A key of the outermost map: what is to become of its value? */
static int on_top_key(struct sw_stream *s, const char *key, size_t len)
{
    free(s->key);
    s->key = sw_strndup(key, len);
    bool list = s->opts.kind == SW_STREAM_LIST;
    if (list && strcmp(s->key, "items") == 0) {
        s->place = AT_ITEMS;
        return 0;
    }
    bool object = !list && strcmp(s->key, "object") == 0;
    s->place = object ? IN_ITEM : IN_TOP;
    sw_projector_start(&s->item, object ? root_node(s) : &sw_field_all);
    return 0;
}

static int on_key(struct sw_stream *s, const char *key, size_t len)
{
    if (s->place == IN_ROOT)
        return on_top_key(s, key, len);
    return sw_projector_key(&s->item, key, len, &s->err);
}

/* Whether a scalar that comes now is to be made. @return 1, 0, or an error */
static int wants_scalar(struct sw_stream *s)
{
    switch (s->place) {
    case AT_ROOT:
        return fail(s, "an object was expected");
    case IN_ITEMS:
        return fail(s, "items: an object was expected");
    default:
        return !sw_projector_open(&s->item) || sw_projector_wants_scalar(&s->item);
    }
}

/* A value at the top that is no map: null items and objects are none. */
static int add_top_scalar(struct sw_stream *s, struct json_object *value)
{
    if (s->place == IN_TOP) {
        sw_projector_add(&s->item, value);
        if (s->opts.kind == SW_STREAM_WATCH && strcmp(s->key, "type") == 0) {
            free(s->type);
            s->type = sw_strdup(value ? json_object_get_string(value) : "");
        }
        return item_complete(s);
    }
    const char *what = s->place == AT_ITEMS ? "items: a list was expected"
                                            : "object: a map was expected";
    bool null = !value;
    (void)json_object_put(value);
    s->place = IN_ROOT;
    return null ? 0 : fail(s, what);
}

static int add_scalar(struct sw_stream *s, struct json_object *value)
{
    if (!sw_projector_open(&s->item))
        return add_top_scalar(s, value);
    sw_projector_add(&s->item, value);
    return 0;
}

/* ---- YAJL's callbacks --------------------------------------------------------------------------
 */

static int result(struct sw_stream *s, int rc)
{
    s->code = rc < 0 ? rc : 0;
    return rc >= 0;
}

/* A scalar: made only if it is wanted */
#define SCALAR(s, make)                                                                            \
    ({                                                                                             \
        int rc_ = wants_scalar(s);                                                                 \
        result(s, rc_ > 0 ? add_scalar(s, make) : rc_);                                            \
    })

static int yajl_on_null(void *arg)
{
    return SCALAR((struct sw_stream *)arg, NULL);
}

static int yajl_on_boolean(void *arg, int value)
{
    return SCALAR((struct sw_stream *)arg, json_object_new_boolean(value));
}

static struct json_object *new_number(const char *text, size_t len)
{
    struct sw_number n = sw_number_classify(text, len);
    if (n.kind == SW_NUMBER_INT)
        return json_object_new_int64(n.i);
    if (n.kind == SW_NUMBER_UINT)
        return json_object_new_uint64(n.u);
    SW_AUTO_CHARS *copy = sw_strndup(text, len);
    return json_object_new_double_s(n.d, copy);
}

static int yajl_on_number(void *arg, const char *text, size_t len)
{
    return SCALAR((struct sw_stream *)arg, new_number(text, len));
}

static int yajl_on_string(void *arg, const unsigned char *text, size_t len)
{
    struct sw_stream *s = arg;
    if (len > INT_MAX / 2)
        return result(s, fail(s, "a text is too long"));
    return SCALAR(s, json_object_new_string_len((const char *)text, (int)len));
}

static int yajl_on_key(void *arg, const unsigned char *text, size_t len)
{
    return result(arg, on_key(arg, (const char *)text, len));
}

static int yajl_on_begin_map(void *arg)
{
    return result(arg, on_begin(arg, true));
}

static int yajl_on_begin_list(void *arg)
{
    return result(arg, on_begin(arg, false));
}

static int yajl_on_end(void *arg)
{
    return result(arg, on_end(arg));
}

static const yajl_callbacks callbacks = {
    .yajl_null = yajl_on_null,
    .yajl_boolean = yajl_on_boolean,
    .yajl_number = yajl_on_number,
    .yajl_string = yajl_on_string,
    .yajl_map_key = yajl_on_key,
    .yajl_start_map = yajl_on_begin_map,
    .yajl_end_map = yajl_on_end,
    .yajl_start_array = yajl_on_begin_list,
    .yajl_end_array = yajl_on_end,
};

/* ---- the stream --------------------------------------------------------------------------------
 */

struct sw_stream *sw_stream_new(const struct sw_stream_opts *opts, sw_stream_item *cb, void *arg)
{
    struct sw_stream *s = sw_zalloc(1, sizeof *s);
    s->opts = *opts;
    s->cb = cb;
    s->arg = arg;
    s->top = json_object_new_object();
    s->yajl = yajl_alloc(&callbacks, NULL, s);
    if (opts->kind == SW_STREAM_WATCH)
        (void)yajl_config(s->yajl, yajl_allow_multiple_values, 1);
    return s;
}

void sw_stream_free(struct sw_stream *stream)
{
    if (!stream)
        return;
    yajl_free(stream->yajl);
    sw_projector_done(&stream->item);
    (void)json_object_put(stream->top);
    free(stream->key);
    free(stream->type);
    sw_err_done(&stream->err);
    free(stream);
}

static int repeat_error(struct sw_stream *s, struct sw_err *err)
{
    return sw_err_set(err, s->code, "%s", sw_err_text(&s->err));
}

/* What YAJL could not read, or what a callback refused, with its place. */
static int read_error(struct sw_stream *s, yajl_status status, struct sw_err *err)
{
    if (status != yajl_status_client_canceled)
        s->code = sw_yajl_reason(s->yajl, &s->err);
    if (s->code == SW_INVALID)
        sw_err_wrap(&s->err, s->code, "at byte %zu", position(s));
    return repeat_error(s, err);
}

int sw_stream_feed(struct sw_stream *stream, const char *bytes, size_t len_bytes,
                   struct sw_err *err)
{
    struct sw_stream *s = stream;
    if (s->code < 0)
        return repeat_error(s, err);
    yajl_status status = yajl_parse(s->yajl, (const unsigned char *)bytes, len_bytes);
    if (status != yajl_status_ok)
        return read_error(s, status, err);
    s->fed += len_bytes;
    size_t max = s->opts.max_item_bytes ? s->opts.max_item_bytes : default_max_item_bytes;
    if (s->fed - s->boundary > max) {
        s->code = sw_err_set(&s->err, SW_INVALID, "at byte %zu: an object of more than %zu bytes",
                             s->fed, max);
        return repeat_error(s, err);
    }
    return 0;
}

int sw_stream_end(struct sw_stream *stream, struct sw_err *err)
{
    struct sw_stream *s = stream;
    if (s->code < 0)
        return repeat_error(s, err);
    bool watch = s->opts.kind == SW_STREAM_WATCH;
    if (s->depth > 0 || (!watch && !s->ended))
        return sw_err_set(err, SW_UNAVAILABLE, "cut off after %zu bytes", s->fed);
    return 0;
}

const char *sw_stream_resource_version(const struct sw_stream *stream)
{
    return sw_json_str(stream->top, "", "metadata", "resourceVersion", NULL);
}

const char *sw_stream_continue(const struct sw_stream *stream)
{
    return sw_json_str(stream->top, "", "metadata", "continue", NULL);
}

const char *sw_stream_top_kind(const struct sw_stream *stream)
{
    return sw_obj_kind(stream->top);
}

const char *sw_stream_top_api_version(const struct sw_stream *stream)
{
    return sw_obj_api_version(stream->top);
}

struct json_object *sw_stream_status(const struct sw_stream *stream)
{
    return strcmp(sw_obj_kind(stream->top), "Status") == 0 ? stream->top : NULL;
}

size_t sw_stream_n_items(const struct sw_stream *stream)
{
    return stream->n_items;
}
