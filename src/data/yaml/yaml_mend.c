#include "data/yaml/yaml_mend.h"

#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "data/text/buffer.h"
#include "data/text/place.h"

/* What one text may cost: each place that is mended is found by a run over the text. */
enum { MAX_PLACES = 1024 };
static const size_t max_work_bytes = (size_t)32 << 20;

/* ---- a first test without a parser -------------------------------------------------------------
 */

/* A ':' before a bracket or comma, or a backslash before a quote, somewhere. A key in quotes before
 * "{" is JSON, and every parser's. */
static bool has_either(const char *text, size_t len)
{
    const char *end = text + len, *p = text;
    if (sw_has_escape(text, len, '\''))
        return true;
    while (p < end && (p = memchr(p, ':', (size_t)(end - p)))) {
        bool quoted = p > text && (p[-1] == '"' || p[-1] == '\'');
        p++;
        if (!quoted && p < end && strchr(",[]{}", *p) && *p)
            return true;
    }
    return false;
}

/* Whether a line may contain either construct in a flow collection or a double quoted scalar: an
 * estimate, since regular expressions and comments are full of colons and brackets.
 * @flow_depth: of flow collections, from one line to the next */
static bool is_suspect_line(int *flow_depth, const char *line, const char *end)
{
    const char *p = line;
    size_t len = (size_t)(end - line);
    if (*flow_depth == 0 && !memchr(p, '[', len) && !memchr(p, '{', len) && !memchr(p, '\\', len))
        return false;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p < end && *p == '#')
        return false;
    for (bool in_double = false; p < end; p++) {
        bool last = p + 1 == end;
        if (*p == '"')
            in_double = !in_double;
        else if ((*p == '[' || *p == '{') &&
                 (*flow_depth > 0 || p == line || strchr(" \t[{,", p[-1])))
            ++*flow_depth;
        else if ((*p == ']' || *p == '}') && *flow_depth > 0)
            --*flow_depth;
        else if (*p == ':' && *flow_depth > 0 && !last && strchr(",[]{}", p[1]))
            return true;
        else if (*p == '\\' && in_double && !last && p[1] == '\'')
            return true;
    }
    return false;
}

static bool is_suspect(const char *text, size_t len)
{
    int flow_depth = 0;
    const char *end = text + len;
    if (!has_either(text, len))
        return false;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        if (is_suspect_line(&flow_depth, line, stop))
            return true;
        line = stop + 1;
    }
    return false;
}

/* ---- where libyaml gives up ---------------------------------------------------------------------
 */

struct fault {
    enum { FAULT_NONE, FAULT_COLON, FAULT_ESCAPE } kind;
    size_t first, at; /* of the scalar and of what is not understood, in characters */
};

/* Where libyaml gives up, if for one of the two reasons. */
static struct fault find_fault(const char *text, size_t len)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        abort(); /* out of memory */
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    bool done = false;
    while (!done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event))
            break;
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    struct fault f = { .first = parser.context_mark.index, .at = parser.problem_mark.index };
    if (!done && parser.error == YAML_SCANNER_ERROR) {
        if (strcmp(parser.problem, "found unexpected ':'") == 0)
            f.kind = FAULT_COLON;
        else if (strcmp(parser.problem, "found unknown escape character") == 0)
            f.kind = FAULT_ESCAPE;
    }
    yaml_parser_delete(&parser);
    return f;
}

/* libyaml counts characters. */
static size_t byte_of(const char *text, size_t len, size_t character)
{
    size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (; character > 0 && at < len; character--)
        do
            at++;
        while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

/* ---- mending ------------------------------------------------------------------------------------
 */

/* @return NULL: it cannot be mended */
static char *mend(const char *text, size_t len, struct fault f, size_t *out_len)
{
    struct sw_buffer out = { 0 };
    size_t at = byte_of(text, len, f.at), from = byte_of(text, len, f.first);
    if (f.kind == FAULT_ESCAPE && at + 1 < len && text[at] == '\\' && text[at + 1] == '\'') {
        sw_buffer_put(&out, text, at);
    } else if (f.kind == FAULT_COLON && at < len && from < at) {
        sw_buffer_put(&out, text, from);
        sw_buffer_char(&out, '\'');
        for (size_t i = from; i <= at; i++) {
            if (text[i] == '\'')
                sw_buffer_char(&out, '\'');
            sw_buffer_char(&out, text[i]);
        }
        sw_buffer_char(&out, '\'');
    } else {
        return NULL;
    }
    sw_buffer_put(&out, text + at + 1, len - at - 1);
    return sw_buffer_take(&out, out_len);
}

char *sw_yaml_mend(const char *text, size_t len_bytes, size_t *out_len)
{
    if (!is_suspect(text, len_bytes))
        return NULL;
    char *mended = NULL;
    size_t work_bytes = 0;
    for (int i = 0; i < MAX_PLACES && work_bytes < max_work_bytes; i++) {
        const char *now = mended ? mended : text;
        size_t len = mended ? *out_len : len_bytes, next_len;
        char *next = mend(now, len, find_fault(now, len), &next_len);
        if (!next)
            break;
        free(mended);
        mended = next;
        *out_len = next_len;
        work_bytes += len;
    }
    return mended;
}
