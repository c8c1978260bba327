/* kubectl's JSONPath: text to steps, and steps to values. */
#include "data/jsonpath.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/printbuf.h>

#include "data/json.h"
#include "data/jsonpath_in.h"
#include "data/path.h"

enum { MAX_VALUES = 100000, MAX_NESTING = 32 };

/* ---- compiled form -----------------------------------------------------------------------------
 */

enum step_kind { STEP_KEY, STEP_KEYS, STEP_WILD, STEP_DEEP, STEP_SLICE, STEP_INDEXES, STEP_FILTER };

struct slice {
    long from, to, by;
    bool has_from, has_to;
};

struct step {
    enum step_kind kind;
    char **keys; /* KEY: one; KEYS: some */
    size_t n_keys;
    long *indexes;
    size_t n_indexes;
    struct slice slice;
    struct sw_filter *filter;
};

struct expr {
    struct step *steps;
    size_t n, cap;
};

enum node_kind { NODE_TEXT, NODE_EXPR, NODE_RANGE };

struct node {
    enum node_kind kind;
    char *text;
    struct expr expr;
    struct node *children; /* RANGE */
    size_t n_children, cap;
};

struct sw_jsonpath {
    struct node root; /* its children are all that was written */
};

struct operand {
    bool is_path;
    struct expr path;
    struct json_object *value;
};

struct sw_filter {
    struct operand left, right;
    enum sw_compare op; /* SW_COMPARE_NONE: only that @left is there */
};

static void expr_done(struct expr *e);

static void operand_done(struct operand *o)
{
    expr_done(&o->path);
    json_object_put(o->value);
}

static void step_done(struct step *s)
{
    for (size_t i = 0; i < s->n_keys; i++)
        free(s->keys[i]);
    free(s->keys);
    free(s->indexes);
    if (s->filter) {
        operand_done(&s->filter->left);
        operand_done(&s->filter->right);
        free(s->filter);
    }
}

static void expr_done(struct expr *e)
{
    for (size_t i = 0; i < e->n; i++)
        step_done(&e->steps[i]);
    free(e->steps);
    *e = (struct expr){ 0 };
}

static void node_done(struct node *n)
{
    for (size_t i = 0; i < n->n_children; i++)
        node_done(&n->children[i]);
    free(n->children);
    free(n->text);
    expr_done(&n->expr);
}

void sw_jsonpath_free(struct sw_jsonpath *path)
{
    if (!path)
        return;
    node_done(&path->root);
    free(path);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

struct reader {
    const char *text, *at;
    int depth;
    struct sw_err *err;
};

static int bad(struct reader *r, const char *expected)
{
    return sw_err_set(r->err, SW_INVALID, "JSONPath '%s', column %td: expected %s", r->text,
                      r->at - r->text + 1, expected);
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static struct step *add_step(struct expr *e, enum step_kind kind)
{
    SW_GROW(e->steps, e->n, e->cap);
    e->steps[e->n] = (struct step){ .kind = kind };
    return &e->steps[e->n++];
}

static void add_key(struct step *s, char *key)
{
    s->keys = sw_realloc(s->keys, s->n_keys + 1, sizeof *s->keys);
    s->keys[s->n_keys++] = key;
}

/* A quoted text, its quote at @r->at; a backslash takes the next character as it is. */
static int read_quoted(struct reader *r, char **out)
{
    char quote = *r->at++;
    struct printbuf *pb = printbuf_new();
    while (*r->at && *r->at != quote) {
        if (*r->at == '\\' && r->at[1])
            r->at++;
        printbuf_memappend(pb, r->at++, 1);
    }
    if (*r->at != quote) {
        printbuf_free(pb);
        return bad(r, "the closing quote");
    }
    r->at++;
    *out = sw_strndup(pb->buf, (size_t)pb->bpos);
    printbuf_free(pb);
    return 0;
}

static bool is_name_end(char c)
{
    return !c || strchr(".[]{}()=!<>, \t\"'", c) != NULL;
}

/* A field's name after a dot; "\." is a dot in it. */
static int read_name(struct reader *r, char **out)
{
    struct printbuf *pb = printbuf_new();
    while (!is_name_end(*r->at)) {
        if (*r->at == '\\' && r->at[1])
            r->at++;
        printbuf_memappend(pb, r->at++, 1);
    }
    if (pb->bpos == 0) {
        printbuf_free(pb);
        return bad(r, "a field's name");
    }
    *out = sw_strndup(pb->buf, (size_t)pb->bpos);
    printbuf_free(pb);
    return 0;
}

static bool read_long(struct reader *r, long *out)
{
    char *end;
    if (*r->at != '-' && !isdigit((unsigned char)*r->at))
        return false;
    *out = strtol(r->at, &end, 10);
    bool ok = end != r->at;
    r->at = end;
    return ok;
}

static int read_expr(struct reader *r, struct expr *e);

static int read_operand(struct reader *r, struct operand *o)
{
    skip_blanks(r);
    if (*r->at == '@' || *r->at == '$') {
        r->at++;
        o->is_path = true;
        return read_expr(r, &o->path);
    }
    if (*r->at == '\'' || *r->at == '"') {
        SW_AUTO_CHARS *text = NULL;
        int rc = read_quoted(r, &text);
        if (rc == 0)
            o->value = json_object_new_string(text);
        return rc;
    }
    const char *from = r->at;
    while (*r->at && !strchr(")=!<> \t", *r->at))
        r->at++;
    if (r->at == from)
        return bad(r, "@, a number or a quoted text");
    o->value = sw_compare_value(from, (size_t)(r->at - from));
    return 0;
}

/* After "?(", up to and with ")". */
static int read_filter(struct reader *r, struct step *s)
{
    struct sw_filter *f = s->filter = sw_zalloc(1, sizeof *f);
    int rc = read_operand(r, &f->left);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    if (*r->at == ')') {
        r->at++;
        return 0;
    }
    f->op = sw_compare_read(&r->at);
    if (f->op == SW_COMPARE_NONE)
        return bad(r, "==, !=, <, <=, > or >=");
    rc = read_operand(r, &f->right);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    return *r->at++ == ')' ? 0 : (r->at--, bad(r, "')'"));
}

static int read_slice(struct reader *r, struct step *s, bool has_from, long from)
{
    s->kind = STEP_SLICE;
    s->slice = (struct slice){ .from = from, .has_from = has_from, .by = 1 };
    r->at++;
    s->slice.has_to = read_long(r, &s->slice.to);
    if (*r->at == ':') {
        r->at++;
        if (read_long(r, &s->slice.by) && s->slice.by <= 0)
            return bad(r, "a positive step");
    }
    return 0;
}

static int read_indexes(struct reader *r, struct step *s)
{
    long i;
    bool has = read_long(r, &i);
    skip_blanks(r);
    if (*r->at == ':')
        return read_slice(r, s, has, has ? i : 0);
    if (!has)
        return bad(r, "an index, a slice, *, a quoted name or a filter");
    s->kind = STEP_INDEXES;
    for (;;) {
        s->indexes = sw_realloc(s->indexes, s->n_indexes + 1, sizeof *s->indexes);
        s->indexes[s->n_indexes++] = i;
        skip_blanks(r);
        if (*r->at != ',')
            return 0;
        r->at++;
        skip_blanks(r);
        if (!read_long(r, &i))
            return bad(r, "an index");
    }
}

static int read_quoted_keys(struct reader *r, struct step *s)
{
    s->kind = STEP_KEYS;
    for (;;) {
        char *key;
        int rc = *r->at == '\'' || *r->at == '"' ? read_quoted(r, &key) : bad(r, "a quoted name");
        if (rc < 0)
            return rc;
        add_key(s, key);
        skip_blanks(r);
        if (*r->at != ',')
            return 0;
        r->at++;
        skip_blanks(r);
    }
}

/* After "[", up to and with "]". */
static int read_bracket(struct reader *r, struct expr *e)
{
    struct step *s = add_step(e, STEP_WILD);
    int rc = 0;
    skip_blanks(r);
    if (*r->at == '*') {
        r->at++;
    } else if (*r->at == '\'' || *r->at == '"') {
        rc = read_quoted_keys(r, s);
    } else if (r->at[0] == '?' && r->at[1] == '(') {
        r->at += 2;
        s->kind = STEP_FILTER;
        if (++r->depth > MAX_NESTING)
            return bad(r, "fewer filters inside filters");
        rc = read_filter(r, s);
        r->depth--;
    } else {
        rc = read_indexes(r, s);
    }
    if (rc < 0)
        return rc;
    skip_blanks(r);
    return *r->at++ == ']' ? 0 : (r->at--, bad(r, "']'"));
}

static int read_dot(struct reader *r, struct expr *e)
{
    r->at++;
    if (*r->at == '.') {
        r->at++;
        add_step(e, STEP_DEEP);
        if (*r->at == '[')
            return 0;
    }
    if (*r->at == '*') {
        r->at++;
        add_step(e, STEP_WILD);
        return 0;
    }
    if (*r->at == '[' || is_name_end(*r->at))
        return *r->at == '.' ? bad(r, "a field's name") : 0; /* "." alone, ".[0]" */
    char *name;
    int rc = read_name(r, &name);
    if (rc == 0)
        add_key(add_step(e, STEP_KEY), name);
    return rc;
}

/* Steps until something that is none. */
static int read_expr(struct reader *r, struct expr *e)
{
    for (int rc = 0;;) {
        if (*r->at == '.') {
            rc = read_dot(r, e);
        } else if (*r->at == '[') {
            r->at++;
            rc = read_bracket(r, e);
        } else {
            return 0;
        }
        if (rc < 0)
            return rc;
    }
}

static struct node *add_node(struct node *in, enum node_kind kind)
{
    SW_GROW(in->children, in->n_children, in->cap);
    in->children[in->n_children] = (struct node){ .kind = kind };
    return &in->children[in->n_children++];
}

/* In braces, text "\n" and the like is what Go's quoted string means by it. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\\' && (from[1] == 'n' || from[1] == 't')) {
            *to++ = from[1] == 'n' ? '\n' : '\t';
            from++;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static int read_nodes(struct reader *r, struct node *in, bool in_range);

static bool take_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    skip_blanks(r);
    return true;
}

/* What stands between braces; the "{" is behind @r->at, the "}" is read. */
static int read_braces(struct reader *r, struct node *in)
{
    skip_blanks(r);
    int rc;
    if (*r->at == '"' || *r->at == '\'') {
        const char quote = *r->at;
        const char *end = strchr(r->at + 1, quote);
        if (!end)
            return bad(r, "the closing quote");
        struct node *n = add_node(in, NODE_TEXT);
        n->text = sw_strndup(r->at + 1, (size_t)(end - r->at - 1));
        unescape(n->text);
        r->at = end + 1;
        rc = 0;
    } else if (take_word(r, "range")) {
        struct node *n = add_node(in, NODE_RANGE);
        if (++r->depth > MAX_NESTING)
            return bad(r, "fewer ranges inside ranges");
        rc = read_expr(r, &n->expr);
        if (rc == 0 && *r->at++ != '}')
            rc = (r->at--, bad(r, "'}'"));
        if (rc == 0)
            rc = read_nodes(r, n, true);
        r->depth--;
        return rc;
    } else {
        struct node *n = add_node(in, NODE_EXPR);
        if (*r->at == '@' || *r->at == '$')
            r->at++;
        rc = read_expr(r, &n->expr);
    }
    if (rc < 0)
        return rc;
    skip_blanks(r);
    return *r->at++ == '}' ? 0 : (r->at--, bad(r, "a path or '}'"));
}

static int read_nodes(struct reader *r, struct node *in, bool in_range)
{
    while (*r->at) {
        if (*r->at != '{') {
            size_t len = strcspn(r->at, "{");
            add_node(in, NODE_TEXT)->text = sw_strndup(r->at, len);
            r->at += len;
            continue;
        }
        r->at++;
        skip_blanks(r);
        if (in_range && take_word(r, "end"))
            return *r->at++ == '}' ? 0 : (r->at--, bad(r, "'}'"));
        int rc = read_braces(r, in);
        if (rc < 0)
            return rc;
    }
    return in_range ? bad(r, "{end}") : 0;
}

int sw_jsonpath_compile(const char *text, struct sw_jsonpath **out, struct sw_err *err)
{
    SW_AUTO(sw_jsonpath) *path = sw_zalloc(1, sizeof *path);
    struct reader r = { .text = text, .at = text, .err = err };
    int rc;
    if (strchr(text, '{') && text[0] != '.' && text[0] != '$' && text[0] != '[') {
        rc = read_nodes(&r, &path->root, false);
    } else {
        if (*r.at == '$')
            r.at++;
        struct node *n = add_node(&path->root, NODE_EXPR);
        if (*r.at && *r.at != '.' && *r.at != '[')
            rc = bad(&r, "'.', '[' or '{'");
        else
            rc = read_expr(&r, &n->expr);
        if (rc == 0 && *r.at)
            rc = bad(&r, "'.', '[' or the end");
    }
    if (rc < 0)
        return rc;
    *out = SW_TAKE(path);
    return 0;
}

/* ---- finding -----------------------------------------------------------------------------------
 */

void sw_json_list_done(struct sw_json_list *list)
{
    free(list->values);
    *list = (struct sw_json_list){ 0 };
}

static bool push(struct sw_json_list *list, struct json_object *value)
{
    if (list->n_values >= MAX_VALUES)
        return false;
    SW_GROW(list->values, list->n_values, list->cap);
    list->values[list->n_values++] = value;
    return true;
}

static bool push_children(struct sw_json_list *out, struct json_object *doc)
{
    bool ok = true;
    if (json_object_is_type(doc, json_type_array)) {
        for (size_t i = 0; ok && i < sw_json_len(doc); i++)
            ok = push(out, sw_json_at(doc, i));
    } else if (json_object_is_type(doc, json_type_object)) {
        json_object_object_foreach(doc, key, value)
        {
            (void)key;
            ok = ok && push(out, value);
        }
    }
    return ok;
}

/* @doc and all below it, parents first. */
static bool push_deep(struct sw_json_list *out, struct json_object *doc)
{
    size_t at = out->n_values;
    if (!push(out, doc))
        return false;
    for (; at < out->n_values; at++)
        if (!push_children(out, out->values[at]))
            return false;
    return true;
}

static bool push_slice(struct sw_json_list *out, struct json_object *doc, const struct slice *s)
{
    if (!json_object_is_type(doc, json_type_array))
        return true;
    long n = (long)sw_json_len(doc), from = s->has_from ? s->from : 0, to = s->has_to ? s->to : n;
    from = from < 0 ? from + n : from;
    to = to < 0 ? to + n : to > n ? n : to;
    for (long i = from < 0 ? 0 : from; i<to; i = i> LONG_MAX - s->by ? to : i + s->by)
        if (!push(out, sw_json_at(doc, (size_t)i)))
            return false;
    return true;
}

static bool find(const struct expr *e, struct json_object *doc, struct sw_json_list *out);

static struct json_object *operand_value(const struct operand *o, struct json_object *doc,
                                         bool *found)
{
    if (!o->is_path) {
        *found = true;
        return o->value;
    }
    struct sw_json_list list = { 0 };
    (void)find(&o->path, doc, &list); /* the first one is all that counts */
    *found = list.n_values > 0;
    struct json_object *value = *found ? list.values[0] : NULL;
    sw_json_list_done(&list);
    return value;
}

static bool filter_holds(const struct sw_filter *f, struct json_object *doc)
{
    bool has_left, has_right;
    struct json_object *left = operand_value(&f->left, doc, &has_left);
    if (f->op == SW_COMPARE_NONE || !has_left)
        return has_left;
    struct json_object *right = operand_value(&f->right, doc, &has_right);
    return has_right && sw_compare_holds(f->op, left, right);
}

static bool push_filtered(struct sw_json_list *out, struct json_object *doc,
                          const struct sw_filter *f)
{
    struct sw_json_list children = { 0 };
    bool ok = push_children(&children, doc);
    for (size_t i = 0; ok && i < children.n_values; i++)
        if (filter_holds(f, children.values[i]))
            ok = push(out, children.values[i]);
    sw_json_list_done(&children);
    return ok;
}

static bool push_keys(struct sw_json_list *out, struct json_object *doc, const struct step *s)
{
    struct json_object *value;
    for (size_t i = 0; i < s->n_keys; i++)
        if (json_object_is_type(doc, json_type_object) &&
            json_object_object_get_ex(doc, s->keys[i], &value) && !push(out, value))
            return false;
    return true;
}

static bool push_indexes(struct sw_json_list *out, struct json_object *doc, const struct step *s)
{
    long n = json_object_is_type(doc, json_type_array) ? (long)sw_json_len(doc) : 0;
    for (size_t i = 0; i < s->n_indexes; i++) {
        long at = s->indexes[i] < 0 ? s->indexes[i] + n : s->indexes[i];
        if (at >= 0 && at < n && !push(out, sw_json_at(doc, (size_t)at)))
            return false;
    }
    return true;
}

static bool take_step(const struct step *s, struct json_object *doc, struct sw_json_list *out)
{
    switch (s->kind) {
    case STEP_KEY:
    case STEP_KEYS:
        return push_keys(out, doc, s);
    case STEP_WILD:
        return push_children(out, doc);
    case STEP_DEEP:
        return push_deep(out, doc);
    case STEP_SLICE:
        return push_slice(out, doc, &s->slice);
    case STEP_INDEXES:
        return push_indexes(out, doc, s);
    case STEP_FILTER:
        return push_filtered(out, doc, s->filter);
    }
    return true;
}

/* All that @e finds in @doc. @return false: too much */
static bool find(const struct expr *e, struct json_object *doc, struct sw_json_list *out)
{
    struct sw_json_list now = { 0 };
    bool ok = push(&now, doc);
    for (size_t i = 0; ok && i < e->n; i++) {
        struct sw_json_list next = { 0 };
        for (size_t j = 0; ok && j < now.n_values; j++)
            ok = take_step(&e->steps[i], now.values[j], &next);
        sw_json_list_done(&now);
        now = next;
    }
    for (size_t i = 0; ok && i < now.n_values; i++)
        ok = push(out, now.values[i]);
    sw_json_list_done(&now);
    return ok;
}

static bool find_nodes(const struct node *in, struct json_object *doc, struct sw_json_list *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->n_children; i++)
        if (in->children[i].kind == NODE_EXPR)
            ok = find(&in->children[i].expr, doc, out);
    return ok;
}

int sw_jsonpath_find(const struct sw_jsonpath *path, struct json_object *doc,
                     struct sw_json_list *out, struct sw_err *err)
{
    struct sw_json_list list = { 0 };
    if (!find_nodes(&path->root, doc, &list)) {
        sw_json_list_done(&list);
        return sw_err_set(err, SW_INVALID, "JSONPath: more than %d values", MAX_VALUES);
    }
    sw_json_list_done(out);
    *out = list;
    return 0;
}

struct json_object *sw_jsonpath_first(const struct sw_jsonpath *path, struct json_object *doc)
{
    struct sw_json_list list = { 0 };
    (void)find_nodes(&path->root, doc, &list);
    struct json_object *value = list.n_values ? list.values[0] : NULL;
    sw_json_list_done(&list);
    return value;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static void print_value(struct printbuf *pb, struct json_object *value)
{
    if (json_object_is_type(value, json_type_string)) {
        printbuf_memappend(pb, json_object_get_string(value), json_object_get_string_len(value));
        return;
    }
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(value, SW_JSON_SORTED, &len);
    printbuf_memappend(pb, text, (int)len);
}

static int print_nodes(struct printbuf *pb, const struct node *in, struct json_object *doc,
                       bool allow_missing, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < in->n_children; i++) {
        const struct node *n = &in->children[i];
        if (n->kind == NODE_TEXT) {
            printbuf_memappend(pb, n->text, (int)strlen(n->text));
            continue;
        }
        struct sw_json_list list = { 0 };
        if (!find(&n->expr, doc, &list))
            rc = sw_err_set(err, SW_INVALID, "JSONPath: more than %d values", MAX_VALUES);
        else if (n->kind == NODE_EXPR && list.n_values == 0 && !allow_missing)
            rc = sw_err_set(err, SW_NOTFOUND, "JSONPath: nothing is found");
        for (size_t j = 0; rc == 0 && j < list.n_values; j++) {
            if (n->kind == NODE_RANGE) {
                rc = print_nodes(pb, n, list.values[j], allow_missing, err);
                continue;
            }
            if (j)
                printbuf_memappend(pb, " ", 1);
            print_value(pb, list.values[j]);
        }
        sw_json_list_done(&list);
    }
    return rc;
}

int sw_jsonpath_print(const struct sw_jsonpath *path, struct json_object *doc, bool allow_missing,
                      char **out, struct sw_err *err)
{
    struct printbuf *pb = printbuf_new();
    int rc = print_nodes(pb, &path->root, doc, allow_missing, err);
    if (rc == 0)
        *out = sw_strndup(pb->buf, (size_t)pb->bpos);
    printbuf_free(pb);
    return rc;
}
