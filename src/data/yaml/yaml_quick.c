/* `at` walks over the caller's text, line by line. The values of scalars are put together in a copy
 * of the text, at the scalar's place: a value is never longer than the scalar's text, and a
 * character follows the scalar that no other scalar needs (a colon, a quote, a blank, an end of
 * line), so there is room for a NUL.
 *
 * A function that reads a node begins at its first character and ends at the first character of
 * the next line that is not empty or a comment: `at` is there, `column` is its column. If it
 * returns false, the text is left to libyaml; nothing needs to be undone.
 *
 * Source: YAML 1.1 as libyaml 0.2.5 reads it (scanner.c, parser.c), for the subset read here. */
#include "data/yaml/yaml_quick.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/utf8.h"

enum {
    MAX_NESTING = 64,
    MAX_KEY = 1000,       /* libyaml wants the colon within 1024 characters */
    BYTES_PER_EVENT = 12, /* in manifests and values */
    MAX_GUESS = 16 << 10,
};
static const size_t max_bytes = (size_t)1 << 20; /* the events of larger texts would cost memory */

struct quick {
    const char *text, *at, *end;
    const char *line_start;
    int line;       /* from 1 */
    int column;     /* from 0, of the first character of the line */
    bool is_marker; /* the line is "---" */
    bool is_wide;   /* not all is ASCII: columns have to be counted */
    int depth;
    char *bytes; /* the copy */
    struct sw_yaml_event *events;
    size_t n, cap;
};

static bool read_node(struct quick *q, int parent);

/* ---- events ------------------------------------------------------------------------------------
 */

static struct sw_place place_at(const struct quick *q, const char *at)
{
    int column = (int)(at - q->line_start) + 1;
    for (const char *p = q->line_start; q->is_wide && p < at; p++)
        column -= ((unsigned char)*p & 0xc0) == 0x80;
    return (struct sw_place){ q->line, column };
}

static struct sw_yaml_event *emit(struct quick *q, yaml_event_type_t type, const char *at)
{
    SW_GROW(q->events, q->n, q->cap);
    struct sw_yaml_event *e = &q->events[q->n++];
    *e = (struct sw_yaml_event){ .type = type, .place = place_at(q, at) };
    return e;
}

static void emit_scalar(struct quick *q, const char *at, const char *from, size_t len, bool plain)
{
    struct sw_yaml_event *e = emit(q, YAML_SCALAR_EVENT, at);
    char *text = q->bytes + (from - q->text);
    text[len] = '\0';
    e->text = text;
    e->len = len;
    e->plain = plain;
}

static void emit_empty(struct quick *q, const struct sw_place *place)
{
    struct sw_yaml_event *e = emit(q, YAML_SCALAR_EVENT, q->line_start);
    e->place = *place;
    e->text = "";
    e->plain = true;
}

static struct sw_place place_here(const struct quick *q)
{
    return place_at(q, q->at);
}

/* ---- lines -------------------------------------------------------------------------------------
 */

static bool at_line_end(const struct quick *q)
{
    return q->at == q->end || *q->at == '\n';
}

/* Whether a blank or the end of the line is at @p. */
static bool is_blank(const struct quick *q, const char *p)
{
    return p == q->end || *p == ' ' || *p == '\n';
}

static void skip_blanks(struct quick *q)
{
    while (q->at < q->end && *q->at == ' ')
        q->at++;
}

static bool is_dash(const struct quick *q)
{
    return *q->at == '-' && is_blank(q, q->at + 1);
}

/* From the beginning of a line to the next one that has more than a comment. At the end of the text
 * or of the document the column is -1: it ends every node. */
static bool find_line(struct quick *q)
{
    for (;;) {
        q->line_start = q->at;
        skip_blanks(q);
        if (q->at == q->end)
            break;
        if (*q->at == '#') {
            const char *eol = memchr(q->at, '\n', (size_t)(q->end - q->at));
            q->at = eol ? eol : q->end;
            if (!eol)
                break;
        }
        if (*q->at != '\n') {
            q->column = (int)(q->at - q->line_start);
            if (q->column > 0 || q->end - q->at < 3)
                return true;
            if (memcmp(q->at, "...", 3) == 0)
                return false;
            q->is_marker = memcmp(q->at, "---", 3) == 0 && is_blank(q, q->at + 3);
            if (q->is_marker)
                q->column = -1;
            return true;
        }
        q->at++;
        q->line++;
    }
    q->column = -1;
    return true;
}

/* The line must hold nothing more but a comment. */
static bool end_line(struct quick *q)
{
    skip_blanks(q);
    if (q->at < q->end && *q->at == '#' && q->at > q->line_start && q->at[-1] == ' ') {
        const char *eol = memchr(q->at, '\n', (size_t)(q->end - q->at));
        q->at = eol ? eol : q->end;
    }
    if (!at_line_end(q))
        return false;
    if (q->at == q->end) {
        q->column = -1;
        return true;
    }
    q->at++;
    q->line++;
    return find_line(q);
}

/* ---- scalars -----------------------------------------------------------------------------------
 */

/* Up to the closing quote on the same line, where nothing in between stands for something else: the
 * copy holds it as it is. */
static bool read_quoted(struct quick *q, char quote, char escape, const char **from, size_t *len)
{
    const char *p = q->at + 1, *close = memchr(p, quote, (size_t)(q->end - p));
    size_t n = close ? (size_t)(close - p) : 0;
    if (!close || memchr(p, '\n', n) || (escape && memchr(p, escape, n)) ||
        (close + 1 < q->end && !escape && close[1] == quote))
        return false;
    *from = p;
    *len = n;
    q->at = close + 1;
    return true;
}

static bool read_single(struct quick *q, const char **from, size_t *len)
{
    if (read_quoted(q, '\'', '\0', from, len))
        return true;
    const char *p = ++q->at;
    char *to = q->bytes + (p - q->text);
    *from = p;
    for (*len = 0; p < q->end && *p != '\n'; p++) {
        if (*p == '\'' && !(p + 1 < q->end && p[1] == '\'')) {
            q->at = p + 1;
            return true;
        }
        p += *p == '\'';
        to[(*len)++] = *p;
    }
    return false;
}

static bool read_double(struct quick *q, const char **from, size_t *len)
{
    if (read_quoted(q, '"', '\\', from, len))
        return true;
    const char *p = ++q->at;
    char *to = q->bytes + (p - q->text);
    *from = p;
    for (*len = 0; p < q->end && *p != '\n'; p++) {
        char c = *p;
        if (c == '"') {
            q->at = p + 1;
            return true;
        }
        if (c == '\\') {
            static const char letters[] = "nt\"\\", values[] = "\n\t\"\\";
            const char *found = ++p < q->end ? memchr(letters, *p, sizeof letters - 1) : NULL;
            if (!found)
                return false;
            c = values[found - letters];
        }
        to[(*len)++] = c;
    }
    return false;
}

/* In a block; up to the colon that makes it a key, a comment or the end of the line. */
static bool read_plain(struct quick *q, const char **from, size_t *len)
{
    static const char indicators[] = "-?:,[]{}#&*!|>'\"%@`";
    static const bool may_end[256] = { [' '] = true, [':'] = true, ['#'] = true, ['\n'] = true };
    const char *p = q->at, *last = p;
    if (memchr(indicators, *p, sizeof indicators - 1) && (*p != '-' || is_blank(q, p + 1)))
        return false;
    for (;; p++) {
        while (p < q->end && !may_end[(unsigned char)*p])
            p++;
        if (p > q->at && p[-1] != ' ')
            last = p;
        if (p == q->end || *p == '\n')
            break;
        if ((*p == ':' && is_blank(q, p + 1)) || (*p == '#' && p[-1] == ' '))
            break;
    }
    *from = q->at;
    *len = (size_t)(last - q->at);
    q->at = last;
    return true;
}

struct scalar {
    const char *at, *from;
    size_t len;
    bool plain;
};

static bool read_scalar(struct quick *q, struct scalar *s)
{
    s->at = q->at;
    s->plain = false;
    if (*q->at == '"')
        return read_double(q, &s->from, &s->len);
    if (*q->at == '\'')
        return read_single(q, &s->from, &s->len);
    s->plain = true;
    return read_plain(q, &s->from, &s->len);
}

/* Whether the scalar that was just read is a key; then `at` is behind its colon. */
static bool take_colon(struct quick *q)
{
    const char *p = q->at;
    while (p < q->end && *p == ' ')
        p++;
    if (p == q->end || *p != ':' || !is_blank(q, p + 1))
        return false;
    q->at = p + 1;
    return true;
}

static void emit_read(struct quick *q, const struct scalar *s)
{
    emit_scalar(q, s->at, s->from, s->len, s->plain);
}

/* ---- literal blocks ----------------------------------------------------------------------------
 */

struct block {
    int indent;  /* 0: not known yet */
    int blanks;  /* the most of them on a line before the first */
    size_t len;  /* put together so far */
    size_t kept; /* of that, up to the last line's end that is not an empty line's */
};

/* One line of it. @return false: it ended before this line, or cannot be read here (*failed) */
static bool read_block_line(struct quick *q, struct block *b, int parent, char *to, bool *failed)
{
    const char *p = q->at, *eol = memchr(p, '\n', (size_t)(q->end - p));
    while (p < q->end && *p == ' ' && (!b->indent || p - q->at < b->indent))
        p++;
    int column = (int)(p - q->at);
    bool is_empty = p == q->end || *p == '\n';
    if (is_empty && !eol) {
        *failed = p > q->at; /* blanks at the very end: whose are they? */
        return false;
    }
    if (!is_empty && !b->indent) {
        if (column <= parent)
            return false;
        *failed = column < b->blanks;
        b->indent = column;
    }
    if (*failed || (!is_empty && column < b->indent))
        return false;
    if (is_empty && !b->indent && column > b->blanks)
        b->blanks = column;
    const char *end = eol ? eol + 1 : q->end;
    memcpy(to + b->len, p, (size_t)(end - p));
    b->len += (size_t)(end - p);
    if (!is_empty)
        b->kept = b->len;
    q->at = end;
    q->line += eol != NULL;
    return true;
}

/* The text of "|" from the line behind it on. */
static bool read_block(struct quick *q, int parent)
{
    const struct sw_place place = place_here(q);
    char chomp = q->at + 1 < q->end ? q->at[1] : '\0';
    bool has_chomp = chomp == '-' || chomp == '+';
    q->at += has_chomp ? 2 : 1;
    skip_blanks(q);
    if (q->at == q->end || *q->at != '\n' || parent < 0)
        return false;
    const char *from = q->at++; /* the end of line too: room for a NUL behind nothing but ends */
    q->line++;
    char *to = q->bytes + (from - q->text);
    struct block b = { 0 };
    bool failed = false;
    while (q->at < q->end && read_block_line(q, &b, parent, to, &failed))
        ;
    if (failed || (!b.indent && b.blanks > parent + 1))
        return false;
    if (chomp != '+')
        b.len = b.kept;
    if (chomp == '-' && b.len > 0 && to[b.len - 1] == '\n')
        b.len--;
    q->line_start = q->at;
    emit_scalar(q, q->at, from, b.len, false);
    q->events[q->n - 1].place = place;
    return find_line(q);
}

/* ---- flow collections on one line --------------------------------------------------------------
 */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           memchr("_./-=", c, 5);
}

static bool read_flow_scalar(struct quick *q, struct scalar *s)
{
    if (q->at == q->end)
        return false;
    if (*q->at == '"' || *q->at == '\'')
        return read_scalar(q, s);
    *s = (struct scalar){ .at = q->at, .from = q->at, .plain = true };
    if (*q->at == '-' && !(q->end - q->at > 1 && is_word(q->at[1])))
        return false;
    while (q->at < q->end && is_word(*q->at))
        q->at++;
    s->len = (size_t)(q->at - s->from);
    return s->len > 0;
}

static bool read_flow(struct quick *q);

static bool read_flow_value(struct quick *q)
{
    if (q->at < q->end && (*q->at == '[' || *q->at == '{'))
        return read_flow(q);
    struct scalar s;
    if (!read_flow_scalar(q, &s))
        return false;
    emit_read(q, &s);
    return true;
}

/* The key of a flow map, with its colon. */
static bool read_flow_key(struct quick *q)
{
    struct scalar key;
    if (!read_flow_scalar(q, &key) || q->end - q->at < 2 || q->at[0] != ':' || q->at[1] != ' ' ||
        q->at - key.at > MAX_KEY)
        return false;
    emit_read(q, &key);
    q->at++;
    skip_blanks(q);
    return true;
}

static bool read_flow(struct quick *q)
{
    bool is_map = *q->at == '{';
    char close = is_map ? '}' : ']';
    if (q->depth >= MAX_NESTING)
        return false;
    q->depth++;
    emit(q, is_map ? YAML_MAPPING_START_EVENT : YAML_SEQUENCE_START_EVENT, q->at++);
    skip_blanks(q);
    for (bool first = true; q->at < q->end && *q->at != close; first = false) {
        if (!first) {
            if (*q->at++ != ',')
                return false;
            skip_blanks(q);
        }
        if ((is_map && !read_flow_key(q)) || !read_flow_value(q))
            return false;
        skip_blanks(q);
    }
    if (q->at == q->end)
        return false;
    emit(q, is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, q->at++);
    q->depth--;
    return true;
}

/* ---- maps and lists ----------------------------------------------------------------------------
 */

static bool is_inline(char c)
{
    return c == '|' || c == '[' || c == '{';
}

static bool read_inline(struct quick *q, int parent)
{
    bool ok = *q->at == '|' ? read_block(q, parent) : read_flow(q) && end_line(q);
    return ok && q->column <= parent;
}

/* A scalar that is no key: it fills the rest of its line, and the next lines are no part of it. */
static bool end_scalar(struct quick *q, const struct scalar *s, int parent)
{
    emit_read(q, s);
    return end_line(q) && q->column <= parent;
}

static bool read_list(struct quick *q, int column)
{
    emit(q, YAML_SEQUENCE_START_EVENT, q->at);
    while (q->column == column && is_dash(q)) {
        q->at++;
        struct sw_place behind = place_here(q);
        skip_blanks(q);
        if (at_line_end(q) || *q->at == '#') {
            if (!end_line(q))
                return false;
            if (q->column <= column)
                emit_empty(q, &behind);
            else if (!read_node(q, column))
                return false;
        } else {
            q->column = (int)(q->at - q->line_start);
            if (!read_node(q, column))
                return false;
        }
    }
    emit(q, YAML_SEQUENCE_END_EVENT, q->line_start);
    return q->column <= column;
}

/* What stands behind a key's colon or below it. A list may stand as far in as the key. */
static bool read_value(struct quick *q, int column)
{
    struct sw_place behind = place_here(q);
    struct scalar s;
    skip_blanks(q);
    if (!at_line_end(q) && is_inline(*q->at))
        return read_inline(q, column);
    if (!at_line_end(q) && *q->at != '#')
        return read_scalar(q, &s) && end_scalar(q, &s, column);
    if (!end_line(q))
        return false;
    if (q->column > column)
        return read_node(q, column);
    if (q->column == column && is_dash(q))
        return read_list(q, column);
    emit_empty(q, &behind);
    return true;
}

static bool read_map(struct quick *q, int column, const struct scalar *first)
{
    struct scalar key = *first;
    emit(q, YAML_MAPPING_START_EVENT, key.at);
    for (;;) {
        if (q->at - key.at > MAX_KEY)
            return false;
        if (key.plain && key.len == 2 && memcmp(key.from, "<<", 2) == 0)
            return false; /* the decoder plays events of merges again */
        emit_read(q, &key);
        if (!read_value(q, column))
            return false;
        if (q->column != column)
            break;
        if (!read_scalar(q, &key) || !take_colon(q))
            return false;
    }
    emit(q, YAML_MAPPING_END_EVENT, q->line_start);
    return q->column <= column;
}

/* @parent: the column that a node above has; what is as far out is no part of this one. */
static bool read_node(struct quick *q, int parent)
{
    struct scalar s;
    int column = q->column;
    bool ok;
    if (q->depth >= MAX_NESTING)
        return false;
    q->depth++;
    if (is_dash(q))
        ok = read_list(q, column);
    else if (is_inline(*q->at))
        ok = read_inline(q, parent);
    else if (!read_scalar(q, &s))
        return false;
    else
        ok = take_colon(q) ? read_map(q, column, &s) : end_scalar(q, &s, parent);
    q->depth--;
    return ok;
}

/* ---- documents ---------------------------------------------------------------------------------
 */

enum { ODD = 1, WIDE = 0x80 };

/* ODD: bytes that this reader does not handle. Compilers vectorise the loop for pieces of one size.
 */
static unsigned char find_odd(const char *text, size_t len)
{
    unsigned char odd = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        odd |= (unsigned char)((c < 0x20) & (c != '\n')) | (c == 0x7f) | (c & WIDE);
    }
    return odd;
}

/* UTF-8 of what libyaml calls printable, without line ends other than a newline. */
static bool is_printable(const char *text, size_t len)
{
    const char *end = text + len;
    while (text < end) {
        uint32_t rune;
        bool valid;
        text += sw_utf8_decode(text, end, &rune, &valid);
        if (!valid || (rune >= 0x7f && rune < 0xa0) || rune == 0x2028 || rune == 0x2029 ||
            rune == 0xfeff || rune == 0xfffe || rune == 0xffff)
            return false;
    }
    return true;
}

static bool is_ordinary(const char *text, size_t len, bool *is_wide)
{
    enum { PIECE = 64 };
    unsigned char odd = 0;
    size_t at = 0;
    for (; len - at >= PIECE; at += PIECE)
        odd |= find_odd(text + at, PIECE);
    odd |= find_odd(text + at, len - at);
    *is_wide = odd & WIDE;
    return !(odd & ODD) && (!*is_wide || is_printable(text, len));
}

static bool read_document(struct quick *q)
{
    emit(q, YAML_DOCUMENT_START_EVENT, q->at);
    if (q->is_marker) {
        q->is_marker = false;
        q->at += 3;
        if (!end_line(q))
            return false;
    }
    if (q->column < 0) {
        /* libyaml's place of a missing node is that of the next document or, on a line of its own,
         * that of the end */
        struct sw_place place = place_here(q);
        if (q->at == q->end && q->at > q->line_start)
            place = (struct sw_place){ place.line + 1, 1 };
        emit_empty(q, &place);
    } else if (!read_node(q, -1)) {
        return false;
    }
    emit(q, YAML_DOCUMENT_END_EVENT, q->at);
    return q->column < 0;
}

bool sw_yaml_quick(const char *text, size_t len_bytes, int first_line,
                   struct sw_yaml_event **events, size_t *n_events, char **bytes)
{
    struct quick q = { .text = text, .at = text, .end = text + len_bytes, .line = first_line };
    if (len_bytes > max_bytes || !is_ordinary(text, len_bytes, &q.is_wide))
        return false;
    q.cap = (len_bytes < MAX_GUESS ? len_bytes : MAX_GUESS) / BYTES_PER_EVENT + 8;
    q.events = sw_alloc(q.cap * sizeof *q.events);
    q.bytes = sw_alloc(len_bytes + 1);
    if (len_bytes)
        memcpy(q.bytes, text, len_bytes);
    bool ok = find_line(&q);
    while (ok && q.at < q.end)
        ok = read_document(&q);
    if (!ok) {
        free(q.bytes);
        free(q.events);
        return false;
    }
    emit(&q, YAML_STREAM_END_EVENT, q.at);
    *events = q.events;
    *n_events = q.n;
    *bytes = q.bytes;
    return true;
}
