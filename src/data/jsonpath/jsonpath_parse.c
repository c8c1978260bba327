/* Parses the text of a JSONPath. Source: k8s.io/client-go/util/jsonpath, parser.go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/jsonpath/jsonpath_ast.h"
#include "data/text/buffer.h"
#include "data/text/number.h"

enum { MAX_TEXT = 16384, MAX_DEPTH = 16 };

struct parser {
    const char *text, *p;
    struct sw_jsonpath *out;
    struct sw_err *err;
    int depth;   /* of filters and ranges */
    int filters; /* number of enclosing filters; inside one, operators and ')' end a path */
};

static int fail(struct parser *p, const char *what)
{
    return sw_err_set(p->err, SW_INVALID, "JSONPath '%s': column %td: %s", p->text,
                      p->p - p->text + 1, what);
}

static int go_deeper(struct parser *p)
{
    return ++p->depth > MAX_DEPTH ? fail(p, "nested too deep") : 0;
}

static struct jp_step *add_step(struct parser *p, struct jp_step ***tail, enum jp_step_kind kind)
{
    struct jp_step *step = sw_arena_alloc(p->out->arena, sizeof *step);
    step->kind = kind;
    **tail = step;
    *tail = &step->next;
    return step;
}

/* @value is taken. @return 0 */
static int add_literal(struct parser *p, struct jp_step ***tail, struct json_object *value)
{
    add_step(p, tail, JP_LITERAL)->literal = value;
    (void)json_object_array_add(p->out->literals, value);
    return 0;
}

static void add_field(struct parser *p, struct jp_step ***tail, const struct sw_buffer *name)
{
    add_step(p, tail, JP_FIELD)->field = sw_arena_strndup(p->out->arena,
                                                          name->text ? name->text : "", name->len);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}

/* What ends a name. */
static bool ends_name(const struct parser *p, char c)
{
    return c == '\0' || strchr(" \t\r\n.,[]$@{}", c) || (p->filters > 0 && strchr("!<>=)", c));
}

/* ---- names, texts, numbers ---------------------------------------------------------------------
 */

/* "text" or 'text' at @p, unquoted. */
static int read_quoted(struct parser *p, char **out)
{
    char quote = *p->p++;
    struct sw_buffer text = { 0 };
    while (*p->p && *p->p != quote) {
        char c = *p->p++;
        if (c == '\\') {
            static const char from[] = "ntr\\\"'", to[] = "\n\t\r\\\"'";
            const char *at = *p->p ? strchr(from, *p->p) : NULL;
            if (!at) {
                free(text.text);
                return fail(p, "unknown escape");
            }
            c = to[at - from];
            p->p++;
        }
        sw_buffer_char(&text, c);
    }
    if (!*p->p) {
        free(text.text);
        return fail(p, "unterminated quoted string");
    }
    p->p++;
    *out = sw_buffer_take(&text, NULL);
    return 0;
}

/* A name up to the character that ends it; a backslash escapes the next character. */
static const char *read_name(struct parser *p)
{
    struct sw_buffer name = { 0 };
    while (!ends_name(p, *p->p)) {
        if (*p->p == '\\' && p->p[1])
            p->p++;
        sw_buffer_char(&name, *p->p++);
    }
    SW_AUTO_CHARS *text = sw_buffer_take(&name, NULL);
    return sw_arena_strdup(p->out->arena, text);
}

static void read_field(struct parser *p, struct jp_step ***tail)
{
    bool escaped = *p->p == '\\';
    const char *name = read_name(p);
    if (!*name)
        return; /* "." alone is the object itself */
    bool wildcard = strcmp(name, "*") == 0 && !escaped;
    struct jp_step *step = add_step(p, tail, wildcard ? JP_WILDCARD : JP_FIELD);
    step->field = name;
}

static int read_number(struct parser *p, struct jp_step ***tail)
{
    const char *from = p->p;
    p->p += *p->p == '+' || *p->p == '-';
    bool whole = true;
    for (; is_digit(*p->p) || *p->p == '.'; p->p++)
        whole = whole && *p->p != '.';
    const char *digits = from + (*from == '+');
    size_t len = (size_t)(p->p - digits);
    double d;
    char *end;
    errno = 0;
    long long i = strtoll(digits, &end, 10);
    if (len == 0 || !is_digit(p->p[-1]))
        return fail(p, "a number was expected");
    if (whole && errno == 0)
        return add_literal(p, tail, json_object_new_int64(i));
    if (!sw_number_read(digits, len, &d))
        return fail(p, "the number is out of range");
    return add_literal(p, tail, json_object_new_double(d));
}

/* ---- brackets ----------------------------------------------------------------------------------
 */

static int parse_path(struct parser *p, struct jp_path *out);

static void skip_spaces(struct parser *p)
{
    while (is_space(*p->p))
        p->p++;
}

/* 'key' or 'a.b'. kubectl reads the latter as a path; here a map's own key "a.b" takes precedence.
 * A backslash escapes the next character. */
static int read_quoted_key(struct parser *p, struct jp_step ***tail)
{
    char quote = *p->p++;
    struct sw_buffer whole = { 0 }, part = { 0 };
    struct jp_path path = { 0 };
    struct jp_step **path_tail = &path.first;
    for (; *p->p && *p->p != quote; p->p++) {
        bool escaped = *p->p == '\\' && p->p[1];
        p->p += escaped;
        sw_buffer_char(&whole, *p->p);
        if (escaped || *p->p != '.') {
            sw_buffer_char(&part, *p->p);
            continue;
        }
        add_field(p, &path_tail, &part);
        part.len = 0;
    }
    struct jp_step **step = *tail;
    add_field(p, tail, &whole);
    if (path.first) {
        add_field(p, &path_tail, &part);
        (*step)->left = path;
    }
    free(whole.text);
    free(part.text);
    if (*p->p != quote)
        return fail(p, "unterminated quoted string");
    p->p++;
    return 0;
}

/* An optional integer. @return whether there was one */
static bool read_integer(struct parser *p, int64_t *out)
{
    char *end;
    bool any = is_digit(*p->p) || (*p->p == '-' && is_digit(p->p[1]));
    if (!any)
        return false;
    *out = strtoll(p->p, &end, 10);
    p->p = end;
    return true;
}

/* [2], [1:3], [::2] */
static int read_slice(struct parser *p, struct jp_step *step)
{
    step->by = 1;
    step->has_from = read_integer(p, &step->from);
    if (step->has_from && *p->p != ':') {
        step->kind = JP_INDEX;
        return 0;
    }
    if (*p->p != ':')
        return fail(p, "an index, a slice, a quoted key or '*' was expected");
    p->p++;
    step->has_to = read_integer(p, &step->to);
    if (*p->p == ':') {
        p->p++;
        (void)read_integer(p, &step->by);
    }
    return step->by > 0 ? 0 : fail(p, "a step must be greater than 0");
}

/* One element of a bracket. */
static int read_selector(struct parser *p, struct jp_path *out)
{
    struct jp_step **tail = &out->first;
    skip_spaces(p);
    int rc = 0;
    if (*p->p == '\'' || *p->p == '"') {
        rc = read_quoted_key(p, &tail);
    } else if (*p->p == '*') {
        p->p++;
        add_step(p, &tail, JP_SLICE)->by = 1;
    } else {
        rc = read_slice(p, add_step(p, &tail, JP_SLICE));
    }
    skip_spaces(p);
    return rc;
}

static int read_brackets(struct parser *p, struct jp_step ***tail)
{
    struct jp_path parts[64];
    size_t n = 0;
    do {
        p->p++;
        if (n == SW_COUNT(parts))
            return fail(p, "too many elements");
        parts[n] = (struct jp_path){ 0 };
        int rc = read_selector(p, &parts[n++]);
        if (rc < 0)
            return rc;
    } while (*p->p == ',');
    if (*p->p != ']')
        return fail(p, *p->p ? "']' was expected" : "unterminated array");
    p->p++;
    if (n == 1) {
        **tail = parts[0].first;
        *tail = &parts[0].first->next;
        return 0;
    }
    struct jp_step *step = add_step(p, tail, JP_UNION);
    step->parts = sw_arena_alloc(p->out->arena, n * sizeof *parts);
    memcpy(step->parts, parts, n * sizeof *parts);
    step->n_parts = n;
    return 0;
}

size_t jp_read_op(const char *p, enum jp_op *op)
{
    static const struct {
        const char *text;
        enum jp_op op;
    } ops[] = { { "==", JP_EQUAL },         { "!=", JP_NOT_EQUAL }, { "<=", JP_LESS_EQUAL },
                { ">=", JP_GREATER_EQUAL }, { "<", JP_LESS },       { ">", JP_GREATER } };
    for (size_t i = 0; i < SW_COUNT(ops); i++)
        if (sw_starts_with(p, ops[i].text)) {
            *op = ops[i].op;
            return strlen(ops[i].text);
        }
    return 0;
}

/* [?(@.type=="Ready")] */
static int read_filter(struct parser *p, struct jp_step ***tail)
{
    int rc = go_deeper(p);
    if (rc < 0)
        return rc;
    struct jp_step *step = add_step(p, tail, JP_FILTER);
    p->p += strlen("[?(");
    p->filters++;
    rc = parse_path(p, &step->left);
    if (rc == 0 && *p->p != ')') {
        size_t n = jp_read_op(p->p, &step->op);
        if (n == 0)
            return fail(p, "')' or one of ==, !=, <, <=, >, >= was expected");
        p->p += n;
        rc = parse_path(p, &step->right);
        if (rc == 0 && !step->right.first)
            rc = fail(p, "a value was expected");
    }
    p->filters--;
    p->depth--;
    if (rc < 0)
        return rc;
    if (p->p[0] != ')' || p->p[1] != ']')
        return fail(p, "')]' was expected");
    p->p += 2;
    return 0;
}

/* ---- paths -------------------------------------------------------------------------------------
 */

static int read_step(struct parser *p, struct jp_step ***tail)
{
    char c = *p->p;
    if (c == '"' || c == '\'') {
        SW_AUTO_CHARS *text = NULL;
        int rc = read_quoted(p, &text);
        return rc < 0 ? rc : add_literal(p, tail, json_object_new_string(text));
    }
    if (sw_starts_with(p->p, "[?("))
        return read_filter(p, tail);
    if (c == '[')
        return read_brackets(p, tail);
    if (sw_starts_with(p->p, "..")) {
        p->p += 2;
        (void)add_step(p, tail, JP_RECURSIVE);
        if (is_word(*p->p) || *p->p == '*')
            read_field(p, tail);
        else if (sw_starts_with(p->p, ".."))
            return fail(p, "invalid multiple recursive descent");
        return 0;
    }
    if (c == '.') {
        p->p++;
        read_field(p, tail);
        return 0;
    }
    if (c == '+' || c == '-' || is_digit(c))
        return read_number(p, tail);
    if (!is_word(c))
        return fail(p, "unexpected character");
    const char *name = read_name(p);
    bool yes = strcmp(name, "true") == 0;
    if (yes || strcmp(name, "false") == 0)
        return add_literal(p, tail, json_object_new_boolean(yes));
    p->p -= strlen(name);
    return fail(p, "unrecognized identifier; texts stand in quotes, fields behind a '.'");
}

/* Parse steps until the end of the path: '}', the end of the text, and in a filter an operator or
 * ')'. */
static int parse_path(struct parser *p, struct jp_path *out)
{
    struct jp_step **tail = &out->first;
    for (;;) {
        while (is_space(*p->p) || *p->p == '@' || *p->p == '$')
            p->p++;
        if (*p->p == '\0' || *p->p == '}' || (p->filters > 0 && strchr("!<>=)", *p->p)))
            return 0;
        int rc = read_step(p, &tail);
        if (rc < 0)
            return rc;
    }
}

/* ---- templates ---------------------------------------------------------------------------------
 */

static bool takes_word(struct parser *p, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(p->p, word, n) != 0 || !ends_name(p, p->p[n]))
        return false;
    p->p += n;
    return true;
}

static int parse_parts(struct parser *p, struct jp_node **tail, bool in_range);

/* The content of braces; the opening brace has been read. @return 1: it was {end} */
static int parse_action(struct parser *p, struct jp_node **tail, bool in_range)
{
    skip_spaces(p);
    bool end = takes_word(p, "end");
    struct jp_node *part = sw_arena_alloc(p->out->arena, sizeof *part);
    part->kind = !end && takes_word(p, "range") ? JP_RANGE : JP_EXPRESSION;
    if (end && !in_range)
        return fail(p, "not in range, nothing to end");
    int rc = parse_path(p, &part->path);
    if (rc < 0)
        return rc;
    if (*p->p != '}')
        return fail(p, "unclosed action");
    p->p++;
    if (end)
        return 1;
    *tail = part;
    if (part->kind != JP_RANGE)
        return 0;
    rc = go_deeper(p);
    if (rc == 0)
        rc = parse_parts(p, &part->body, true);
    p->depth--;
    return rc;
}

static int parse_parts(struct parser *p, struct jp_node **tail, bool in_range)
{
    while (*p->p) {
        size_t len = strcspn(p->p, "{");
        if (len > 0) {
            struct jp_node *text = *tail = sw_arena_alloc(p->out->arena, sizeof *text);
            text->kind = JP_TEXT;
            text->text = sw_arena_strndup(p->out->arena, p->p, len);
            text->len = len;
            tail = &text->next;
        }
        p->p += len;
        if (*p->p == '\0')
            break;
        p->p++;
        int rc = parse_action(p, tail, in_range);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        if (*tail)
            tail = &(*tail)->next;
    }
    return in_range ? fail(p, "{end} is missing") : 0;
}

/* A single expression without its braces, as `kubectl wait` and SRO's charts write them. */
static int parse_relaxed(struct parser *p)
{
    struct jp_node *part = sw_arena_alloc(p->out->arena, sizeof *part);
    part->kind = JP_EXPRESSION;
    p->out->parts = part;
    struct jp_step **tail = &part->path.first;
    if (is_word(*p->p))
        read_field(p, &tail);
    struct jp_path rest = { 0 };
    int rc = parse_path(p, &rest);
    *tail = rest.first;
    if (rc == 0 && *p->p)
        rc = fail(p, "'}' without '{'");
    return rc;
}

int sw_jsonpath_compile(const char *text, struct sw_jsonpath **out, struct sw_err *err)
{
    if (strlen(text) > MAX_TEXT)
        return sw_err_set(err, SW_INVALID, "a JSONPath of more than %d bytes", MAX_TEXT);
    SW_AUTO(sw_jsonpath) *path = sw_zalloc(1, sizeof *path);
    path->arena = sw_arena_new();
    path->literals = json_object_new_array();
    struct parser p = { .text = text, .p = text, .out = path, .err = err };
    int rc = strchr(text, '{') ? parse_parts(&p, &path->parts, false) : parse_relaxed(&p);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(path);
    return 0;
}

void sw_jsonpath_free(struct sw_jsonpath *path)
{
    if (!path)
        return;
    sw_arena_free(path->arena);
    (void)json_object_put(path->literals);
    free(path);
}
