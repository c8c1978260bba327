#include "chart/recipe/schema/document.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/schema/form.h"
#include "data/text/percent.h"

static const char document_url[] = "file:///values.schema.json"; /* as Helm names it */

/* ---- nodes --------------------------------------------------------------------------------------
 */

static size_t slot_of(const struct sw_schema *schema, const struct sw_map *map)
{
    size_t mask = schema->cap_nodes - 1, i = (size_t)((uintptr_t)map >> 4) * 0x9E3779B1U & mask;
    while (schema->nodes[i] && schema->nodes[i]->map != map)
        i = (i + 1) & mask;
    return i;
}

static bool has_keywords(const struct sw_value *v)
{
    return sw_value_is_map(*v) && sw_map_count(v->as.map) > 0;
}

static struct schema_node *find_node(const struct sw_schema *schema, const struct sw_value *v)
{
    return schema->cap_nodes && has_keywords(v) ? schema->nodes[slot_of(schema, v->as.map)] : NULL;
}

const struct schema_node *sw_schema_node(const struct sw_schema *schema, const struct sw_value *v)
{
    return find_node(schema, v);
}

static void grow_nodes(struct sw_schema *schema)
{
    struct schema_node **before = schema->nodes;
    size_t n = schema->cap_nodes;
    schema->cap_nodes = n ? 2 * n : 64;
    schema->nodes = sw_arena_alloc(schema->arena, schema->cap_nodes * sizeof *schema->nodes);
    memset(schema->nodes, 0, schema->cap_nodes * sizeof *schema->nodes);
    for (size_t i = 0; i < n; i++)
        if (before[i])
            schema->nodes[slot_of(schema, before[i]->map)] = before[i];
}

static struct schema_node *add_node(struct sw_schema *schema, const struct sw_map *map,
                                    struct schema_resource *res)
{
    if (2 * (schema->n_nodes + 1) > schema->cap_nodes)
        grow_nodes(schema);
    struct schema_node *node = sw_arena_alloc(schema->arena, sizeof *node);
    *node = (struct schema_node){ .map = map, .res = res };
    const struct sw_entry *e = sw_map_sorted((struct sw_map *)map);
    for (size_t i = 0; i < sw_map_count(map); i++)
        node->keys |= sw_key_bit(e[i].key, e[i].key_len);
    schema->nodes[slot_of(schema, map)] = node;
    schema->n_nodes++;
    return node;
}

/* ---- URLs ---------------------------------------------------------------------------------------
 */

static bool has_scheme(const char *s)
{
    size_t n = strcspn(s, ":/?#");
    return n > 0 && s[n] == ':';
}

/* @ref without its fragment, as one reads it at @base. Dots in paths are left alone. */
static const char *join(struct sw_arena *arena, const char *base, const char *ref)
{
    size_t len = strcspn(ref, "#");
    if (len == 0)
        return base;
    if (has_scheme(ref))
        return sw_arena_strndup(arena, ref, len);
    const char *authority = strstr(base, "://");
    const char *path = authority ? strchr(authority + 3, '/') : NULL;
    const char *slash = strrchr(path ? path : "", '/');
    size_t keep = *ref == '/' && path ? (size_t)(path - base)
                  : slash             ? (size_t)(slash + 1 - base)
                                      : strlen(base);
    return sw_arena_printf(arena, "%.*s%s%.*s", (int)keep, base, !slash && *ref != '/' ? "/" : "",
                           (int)len, ref);
}

static const struct sw_value *text_of(const struct sw_map *map, const char *key)
{
    const struct sw_value *v = sw_map_find_cstr(map, key);
    return v && sw_value_is_string(*v) ? v : NULL;
}

/* ---- finding the schemas ------------------------------------------------------------------------
 */

/* Keywords whose values are schemas. */
static const struct {
    const char *name;
    enum { ONE = 1, LIST = 2, MAP = 4 } form;
    int since, until;   /* drafts */
    bool is_definition; /* used by those that refer to it only */
} below[] = {
    { "$defs", MAP, 2019, 2020, true },
    { "additionalItems", ONE, 4, 2019, false },
    { "additionalProperties", ONE, 4, 2020, false },
    { "allOf", LIST, 4, 2020, false },
    { "anyOf", LIST, 4, 2020, false },
    { "contains", ONE, 6, 2020, false },
    { "contentSchema", ONE, 2019, 2020, true },
    { "definitions", MAP, 4, 2020, true },
    { "dependencies", MAP, 4, 2020, false },
    { "dependentSchemas", MAP, 2019, 2020, false },
    { "else", ONE, 7, 2020, false },
    { "if", ONE, 7, 2020, false },
    { "items", ONE | LIST, 4, 2020, false },
    { "not", ONE, 4, 2020, false },
    { "oneOf", LIST, 4, 2020, false },
    { "patternProperties", MAP, 4, 2020, false },
    { "prefixItems", LIST, 2020, 2020, false },
    { "properties", MAP, 4, 2020, false },
    { "propertyNames", ONE, 6, 2020, false },
    { "then", ONE, 7, 2020, false },
    { "unevaluatedItems", ONE, 2019, 2020, false },
    { "unevaluatedProperties", ONE, 2019, 2020, false },
};

/* Call @visit for each schema right below @node's. */
static int each_below(struct sw_schema *schema, const struct schema_node *node, bool definitions,
                      int (*visit)(struct sw_schema *, const struct sw_value *,
                                   struct schema_resource *, int, struct sw_err *),
                      struct schema_resource *res, int depth, struct sw_err *err)
{
    int rc = 0, draft = node->res->draft;
    for (size_t k = 0; k < SW_COUNT(below) && rc == 0; k++) {
        const struct sw_value *v = sw_node_keyword(node, below[k].name);
        if (!v || draft < below[k].since || draft > below[k].until ||
            (below[k].is_definition && !definitions))
            continue;
        if ((below[k].form & MAP) && sw_value_is_map(*v)) {
            const struct sw_entry *e = sw_map_sorted(v->as.map);
            for (size_t i = 0; i < sw_map_count(v->as.map) && rc == 0; i++)
                rc = visit(schema, &e[i].value, res, depth, err);
        } else if ((below[k].form & LIST) && sw_value_is_list(*v)) {
            for (size_t i = 0; v->as.list && i < v->as.list->n && rc == 0; i++)
                rc = visit(schema, &v->as.list->items[i], res, depth, err);
        } else if (below[k].form & ONE) {
            rc = visit(schema, v, res, depth, err);
        }
    }
    return rc;
}

/* @return 0: not one of ours, the newest counts then */
static int version_named(const char *url)
{
    static const struct {
        const char *path;
        int draft;
    } rows[] = {
        { "schema", 2020 },
        { "draft/2020-12/schema", 2020 },
        { "draft/2019-09/schema", 2019 },
        { "draft-07/schema", 7 },
        { "draft-06/schema", 6 },
        { "draft-04/schema", 4 },
    };
    size_t len = strcspn(url, "#");
    const char *path = sw_starts_with(url, "http://json-schema.org/")    ? url + 23
                       : sw_starts_with(url, "https://json-schema.org/") ? url + 24
                                                                         : NULL;
    for (size_t i = 0; path && i < SW_COUNT(rows); i++)
        if (strlen(rows[i].path) == (size_t)(url + len - path) &&
            strncmp(path, rows[i].path, strlen(rows[i].path)) == 0)
            return rows[i].draft;
    return 0;
}

/* The $id (draft 4: id) without a fragment; NULL: none. */
static const struct sw_value *id_of(const struct sw_map *map, int draft)
{
    if (draft < 2019 && sw_map_find_cstr(map, "$ref"))
        return NULL;
    const struct sw_value *id = text_of(map, draft == 4 ? "id" : "$id");
    return id && strcspn(id->as.s, "#") > 0 ? id : NULL;
}

static struct schema_resource *add_resource(struct sw_schema *schema, const char *url,
                                            const struct sw_value *root, int draft)
{
    struct schema_resource *res = sw_arena_alloc(schema->arena, sizeof *res);
    const struct sw_value *recursive = sw_map_find_cstr(root->as.map, "$recursiveAnchor");
    *res = (struct schema_resource){ .url = url,
                                     .root = root,
                                     .draft = draft,
                                     .is_recursive = draft >= 2019 && recursive &&
                                                     recursive->type == SW_T_BOOL &&
                                                     recursive->as.b };
    SW_ARENA_GROW(schema->arena, schema->resources, schema->n_resources, schema->cap_resources);
    schema->resources[schema->n_resources++] = res;
    return res;
}

static void add_anchor(struct sw_schema *schema, struct schema_resource *res,
                       const struct sw_value *at, const char *name, bool is_dynamic)
{
    SW_ARENA_GROW(schema->arena, res->anchors, res->n_anchors, res->cap_anchors);
    res->anchors[res->n_anchors++] = (struct schema_anchor){ name, strlen(name), at, is_dynamic };
}

static void collect_anchors(struct sw_schema *schema, const struct sw_value *v,
                            struct schema_resource *res)
{
    const struct sw_value *name;
    if (res->draft < 2019) {
        name = text_of(v->as.map, res->draft == 4 ? "id" : "$id");
        const char *hash = name ? strchr(name->as.s, '#') : NULL;
        if (hash && hash[1] && hash[1] != '/' && !sw_map_find_cstr(v->as.map, "$ref"))
            add_anchor(schema, res, v, hash + 1, false);
        return;
    }
    if ((name = text_of(v->as.map, "$anchor")))
        add_anchor(schema, res, v, name->as.s, false);
    if (res->draft >= 2020 && (name = text_of(v->as.map, "$dynamicAnchor")))
        add_anchor(schema, res, v, name->as.s, true);
}

static int too_deep(struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "the schema is nested too deep");
}

static int collect(struct sw_schema *schema, const struct sw_value *v, struct schema_resource *res,
                   int depth, struct sw_err *err)
{
    if (!has_keywords(v) || find_node(schema, v))
        return 0;
    if (depth > SW_SCHEMA_MAX_DEPTH || !sw_stack_has_room())
        return too_deep(err);
    const struct sw_value *named = text_of(v->as.map, "$schema");
    int draft = named ? version_named(named->as.s) : 0, above = res ? res->draft : 2020;
    const struct sw_value *id = id_of(v->as.map, draft ? draft : above);
    if (!id && res) {
        draft = above;
        id = id_of(v->as.map, draft);
    }
    if (id || !res)
        res = add_resource(schema,
                           id ? join(schema->arena, res ? res->url : document_url, id->as.s)
                              : document_url,
                           v, draft ? draft : above);
    const struct schema_node *node = add_node(schema, v->as.map, res);
    schema->is_odd = schema->is_odd || !sw_schema_is_plain(schema, node);
    collect_anchors(schema, v, res);
    return each_below(schema, node, true, collect, res, depth + 1, err);
}

/* ---- references ---------------------------------------------------------------------------------
 */

/* One step of a JSON pointer, ~0, ~1 and %XX decoded; at most @cap - 1 bytes. */
static size_t pointer_token(const char **at, const char *end, char *buf, size_t cap)
{
    size_t n = 0;
    while (*at < end && **at != '/' && n + 1 < cap) {
        if (**at == '~' && *at + 1 < end) {
            buf[n++] = (*at)[1] == '1' ? '/' : '~';
            *at += 2;
        } else if (**at == '%' && end - *at > 2 && sw_hex_digit((*at)[1]) >= 0 &&
                   sw_hex_digit((*at)[2]) >= 0) {
            buf[n++] = (char)(sw_hex_digit((*at)[1]) * 16 + sw_hex_digit((*at)[2]));
            *at += 3;
        } else {
            buf[n++] = *(*at)++;
        }
    }
    buf[n] = '\0';
    return n;
}

/* @*res: whose schema was passed last on the way. */
static const struct sw_value *follow(const struct sw_schema *schema, const char *at,
                                     struct schema_resource **res)
{
    const char *end = at + strlen(at);
    const struct sw_value *v = (*res)->root;
    while (v && at < end) {
        char token[512], *stop;
        if (*at++ != '/')
            return NULL;
        size_t len = pointer_token(&at, end, token, sizeof token);
        if (sw_value_is_map(*v)) {
            v = sw_map_find(v->as.map, token, len);
        } else if (sw_value_is_list(*v)) {
            size_t i = strtoul(token, &stop, 10);
            v = len && !*stop && v->as.list && i < v->as.list->n ? &v->as.list->items[i] : NULL;
        } else {
            v = NULL;
        }
        const struct schema_node *node = v ? find_node(schema, v) : NULL;
        if (node)
            *res = node->res;
    }
    return v;
}

static const struct schema_anchor *find_anchor(const struct schema_resource *res, const char *name)
{
    for (size_t i = 0; i < res->n_anchors; i++)
        if (sw_streq(res->anchors[i].name, name))
            return &res->anchors[i];
    return NULL;
}

static struct schema_resource *find_resource(const struct sw_schema *schema, const char *url)
{
    for (size_t i = 0; i < schema->n_resources; i++)
        if (sw_streq(schema->resources[i]->url, url))
            return schema->resources[i];
    return sw_streq(url, document_url) && schema->n_resources ? schema->resources[0] : NULL;
}

static const struct sw_value anything = { .type = SW_T_BOOL, .as.b = true };

/* The schema that @ref names, a text in a schema of @base. */
static int resolve(struct sw_schema *schema, struct schema_resource *base, const char *ref,
                   const struct sw_value **out, struct sw_err *err)
{
    const char *url = join(schema->arena, base->url, ref), *hash = strchr(ref, '#');
    const char *fragment = hash ? hash + 1 : "";
    struct schema_resource *res = find_resource(schema, url);
    if (!res && sw_starts_with(url, "urn:")) {
        *out = &anything;
        return 0;
    }
    if (!res)
        return sw_err_set(err, SW_INVALID,
                          "$ref '%s' is outside of the schema, and is not asked for; put what it "
                          "names into the schema",
                          ref);
    const struct sw_value *v;
    if (*fragment && *fragment != '/') {
        const struct schema_anchor *anchor = find_anchor(res, fragment);
        if (!anchor)
            return sw_err_set(err, SW_INVALID, "anchor in \"%s#%s\" not found in schema \"%s\"",
                              res->url, fragment, document_url);
        v = anchor->schema;
    } else {
        v = follow(schema, fragment, &res);
        if (!v)
            return sw_err_set(err, SW_INVALID, "json-pointer in \"%s#%s\" not found", document_url,
                              fragment);
    }
    *out = v;
    return collect(schema, v, res, 0, err); /* it may lie where no schema is otherwise */
}

static int use(struct sw_schema *schema, const struct sw_value *v, struct schema_resource *res,
               int depth, struct sw_err *err);

static int use_ref(struct sw_schema *schema, struct schema_node *node, const char *keyword,
                   const struct sw_value **out, int depth, struct sw_err *err)
{
    const struct sw_value *ref = sw_node_keyword(node, keyword);
    if (!ref || !sw_value_is_string(*ref))
        return 0;
    int rc = resolve(schema, node->res, ref->as.s, out, err);
    return rc < 0 ? rc : use(schema, *out, node->res, depth + 1, err);
}

static int use_patterns(const struct sw_schema *schema, const struct schema_node *node,
                        struct sw_err *err)
{
    const struct sw_value *pattern = sw_node_keyword(node, "pattern");
    if (pattern && sw_value_is_string(*pattern) && !sw_schema_regex(schema, *pattern, err))
        return SW_INVALID;
    const struct sw_value *all = sw_node_keyword(node, "patternProperties");
    const struct sw_entry *e = all && sw_value_is_map(*all) ? sw_map_sorted(all->as.map) : NULL;
    for (size_t i = 0; e && i < sw_map_count(all->as.map); i++)
        if (!sw_schema_regex(schema, sw_value_text(e[i].key, e[i].key_len), err))
            return SW_INVALID;
    return 0;
}

/* Follow the references of what is used. */
static int use(struct sw_schema *schema, const struct sw_value *v, struct schema_resource *res,
               int depth, struct sw_err *err)
{
    struct schema_node *node = find_node(schema, v);
    (void)res;
    if (!node || node->is_used)
        return 0;
    if (depth > SW_SCHEMA_MAX_DEPTH || !sw_stack_has_room())
        return too_deep(err);
    node->is_used = true;
    int draft = node->res->draft, rc = use_ref(schema, node, "$ref", &node->ref, depth, err);
    if (rc < 0 || (draft < 2019 && node->ref))
        return rc;
    if (draft >= 2019)
        rc = use_ref(schema, node, "$recursiveRef", &node->recursive_ref, depth, err);
    if (rc == 0 && draft >= 2020)
        rc = use_ref(schema, node, "$dynamicRef", &node->dynamic_ref, depth, err);
    const char *hash = node->dynamic_ref ? strchr(text_of(node->map, "$dynamicRef")->as.s, '#')
                                         : NULL;
    if (hash && hash[1] && hash[1] != '/')
        node->dynamic_name = (struct schema_anchor){ .name = hash + 1, .len = strlen(hash + 1) };
    if (rc == 0)
        rc = use_patterns(schema, node, err);
    return rc < 0 ? rc : each_below(schema, node, false, use, node->res, depth + 1, err);
}

/* Entries stay where they are from now on: schemas are known by their addresses. */
static int sort_maps(const struct sw_value *v, int depth, struct sw_err *err)
{
    int rc = 0;
    if (depth > 2 * SW_SCHEMA_MAX_DEPTH || !sw_stack_has_room())
        return too_deep(err);
    for (size_t i = 0; sw_value_is_list(*v) && v->as.list && i < v->as.list->n && rc == 0; i++)
        rc = sort_maps(&v->as.list->items[i], depth + 1, err);
    const struct sw_entry *e = sw_value_is_map(*v) ? sw_map_sorted(v->as.map) : NULL;
    for (size_t i = 0; e && i < sw_map_count(v->as.map) && rc == 0; i++)
        rc = sort_maps(&e[i].value, depth + 1, err);
    return rc;
}

int sw_schema_find(struct sw_schema *schema, struct sw_err *err)
{
    int rc = sort_maps(&schema->root, 0, err);
    return rc < 0 ? rc : collect(schema, &schema->root, NULL, 0, err);
}

int sw_schema_use(struct sw_schema *schema, struct sw_err *err)
{
    return use(schema, &schema->root, NULL, 0, err);
}

int sw_schema_version(const struct sw_schema *schema)
{
    return schema->n_resources ? schema->resources[0]->draft : 2020;
}

/* ---- regular expressions, places ----------------------------------------------------------------
 */

/* A schema's expressions are few, and each is used often: for every key of a map. */
const struct sw_regex *sw_schema_regex(const struct sw_schema *schema, struct sw_value pattern,
                                       struct sw_err *err)
{
    struct sw_schema *s = (struct sw_schema *)schema; /* only its cache changes */
    for (size_t i = 0; i < s->n_patterns; i++)
        if (s->patterns[i].text == pattern.as.s)
            return s->patterns[i].regex;
    struct sw_regex *regex = NULL;
    int rc = sw_regex_compile(pattern.as.s, pattern.len, &regex, err);
    if (rc < 0)
        return NULL;
    SW_GROW(s->patterns, s->n_patterns, s->cap_patterns);
    s->patterns[s->n_patterns++] = (struct schema_pattern){ pattern.as.s, regex };
    return regex;
}

static const char *find_place(const struct sw_value *at, const struct sw_value *wanted,
                              const char *path, struct sw_arena *arena, int depth)
{
    const char *found = at == wanted ? path : NULL;
    if (found || depth > SW_SCHEMA_MAX_DEPTH || !sw_stack_has_room())
        return found;
    for (size_t i = 0; sw_value_is_list(*at) && at->as.list && i < at->as.list->n && !found; i++)
        found = find_place(&at->as.list->items[i], wanted,
                           sw_arena_printf(arena, "%s/%zu", path, i), arena, depth + 1);
    if (!sw_value_is_map(*at))
        return found;
    const struct sw_entry *e = sw_map_sorted(at->as.map);
    for (size_t i = 0; i < sw_map_count(at->as.map) && !found; i++)
        found = find_place(&e[i].value, wanted,
                           sw_arena_printf(arena, "%s/%.*s", path, (int)e[i].key_len, e[i].key),
                           arena, depth + 1);
    return found;
}

const char *sw_schema_place(const struct sw_schema *schema, const struct sw_value *v,
                            struct sw_arena *arena)
{
    const char *found = find_place(&schema->root, v, "", arena, 0);
    return found ? found : "";
}
