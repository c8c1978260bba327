#include "cli/lint/fields.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json_object.h>
#include <json-c/json_object_iterator.h>

#include "data/data.h"
#include "data/json/json.h"
#include "data/text/nearest.h"

extern const struct sw_embedded sw_kind_fields[];

/* ---- the table ----------------------------------------------------------------------------------
 */

/* "V1Pod apiVersion:s kind:s metadata:V1ObjectMeta spec:V1PodSpec": a word, and what it is. */
struct row {
    const char *name, *rest;
    size_t name_len, rest_len;
};

struct sw_fields {
    struct row *types, *kinds; /* of kinds: the type's name, then "apps/v1 Deployment" */
    size_t n_types, cap_types, n_kinds, cap_kinds;
};

static struct row split_row(const char *line, size_t len)
{
    const char *space = memchr(line, ' ', len);
    size_t name_len = space ? (size_t)(space - line) : len;
    return (struct row){ line, line + name_len + (space != NULL), name_len,
                         len - name_len - (space != NULL) };
}

static void add_line(struct sw_fields *f, const char *line, size_t len)
{
    if (*line == '=') {
        SW_GROW(f->kinds, f->n_kinds, f->cap_kinds);
        f->kinds[f->n_kinds++] = split_row(line + 1, len - 1);
    } else if (*line != '#') {
        SW_GROW(f->types, f->n_types, f->cap_types);
        f->types[f->n_types++] = split_row(line, len);
    }
}

struct sw_fields *sw_fields_new(void)
{
    struct sw_fields *f = sw_zalloc(1, sizeof *f);
    for (const char *at = sw_kind_fields[0].text, *end; (end = strchr(at, '\n')); at = end + 1)
        add_line(f, at, (size_t)(end - at));
    return f;
}

void sw_fields_free(struct sw_fields *f)
{
    if (!f)
        return;
    free(f->types);
    free(f->kinds);
    free(f);
}

static const struct row *find_type(const struct sw_fields *f, const char *name, size_t len)
{
    for (size_t lo = 0, hi = f->n_types; lo < hi;) { /* the lines are sorted */
        size_t mid = (lo + hi) / 2,
               least = len < f->types[mid].name_len ? len : f->types[mid].name_len;
        int order = memcmp(name, f->types[mid].name, least);
        if (order == 0)
            order = (len > f->types[mid].name_len) - (len < f->types[mid].name_len);
        if (order == 0)
            return &f->types[mid];
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

static bool is(const struct row *row, const char *rest)
{
    return strlen(rest) == row->rest_len && memcmp(rest, row->rest, row->rest_len) == 0;
}

static const struct row *type_of_kind(const struct sw_fields *f, struct json_object *doc)
{
    SW_AUTO_CHARS *kind = sw_printf("%s %s", sw_obj_api_version(doc), sw_obj_kind(doc));
    for (size_t i = 0; i < f->n_kinds; i++)
        if (is(&f->kinds[i], kind))
            return find_type(f, f->kinds[i].name, f->kinds[i].name_len);
    return NULL;
}

/* The next "name:type" of a row. @return false: there is none */
static bool next_field(const char **at, const char *end, struct row *field)
{
    if (*at >= end)
        return false;
    const char *space = memchr(*at, ' ', (size_t)(end - *at)), *stop = space ? space : end;
    const char *colon = memrchr(*at, ':', (size_t)(stop - *at)); /* no type has one */
    *field = (struct row){ *at, colon + 1, (size_t)(colon - *at), (size_t)(stop - colon - 1) };
    *at = space ? space + 1 : end;
    return true;
}

/* @return the type of a field, its length in @len; NULL: there is no such field */
static const char *find_field(const struct row *type, const char *name, size_t *len)
{
    const char *at = type->rest, *end = at + type->rest_len;
    size_t name_len = strlen(name);
    struct row field;
    while (next_field(&at, end, &field)) {
        if (field.name_len == name_len && memcmp(field.name, name, name_len) == 0) {
            *len = field.rest_len;
            return field.rest;
        }
    }
    return NULL;
}

/* ---- what was meant -----------------------------------------------------------------------------
 */

/* The nearest of the names that were looked at. */
struct guess {
    const char *written, *best; /* best: NULL where all are other words */
    size_t best_len;
    int least;
};

static struct guess guess_of(const char *written)
{
    return (struct guess){ .written = written, .least = strlen(written) > 4 ? 3 : 2 };
}

static void consider(struct guess *g, const char *name, size_t len)
{
    int d = sw_text_distance(g->written, strlen(g->written), name, len, true);
    if (d < g->least) {
        g->least = d;
        g->best = name;
        g->best_len = len;
    }
}

/* "; is it 'replicas'?" or "". The caller's. */
static char *suggestion(const struct guess *g)
{
    return g->best ? sw_printf("; is it '%.*s'?", (int)g->best_len, g->best) : sw_strdup("");
}

/* ---- checking -----------------------------------------------------------------------------------
 */

struct check {
    const struct sw_fields *fields;
    sw_fields_fn *fn;
    void *arg;
};

static const struct {
    char type;
    const char *name;
} scalars[] = {
    { 's', "text" },
    { 'i', "an integer" },
    { 'n', "a number" },
    { 'b', "true or false" },
};

static bool is_of(struct json_object *value, char type)
{
    switch (json_object_get_type(value)) {
    case json_type_string:
        return type == 's';
    case json_type_int:
        return type == 'i' || type == 'n';
    case json_type_double:
        return type == 'n';
    case json_type_boolean:
        return type == 'b';
    default:
        return false;
    }
}

static const char *found_name(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_string:
        return "text";
    case json_type_int:
    case json_type_double:
        return "a number";
    case json_type_boolean:
        return "true or false";
    case json_type_array:
        return "a list";
    default:
        return "a map";
    }
}

static void report_failure(const struct check *c, const char *path, struct json_object *value,
                           const char *wanted)
{
    bool quotes = sw_streq(wanted, "text") && !json_object_is_type(value, json_type_array) &&
                  !json_object_is_type(value, json_type_object);
    SW_AUTO_CHARS *text = sw_printf("%s: expected %s, found %s%s", path, wanted, found_name(value),
                                    quotes ? "; put it in quotes" : "");
    c->fn(c->arg, path, text);
}

static void check_value(const struct check *c, struct json_object *value, const char *type,
                        size_t len, const char *path);

static char *suggest_field(const struct row *type, const char *name)
{
    const char *at = type->rest, *end = at + type->rest_len;
    struct guess guess = guess_of(name);
    struct row field;
    while (next_field(&at, end, &field))
        consider(&guess, field.name, field.name_len);
    return suggestion(&guess);
}

static void check_map(const struct check *c, struct json_object *map, const struct row *type,
                      const char *path)
{
    struct json_object_iterator it = json_object_iter_begin(map);
    struct json_object_iterator end = json_object_iter_end(map);
    for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
        const char *key = json_object_iter_peek_name(&it);
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, *path ? "." : "", key);
        size_t len;
        const char *field = find_field(type, key, &len);
        if (field) {
            check_value(c, json_object_iter_peek_value(&it), field, len, at);
            continue;
        }
        SW_AUTO_CHARS *meant = suggest_field(type, key);
        SW_AUTO_CHARS *text = sw_printf("%s: there is no such field%s", at, meant);
        c->fn(c->arg, at, text);
    }
}

static void check_elements(const struct check *c, struct json_object *value, const char *type,
                           size_t len, const char *path)
{
    for (size_t i = 0; i < sw_json_len(value); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        check_value(c, sw_json_at(value, i), type, len, at);
    }
}

static void check_entries(const struct check *c, struct json_object *value, const char *type,
                          size_t len, const char *path)
{
    json_object_object_foreach(value, key, entry)
    {
        SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key);
        check_value(c, entry, type, len, at);
    }
}

/* @type: as in the table; null is a field that is not there. */
static void check_value(const struct check *c, struct json_object *value, const char *type,
                        size_t len, const char *path)
{
    if (!value || (len == 1 && *type == 'x'))
        return;
    if (*type == '[') {
        if (json_object_is_type(value, json_type_array))
            check_elements(c, value, type + 1, len - 1, path);
        else
            report_failure(c, path, value, "a list");
        return;
    }
    bool is_map = json_object_is_type(value, json_type_object);
    if (*type == '{') {
        if (is_map)
            check_entries(c, value, type + 1, len - 1, path);
        else
            report_failure(c, path, value, "a map");
        return;
    }
    for (size_t i = 0; len == 1 && i < SW_COUNT(scalars); i++)
        if (scalars[i].type == *type && !is_of(value, *type))
            report_failure(c, path, value, scalars[i].name);
    const struct row *row = len > 1 ? find_type(c->fields, type, len) : NULL;
    if (row && is_map)
        check_map(c, value, row, path);
    else if (row)
        report_failure(c, path, value, "a map");
}

/* A kind that is not in the table. Of v1 all are; to other groups Kubernetes adds some in time:
 * there it takes one that is meant. */
static void check_kind(const struct check *c, struct json_object *doc)
{
    const char *version = sw_obj_api_version(doc), *kind = sw_obj_kind(doc);
    SW_AUTO_CHARS *prefix = sw_printf("%s ", version);
    const size_t len = strlen(prefix);
    struct guess guess = guess_of(kind);
    for (size_t i = 0; i < c->fields->n_kinds; i++) {
        const struct row *row = &c->fields->kinds[i];
        if (row->rest_len > len && memcmp(row->rest, prefix, len) == 0)
            consider(&guess, row->rest + len, row->rest_len - len);
    }
    if (!*kind || sw_ends_with(kind, "List") || (!guess.best && !sw_streq(version, "v1")))
        return;
    SW_AUTO_CHARS *meant = suggestion(&guess);
    SW_AUTO_CHARS *text = sw_printf("kind: %s has no '%s'%s", version, kind, meant);
    c->fn(c->arg, "kind", text);
}

void sw_fields_check(const struct sw_fields *fields, struct json_object *doc, sw_fields_fn *fn,
                     void *arg)
{
    const struct check c = { fields, fn, arg };
    const struct row *type = type_of_kind(fields, doc);
    if (type) {
        check_map(&c, doc, type, "");
        return;
    }
    check_kind(&c, doc);
    check_value(&c, sw_json_find(doc, "metadata", NULL), "V1ObjectMeta", strlen("V1ObjectMeta"),
                "metadata");
}
