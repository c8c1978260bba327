/* Documents to JSON text. */
#include "data/json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/buffer.h"
#include "data/text/number.h"

struct sw_json_writer {
    struct sw_sink sink;
    unsigned style;
    struct sw_buffer out;
    int depth;
    bool fresh;     /* the innermost map or list is empty so far */
    bool after_key; /* the next value follows its key */
};

static void new_line(struct sw_json_writer *w)
{
    sw_buffer_char(&w->out, '\n');
    sw_buffer_fill(&w->out, ' ', 2 * (size_t)w->depth);
}

/* Write the separator between this value or key and the previous one. */
static void separate(struct sw_json_writer *w)
{
    if (w->after_key || w->depth == 0) {
        w->after_key = false;
        return;
    }
    if (!w->fresh)
        sw_buffer_char(&w->out, ',');
    if (w->style & SW_JSON_PRETTY)
        new_line(w);
    w->fresh = false;
}

/* Bytes that must be escaped in a JSON string (1), or only in HTML (2). Most bytes are neither, so
 * the test is one table lookup a byte. */
static const unsigned char special[256] = {
    [0 ... 0x1f] = 1, ['"'] = 1, ['\\'] = 1, ['<'] = 2, ['>'] = 2, ['&'] = 2, [0xe2] = 2,
};

/* Bytes that begin like U+2028 and U+2029 but are another character. */
static bool is_other(const unsigned char *p, const unsigned char *end)
{
    return *p == 0xe2 && !(end - p > 2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9));
}

/* @return the number of bytes that the escape stands for */
static size_t put_escape(struct sw_buffer *out, const unsigned char *p)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = memchr(plain, *p, sizeof plain - 1);
    if (found) {
        sw_buffer_char(out, '\\');
        sw_buffer_char(out, letters[found - plain]);
        return 1;
    }
    if (*p == 0xe2) {
        sw_buffer_put(out, p[2] == 0xa8 ? "\\u2028" : "\\u2029", 6);
        return 3;
    }
    char text[8];
    (void)snprintf(text, sizeof text, "\\u%04x", *p);
    sw_buffer_put(out, text, 6);
    return 1;
}

static void put_string(struct sw_json_writer *w, const char *text, size_t len_bytes)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + len_bytes;
    const unsigned char mind = w->style & SW_JSON_HTML ? 3 : 1;
    sw_buffer_char(&w->out, '"');
    while (p < end) {
        const unsigned char *run = p;
        while (p < end && (!(special[*p] & mind) || is_other(p, end)))
            p++;
        sw_buffer_put(&w->out, (const char *)run, (size_t)(p - run));
        if (p < end)
            p += put_escape(&w->out, p);
    }
    sw_buffer_char(&w->out, '"');
}

static int put_word(struct sw_json_writer *w, const char *text, size_t len_bytes)
{
    separate(w);
    sw_buffer_put(&w->out, text, len_bytes);
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
    int len = snprintf(text, sizeof text, "%" PRId64, value);
    return put_word(arg, text, (size_t)len);
}

static int on_natural(void *arg, uint64_t value, SW_UNUSED struct sw_err *err)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, value);
    return put_word(arg, text, (size_t)len);
}

static int on_real(void *arg, double value, const char *text, size_t len_bytes,
                   SW_UNUSED struct sw_err *err)
{
    char shortest[SW_FLOAT_LEN];
    if (text)
        return put_word(arg, text, len_bytes);
    size_t len = sw_float_json(value, shortest);
    return put_word(arg, shortest, len);
}

static int on_string(void *arg, const char *text, size_t len_bytes, SW_UNUSED struct sw_err *err)
{
    struct sw_json_writer *w = arg;
    separate(w);
    put_string(w, text, len_bytes);
    return 0;
}

static int on_key(void *arg, const char *text, size_t len_bytes, SW_UNUSED struct sw_err *err)
{
    struct sw_json_writer *w = arg;
    separate(w);
    put_string(w, text, len_bytes);
    sw_buffer_put(&w->out, ": ", w->style & SW_JSON_PRETTY ? 2 : 1);
    w->after_key = true;
    return 0;
}

static int begin(struct sw_json_writer *w, char bracket)
{
    separate(w);
    sw_buffer_char(&w->out, bracket);
    w->depth++;
    w->fresh = true;
    return 0;
}

static int end(struct sw_json_writer *w, char bracket)
{
    w->depth--;
    if (!w->fresh && (w->style & SW_JSON_PRETTY))
        new_line(w);
    sw_buffer_char(&w->out, bracket);
    w->fresh = false;
    return 0;
}

static int on_begin_map(void *arg, SW_UNUSED struct sw_err *err)
{
    return begin(arg, '{');
}

static int on_end_map(void *arg, SW_UNUSED struct sw_err *err)
{
    return end(arg, '}');
}

static int on_begin_list(void *arg, SW_UNUSED struct sw_err *err)
{
    return begin(arg, '[');
}

static int on_end_list(void *arg, SW_UNUSED struct sw_err *err)
{
    return end(arg, ']');
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

struct sw_json_writer *sw_json_writer_new(unsigned style)
{
    struct sw_json_writer *w = sw_zalloc(1, sizeof *w);
    w->sink = (struct sw_sink){ .ops = &writer_ops, .arg = w };
    w->style = style;
    return w;
}

void sw_json_writer_free(struct sw_json_writer *writer)
{
    if (!writer)
        return;
    free(writer->out.text);
    free(writer);
}

const struct sw_sink *sw_json_writer_sink(struct sw_json_writer *writer)
{
    return &writer->sink;
}

char *sw_json_writer_take(struct sw_json_writer *writer, size_t *len_bytes)
{
    writer->depth = 0;
    writer->fresh = writer->after_key = false;
    return sw_buffer_take(&writer->out, len_bytes);
}

char *sw_json_text(struct json_object *doc, unsigned style, size_t *len_bytes)
{
    SW_AUTO(sw_json_writer) *w = sw_json_writer_new(style);
    /* neither the writer nor the walk can fail */
    (void)sw_json_walk(doc, style & SW_JSON_SORTED ? sw_json_key_cmp : NULL, &w->sink, NULL);
    return sw_json_writer_take(w, len_bytes);
}
