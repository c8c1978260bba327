#include "cli/lint/source_lines.h"

#include <stdlib.h>
#include <string.h>

bool sw_source_is(struct sw_source_piece piece, const char *text)
{
    return piece.len == strlen(text) && memcmp(piece.at, text, piece.len) == 0;
}

void sw_source_lines_done(struct sw_source_lines *lines)
{
    free(lines->items);
    *lines = (struct sw_source_lines){ 0 };
}

/* What is known between two lines. */
struct reader {
    struct sw_source_lines *out;
    bool in_block;       /* in a block scalar, or in a quoted text of several lines */
    size_t block_indent; /* of the field whose value that is */
    const char *flow;    /* the brace or bracket that the line's value begins with; NULL: none */
    size_t flow_indent;  /* of the fields in it */
    bool in_action;      /* an action or a comment of a template that is not closed yet */
    struct {
        size_t first; /* the line of {{ if }} */
        bool is_chosen;
    } blocks[32];
    size_t n_blocks;
};

static bool has_text(struct sw_source_piece piece, const char *text)
{
    return memmem(piece.at, piece.len, text, strlen(text)) != NULL;
}

/* ---- actions ------------------------------------------------------------------------------------
 */

static void open_block(struct reader *r, struct sw_source_piece action)
{
    if (r->n_blocks == SW_COUNT(r->blocks)) /* deeper than templates are: no line is plain there */
        r->in_block = true;
    else
        r->blocks[r->n_blocks++].is_chosen = has_text(action, "apabilities") ||
                                             has_text(action, "ersion");
    if (r->n_blocks)
        r->blocks[r->n_blocks - 1].first = r->out->n;
}

/* What @action, the text between its braces, opens or closes. */
static void read_action(struct reader *r, struct sw_source_piece action)
{
    static const char *const openers[] = { "if", "with", "range", "define", "block" };
    while (action.len && strchr("- \t", *action.at)) {
        action.at++;
        action.len--;
    }
    size_t n = 0;
    while (n < action.len && action.at[n] >= 'a' && action.at[n] <= 'z')
        n++;
    const struct sw_source_piece word = { action.at, n };
    for (size_t i = 0; i < SW_COUNT(openers); i++)
        if (sw_source_is(word, openers[i]))
            open_block(r, action);
    if (!r->n_blocks)
        return;
    if (sw_source_is(word, "else"))
        r->blocks[r->n_blocks - 1].is_chosen = true;
    if (!sw_source_is(word, "end"))
        return;
    r->n_blocks--;
    for (size_t i = r->blocks[r->n_blocks].first; r->blocks[r->n_blocks].is_chosen && i < r->out->n;
         i++)
        r->out->items[i].is_chosen = true;
}

/* Go through the actions of a line. @return whether there is one, or the line is within one */
static bool read_actions(struct reader *r, const char *at, const char *end)
{
    bool found = r->in_action;
    while (at < end) {
        const char *mark = r->in_action ? "}}" : "{{";
        const char *next = memmem(at, (size_t)(end - at), mark, 2);
        if (!next)
            break;
        found = true;
        at = next + 2;
        if (!r->in_action) {
            const char *close = memmem(at, (size_t)(end - at), "}}", 2);
            read_action(r, (struct sw_source_piece){ at, (size_t)((close ? close : end) - at) });
        }
        r->in_action = !r->in_action;
    }
    return found;
}

/* ---- fields -------------------------------------------------------------------------------------
 */

static bool is_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._/-", c));
}

static void read_value(struct reader *r, struct sw_source_line *line, const char *at,
                       const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (at == end || *at == '#')
        return;
    if (*at == '|' || *at == '>') {
        r->in_block = true;
        r->block_indent = line->indent;
        return;
    }
    if (*at == '"' || *at == '\'') {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        const char *rest = close ? close + 1 : end;
        if (!close) { /* it goes on in the lines below, which are deeper */
            r->in_block = true;
            r->block_indent = line->indent;
            return;
        }
        while (rest < end && *rest == ' ')
            rest++;
        if ((rest < end && *rest != '#') || memchr(at, '\\', (size_t)(close - at)))
            return;
        line->quote = *at;
        line->value = (struct sw_source_piece){ at + 1, (size_t)(close - at - 1) };
        return;
    }
    if (*at == '{' || *at == '[') {
        r->flow = at;
        r->flow_indent = line->indent + 1;
        return;
    }
    if (strchr("&*!%@`", *at))
        return;
    const char *stop = at;
    while (stop < end && !(*stop == '#' && stop[-1] == ' '))
        stop++;
    while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    line->value = (struct sw_source_piece){ at, (size_t)(stop - at) };
}

/* @at: behind the blanks and dashes. */
static void read_field(struct reader *r, struct sw_source_line *line, const char *at,
                       const char *end)
{
    const char quote = *at == '"' || *at == '\'' ? *at : 0;
    const char *key = at + (quote != 0), *stop = key;
    while (stop < end && is_key_byte(*stop))
        stop++;
    const char *colon = stop + (quote && stop < end && *stop == quote);
    if (stop == key || colon >= end || *colon != ':' || (quote && colon == stop) ||
        (colon + 1 < end && colon[1] != ' ' && colon[1] != '\t'))
        return;
    line->key = (struct sw_source_piece){ key, (size_t)(stop - key) };
    line->indent = (size_t)(at - line->at);
    read_value(r, line, colon + 1, end);
}

static void read_line(struct reader *r, struct sw_source_line *line)
{
    const char *at = line->at, *end = at + line->len;
    const bool has_action = read_actions(r, at, end);
    line->is_separator = line->len >= 3 && memcmp(at, "---", 3) == 0;
    while (at < end && (*at == ' ' || (*at == '-' && at + 1 < end && at[1] == ' ')))
        at++;
    const size_t indent = (size_t)(at - line->at);
    if (at == end || *at == '\t')
        return; /* nothing, or what YAML does not allow */
    if (r->in_block && (indent > r->block_indent || sw_starts_with(at, "{{")))
        return;
    r->in_block = false;
    if (!has_action && (*at == '{' || *at == '[')) {
        r->flow = at;
        r->flow_indent = indent;
        return;
    }
    if (*at == '#' || line->is_separator || *at == '{')
        return;
    if (!has_action) {
        read_field(r, line, at, end);
        return;
    }
    /* a field whose value a template makes is one that others may be below; its value is not plain
     */
    read_field(r, line, at, end);
    line->value = (struct sw_source_piece){ 0 };
    line->quote = 0;
    r->flow = NULL;
}

/* ---- maps in braces -----------------------------------------------------------------------------
 */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* The scalar at @at within braces, without its quotes. @return what is behind it; NULL: it is not
 * plain */
static const char *read_flow_scalar(const char *at, const char *end, struct sw_source_piece *out,
                                    char *quote)
{
    *quote = *at == '"' || *at == '\'' ? *at : 0;
    if (*quote) {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (!close || memchr(at, '\\', (size_t)(close - at)) ||
            (close + 1 < end && close[1] == *quote))
            return NULL;
        *out = (struct sw_source_piece){ at + 1, (size_t)(close - at - 1) };
        return close + 1;
    }
    const char *stop = at;
    if (strchr("&*!%@`|>#?", *at))
        return NULL;
    while (stop < end && !strchr(",{}[]", *stop) &&
           !(*stop == ':' && (stop + 1 == end || strchr(" \t,{}[]", stop[1]))) &&
           !(*stop == '#' && stop[-1] == ' '))
        stop++;
    const char *behind = stop;
    while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    *out = (struct sw_source_piece){ at, (size_t)(stop - at) };
    return behind;
}

/* Add the fields of the map or list that begins at @at, a brace or a bracket. @return what is
 * behind it; NULL: it is not closed on the line, or not plain */
static const char *read_flow(struct sw_source_lines *out, size_t head, const char *at,
                             const char *end, size_t indent, int depth)
{
    enum { MAX_DEPTH = 16 };
    const bool is_map = *at++ == '{';
    while ((at = skip_blanks(at, end)) < end && *at != (is_map ? '}' : ']')) {
        struct sw_source_line field = out->items[head];
        field.indent = indent;
        field.quote = 0;
        field.value = (struct sw_source_piece){ 0 };
        const char *value = at;
        char quote;
        if (is_map) {
            at = read_flow_scalar(at, end, &field.key, &quote);
            at = at ? skip_blanks(at, end) : NULL;
            if (!at || at == end || *at != ':' || !field.key.len)
                return NULL;
            at = value = skip_blanks(at + 1, end);
        }
        const bool is_nested = at < end && (*at == '{' || *at == '[');
        if (at < end && !is_nested && !strchr(",}]", *at))
            at = read_flow_scalar(at, end, &field.value, &field.quote);
        if (is_map) {
            SW_GROW(out->items, out->n, out->cap);
            out->items[out->n++] = field;
        }
        if (is_nested && depth == MAX_DEPTH)
            return NULL;
        if (is_nested)
            at = read_flow(out, head, value, end, indent + is_map, depth + 1);
        at = at ? skip_blanks(at, end) : NULL;
        if (!at || at == end || (*at != ',' && *at != (is_map ? '}' : ']')))
            return NULL;
        at += *at == ',';
    }
    return at < end ? at + 1 : NULL;
}

/* The fields in braces on the line that item @head is, where they end on it and nothing is behind.
 */
static void add_flow(struct reader *r, size_t head)
{
    const struct sw_source_line *line = &r->out->items[head];
    const char *end = line->at + line->len;
    const char *rest = read_flow(r->out, head, r->flow, end, r->flow_indent, 0);
    rest = rest ? skip_blanks(rest, end) : NULL;
    if (!rest || (rest < end && *rest != '#'))
        r->out->n = head + 1;
}

void sw_source_lines_read(const char *text, size_t len, struct sw_source_lines *out)
{
    struct reader r = { .out = out };
    const char *end = text + len;
    size_t number = 0;
    for (const char *at = text; at < end;) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        number++;
        struct sw_source_line line = {
            .number = number, .head = out->n, .at = at, .len = (size_t)((nl ? nl : end) - at)
        };
        line.end = nl != NULL;
        if (nl && nl > at && nl[-1] == '\r') {
            line.len--;
            line.end++;
        }
        at = nl ? nl + 1 : end;
        r.flow = NULL;
        read_line(&r, &line);
        SW_GROW(out->items, out->n, out->cap);
        out->items[out->n++] = line;
        if (r.flow)
            add_flow(&r, out->n - 1);
    }
    while (r.n_blocks > 0) { /* an {{ if }} that nothing ends: the template is broken */
        r.n_blocks--;
        for (size_t i = r.blocks[r.n_blocks].first; i < out->n; i++)
            out->items[i].is_chosen = true;
    }
}

int sw_source_parent(const struct sw_source_lines *lines, size_t i)
{
    const size_t indent = lines->items[i].indent;
    while (i-- > 0 && !lines->items[i].is_separator)
        if (lines->items[i].key.len && lines->items[i].indent < indent)
            return (int)i;
    return -1;
}

size_t sw_source_document(const struct sw_source_lines *lines, size_t i, size_t *end)
{
    size_t first = i;
    while (first > 0 && !lines->items[first - 1].is_separator)
        first--;
    for (*end = i; *end < lines->n && !lines->items[*end].is_separator;)
        ++*end;
    return first;
}
