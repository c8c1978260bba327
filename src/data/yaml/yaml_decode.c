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

/* The message of a sink that refused a node, with the node's place. */
static int place(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev, int rc)
{
    return rc < 0 ? sw_place_wrap(d->err, rc, d->src.file, ev->place) : rc;
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

static int count_node(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    d->n_nodes++;
    if (d->alias_depth == 0)
        return 0;
    d->n_alias_nodes++;
    d->alias_bytes += ev->len;
    /* the part of the nodes that aliases may give. Source: yaml.v2 2.4.0, decode.go. */
    const double low = 400000, high = 4000000, n = (double)d->n_nodes;
    double allowed = n <= low ? 0.99 : n >= high ? 0.10 : 0.99 - 0.89 * ((n - low) / (high - low));
    if ((d->n_alias_nodes > 100 && d->n_nodes > 1000 && (double)d->n_alias_nodes / n > allowed) ||
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

/* What a scalar is by its tag, quotes and text. @return 0, or an error: the text is no !!int */
static int resolve(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev,
                   struct sw_yaml_scalar *is)
{
    static const enum sw_yaml_tag tags[] = {
        [SW_YAML_STRING] = SW_TAG_STR, [SW_YAML_NULL] = SW_TAG_NULL, [SW_YAML_BOOL] = SW_TAG_BOOL,
        [SW_YAML_INT] = SW_TAG_INT,    [SW_YAML_UINT] = SW_TAG_INT,  [SW_YAML_FLOAT] = SW_TAG_FLOAT,
    };
    *is = (struct sw_yaml_scalar){ .kind = SW_YAML_STRING };
    if (ev->tag == SW_TAG_NONE) {
        if (ev->plain)
            *is = sw_yaml_resolve(ev->text, ev->len);
        return 0;
    }
    if (ev->tag == SW_TAG_STR || ev->tag >= SW_TAG_BINARY)
        return 0;
    *is = sw_yaml_resolve(ev->text, ev->len);
    enum sw_yaml_tag found = tags[is->kind];
    if (found == ev->tag || (ev->tag == SW_TAG_TIMESTAMP && found == SW_TAG_STR &&
                             sw_yaml_is_timestamp(ev->text, ev->len)))
        return 0;
    if (ev->tag == SW_TAG_FLOAT && is->kind == SW_YAML_INT) {
        *is = (struct sw_yaml_scalar){ .kind = SW_YAML_FLOAT, .d = (double)is->i };
        return 0;
    }
    return sw_yaml_source_fail(&d->src, ev, "cannot decode %s `%.*s` as a %s", tag_name(found),
                               ev->len > 100 ? 100 : (int)ev->len, ev->text, tag_name(ev->tag));
}

/* The text of a string: its own, or the bytes of a !!binary, in which U+FFFD stands for what is not
 * UTF-8, since JSON has no other bytes. @*heap: freed by the caller. */
static int string_of(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev, const char **text,
                     size_t *len, char **heap)
{
    *text = ev->text;
    *len = ev->len;
    if (ev->tag != SW_TAG_BINARY)
        return 0;
    size_t n_bytes;
    SW_AUTO_CHARS *bytes = sw_base64_decode(ev->text, ev->len, &n_bytes);
    if (!bytes)
        return sw_yaml_source_fail(&d->src, ev, "!!binary value contains invalid base64 data");
    *text = *heap = sw_utf8_mend(bytes, n_bytes, len);
    return 0;
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

static int read_scalar(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    struct sw_yaml_scalar is;
    int rc = resolve(d, ev, &is);
    if (rc < 0)
        return rc;
    const struct sw_sink *s = d->sink;
    SW_AUTO_CHARS *heap = NULL;
    const char *text;
    size_t len;
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
    rc = string_of(d, ev, &text, &len, &heap);
    return rc < 0 ? rc : place(d, ev, s->ops->string(s->arg, text, len, d->err));
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

static int read_key_scalar(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    struct sw_yaml_scalar is;
    int rc = resolve(d, ev, &is);
    if (rc < 0)
        return rc;
    char number[SW_FLOAT_LEN];
    SW_AUTO_CHARS *heap = NULL;
    const char *text;
    size_t len;
    switch (is.kind) {
    case SW_YAML_STRING:
        break;
    case SW_YAML_BOOL:
        return is.b ? emit_key(d, ev, "true", 4) : emit_key(d, ev, "false", 5);
    case SW_YAML_INT:
        return emit_key(d, ev, number, (size_t)sprintf(number, "%" PRId64, is.i));
    case SW_YAML_FLOAT: /* as sigs.k8s.io/yaml: with the precision of 32 bits */
        if (isfinite((float)is.d))
            return emit_key(d, ev, number, sw_float_go(is.d, 'g', 32, number));
        text = isnan(is.d) ? ".nan" : is.d < 0 ? "-.inf" : ".inf";
        return emit_key(d, ev, text, strlen(text));
    case SW_YAML_NULL:
    case SW_YAML_UINT:
        return sw_yaml_source_fail(&d->src, ev, "%s cannot be a key",
                                   is.kind == SW_YAML_NULL ? "null" : "so large a number");
    }
    rc = string_of(d, ev, &text, &len, &heap);
    return rc < 0 ? rc : emit_key(d, ev, text, len);
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

/* The pairs of a map, with their keys checked for duplicates. */
static int read_scope(struct sw_yaml_decoder *d)
{
    if (d->allow_duplicate)
        return read_pairs(d);
    sw_keyset_enter(&d->keys);
    int rc = read_pairs(d);
    sw_keyset_leave(&d->keys);
    return rc;
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
        rc = read_scope(d);
        d->depth--;
        sw_yaml_source_close(&d->src, ev);
        return rc;
    }
    if (ev->type != YAML_ALIAS_EVENT ||
        d->src.anchors[ev->anchor - 1].type != YAML_MAPPING_START_EVENT)
        return sw_yaml_source_fail(&d->src, ev,
                                   "map merge requires map or sequence of maps as the value");
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

/* ---- maps and lists ----------------------------------------------------------------------------
 */

static int read_pairs(struct sw_yaml_decoder *d)
{
    for (;;) {
        struct sw_yaml_event key, value;
        int rc = sw_yaml_source_next(&d->src, &key);
        if (rc < 0 || key.type == YAML_MAPPING_END_EVENT)
            return rc;
        bool merge = is_merge(&key);
        if (merge)
            sw_yaml_source_close(&d->src, &key);
        else
            rc = read_key(d, &key);
        if (rc == 0)
            rc = sw_yaml_source_next(&d->src, &value);
        if (rc == 0)
            rc = !merge                                    ? read_node(d, &value)
                 : value.type == YAML_SEQUENCE_START_EVENT ? merge_list(d, &value)
                                                           : merge_map(d, &value);
        if (rc < 0)
            return rc;
    }
}

static int read_map(struct sw_yaml_decoder *d, const struct sw_yaml_event *ev)
{
    const struct sw_sink *s = d->sink;
    int rc = place(d, ev, s->ops->begin_map(s->arg, d->err));
    if (rc == 0)
        rc = read_scope(d);
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
    if (ev->type == YAML_SCALAR_EVENT) {
        rc = read_scalar(d, ev);
        sw_yaml_source_close(&d->src, ev);
        return rc;
    }
    rc = go_deeper(d, ev);
    if (rc < 0)
        return rc;
    if (ev->type == YAML_ALIAS_EVENT) {
        struct sw_yaml_event first;
        size_t back = enter_alias(d, ev, &first);
        rc = read_node(d, &first);
        leave_alias(d, back);
    } else {
        rc = ev->type == YAML_MAPPING_START_EVENT ? read_map(d, ev) : read_list(d, ev);
        sw_yaml_source_close(&d->src, ev);
    }
    d->depth--;
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
