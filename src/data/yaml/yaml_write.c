/* Documents to YAML text, as gopkg.in/yaml.v2 2.4.0 emits it. */
#include "data/yaml/yaml.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/text/base64.h"
#include "data/text/buffer.h"
#include "data/text/number.h"
#include "data/text/utf8.h"
#include "data/yaml/yaml_emit.h"
#include "data/yaml/yaml_reread.h"
#include "data/yaml/yaml_scalar.h"

enum frame_kind { FRAME_LIST, FRAME_MAP };

/* A map or list whose first element has been written. */
struct frame {
    enum frame_kind kind;
    int outer_indent;
    bool simple_key; /* of a map: the key that was written is on the ':' line */
};

struct sw_yaml_writer {
    struct sw_sink sink;
    struct sw_yaml_writer_opts opts;
    struct sw_yaml_out o;
    struct frame *frames;
    size_t n_frames, cap_frames;
    /* a map or list that was begun: with its first element it is a block, without any it is {} */
    bool pending;
    enum frame_kind pending_kind;
    bool in_map; /* the node being written is a map's value */
};

/* Base64 in lines of 70 characters. Source: yaml.v2 2.4.0, resolve.go. */
static char *encode_binary(const char *text, size_t len, size_t *out_len)
{
    enum { LINE = 70 };
    size_t n;
    SW_AUTO_CHARS *plain = sw_base64_encode(text, len, &n);
    struct sw_buffer out = { 0 };
    for (size_t i = 0; i < n; i += LINE) {
        sw_buffer_put(&out, plain + i, n - i < LINE ? n - i : LINE);
        if (n >= LINE)
            sw_buffer_char(&out, '\n');
    }
    return sw_buffer_take(&out, out_len);
}

/* A text as a value, or as a key of the innermost map. */
static void put_text(struct sw_yaml_writer *w, const char *text, size_t len, bool is_key)
{
    enum { LONGEST_KEY = 128 };
    SW_AUTO_CHARS *base64 = NULL;
    bool multiline, simple = is_key;
    size_t tag_len = 0;
    if (!sw_utf8_valid(text, len)) {
        text = base64 = encode_binary(text, len, &len);
        tag_len = strlen("!!binary");
    }
    enum sw_yaml_style style = sw_yaml_choose_style(text, len, is_key, w->opts.pretty, &multiline);
    /* bare it would be a merge; yaml.v2 writes it so all the same, and so does toYaml */
    if (is_key && len == 2 && memcmp(text, "<<", 2) == 0 && !w->opts.as_marshal && !w->opts.pretty)
        style = SW_STYLE_DOUBLE;
    if (base64) /* its text is never taken for anything else */
        style = multiline ? SW_STYLE_LITERAL : SW_STYLE_PLAIN;
    if (is_key) {
        simple = !multiline && len + tag_len <= LONGEST_KEY;
        if (!simple) {
            sw_yaml_put_indicator(&w->o, '?');
            if (!base64)
                style = sw_yaml_choose_style(text, len, false, w->opts.pretty, &multiline);
        }
        w->frames[w->n_frames - 1].simple_key = simple;
    }
    if (base64)
        sw_yaml_put_token(&w->o, "!!binary", tag_len);
    sw_yaml_put_styled(&w->o, text, len, style, simple);
}

/* ---- the tree ----------------------------------------------------------------------------------
 */

static void open_block(struct sw_yaml_writer *w)
{
    SW_GROW(w->frames, w->n_frames, w->cap_frames);
    w->frames[w->n_frames++] = (struct frame){ .kind = w->pending_kind,
                                               .outer_indent = w->o.indent };
    /* a list that is a map's value stands under its key, not indented */
    bool indentless = w->pending_kind == FRAME_LIST && w->in_map && !w->o.indention &&
                      !w->opts.pretty;
    if (w->o.indent < 0)
        w->o.indent = 0;
    else if (!indentless)
        w->o.indent += SW_YAML_INDENT;
    w->pending = false;
}

/* Refuse text that would be longer than opts.max_bytes with @more bytes. */
static int check_size(const struct sw_yaml_writer *w, size_t more, struct sw_err *err)
{
    size_t max = w->opts.max_bytes;
    if (max == 0 || (more <= max && w->o.text.len <= max - more))
        return 0;
    return sw_err_set(err, SW_INVALID, "more than %zu bytes of YAML", max);
}

/* What stands in front of a value. */
static void before_value(struct sw_yaml_writer *w)
{
    if (w->pending)
        open_block(w);
    w->in_map = false;
    if (w->n_frames == 0)
        return;
    const struct frame *f = &w->frames[w->n_frames - 1];
    if (f->kind == FRAME_LIST) {
        sw_yaml_put_indent(&w->o);
        sw_yaml_put_indicator(&w->o, '-');
        return;
    }
    w->in_map = true;
    if (f->simple_key) {
        sw_yaml_put_char(&w->o, ':');
        w->o.whitespace = w->o.indention = false;
    } else {
        sw_yaml_put_indent(&w->o);
        sw_yaml_put_indicator(&w->o, ':');
    }
}

static int put_word(struct sw_yaml_writer *w, const char *text, size_t len, struct sw_err *err)
{
    if (check_size(w, len, err) < 0)
        return SW_INVALID;
    before_value(w);
    sw_yaml_put_token(&w->o, text, len);
    return 0;
}

static int on_null(void *arg, struct sw_err *err)
{
    return put_word(arg, "null", 4, err);
}

static int on_boolean(void *arg, bool value, struct sw_err *err)
{
    return value ? put_word(arg, "true", 4, err) : put_word(arg, "false", 5, err);
}

static int on_integer(void *arg, int64_t value, struct sw_err *err)
{
    char text[24];
    return put_word(arg, text, (size_t)sprintf(text, "%" PRId64, value), err);
}

static int on_natural(void *arg, uint64_t value, struct sw_err *err)
{
    char text[24];
    return put_word(arg, text, (size_t)sprintf(text, "%" PRIu64, value), err);
}

static int on_real(void *arg, double value, SW_UNUSED const char *text, SW_UNUSED size_t len_bytes,
                   struct sw_err *err)
{
    /* through JSON: what has no fraction there is an integer to YAML */
    char plain[SW_FLOAT_LEN];
    if (((struct sw_yaml_writer *)arg)->opts.pretty)
        return put_word(arg, plain, sw_float_go(value, 'g', 64, plain), err);
    size_t len = sw_float_json(value, plain);
    struct sw_yaml_scalar is = sw_yaml_resolve(plain, len);
    if (is.kind == SW_YAML_INT)
        return on_integer(arg, is.i, err);
    if (is.kind == SW_YAML_UINT)
        return on_natural(arg, is.u, err);
    return put_word(arg, plain, sw_float_go(value, 'g', 64, plain), err);
}

static int on_string(void *arg, const char *text, size_t len_bytes, struct sw_err *err)
{
    struct sw_yaml_writer *w = arg;
    SW_AUTO_CHARS *reread = NULL;
    if (w->opts.as_marshal) {
        int rc = sw_yaml_reread(&text, &len_bytes, false, &reread, err);
        if (rc < 0)
            return rc;
    }
    if (check_size(w, len_bytes, err) < 0)
        return SW_INVALID;
    before_value(w);
    put_text(w, text, len_bytes, false);
    return 0;
}

static int on_key(void *arg, const char *text, size_t len_bytes, struct sw_err *err)
{
    struct sw_yaml_writer *w = arg;
    SW_AUTO_CHARS *reread = NULL;
    if (w->opts.as_marshal) {
        int rc = sw_yaml_reread(&text, &len_bytes, true, &reread, err);
        if (rc < 0)
            return rc;
    }
    if (w->pending)
        open_block(w);
    sw_yaml_put_indent(&w->o);
    put_text(w, text, len_bytes, true);
    return 0;
}

static int begin(struct sw_yaml_writer *w, enum frame_kind kind)
{
    before_value(w);
    w->pending = true;
    w->pending_kind = kind;
    return 0;
}

static int end(struct sw_yaml_writer *w, const char *empty)
{
    if (w->pending) {
        w->pending = false;
        sw_yaml_put_token(&w->o, empty, 2);
        return 0;
    }
    w->o.indent = w->frames[--w->n_frames].outer_indent;
    return 0;
}

static int on_begin_map(void *arg, SW_UNUSED struct sw_err *err)
{
    return begin(arg, FRAME_MAP);
}

static int on_end_map(void *arg, SW_UNUSED struct sw_err *err)
{
    return end(arg, "{}");
}

static int on_begin_list(void *arg, SW_UNUSED struct sw_err *err)
{
    return begin(arg, FRAME_LIST);
}

static int on_end_list(void *arg, SW_UNUSED struct sw_err *err)
{
    return end(arg, "[]");
}

static const struct sw_sink_ops writer_ops = {
    .null = on_null,
    .boolean = on_boolean,
    .integer = on_integer,
    .natural = on_natural,
    .real = on_real,
    .string = on_string,
    .begin_map = on_begin_map,
    .key = on_key,
    .end_map = on_end_map,
    .begin_list = on_begin_list,
    .end_list = on_end_list,
};

/* ---- the writer --------------------------------------------------------------------------------
 */

static void restart(struct sw_yaml_writer *w)
{
    w->n_frames = 0;
    w->o.indent = -1;
    w->o.column = 0;
    w->o.whitespace = w->o.indention = true;
    w->pending = w->in_map = false;
}

struct sw_yaml_writer *sw_yaml_writer_new(const struct sw_yaml_writer_opts *opts)
{
    struct sw_yaml_writer *w = sw_zalloc(1, sizeof *w);
    w->sink = (struct sw_sink){ .ops = &writer_ops, .arg = w };
    if (opts)
        w->opts = *opts;
    w->o.like_v3 = w->opts.pretty;
    w->o.width = w->opts.pretty ? INT_MAX : SW_YAML_WIDTH;
    restart(w);
    return w;
}

void sw_yaml_writer_free(struct sw_yaml_writer *writer)
{
    if (!writer)
        return;
    free(writer->o.text.text);
    free(writer->frames);
    free(writer);
}

const struct sw_sink *sw_yaml_writer_sink(struct sw_yaml_writer *writer)
{
    return &writer->sink;
}

char *sw_yaml_writer_take(struct sw_yaml_writer *writer, size_t *len_bytes)
{
    sw_yaml_put_indent(&writer->o); /* ends the last line */
    restart(writer);
    return sw_buffer_take(&writer->o.text, len_bytes);
}

char *sw_yaml_text(struct json_object *doc, size_t *len_bytes)
{
    SW_AUTO(sw_yaml_writer) *w = sw_yaml_writer_new(NULL);
    (void)sw_json_walk(doc, sw_yaml_key_cmp, &w->sink, NULL); /* without as_marshal none fails */
    return sw_yaml_writer_take(w, len_bytes);
}

int sw_yaml_marshal(struct json_object *doc, char **out, size_t *len_bytes, struct sw_err *err)
{
    const struct sw_yaml_writer_opts opts = { .as_marshal = true };
    SW_AUTO(sw_yaml_writer) *w = sw_yaml_writer_new(&opts);
    int rc = sw_json_walk(doc, sw_yaml_key_cmp, &w->sink, err);
    if (rc < 0)
        return rc;
    *out = sw_yaml_writer_take(w, len_bytes);
    return 0;
}
