#include "cli/lint/fields.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/data.h"
#include "data/text/nearest.h"

extern const struct sw_embedded sw_kind_fields[];

/* ---- the table ----------------------------------------------------------------------------------
 */

/* A line of the table ("V1Pod apiVersion:s kind:s metadata:V1ObjectMeta spec:V1PodSpec") or one
 * field of it: a name and the rest. */
struct row {
    const char *name, *rest;
    size_t name_len, rest_len;
};

struct sw_fields {
    struct row *types, *kinds; /* a row of kinds: the type's name, then "apps/v1 Deployment" */
    size_t n_types, cap_types, n_kinds, cap_kinds;
};

static struct row split_row(const char *line, size_t len)
{
    const char *space = memchr(line, ' ', len);
    size_t name_len = space ? (size_t)(space - line) : len;
    return (struct row){ line, line + name_len + (space != NULL), name_len,
                         len - name_len - (space != NULL) };
}

struct sw_fields *sw_fields_new(void)
{
    struct sw_fields *f = sw_zalloc(1, sizeof *f);
    for (const char *at = sw_kind_fields[0].text, *end; (end = strchr(at, '\n')); at = end + 1) {
        size_t len = (size_t)(end - at);
        if (*at == '=') {
            SW_GROW(f->kinds, f->n_kinds, f->cap_kinds);
            f->kinds[f->n_kinds++] = split_row(at + 1, len - 1);
        } else if (*at != '#') {
            SW_GROW(f->types, f->n_types, f->cap_types);
            f->types[f->n_types++] = split_row(at, len);
        }
    }
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

/* @return the type of a field, its length in @len; NULL: no such field */
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

/* The type of the field that the names @path lead to, its length in @len; NULL: no such field. */
static const char *find_path(const struct sw_fields *f, const struct row *type,
                             const char *const *path, size_t n, size_t *len)
{
    const char *name = NULL;
    for (size_t i = 0; i < n; i++) {
        if (name && *name == '{') { /* any name leads to what is behind the brace */
            name++;
            --*len;
        } else {
            type = name ? find_type(f, name, *len) : type;
            name = type ? find_field(type, path[i], len) : NULL;
        }
        for (; name && *name == '[' && i + 1 < n; name++)
            --*len;
        if (!name)
            return NULL;
    }
    return name;
}

bool sw_fields_is_text(const struct sw_fields *fields, const char *version, const char *kind,
                       const char *const *path, size_t n)
{
    SW_AUTO_CHARS *whole = sw_printf("%s %s", version, kind);
    for (size_t i = 0; i < fields->n_kinds; i++) {
        const struct row *row = &fields->kinds[i];
        if (row->rest_len != strlen(whole) || memcmp(row->rest, whole, row->rest_len) != 0)
            continue;
        size_t len = 0;
        const char *type = find_path(fields, find_type(fields, row->name, row->name_len), path, n,
                                     &len);
        return type && len == 1 && *type == 's';
    }
    return false;
}

/* ---- suggestions --------------------------------------------------------------------------------
 */

/* The name nearest to what was written. */
struct guess {
    const char *written, *best; /* best: NULL: none is near */
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
    enum json_type of;
} scalars[] = {
    { 's', "text", json_type_string },
    { 'i', "an integer", json_type_int },
    { 'n', "a number", json_type_double }, /* or an integer */
    { 'b', "true or false", json_type_boolean },
};

static void report_failure(const struct check *c, const char *path, struct json_object *value,
                           const char *wanted)
{
    enum json_type type = json_object_get_type(value);
    const char *found = type == json_type_string    ? "text"
                        : type == json_type_boolean ? "true or false"
                        : type == json_type_array   ? "a list"
                        : type == json_type_object  ? "a map"
                                                    : "a number";
    bool quotes = sw_streq(wanted, "text") && type != json_type_array && type != json_type_object;
    SW_AUTO_CHARS *text = sw_printf("%s: expected %s, found %s%s", path, wanted, found,
                                    quotes ? "; put it in quotes" : "");
    c->fn(c->arg, path, text);
}

static void check_value(const struct check *c, struct json_object *value, const char *type,
                        size_t len, const char *path);

static void check_map(const struct check *c, struct json_object *map, const struct row *type,
                      const char *path)
{
    json_object_object_foreach(map, key, value)
    {
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, *path ? "." : "", key);
        size_t len;
        const char *field_type = find_field(type, key, &len);
        if (field_type) {
            check_value(c, value, field_type, len, at);
            continue;
        }
        const char *next = type->rest, *end = next + type->rest_len;
        struct guess guess = guess_of(key);
        struct row field;
        while (next_field(&next, end, &field))
            consider(&guess, field.name, field.name_len);
        SW_AUTO_CHARS *meant = suggestion(&guess);
        SW_AUTO_CHARS *text = sw_printf("%s: there is no such field%s", at, meant);
        c->fn(c->arg, at, text);
    }
}

/* @type: as in the table. null stands for a field that is not set. */
static void check_value(const struct check *c, struct json_object *value, const char *type,
                        size_t len, const char *path)
{
    if (!value || (len == 1 && *type == 'x'))
        return;
    const struct row *row = len > 1 ? find_type(c->fields, type, len) : NULL;
    bool is_list = json_object_is_type(value, json_type_array),
         is_map = json_object_is_type(value, json_type_object);
    if (*type == '[' && is_list) {
        for (size_t i = 0; i < sw_json_len(value); i++) {
            SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
            check_value(c, sw_json_at(value, i), type + 1, len - 1, at);
        }
    } else if (*type == '{' && is_map) {
        json_object_object_foreach(value, key, entry)
        {
            SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key);
            check_value(c, entry, type + 1, len - 1, at);
        }
    } else if (row && is_map) {
        check_map(c, value, row, path);
    } else if (*type == '[') {
        report_failure(c, path, value, "a list");
    } else if (*type == '{' || row) {
        report_failure(c, path, value, "a map");
    }
    enum json_type found = json_object_get_type(value);
    for (size_t i = 0; len == 1 && i < SW_COUNT(scalars); i++)
        if (scalars[i].type == *type && found != scalars[i].of &&
            !(*type == 'n' && found == json_type_int))
            report_failure(c, path, value, scalars[i].name);
}

void sw_fields_check(const struct sw_fields *fields, struct json_object *doc, sw_fields_fn *fn,
                     void *arg)
{
    const struct check c = { fields, fn, arg };
    const char *version = sw_obj_api_version(doc), *kind = sw_obj_kind(doc);
    SW_AUTO_CHARS *prefix = sw_printf("%s ", version);
    const size_t prefix_len = strlen(prefix);
    struct guess guess = guess_of(kind);
    for (size_t i = 0; i < fields->n_kinds; i++) {
        const struct row *row = &fields->kinds[i];
        if (row->rest_len <= prefix_len || memcmp(row->rest, prefix, prefix_len) != 0)
            continue;
        const char *name = row->rest + prefix_len;
        size_t len = row->rest_len - prefix_len;
        if (len == strlen(kind) && memcmp(name, kind, len) == 0) {
            check_map(&c, doc, find_type(fields, row->name, row->name_len), "");
            return;
        }
        consider(&guess, name, len);
    }
    /* The table has all kinds of v1. To other groups Kubernetes adds kinds: only a name that is
     * near to one of the table is wrong there. */
    if (*kind && !sw_ends_with(kind, "List") && (guess.best || sw_streq(version, "v1"))) {
        SW_AUTO_CHARS *meant = suggestion(&guess);
        SW_AUTO_CHARS *text = sw_printf("kind: %s has no '%s'%s", version, kind, meant);
        fn(arg, "kind", text);
    }
    check_value(&c, sw_json_find(doc, "metadata", NULL), "V1ObjectMeta", strlen("V1ObjectMeta"),
                "metadata");
}
