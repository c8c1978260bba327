/* Source: yaml.v2 2.4.0, decode.go, and sigs.k8s.io/yaml 1.3.0, yaml.go. */
#include "data/yaml/yaml_decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/base64.h"
#include "data/text/number.h"
#include "data/text/utf8.h"
#include "data/yaml/yaml_scalar.h"

static int read_node(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev);
static int read_pairs(struct sw_yaml_decoder *d);

/* The words of a sink that refused, at the place of what it refused. */
static int place(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev, int rc)
{
    return rc < 0 ? sw_place_wrap(d->err, rc, d->src.file, ev->place) : rc;
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

/* Which part of a document's nodes may come out of aliases. Source: yaml.v2 2.4.0, decode.go. */
static double allowed_alias_ratio(size_t n_nodes)
{
    const double low = 400000, high = 4000000;
    double n = (double)n_nodes;
    if (n <= low)
        return 0.99;
    return n >= high ? 0.10 : 0.99 - 0.89 * ((n - low) / (high - low));
}

static int count_node(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    d->n_nodes++;
    if (d->alias_depth == 0)
        return 0;
    d->n_alias_nodes++;
    d->alias_bytes += ev->len;
    if ((d->n_alias_nodes > 100 && d->n_nodes > 1000 &&
         (double)d->n_alias_nodes / (double)d->n_nodes > allowed_alias_ratio(d->n_nodes)) ||
        d->alias_bytes > d->max_alias_bytes)
        return sw_yaml_source_fail(&d->src, ev, "document contains excessive aliasing");
    return 0;
}

static int go_deeper(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    if (d->depth >= d->max_depth || !sw_stack_has_room())
        return sw_yaml_source_fail(&d->src, ev, "nested more than %d levels deep", d->depth);
    d->depth++;
    return 0;
}

/* ---- scalars -----------------------------------------------------------------------------------
 */

static const char *tag_name(enum sw_yaml_tag tag)
{
    static const char *const names[] = { "",       "!!str",       "!!bool",   "!!int",   "!!float",
                                         "!!null", "!!timestamp", "!!binary", "!!merge", "!" };
    return names[tag];
}

static enum sw_yaml_tag tag_of(const struct sw_yaml_scalar *is, const struct sw_yaml_event *ev)
{
    static const enum sw_yaml_tag tags[] = {
        [SW_YAML_STRING] = SW_TAG_STR, [SW_YAML_NULL] = SW_TAG_NULL, [SW_YAML_BOOL] = SW_TAG_BOOL,
        [SW_YAML_INT] = SW_TAG_INT,    [SW_YAML_UINT] = SW_TAG_INT,  [SW_YAML_FLOAT] = SW_TAG_FLOAT,
    };
    if (is->kind == SW_YAML_STRING && ev->tag == SW_TAG_TIMESTAMP &&
        sw_yaml_is_timestamp(ev->text, ev->len))
        return SW_TAG_TIMESTAMP;
    return tags[is->kind];
}

/* What a scalar is by its tag, quotes and text. @return 0, or an error: the text is no !!int */
static int resolve(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev,
                   struct sw_yaml_scalar *is)
{
    *is = (struct sw_yaml_scalar){ .kind = SW_YAML_STRING };
    if (ev->tag == SW_TAG_NONE) {
        if (ev->plain)
            *is = sw_yaml_resolve(ev->text, ev->len);
        return 0;
    }
    if (ev->tag == SW_TAG_STR || ev->tag >= SW_TAG_BINARY)
        return 0;
    *is = sw_yaml_resolve(ev->text, ev->len);
    enum sw_yaml_tag found = tag_of(is, ev);
    if (found == ev->tag)
        return 0;
    if (ev->tag == SW_TAG_FLOAT && is->kind == SW_YAML_INT) {
        *is = (struct sw_yaml_scalar){ .kind = SW_YAML_FLOAT, .d = (double)is->i };
        return 0;
    }
    return sw_yaml_source_fail(&d->src, ev, "cannot decode %s `%.*s` as a %s", tag_name(found),
                               ev->len > 100 ? 100 : (int)ev->len, ev->text, tag_name(ev->tag));
}

/* Bytes in base64 become text; what is no UTF-8 in them, U+FFFD, since JSON has no other bytes.
 * @return NULL: no base64. The caller's. */
static char *read_binary(const struct sw_yaml_event *ev, size_t *len)
{
    size_t n_bytes;
    SW_AUTO_CHARS *bytes = sw_base64_decode(ev->text, ev->len, &n_bytes);
    return bytes ? sw_utf8_mend(bytes, n_bytes, len) : NULL;
}

static int emit_float(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev, double v)
{
    const struct sw_sink *s = d->sink;
    if (!isfinite(v) && d->src.go_words)
        return sw_err_set(d->err, SW_INVALID, "json: unsupported value: %s",
                          isnan(v) ? "NaN"
                          : v < 0  ? "-Inf"
                                   : "+Inf");
    if (!isfinite(v))
        return sw_yaml_source_fail(&d->src, ev, "%.*s is no number in JSON", (int)ev->len,
                                   ev->text);
    /* through JSON: 1e3 is written 1000 there, and read as an integer */
    char text[SW_FLOAT_LEN];
    size_t len = sw_float_json(v, text);
    struct sw_number n = sw_number_classify(text, len);
    if (n.kind == SW_NUMBER_INT)
        return place(d, ev, s->ops->integer(s->arg, n.i, d->err));
    if (n.kind == SW_NUMBER_UINT)
        return place(d, ev, s->ops->natural(s->arg, n.u, d->err));
    return place(d, ev, s->ops->real(s->arg, v, text, len, d->err));
}

static int emit_string(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    const struct sw_sink *s = d->sink;
    if (ev->tag != SW_TAG_BINARY)
        return place(d, ev, s->ops->string(s->arg, ev->text, ev->len, d->err));
    size_t len;
    SW_AUTO_CHARS *text = read_binary(ev, &len);
    if (!text)
        return sw_yaml_source_fail(&d->src, ev, "!!binary value contains invalid base64 data");
    return place(d, ev, s->ops->string(s->arg, text, len, d->err));
}

static int read_scalar(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    struct sw_yaml_scalar is;
    int rc = resolve(d, ev, &is);
    if (rc < 0)
        return rc;
    const struct sw_sink *s = d->sink;
    switch (is.kind) {
    case SW_YAML_NULL:
        return place(d, ev, s->ops->null(s->arg, d->err));
    case SW_YAML_BOOL:
        return place(d, ev, s->ops->boolean(s->arg, is.b, d->err));
    case SW_YAML_INT:
        return place(d, ev, s->ops->integer(s->arg, is.i, d->err));
    case SW_YAML_UINT:
        return place(d, ev, s->ops->natural(s->arg, is.u, d->err));
    case SW_YAML_FLOAT:
        return emit_float(d, ev, is.d);
    case SW_YAML_STRING:
        break;
    }
    return emit_string(d, ev);
}

/* ---- aliases -----------------------------------------------------------------------------------
 */

/* Go back to an anchor's node and give its first event; leave with the returned position. */
static size_t enter_alias(struct sw_yaml_decoder *d, const struct sw_yaml_event *alias,
                          struct sw_yaml_event *first)
{
    struct sw_yaml_source *src = &d->src;
    size_t back = src->replay_at;
    src->replay_at = src->anchors[alias->anchor - 1].first;
    d->alias_depth++;
    (void)sw_yaml_source_next(src, first); /* a recorded one: cannot fail */
    return back;
}

static void leave_alias(struct sw_yaml_decoder *d, size_t back)
{
    d->alias_depth--;
    d->src.replay_at = back;
}

static int read_alias(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    int rc = go_deeper(d, ev);
    if (rc < 0)
        return rc;
    struct sw_yaml_event first;
    size_t back = enter_alias(d, ev, &first);
    rc = read_node(d, &first);
    leave_alias(d, back);
    d->depth--;
    return rc;
}

/* ---- keys --------------------------------------------------------------------------------------
 */

static int emit_key(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev, const char *text,
                    size_t len)
{
    if (!d->allow_duplicate && !sw_keyset_add(&d->keys, text, len))
        return sw_yaml_source_fail(&d->src, ev, "key '%.*s' is already set in this map",
                                   len > 100 ? 100 : (int)len, text);
    return place(d, ev, d->sink->ops->key(d->sink->arg, text, len, d->err));
}

/* Floats as sigs.k8s.io/yaml turns them into keys: with the precision of 32 bits. */
static size_t float_key(double v, char text[static SW_FLOAT_LEN])
{
    if (isfinite((float)v))
        return sw_float_go(v, 'g', 32, text);
    return (size_t)sprintf(text, "%s", isnan(v) ? ".nan" : v < 0 ? "-.inf" : ".inf");
}

static int read_key_scalar(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    struct sw_yaml_scalar is;
    int rc = resolve(d, ev, &is);
    if (rc < 0)
        return rc;
    char text[SW_FLOAT_LEN];
    switch (is.kind) {
    case SW_YAML_STRING:
        break;
    case SW_YAML_BOOL:
        return is.b ? emit_key(d, ev, "true", 4) : emit_key(d, ev, "false", 5);
    case SW_YAML_INT:
        return emit_key(d, ev, text, (size_t)sprintf(text, "%" PRId64, is.i));
    case SW_YAML_FLOAT:
        return emit_key(d, ev, text, float_key(is.d, text));
    case SW_YAML_NULL:
    case SW_YAML_UINT:
        return sw_yaml_source_fail(&d->src, ev, "%s cannot be a key",
                                   is.kind == SW_YAML_NULL ? "null" : "so large a number");
    }
    if (ev->tag != SW_TAG_BINARY)
        return emit_key(d, ev, ev->text, ev->len);
    size_t len;
    SW_AUTO_CHARS *bytes = read_binary(ev, &len);
    if (!bytes)
        return sw_yaml_source_fail(&d->src, ev, "!!binary value contains invalid base64 data");
    return emit_key(d, ev, bytes, len);
}

static int read_key(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    int rc = count_node(d, ev);
    if (rc < 0)
        return rc;
    if (ev->type == YAML_SCALAR_EVENT) {
        rc = read_key_scalar(d, ev);
        sw_yaml_source_close(&d->src, ev);
        return rc;
    }
    if (ev->type != YAML_ALIAS_EVENT)
        return sw_yaml_source_fail(&d->src, ev, "a map or list cannot be a key");
    struct sw_yaml_event first;
    size_t back = enter_alias(d, ev, &first);
    rc = go_deeper(d, ev);
    if (rc == 0) {
        rc = read_key(d, &first);
        d->depth--;
    }
    leave_alias(d, back);
    return rc;
}

/* ---- merges: `<<: *base`, `<<: [*a, *b]` --------------------------------------------------------
 */

static bool is_merge(const struct sw_yaml_event *ev)
{
    return ev->type == YAML_SCALAR_EVENT && ev->len == 2 && memcmp(ev->text, "<<", 2) == 0 &&
           (ev->plain || ev->tag == SW_TAG_MERGE);
}

static int fail_merge(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    return sw_yaml_source_fail(&d->src, ev,
                               "map merge requires map or sequence of maps as the value");
}

/* The pairs of one map, as if they stood in the open one. */
static int merge_map(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    int rc = count_node(d, ev);
    if (rc < 0)
        return rc;
    if (ev->type == YAML_MAPPING_START_EVENT) {
        rc = go_deeper(d, ev);
        if (rc < 0)
            return rc;
        if (!d->allow_duplicate)
            sw_keyset_enter(&d->keys);
        rc = read_pairs(d);
        if (!d->allow_duplicate)
            sw_keyset_leave(&d->keys);
        d->depth--;
        sw_yaml_source_close(&d->src, ev);
        return rc;
    }
    if (ev->type != YAML_ALIAS_EVENT ||
        d->src.anchors[ev->anchor - 1].type != YAML_MAPPING_START_EVENT)
        return fail_merge(d, ev);
    struct sw_yaml_event first;
    size_t back = enter_alias(d, ev, &first);
    rc = merge_map(d, &first);
    leave_alias(d, back);
    return rc;
}

/* A list of maps: the first has precedence, so the last is merged first. The list is recorded, its
 * elements played from there. */
static int merge_list(struct sw_yaml_decoder *d, const struct sw_yaml_event *list)
{
    struct sw_yaml_source *src = &d->src;
    size_t *starts = NULL, n = 0, cap = 0;
    bool live = src->replay_at == SIZE_MAX;
    src->recording += live;
    int rc = 0;
    for (;;) {
        size_t at = live ? src->n_recorded : src->replay_at;
        struct sw_yaml_event ev;
        rc = sw_yaml_source_next(src, &ev);
        if (rc < 0 || ev.type == YAML_SEQUENCE_END_EVENT)
            break;
        SW_GROW(starts, n, cap);
        starts[n++] = at;
        rc = sw_yaml_source_skip(src, &ev, d->max_depth);
        if (rc < 0)
            break;
    }
    src->recording -= live;
    size_t back = src->replay_at;
    while (rc == 0 && n > 0) {
        src->replay_at = starts[--n];
        struct sw_yaml_event ev;
        (void)sw_yaml_source_next(src, &ev); /* a recorded one: cannot fail */
        rc = merge_map(d, &ev);
    }
    src->replay_at = back;
    free(starts);
    sw_yaml_source_close(src, list);
    return rc;
}

static int read_merge(struct sw_yaml_decoder *d)
{
    struct sw_yaml_event ev;
    int rc = sw_yaml_source_next(&d->src, &ev);
    if (rc < 0)
        return rc;
    if (ev.type == YAML_SEQUENCE_START_EVENT)
        return merge_list(d, &ev);
    return merge_map(d, &ev);
}

/* ---- maps and lists ----------------------------------------------------------------------------
 */

static int read_pairs(struct sw_yaml_decoder *d)
{
    for (;;) {
        struct sw_yaml_event key, value;
        int rc = sw_yaml_source_next(&d->src, &key);
        if (rc < 0 || key.type == YAML_MAPPING_END_EVENT)
            return rc;
        if (is_merge(&key)) {
            sw_yaml_source_close(&d->src, &key);
            rc = read_merge(d);
        } else {
            rc = read_key(d, &key);
            if (rc == 0)
                rc = sw_yaml_source_next(&d->src, &value);
            if (rc == 0)
                rc = read_node(d, &value);
        }
        if (rc < 0)
            return rc;
    }
}

static int read_map(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    const struct sw_sink *s = d->sink;
    int rc = place(d, ev, s->ops->begin_map(s->arg, d->err));
    if (rc < 0)
        return rc;
    if (!d->allow_duplicate)
        sw_keyset_enter(&d->keys);
    rc = read_pairs(d);
    if (!d->allow_duplicate)
        sw_keyset_leave(&d->keys);
    return rc < 0 ? rc : place(d, ev, s->ops->end_map(s->arg, d->err));
}

static int read_list(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    const struct sw_sink *s = d->sink;
    int rc = place(d, ev, s->ops->begin_list(s->arg, d->err));
    while (rc == 0) {
        struct sw_yaml_event item;
        rc = sw_yaml_source_next(&d->src, &item);
        if (rc == 0 && item.type == YAML_SEQUENCE_END_EVENT)
            return place(d, ev, s->ops->end_list(s->arg, d->err));
        if (rc == 0)
            rc = read_node(d, &item);
    }
    return rc;
}

static int read_node(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    int rc = count_node(d, ev);
    if (rc < 0)
        return rc;
    if (ev->type == YAML_ALIAS_EVENT)
        return read_alias(d, ev);
    if (ev->type == YAML_SCALAR_EVENT) {
        rc = read_scalar(d, ev);
    } else {
        rc = go_deeper(d, ev);
        if (rc < 0)
            return rc;
        rc = ev->type == YAML_MAPPING_START_EVENT ? read_map(d, ev) : read_list(d, ev);
        d->depth--;
    }
    sw_yaml_source_close(&d->src, ev);
    return rc;
}

/* ---- documents ---------------------------------------------------------------------------------
 */

int sw_yaml_decode(struct sw_yaml_decoder *d, int *line)
{
    struct sw_yaml_event ev;
    do {
        int rc = sw_yaml_source_next(&d->src, &ev);
        if (rc < 0)
            return rc;
        if (ev.type == YAML_STREAM_END_EVENT)
            return 0;
    } while (ev.type != YAML_DOCUMENT_START_EVENT);
    sw_yaml_source_reset(&d->src);
    d->n_nodes = 1; /* the document itself */
    d->n_alias_nodes = 0;
    int rc = sw_yaml_source_next(&d->src, &ev);
    *line = ev.place.line;
    if (rc == 0)
        rc = read_node(d, &ev);
    if (rc == 0)
        rc = sw_yaml_source_next(&d->src, &ev); /* its end: what follows must be one too */
    return rc < 0 ? rc : 1;
}
