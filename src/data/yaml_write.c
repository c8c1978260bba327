/* Documents to YAML text, as gopkg.in/yaml.v2 2.4.0 emits it. */
#include "data/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/base64.h"
#include "data/buffer.h"
#include "data/json.h"
#include "data/number.h"
#include "data/utf8.h"
#include "data/yaml_reread.h"
#include "data/yaml_scalar.h"
#include "data/yaml_style.h"

enum { BEST_INDENT = 2, BEST_WIDTH = 80 };

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
    struct sw_buffer out;
    struct frame *frames;
    size_t n_frames, cap_frames;
    int indent;      /* -1 at the root */
    int column;      /* in characters */
    bool whitespace; /* what was written last separates */
    bool indention;  /* nothing but indentation and '-', '?', ':' is on this line yet */
    /* a map or list that was begun: with its first element it is a block, without any it is {} */
    bool pending;
    enum frame_kind pending_kind;
    bool in_map; /* the node being written is a map's value */
};

/* ---- characters --------------------------------------------------------------------------------
 */

static void put_char(struct sw_yaml_writer *w, char c)
{
    sw_buffer_char(&w->out, c);
    w->column++;
}

static void put_break(struct sw_yaml_writer *w)
{
    sw_buffer_char(&w->out, '\n');
    w->column = 0;
}

static void put_ascii(struct sw_yaml_writer *w, const char *text, size_t len)
{
    sw_buffer_put(&w->out, text, len);
    w->column += (int)len;
}

/* The character at @p as it is. @return its length */
static size_t put_rune(struct sw_yaml_writer *w, const char *p, const char *end)
{
    size_t n = 1;
    while (p + n < end && ((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    sw_buffer_put(&w->out, p, n);
    w->column++;
    return n;
}

static void put_indent(struct sw_yaml_writer *w)
{
    int indent = w->indent > 0 ? w->indent : 0;
    if (!w->indention || w->column > indent || (w->column == indent && !w->whitespace))
        put_break(w);
    if (w->column < indent) {
        sw_buffer_fill(&w->out, ' ', (size_t)(indent - w->column));
        w->column = indent;
    }
    w->whitespace = w->indention = true;
}

static void put_space(struct sw_yaml_writer *w)
{
    if (!w->whitespace)
        put_char(w, ' ');
}

/* '-', '?' and the ':' of a long key keep a line's indentation open. */
static void put_block_indicator(struct sw_yaml_writer *w, char c)
{
    put_space(w);
    put_char(w, c);
    w->whitespace = false;
}

static void put_token(struct sw_yaml_writer *w, const char *text, size_t len)
{
    put_space(w);
    put_ascii(w, text, len);
    w->whitespace = w->indention = false;
}

/* ---- scalars -----------------------------------------------------------------------------------
 */

/* A line break inside of a scalar, and the second one that folding needs before the first. */
static size_t put_scalar_break(struct sw_yaml_writer *w, const char *p, const char *end,
                               bool first_of_run)
{
    size_t n = sw_yaml_break_len(p, end);
    if (*p == '\n') {
        if (first_of_run)
            put_break(w);
        put_break(w);
    } else {
        sw_buffer_put(&w->out, p, n);
        w->column = 0;
    }
    w->indention = true;
    return n;
}

/* Plain and single quoted: the same save for the quotes. */
static void put_flow_text(struct sw_yaml_writer *w, const char *text, const char *end, bool wrap,
                          bool quoted)
{
    bool spaces = false, breaks = false;
    for (const char *p = text; p < end;) {
        if (*p == ' ') {
            bool inner = !quoted || (p > text && p < end - 1);
            if (wrap && !spaces && w->column > BEST_WIDTH && inner && p[1] != ' ') {
                put_indent(w);
                p++;
            } else {
                put_char(w, *p++);
            }
            spaces = true;
        } else if (sw_yaml_break_len(p, end)) {
            p += put_scalar_break(w, p, end, !breaks);
            breaks = true;
        } else {
            if (breaks)
                put_indent(w);
            if (quoted && *p == '\'')
                put_char(w, '\'');
            p += put_rune(w, p, end);
            w->indention = spaces = breaks = false;
        }
    }
}

static char escape_letter(uint32_t rune)
{
    static const struct {
        uint32_t rune;
        char letter;
    } letters[] = {
        { 0x00, '0' },  { 0x07, 'a' }, { 0x08, 'b' }, { 0x09, 't' },   { 0x0a, 'n' },
        { 0x0b, 'v' },  { 0x0c, 'f' }, { 0x0d, 'r' }, { 0x1b, 'e' },   { '"', '"' },
        { '\\', '\\' }, { 0x85, 'N' }, { 0xa0, '_' }, { 0x2028, 'L' }, { 0x2029, 'P' },
    };
    for (size_t i = 0; i < SW_COUNT(letters); i++)
        if (letters[i].rune == rune)
            return letters[i].letter;
    return 0;
}

static size_t put_escape(struct sw_yaml_writer *w, const char *p, const char *end)
{
    uint32_t rune;
    size_t n = sw_utf8_decode(p, end, &rune, NULL);
    char text[16], letter = escape_letter(rune);
    int len = letter           ? sprintf(text, "\\%c", letter)
              : rune <= 0xff   ? sprintf(text, "\\x%02X", rune)
              : rune <= 0xffff ? sprintf(text, "\\u%04X", rune)
                               : sprintf(text, "\\U%08X", rune);
    put_ascii(w, text, (size_t)len);
    return n;
}

static bool must_escape(const char *p, const char *end)
{
    return *p == '"' || *p == '\\' || !sw_yaml_is_printable(p) || sw_yaml_break_len(p, end);
}

static void put_double(struct sw_yaml_writer *w, const char *text, const char *end, bool wrap)
{
    /* yaml.v2 looks for the byte order mark at the text's beginning, wherever it is in the text */
    bool bom = end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0, spaces = false;
    put_space(w);
    put_char(w, '"');
    w->whitespace = w->indention = false;
    for (const char *p = text; p < end;) {
        if (bom || must_escape(p, end)) {
            p += put_escape(w, p, end);
            spaces = false;
        } else if (*p == ' ') {
            if (wrap && !spaces && w->column > BEST_WIDTH && p > text && p < end - 1) {
                put_indent(w);
                if (p[1] == ' ')
                    put_char(w, '\\');
                p++;
            } else {
                put_char(w, *p++);
            }
            spaces = true;
        } else {
            p += put_rune(w, p, end);
            spaces = false;
        }
    }
    put_char(w, '"');
    w->whitespace = w->indention = false;
}

/* The last character's first byte before @end. */
static const char *step_back(const char *end)
{
    do
        end--;
    while (((unsigned char)*end & 0xc0) == 0x80);
    return end;
}

/* What stands behind '|': an explicit indentation where the text begins with a blank, '-' where it
 * ends without a line end, '+' where with more than one. */
static void put_literal_hints(struct sw_yaml_writer *w, const char *text, const char *end)
{
    if (*text == ' ' || sw_yaml_break_len(text, end))
        put_char(w, '0' + BEST_INDENT);
    const char *last = step_back(end);
    if (!sw_yaml_break_len(last, end))
        put_char(w, '-');
    else if (last == text || sw_yaml_break_len(step_back(last), end))
        put_char(w, '+');
}

static void put_literal(struct sw_yaml_writer *w, const char *text, const char *end)
{
    put_space(w);
    put_char(w, '|');
    put_literal_hints(w, text, end);
    put_break(w);
    w->indention = w->whitespace = true;
    bool breaks = true;
    for (const char *p = text; p < end;) {
        if (sw_yaml_break_len(p, end)) {
            p += put_scalar_break(w, p, end, false);
            breaks = true;
            continue;
        }
        if (breaks)
            put_indent(w);
        const char *run = p;
        while (p < end && !sw_yaml_break_len(p, end))
            p++;
        sw_buffer_put(&w->out, run, (size_t)(p - run));
        w->column++; /* how far does not matter in a literal, but that it is not 0 does */
        w->indention = breaks = false;
    }
}

static void put_styled(struct sw_yaml_writer *w, const char *text, size_t len,
                       enum sw_yaml_style style, bool as_key)
{
    const char *end = text + len;
    int outer = w->indent;
    w->indent = outer < 0 ? BEST_INDENT : outer + BEST_INDENT;
    switch (style) {
    case SW_STYLE_PLAIN:
        put_space(w);
        put_flow_text(w, text, end, !as_key, false);
        w->whitespace = w->indention = false;
        break;
    case SW_STYLE_SINGLE:
        put_space(w);
        put_char(w, '\'');
        w->whitespace = w->indention = false;
        put_flow_text(w, text, end, !as_key, true);
        put_char(w, '\'');
        w->whitespace = w->indention = false;
        break;
    case SW_STYLE_DOUBLE:
        put_double(w, text, end, !as_key);
        break;
    case SW_STYLE_LITERAL:
        put_literal(w, text, end);
        break;
    }
    w->indent = outer;
}

/* Base64 in lines of 70. Source: yaml.v2 2.4.0, resolve.go. */
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
    enum sw_yaml_style style = sw_yaml_choose_style(text, len, is_key, &multiline);
    if (base64) /* its text is never taken for anything else */
        style = multiline ? SW_STYLE_LITERAL : SW_STYLE_PLAIN;
    if (is_key) {
        simple = !multiline && len + tag_len <= LONGEST_KEY;
        if (!simple) {
            put_block_indicator(w, '?');
            if (!base64)
                style = sw_yaml_choose_style(text, len, false, &multiline);
        }
        w->frames[w->n_frames - 1].simple_key = simple;
    }
    if (base64)
        put_token(w, "!!binary", tag_len);
    put_styled(w, text, len, style, simple);
}

/* ---- the tree ----------------------------------------------------------------------------------
 */

static void open_block(struct sw_yaml_writer *w)
{
    SW_GROW(w->frames, w->n_frames, w->cap_frames);
    w->frames[w->n_frames++] = (struct frame){ .kind = w->pending_kind, .outer_indent = w->indent };
    /* a list that is a map's value stands under its key, not indented */
    bool indentless = w->pending_kind == FRAME_LIST && w->in_map && !w->indention;
    if (w->indent < 0)
        w->indent = 0;
    else if (!indentless)
        w->indent += BEST_INDENT;
    w->pending = false;
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
        put_indent(w);
        put_block_indicator(w, '-');
        return;
    }
    w->in_map = true;
    if (f->simple_key) {
        put_char(w, ':');
        w->whitespace = w->indention = false;
    } else {
        put_indent(w);
        put_block_indicator(w, ':');
    }
}

static int put_word(struct sw_yaml_writer *w, const char *text, size_t len)
{
    before_value(w);
    put_token(w, text, len);
    return 0;
}

static int on_null(void *arg, SW_UNUSED struct sw_err *err)
{
    return put_word(arg, "null", 4);
}

static int on_boolean(void *arg, bool value, SW_UNUSED struct sw_err *err)
{
    return value ? put_word(arg, "true", 4) : put_word(arg, "false", 5);
}

static int on_integer(void *arg, int64_t value, SW_UNUSED struct sw_err *err)
{
    char text[24];
    return put_word(arg, text, (size_t)sprintf(text, "%" PRId64, value));
}

static int on_natural(void *arg, uint64_t value, SW_UNUSED struct sw_err *err)
{
    char text[24];
    return put_word(arg, text, (size_t)sprintf(text, "%" PRIu64, value));
}

static int on_real(void *arg, double value, SW_UNUSED const char *text, SW_UNUSED size_t len_bytes,
                   struct sw_err *err)
{
    /* through JSON: what has no fraction there is an integer to YAML */
    char plain[SW_FLOAT_LEN];
    size_t len = sw_float_json(value, plain);
    struct sw_yaml_scalar is = sw_yaml_resolve(plain, len);
    if (is.kind == SW_YAML_INT)
        return on_integer(arg, is.i, err);
    if (is.kind == SW_YAML_UINT)
        return on_natural(arg, is.u, err);
    len = sw_float_go(value, 'g', 64, plain);
    return put_word(arg, plain, len);
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
    put_indent(w);
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
        put_token(w, empty, 2);
        return 0;
    }
    w->indent = w->frames[--w->n_frames].outer_indent;
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
    w->indent = -1;
    w->column = 0;
    w->whitespace = w->indention = true;
    w->pending = w->in_map = false;
}

struct sw_yaml_writer *sw_yaml_writer_new(const struct sw_yaml_writer_opts *opts)
{
    struct sw_yaml_writer *w = sw_zalloc(1, sizeof *w);
    w->sink = (struct sw_sink){ .ops = &writer_ops, .arg = w };
    if (opts)
        w->opts = *opts;
    restart(w);
    return w;
}

void sw_yaml_writer_free(struct sw_yaml_writer *writer)
{
    if (!writer)
        return;
    free(writer->out.text);
    free(writer->frames);
    free(writer);
}

const struct sw_sink *sw_yaml_writer_sink(struct sw_yaml_writer *writer)
{
    return &writer->sink;
}

char *sw_yaml_writer_take(struct sw_yaml_writer *writer, size_t *len_bytes)
{
    put_indent(writer); /* ends the last line */
    restart(writer);
    return sw_buffer_take(&writer->out, len_bytes);
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
