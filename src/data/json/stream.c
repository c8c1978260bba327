#include "data/json/stream.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json_scan.h"
#include "data/json/large.h"
#include "data/json/path.h"
#include "data/json/projection.h"
#include "data/text/number.h"

static const size_t default_max_item_bytes = (size_t)16 << 20;

/* The mark of an object that was stripped: no field of an API object at this place. */
static const char stripped_mark[] = "\001stripped";
static const char *const identity[] = { "name",       "namespace",         "uid", "resourceVersion",
                                        "generation", "deletionTimestamp", NULL };
static const char *const outermost[] = { "apiVersion", "kind", "metadata", NULL };

/* The position of the next value in the envelope. */
enum place {
    AT_ROOT,  /* before the list, event or object */
    IN_ROOT,  /* in the outermost map: a key comes next */
    AT_ITEMS, /* the list of items comes next */
    IN_ITEMS, /* between two of them */
    IN_ITEM,  /* the projector has it */
    IN_TOP,   /* the same for another field at the top */
};

struct sw_stream {
    struct sw_stream_opts opts;
    sw_stream_item *cb;
    void *arg;
    struct sw_json_scan scan;
    enum place place;
    bool ended; /* the list or object is complete */
    struct sw_projector item;
    size_t tree_bytes;       /* of the item */
    bool is_stripped;        /* it takes more than max_tree_bytes: only its identity is kept */
    bool in_metadata;        /* the item's outermost key is "metadata" */
    bool keeps_next;         /* of an item that is stripped: the key's value */
    struct json_object *top; /* the top's fields except items; owned */
    char *key;               /* of the top's field that is being read; owned */
    char *type;              /* of the event; owned */
    size_t boundary;         /* where the last item ended */
    int code;                /* of the error that ended the stream */
    struct sw_err err;
};

/* ---- items -------------------------------------------------------------------------------------
 */

static int deliver(struct sw_stream *s, struct json_object *object)
{
    s->boundary = s->scan.offset;
    int rc = s->cb(s->arg, s->type, object, &s->err);
    (void)json_object_put(object);
    return rc;
}

static const struct sw_field_node *root_node(const struct sw_stream *s)
{
    bool whole = !s->opts.projection || sw_streq(s->type, "ERROR");
    return whole ? &sw_field_all : &s->opts.projection->root;
}

/* Count what is kept of an item. */
static void spend(struct sw_stream *s, size_t bytes)
{
    s->tree_bytes += bytes;
    if (s->place == IN_ITEM && s->opts.max_tree_bytes && s->tree_bytes > s->opts.max_tree_bytes)
        s->is_stripped = true;
}

static bool is_one_of(const char *const *names, const char *key, size_t len)
{
    for (; *names; names++)
        if (strlen(*names) == len && memcmp(*names, key, len) == 0)
            return true;
    return false;
}

static void copy_fields(struct json_object *to, struct json_object *from, const char *const *names)
{
    for (; *names; names++) {
        struct json_object *value = sw_json_get(from, *names);
        if (value && !json_object_is_type(value, json_type_object) &&
            !json_object_is_type(value, json_type_array))
            (void)json_object_object_add(to, *names, json_object_get(value));
    }
}

/* What is left of @value, which is taken. */
static struct json_object *strip(struct json_object *value)
{
    struct json_object *left = json_object_new_object(), *metadata = json_object_new_object();
    copy_fields(left, value, outermost);
    copy_fields(metadata, sw_json_get(value, "metadata"), identity);
    (void)json_object_object_add(left, "metadata", metadata);
    (void)json_object_object_add(left, stripped_mark, json_object_new_boolean(true));
    (void)json_object_put(value);
    return left;
}

/* The projector has completed a value. */
static int item_complete(struct sw_stream *s)
{
    struct json_object *value = sw_projector_take(&s->item);
    if (s->place == IN_ITEM && s->is_stripped)
        value = strip(value);
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
    (void)json_object_object_add(s->top, "object", value); /* root_complete() delivers it */
    s->place = IN_ROOT;
    return 0;
}

/* The outermost map has ended. An event's object is delivered here, since "type" may come after
 * "object". */
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
    s->tree_bytes = 0;
    s->is_stripped = s->in_metadata = s->keeps_next = false;
    sw_projector_start(&s->item, node);
    sw_projector_begin(&s->item, map);
    return 0;
}

/* A map or list in an item. */
static void begin_inner(struct sw_stream *s, bool map)
{
    bool is_kept = !s->is_stripped || (s->keeps_next && !s->item.skipping && s->item.n_frames == 1);
    s->keeps_next = false;
    if (!is_kept) {
        s->item.skipping++;
        return;
    }
    sw_projector_begin(&s->item, map);
    if (!s->item.skipping)
        spend(s, map ? SW_MAP_BYTES : SW_LIST_BYTES);
}

static int on_begin(void *arg, bool map, struct sw_err *err SW_UNUSED)
{
    struct sw_stream *s = arg;
    switch (s->place) {
    case AT_ROOT:
        if (!map)
            return fail(s, "an object was expected, not a list");
        s->place = s->opts.kind == SW_STREAM_OBJECT ? IN_ITEM : IN_ROOT;
        return s->place == IN_ITEM ? begin_item(s, root_node(s), map) : 0;
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
        begin_inner(s, map);
        return 0;
    }
}

static int on_end(void *arg, bool map SW_UNUSED, struct sw_err *err SW_UNUSED)
{
    struct sw_stream *s = arg;
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

/* A key of a map in an item. */
static int item_key(struct sw_stream *s, const char *key, size_t len, struct sw_err *err)
{
    size_t depth = s->item.skipping ? 0 : s->item.n_frames;
    if (depth == 1)
        s->in_metadata = is_one_of(outermost + 2, key, len);
    if (s->is_stripped)
        s->keeps_next = (depth == 1 && is_one_of(outermost, key, len)) ||
                        (depth == 2 && s->in_metadata && is_one_of(identity, key, len));
    else if (depth)
        spend(s, SW_KEY_BYTES + len);
    return sw_projector_key(&s->item, key, len, err);
}

static int on_key(void *arg, const char *key, size_t len, struct sw_err *err)
{
    struct sw_stream *s = arg;
    if (s->place != IN_ROOT)
        return item_key(s, key, len, err);
    /* a key of the outermost map decides how its value is read */
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

/* Whether the next scalar is kept. @return 1, 0, or an error */
static int keeps_scalar(struct sw_stream *s)
{
    switch (s->place) {
    case AT_ROOT:
        return fail(s, "an object was expected");
    case IN_ITEMS:
        return fail(s, "items: an object was expected");
    default:
        break;
    }
    if (!sw_projector_open(&s->item))
        return 1;
    bool is_asked = !s->is_stripped || s->keeps_next;
    s->keeps_next = false;
    return is_asked && sw_projector_keeps_scalar(&s->item);
}

static int add_scalar(struct sw_stream *s, struct json_object *value)
{
    if (sw_projector_open(&s->item)) {
        sw_projector_add(&s->item, value);
        return 0;
    }
    if (s->place == IN_TOP) {
        sw_projector_add(&s->item, value);
        if (s->opts.kind == SW_STREAM_WATCH && strcmp(s->key, "type") == 0) {
            sw_text_set(&s->type, value ? json_object_get_string(value) : "");
        }
        return item_complete(s);
    }
    const char *what = s->place == AT_ITEMS ? "items: a list was expected"
                                            : "object: a map was expected";
    s->place = IN_ROOT;
    if (!value) /* null as items or object counts as missing */
        return 0;
    (void)json_object_put(value);
    return fail(s, what);
}

/* ---- scalars: created only if kept ------------------------------------------------------------
 */

static int on_word(void *arg, enum sw_json_word word, struct sw_err *err SW_UNUSED)
{
    const int wanted = keeps_scalar(arg);
    if (wanted <= 0)
        return wanted;
    spend(arg, SW_SCALAR_BYTES);
    return add_scalar(arg,
                      word == SW_JSON_NULL ? NULL : json_object_new_boolean(word == SW_JSON_TRUE));
}

static int on_number(void *arg, const char *text, size_t len, struct sw_err *err SW_UNUSED)
{
    const int wanted = keeps_scalar(arg);
    if (wanted <= 0)
        return wanted;
    struct sw_number n = sw_number_classify(text, len);
    spend(arg, SW_SCALAR_BYTES + len);
    if (n.kind == SW_NUMBER_INT)
        return add_scalar(arg, json_object_new_int64(n.i));
    if (n.kind == SW_NUMBER_UINT)
        return add_scalar(arg, json_object_new_uint64(n.u));
    SW_AUTO_CHARS *copy = sw_strndup(text, len);
    return add_scalar(arg, json_object_new_double_s(n.d, copy));
}

static int on_string(void *arg, const char *text, size_t len, struct sw_err *err SW_UNUSED)
{
    if (len > INT_MAX / 2)
        return fail(arg, "a text is too long");
    const int wanted = keeps_scalar(arg);
    if (wanted <= 0)
        return wanted;
    spend(arg, SW_SCALAR_BYTES + len);
    return add_scalar(arg, json_object_new_string_len(text, (int)len));
}

static const struct sw_json_scan_ops ops = {
    .word = on_word,
    .number = on_number,
    .string = on_string,
    .key = on_key,
    .begin = on_begin,
    .end = on_end,
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
    s->scan.ops = &ops;
    s->scan.arg = s;
    s->scan.max_depth = opts->max_depth;
    s->scan.many = opts->kind == SW_STREAM_WATCH;
    return s;
}

void sw_stream_free(struct sw_stream *stream)
{
    if (!stream)
        return;
    sw_json_scan_done(&stream->scan);
    sw_projector_done(&stream->item);
    (void)json_object_put(stream->top);
    free(stream->key);
    free(stream->type);
    sw_err_done(&stream->err);
    free(stream);
}

size_t sw_stream_item_bytes(const struct sw_stream *stream)
{
    return stream->tree_bytes;
}

bool sw_stream_is_stripped(struct json_object *object)
{
    return sw_json_get(object, stripped_mark) != NULL;
}

static int repeat_error(struct sw_stream *s, struct sw_err *err)
{
    return sw_err_set(err, s->code, "%s", sw_err_text(&s->err));
}

int sw_stream_feed(struct sw_stream *stream, const char *bytes, size_t len_bytes,
                   struct sw_err *err)
{
    struct sw_stream *s = stream;
    if (s->code < 0)
        return repeat_error(s, err);
    s->code = sw_json_scan_feed(&s->scan, bytes, len_bytes, &s->err);
    if (s->code == SW_INVALID)
        sw_err_wrap(&s->err, s->code, "at byte %zu", s->scan.offset);
    if (s->code < 0)
        return repeat_error(s, err);
    const size_t max = s->opts.max_item_bytes ? s->opts.max_item_bytes : default_max_item_bytes;
    if (s->scan.before - s->boundary > max) {
        s->code = sw_err_set(&s->err, SW_INVALID, "at byte %zu: an object of more than %zu bytes",
                             s->scan.before, max);
        return repeat_error(s, err);
    }
    return 0;
}

int sw_stream_end(struct sw_stream *stream, struct sw_err *err)
{
    struct sw_stream *s = stream;
    if (s->code < 0)
        return repeat_error(s, err);
    s->code = sw_json_scan_end(&s->scan, &s->err);
    if (s->code < 0 && s->code != SW_UNAVAILABLE)
        return repeat_error(s, err);
    if (s->code < 0 || (s->opts.kind != SW_STREAM_WATCH && !s->ended))
        return sw_err_set(err, SW_UNAVAILABLE, "cut off after %zu bytes", s->scan.before);
    return 0;
}

struct sw_object_stream {
    struct sw_stream *stream;
    struct json_object *doc;
};

static int keep_object(void *arg, const char *type SW_UNUSED, struct json_object *object,
                       struct sw_err *err SW_UNUSED)
{
    struct sw_object_stream *s = arg;
    s->doc = json_object_get(object);
    return 0;
}

struct sw_object_stream *sw_object_stream_new(const struct sw_projection *projection)
{
    struct sw_object_stream *s = sw_zalloc(1, sizeof *s);
    s->stream = sw_stream_new(&(struct sw_stream_opts){ .kind = SW_STREAM_OBJECT,
                                                        .projection = projection,
                                                        .max_depth = 100 },
                              keep_object, s);
    return s;
}

void sw_object_stream_free(struct sw_object_stream *stream)
{
    if (!stream)
        return;
    sw_stream_free(stream->stream);
    json_object_put(stream->doc);
    free(stream);
}

int sw_object_stream_feed(struct sw_object_stream *s, const char *bytes, size_t len_bytes,
                          struct sw_err *err)
{
    const int rc = sw_stream_feed(s->stream, bytes, len_bytes, err);
    return rc < 0 ? sw_err_wrap(err, SW_INVALID, "no JSON object") : 0;
}

int sw_object_stream_end(struct sw_object_stream *s, struct json_object **out, struct sw_err *err)
{
    int rc = sw_stream_end(s->stream, err);
    if (rc == 0 && !s->doc)
        rc = sw_err_set(err, SW_INVALID, "it is empty");
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "no JSON object");
    *out = SW_TAKE(s->doc);
    return 0;
}

int sw_stream_read_object(const struct sw_projection *projection, const struct sw_piece *pieces,
                          size_t n_pieces, struct json_object **out, struct sw_err *err)
{
    SW_AUTO(sw_object_stream) *s = sw_object_stream_new(projection);
    int rc = 0;
    for (size_t i = 0; i < n_pieces && rc == 0; i++)
        rc = sw_object_stream_feed(s, pieces[i].bytes, pieces[i].len_bytes, err);
    return rc < 0 ? rc : sw_object_stream_end(s, out, err);
}

const char *sw_stream_resource_version(const struct sw_stream *stream)
{
    return sw_json_str(stream->top, "", "metadata", "resourceVersion", NULL);
}

const char *sw_stream_continue(const struct sw_stream *stream)
{
    return sw_json_str(stream->top, "", "metadata", "continue", NULL);
}
