#include "chart/recipe/plan/strvals.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/json/json.h"

enum {
    MAX_INDEX = 65536,
    MAX_NESTING = 30,
    MAX_INDEXES = 100,   /* a[0][0]... */
    MAX_ITEMS = 1 << 20, /* that indexes past the end of lists may make */
    MAX_FILE_BYTES = 16 << 20,
};

struct parser {
    const char *at; /* what is left; "" at the end */
    enum sw_values_syntax syntax;
    struct sw_arena *arena;
    size_t n_items; /* that were made so far */
    struct sw_err *err;
};

/* A run of characters up to one that stops it. */
struct run {
    const char *text; /* in the arena, without the backslashes */
    size_t len;
    char stop; /* what stopped it; 0: the end */
};

static struct run read_run(struct parser *p, const char *stops)
{
    struct run run = { 0 };
    char *text = sw_arena_alloc(p->arena, strlen(p->at) + 1);
    while (*p->at && !strchr(stops, *p->at)) {
        if (*p->at == '\\' && p->syntax != SW_VALUES_LITERAL && !*++p->at)
            break;
        text[run.len++] = *p->at++;
    }
    run.text = text;
    run.stop = *p->at;
    p->at += run.stop != '\0';
    return run;
}

/* ---- values -------------------------------------------------------------------------------------
 */

/* A value of --set: a bool, null, an integer, or a string. */
static struct sw_value typed(const struct run *run)
{
    const char *s = run->text;
    if (strcasecmp(s, "true") == 0 || strcasecmp(s, "false") == 0)
        return sw_value_bool(strlen(s) == 4);
    if (strcasecmp(s, "null") == 0)
        return sw_value_nil();
    bool is_number = strcmp(s, "0") == 0 ||
                     (*s != '0' && (isdigit((unsigned char)*s) ||
                                    ((*s == '-' || *s == '+') && isdigit((unsigned char)s[1]))));
    char *end;
    errno = 0;
    long long number = is_number ? strtoll(s, &end, 10) : 0;
    if (is_number && !*end && errno == 0)
        return sw_value_int64(number);
    return sw_value_text(s, run->len);
}

static int value_of(struct parser *p, const struct run *run, struct sw_value *out)
{
    if (p->syntax == SW_VALUES_FILE) {
        SW_AUTO_CHARS *bytes = NULL;
        size_t len;
        int rc = sw_file_read(run->text, MAX_FILE_BYTES, &bytes, &len, p->err);
        if (rc == 0)
            *out = sw_value_str(p->arena, bytes, len);
        return rc;
    }
    *out = p->syntax == SW_VALUES_TYPED ? typed(run) : sw_value_text(run->text, run->len);
    return 0;
}

/* "x,y}" behind '{'. */
static int read_list(struct parser *p, struct sw_value *out)
{
    struct sw_list *list = sw_list_new(p->arena, 0);
    for (;;) {
        struct run run = read_run(p, ",}");
        if (!run.stop)
            return sw_err_set(p->err, SW_INVALID, "a list must end with '}'");
        struct sw_value item;
        int rc = value_of(p, &run, &item);
        if (rc != 0)
            return rc;
        sw_list_add(list, item);
        if (run.stop == '}')
            break;
    }
    p->at += *p->at == ',';
    *out = sw_value_list(list);
    return 0;
}

/* Where the JSON value at @s ends: at the comma or end outside of its brackets and strings. */
static const char *json_end(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        if (*s == '"') {
            for (s++; *s && *s != '"'; s++)
                s += *s == '\\' && s[1];
            if (!*s)
                return s;
        }
        depth += *s == '[' || *s == '{';
        depth -= *s == ']' || *s == '}';
        if (*s == ',' && depth <= 0)
            return s;
    }
    return s;
}

/* The value after '='. */
static int read_value(struct parser *p, struct sw_value *out)
{
    if (p->syntax == SW_VALUES_LITERAL) { /* to the end */
        struct run all = read_run(p, "");
        *out = sw_value_text(all.text, all.len);
        return 0;
    }
    if (p->syntax == SW_VALUES_JSON) {
        while (isspace((unsigned char)*p->at))
            p->at++;
        const char *end = json_end(p->at);
        SW_AUTO_JSON *doc = NULL; /* an empty text is null */
        int rc = end > p->at ? sw_json_parse(p->at, (size_t)(end - p->at), NULL, &doc, p->err) : 0;
        *out = doc ? sw_value_from_json(p->arena, doc) : sw_value_nil();
        p->at = end + (*end == ',');
        return rc;
    }
    if (*p->at == '{') {
        p->at++;
        return read_list(p, out);
    }
    if (!*p->at) {
        *out = sw_value_text("", 0); /* a=: even of --set-file an empty string */
        return 0;
    }
    struct run run = read_run(p, ",");
    return value_of(p, &run, out);
}

/* ---- keys ---------------------------------------------------------------------------------------
 */

static int read_key(struct parser *p, struct sw_map *map, int nesting);

static int read_index(struct parser *p, size_t *index)
{
    struct run run = read_run(p, "]");
    char *end;
    errno = 0;
    long long n = strtoll(run.text, &end, 10);
    if (!run.stop || !run.len || *end || errno || isspace((unsigned char)*run.text))
        return sw_err_set(p->err, SW_INVALID, "'[%s' is no index", run.text);
    if (n < 0 || n > MAX_INDEX)
        return sw_err_set(p->err, SW_INVALID, "index %lld: expected 0 to %d", n, MAX_INDEX);
    *index = (size_t)n;
    return 0;
}

/* The rest of an expression after "]": = value, [index] or .key */
static int read_item(struct parser *p, struct sw_list *list, size_t i, int nesting, int n_indexes)
{
    struct run run = read_run(p, "[.=");
    if (run.len > 0 || !run.stop)
        return sw_err_set(p->err, SW_INVALID, "expected '=', '.' or '[' behind an index, not '%s'",
                          run.text);
    if (n_indexes > MAX_INDEXES)
        return sw_err_set(p->err, SW_INVALID, "more than %d indexes", MAX_INDEXES);
    for (; list->n <= i; sw_list_add(list, sw_value_nil()))
        if (p->n_items++ >= MAX_ITEMS)
            return sw_err_set(p->err, SW_INVALID, "more than %d list items", MAX_ITEMS);
    struct sw_value *item = &list->items[i];
    if (run.stop == '=')
        return read_value(p, item);
    if (run.stop == '.') {
        if (nesting + 1 > MAX_NESTING)
            return sw_err_set(p->err, SW_INVALID, "more than %d keys in each other", MAX_NESTING);
        if (item->type != SW_T_MAP)
            *item = sw_value_map(sw_map_new(p->arena));
        return read_key(p, item->as.map, nesting + 1);
    }
    size_t next;
    int rc = read_index(p, &next);
    if (rc < 0)
        return rc;
    if (item->type == SW_T_NIL)
        *item = sw_value_list(sw_list_new(p->arena, 0));
    if (item->type != SW_T_LIST)
        return sw_err_set(p->err, SW_INVALID, "[%zu] is no list", i);
    return read_item(p, item->as.list, next, nesting, n_indexes + 1);
}

/* The value of @key, made or checked to be a map or list. NULL: @err is set. */
static struct sw_value *open_key(struct parser *p, struct sw_map *map, const struct run *key,
                                 enum sw_type type)
{
    struct sw_value *v = sw_map_find(map, key->text, key->len);
    if (v && v->type == type)
        return v;
    if (v && v->type != SW_T_NIL) {
        (void)sw_err_set(p->err, SW_INVALID, "'%s' has a value already, which is no %s", key->text,
                         type == SW_T_MAP ? "map" : "list");
        return NULL;
    }
    sw_map_set(map, key->text, key->len,
               type == SW_T_MAP ? sw_value_map(sw_map_new(p->arena))
                                : sw_value_list(sw_list_new(p->arena, 0)));
    return sw_map_find(map, key->text, key->len);
}

/* One "key=value", "key.rest" or "key[index]rest". */
static int read_key(struct parser *p, struct sw_map *map, int nesting)
{
    struct run key = read_run(p, p->syntax == SW_VALUES_LITERAL ? "=[." : "=[,.");
    if (!key.stop || key.stop == ',')
        return sw_err_set(p->err, SW_INVALID, "key '%s' has no value", key.text);
    if (key.len == 0 && key.stop != '=')
        return sw_err_set(p->err, SW_INVALID, "an empty key before '%c'", key.stop);
    if (key.stop == '.') {
        if (nesting + 1 > MAX_NESTING)
            return sw_err_set(p->err, SW_INVALID, "more than %d keys in each other", MAX_NESTING);
        struct sw_value *inner = open_key(p, map, &key, SW_T_MAP);
        return inner ? read_key(p, inner->as.map, nesting + 1) : SW_INVALID;
    }
    if (key.stop == '=') {
        struct sw_value v;
        int rc = read_value(p, &v);
        if (rc == 0 && key.len > 0)
            sw_map_set(map, key.text, key.len, v);
        return rc;
    }
    size_t index;
    int rc = read_index(p, &index);
    if (rc < 0)
        return rc;
    struct sw_value *list = open_key(p, map, &key, SW_T_LIST);
    return list ? read_item(p, list->as.list, index, nesting, 0) : SW_INVALID;
}

int sw_strvals_parse(struct sw_map *map, enum sw_values_syntax syntax, const char *text,
                     struct sw_err *err)
{
    struct parser p = { .at = text, .syntax = syntax, .arena = sw_map_arena(map), .err = err };
    while (*p.at) {
        int rc = read_key(&p, map, 0);
        if (rc < 0)
            return rc;
    }
    return 0;
}
