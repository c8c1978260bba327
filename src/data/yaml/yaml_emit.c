/* Source: yaml.v2 2.4.0, emitterc.go. */
#include "data/yaml/yaml_emit.h"

#include <stdio.h>
#include <string.h>

#include "data/text/utf8.h"

/* ---- characters --------------------------------------------------------------------------------
 */

void sw_yaml_put_char(struct sw_yaml_out *o, char c)
{
    sw_buffer_char(&o->text, c);
    o->column++;
}

static void put_break(struct sw_yaml_out *o)
{
    sw_buffer_char(&o->text, '\n');
    o->column = 0;
}

static void put_ascii(struct sw_yaml_out *o, const char *text, size_t len)
{
    sw_buffer_put(&o->text, text, len);
    o->column += (int)len;
}

/* The character at @p as it is. @return its length */
static size_t put_rune(struct sw_yaml_out *o, const char *p, const char *end)
{
    size_t n = 1;
    while (p + n < end && ((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    sw_buffer_put(&o->text, p, n);
    o->column++;
    return n;
}

void sw_yaml_put_indent(struct sw_yaml_out *o)
{
    int indent = o->indent > 0 ? o->indent : 0;
    if (!o->indention || o->column > indent || (o->column == indent && !o->whitespace))
        put_break(o);
    if (o->column < indent) {
        sw_buffer_fill(&o->text, ' ', (size_t)(indent - o->column));
        o->column = indent;
    }
    o->whitespace = o->indention = true;
}

static void put_space(struct sw_yaml_out *o)
{
    if (!o->whitespace)
        sw_yaml_put_char(o, ' ');
}

void sw_yaml_put_indicator(struct sw_yaml_out *o, char c)
{
    put_space(o);
    sw_yaml_put_char(o, c);
    o->whitespace = false;
}

void sw_yaml_put_token(struct sw_yaml_out *o, const char *text, size_t len)
{
    put_space(o);
    put_ascii(o, text, len);
    o->whitespace = o->indention = false;
}

/* ---- scalars -----------------------------------------------------------------------------------
 */

/* A line break inside of a scalar, and the second one that folding needs before the first. */
static size_t put_scalar_break(struct sw_yaml_out *o, const char *p, const char *end,
                               bool first_of_run)
{
    size_t n = sw_yaml_break_len(p, end);
    if (*p == '\n') {
        if (first_of_run)
            put_break(o);
        put_break(o);
    } else {
        sw_buffer_put(&o->text, p, n);
        o->column = 0;
    }
    o->indention = true;
    return n;
}

/* Plain and single quoted: the same save for the quotes. */
static void put_flow_text(struct sw_yaml_out *o, const char *text, const char *end, bool wrap,
                          bool quoted)
{
    bool spaces = false, breaks = false;
    for (const char *p = text; p < end;) {
        if (*p == ' ') {
            bool inner = !quoted || (p > text && p < end - 1);
            if (wrap && !spaces && o->column > o->width && inner && p[1] != ' ') {
                sw_yaml_put_indent(o);
                p++;
            } else {
                sw_yaml_put_char(o, *p++);
            }
            spaces = true;
        } else if (sw_yaml_break_len(p, end)) {
            p += put_scalar_break(o, p, end, !breaks);
            breaks = true;
        } else {
            if (breaks)
                sw_yaml_put_indent(o);
            if (quoted && *p == '\'')
                sw_yaml_put_char(o, '\'');
            p += put_rune(o, p, end);
            o->indention = spaces = breaks = false;
        }
    }
}

static size_t put_escape(struct sw_yaml_out *o, const char *p, const char *end)
{
    static const struct {
        uint32_t rune;
        char letter;
    } letters[] = {
        { 0x00, '0' },  { 0x07, 'a' }, { 0x08, 'b' }, { 0x09, 't' },   { 0x0a, 'n' },
        { 0x0b, 'v' },  { 0x0c, 'f' }, { 0x0d, 'r' }, { 0x1b, 'e' },   { '"', '"' },
        { '\\', '\\' }, { 0x85, 'N' }, { 0xa0, '_' }, { 0x2028, 'L' }, { 0x2029, 'P' },
    };
    uint32_t rune;
    size_t n = sw_utf8_decode(p, end, &rune, NULL);
    char text[16], letter = 0;
    for (size_t i = 0; i < SW_COUNT(letters); i++)
        if (letters[i].rune == rune)
            letter = letters[i].letter;
    int len = letter           ? sprintf(text, "\\%c", letter)
              : rune <= 0xff   ? sprintf(text, "\\x%02X", rune)
              : rune <= 0xffff ? sprintf(text, "\\u%04X", rune)
                               : sprintf(text, "\\U%08X", rune);
    put_ascii(o, text, (size_t)len);
    return n;
}

static void put_double(struct sw_yaml_out *o, const char *text, const char *end, bool wrap)
{
    /* yaml.v2 looks for the byte order mark at the text's beginning, wherever it is in the text */
    bool bom = end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0, spaces = false;
    put_space(o);
    sw_yaml_put_char(o, '"');
    o->whitespace = o->indention = false;
    for (const char *p = text; p < end;) {
        if (bom || *p == '"' || *p == '\\' || !sw_yaml_is_printable(p) ||
            sw_yaml_break_len(p, end)) {
            p += put_escape(o, p, end);
            spaces = false;
        } else if (*p == ' ') {
            if (wrap && !spaces && o->column > o->width && p > text && p < end - 1) {
                sw_yaml_put_indent(o);
                if (p[1] == ' ')
                    sw_yaml_put_char(o, '\\');
                p++;
            } else {
                sw_yaml_put_char(o, *p++);
            }
            spaces = true;
        } else {
            p += put_rune(o, p, end);
            spaces = false;
        }
    }
    sw_yaml_put_char(o, '"');
    o->whitespace = o->indention = false;
}

/* The last character's first byte before @end. */
static const char *step_back(const char *end)
{
    do
        end--;
    while (((unsigned char)*end & 0xc0) == 0x80);
    return end;
}

static void put_literal(struct sw_yaml_out *o, const char *text, const char *end)
{
    put_space(o);
    sw_yaml_put_char(o, '|');
    /* an explicit indentation where the text begins with a blank, '-' where it ends without a line
     * end, '+' where with more than one */
    if (*text == ' ' || sw_yaml_break_len(text, end))
        sw_yaml_put_char(o, '0' + SW_YAML_INDENT);
    const char *last = step_back(end);
    if (!sw_yaml_break_len(last, end))
        sw_yaml_put_char(o, '-');
    else if (last == text || sw_yaml_break_len(step_back(last), end))
        sw_yaml_put_char(o, '+');
    if (!o->like_v3) /* yaml.v3 leaves the end of this line to the text's first */
        put_break(o);
    o->indention = !o->like_v3;
    o->whitespace = true;
    bool breaks = true;
    for (const char *p = text; p < end;) {
        if (sw_yaml_break_len(p, end)) {
            p += put_scalar_break(o, p, end, false);
            breaks = true;
            continue;
        }
        if (breaks)
            sw_yaml_put_indent(o);
        const char *run = p;
        while (p < end && !sw_yaml_break_len(p, end))
            p++;
        sw_buffer_put(&o->text, run, (size_t)(p - run));
        o->column++; /* how far does not matter in a literal, but that it is not 0 does */
        o->indention = breaks = false;
    }
}

void sw_yaml_put_styled(struct sw_yaml_out *o, const char *text, size_t len,
                        enum sw_yaml_style style, bool as_key)
{
    const char *end = text + len;
    int outer = o->indent;
    o->indent = outer < 0 ? SW_YAML_INDENT : outer + SW_YAML_INDENT;
    switch (style) {
    case SW_STYLE_PLAIN:
        put_space(o);
        put_flow_text(o, text, end, !as_key, false);
        o->whitespace = o->indention = false;
        break;
    case SW_STYLE_SINGLE:
        put_space(o);
        sw_yaml_put_char(o, '\'');
        o->whitespace = o->indention = false;
        put_flow_text(o, text, end, !as_key, true);
        sw_yaml_put_char(o, '\'');
        o->whitespace = o->indention = false;
        break;
    case SW_STYLE_DOUBLE:
        put_double(o, text, end, !as_key);
        break;
    case SW_STYLE_LITERAL:
        put_literal(o, text, end);
        break;
    }
    o->indent = outer;
}
