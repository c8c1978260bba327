/* Keywords about what is in maps and lists. */
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/schema/check.h"

static struct problem *enter_entry(struct frame *f, const struct sw_value *schema,
                                   const struct sw_entry *e)
{
    return sw_check_inside(f->c, schema, e->value,
                           (struct spot){ .key = e->key, .key_len = e->key_len });
}

/* Where a keyword of an item counts from another one on, its place is told from there, too. */
static void enter_item(struct frame *f, const struct sw_value *schema, size_t i, size_t told)
{
    if (!f->c->gave_up)
        sw_problem_add(&f->all, sw_check_inside(f->c, schema, f->v.as.list->items[i],
                                                (struct spot){ .index = told }));
}

static void append_quoted(struct frame *f, char **text, const char *s, size_t len)
{
    sw_append(text, "%s%s", **text ? ", " : "", sw_problem_quoted(f->c, s, len));
}

/* ---- maps ---------------------------------------------------------------------------------------
 */

/* The names of @wanted that the map has not, in quotes; the caller's. NULL: it has all. */
static char *missing(struct frame *f, const struct sw_value *wanted, size_t *n)
{
    char *names = NULL;
    *n = 0;
    const struct sw_list *all = sw_value_is_list(*wanted) ? wanted->as.list : NULL;
    for (size_t i = 0; all && i < all->n; i++) {
        struct sw_value name = all->items[i];
        if (!sw_value_is_string(name) || sw_map_find(f->v.as.map, name.as.s, name.len))
            continue;
        names = names ? names : sw_strdup("");
        append_quoted(f, &names, name.as.s, name.len);
        (*n)++;
    }
    return names;
}

static void check_required(struct frame *f)
{
    size_t n;
    const struct sw_value *wanted = sw_keyword(f, "required");
    SW_AUTO_CHARS *names = wanted ? missing(f, wanted, &n) : NULL;
    if (names)
        sw_check_add(f, n == 1 ? "missing property %s" : "missing properties %s", names);
}

/* What has to be there beside a key that is there: names, or a schema for the map. */
static void check_dependency(struct frame *f, const struct sw_entry *e)
{
    size_t n;
    if (!sw_map_find(f->v.as.map, e->key, e->key_len))
        return;
    if (!sw_value_is_list(e->value)) {
        sw_problem_add(&f->all, sw_check_self(f, &e->value, NULL, false));
        return;
    }
    SW_AUTO_CHARS *names = missing(f, &e->value, &n);
    if (names)
        sw_check_add(f, "properties %s required, if %s exists", names,
                     sw_problem_quoted(f->c, e->key, e->key_len));
}

static void check_dependencies(struct frame *f, const char *keyword)
{
    const struct sw_value *all = sw_keyword(f, keyword);
    const struct sw_entry *e = all && sw_value_is_map(*all) ? sw_map_sorted(all->as.map) : NULL;
    for (size_t i = 0; e && i < sw_map_count(all->as.map) && !f->c->gave_up; i++)
        check_dependency(f, &e[i]);
}

/* The keywords about the values of a map. */
struct entry_keywords {
    const struct sw_map *properties, *patterns;
    const struct sw_value *additional;
};

static const struct sw_map *map_of(const struct frame *f, const char *keyword)
{
    const struct sw_value *v = sw_keyword(f, keyword);
    return v && sw_value_is_map(*v) && sw_map_count(v->as.map) ? v->as.map : NULL;
}

/* @return whether a keyword speaks of the entry; those that nothing may be called are added to
 * @forbidden */
static bool check_entry(struct frame *f, const struct entry_keywords *k, const struct sw_entry *e,
                        char **forbidden)
{
    bool is_declared = false;
    const struct sw_value *schema = k->properties ? sw_map_find(k->properties, e->key, e->key_len)
                                                  : NULL;
    if (schema) {
        is_declared = true;
        sw_problem_add(&f->all, enter_entry(f, schema, e));
    }
    const struct sw_entry *p = k->patterns ? sw_map_sorted((struct sw_map *)k->patterns) : NULL;
    for (size_t i = 0; p && i < sw_map_count(k->patterns) && !f->c->gave_up; i++)
        if (sw_check_matches(f->c, sw_value_text(p[i].key, p[i].key_len), e->key, e->key_len)) {
            is_declared = true;
            sw_problem_add(&f->all, enter_entry(f, &p[i].value, e));
        }
    if (is_declared || !k->additional)
        return is_declared;
    if (k->additional->type != SW_T_BOOL)
        sw_problem_add(&f->all, enter_entry(f, k->additional, e));
    else if (!k->additional->as.b)
        append_quoted(f, forbidden, e->key, e->key_len);
    return true;
}

static void check_entries(struct frame *f)
{
    struct entry_keywords k = { map_of(f, "properties"), map_of(f, "patternProperties"),
                                sw_keyword(f, "additionalProperties") };
    const struct sw_entry *e = sw_map_sorted(f->v.as.map);
    SW_AUTO_CHARS *forbidden = sw_strdup("");
    if (!k.properties && !k.patterns && !k.additional)
        return;
    for (size_t i = 0; i < sw_map_count(f->v.as.map) && !f->c->gave_up; i++)
        if (check_entry(f, &k, &e[i], &forbidden) && f->rest.left && f->rest.is[i]) {
            f->rest.is[i] = false;
            f->rest.left--;
        }
    if (*forbidden)
        sw_check_add(f, "additional properties %s not allowed", forbidden);
}

static void check_names(struct frame *f)
{
    const struct sw_value *schema = sw_keyword(f, "propertyNames");
    const struct sw_entry *e = sw_map_sorted(f->v.as.map);
    for (size_t i = 0; schema && i < sw_map_count(f->v.as.map) && !f->c->gave_up; i++) {
        struct problem *p = sw_check_name(f->c, schema, sw_value_text(e[i].key, e[i].key_len));
        if (!p)
            continue;
        struct problem *name = sw_problem(f->c, "invalid propertyName %s",
                                          sw_problem_quoted(f->c, e[i].key, e[i].key_len));
        name->place = "''"; /* as Helm tells it, wherever the map is */
        name->first = p->kind == PROBLEM_GROUP ? p->first : p;
        name->last = p->kind == PROBLEM_GROUP ? p->last : p;
        sw_problem_add(&f->all, name);
    }
}

void sw_check_map(struct frame *f)
{
    size_t n = sw_map_count(f->v.as.map);
    sw_check_count(f, "minProperties", n, true);
    sw_check_count(f, "maxProperties", n, false);
    check_required(f);
    check_dependencies(f, "dependencies");
    check_entries(f);
    if (f->draft >= 6)
        check_names(f);
    if (f->draft >= 2019) {
        check_dependencies(f, "dependentSchemas");
        check_dependencies(f, "dependentRequired");
    }
}

/* ---- lists --------------------------------------------------------------------------------------
 */

static bool is_true(const struct sw_value *v)
{
    return v && v->type == SW_T_BOOL && v->as.b;
}

static void check_unique(struct frame *f)
{
    const struct sw_list *all = f->v.as.list;
    for (size_t i = 1; i < all->n && is_true(sw_keyword(f, "uniqueItems")); i++)
        for (size_t j = 0; j < i; j++) {
            if (j % 64 == 0 && !sw_check_step(f->c, 1))
                return;
            if (sw_check_same(all->items[i], all->items[j])) {
                sw_check_add(f, "items at %s and %s are equal", sw_problem_count(f->c, j),
                             sw_problem_count(f->c, i));
                return;
            }
        }
}

/* A schema an item. @return how many items have one */
static size_t check_tuple(struct frame *f, const struct sw_list *schemas)
{
    size_t n = 0;
    for (; schemas && n < schemas->n && n < f->v.as.list->n; n++)
        enter_item(f, &schemas->items[n], n, n);
    return n;
}

/* Up to 2019-09 items is one schema or a list of them, with additionalItems for the rest. */
static void check_items_of_old(struct frame *f, const struct sw_value *items)
{
    size_t n = f->v.as.list->n;
    if (!sw_value_is_list(*items)) {
        for (size_t i = 0; i < n; i++)
            enter_item(f, items, i, i);
        return;
    }
    const struct sw_value *more = sw_keyword(f, "additionalItems");
    size_t from = check_tuple(f, items->as.list);
    if (more && more->type == SW_T_BOOL && !more->as.b && from < n)
        sw_check_add(f, "last %s additionalItem(s) not allowed", sw_problem_count(f->c, n - from));
    else if (more && more->type != SW_T_BOOL)
        for (size_t i = from; i < n; i++)
            enter_item(f, more, i, i - from);
}

static void check_items(struct frame *f)
{
    const struct sw_value *items = sw_keyword(f, "items");
    if (f->draft < 2020) {
        if (items)
            check_items_of_old(f, items);
        return;
    }
    const struct sw_value *first = sw_keyword(f, "prefixItems");
    size_t from = first && sw_value_is_list(*first) ? check_tuple(f, first->as.list) : 0;
    for (size_t i = from; items && i < f->v.as.list->n; i++)
        enter_item(f, items, i, i - from);
}

static bool has_number(const struct sw_value *v, double *d)
{
    if (!v || !sw_value_is_number(*v))
        return false;
    *d = v->type == SW_T_FLOAT64 ? v->as.f : (double)v->as.i;
    return true;
}

/* contains, with minContains and maxContains. */
static void check_contains(struct frame *f, const struct sw_value *schema)
{
    struct problem failed = { 0 };
    SW_AUTO_CHARS *where = sw_strdup("");
    size_t n = 0;
    for (size_t i = 0; i < f->v.as.list->n && !f->c->gave_up; i++) {
        struct problem *p = sw_check_inside(f->c, schema, f->v.as.list->items[i],
                                            (struct spot){ .index = i });
        sw_problem_add(&failed, p);
        if (p)
            continue;
        if (!f->c->quiet)
            sw_append(&where, "%s%zu", n ? " " : "", i);
        n++;
        if (f->draft >= 2020 && f->rest.left && f->rest.is[i]) {
            f->rest.is[i] = false;
            f->rest.left--;
        }
    }
    double least, most;
    struct problem *p = NULL;
    bool has_least = f->draft >= 2019 && has_number(sw_keyword(f, "minContains"), &least),
         has_most = f->draft >= 2019 && has_number(sw_keyword(f, "maxContains"), &most);
    if (has_least && (double)n < least && n > 0)
        p = sw_problem(f->c,
                       "min %s items required to match contains schema, but matched %s items at %s",
                       sw_problem_count(f->c, (size_t)least), sw_problem_count(f->c, n), where);
    else if (has_least && (double)n < least)
        p = sw_problem(f->c, "min %s items required to match contains schema, but none matched",
                       sw_problem_count(f->c, (size_t)least));
    else if (!has_least && n == 0)
        p = sw_problem(f->c, "no items match contains schema");
    if (p) {
        p->first = failed.first;
        p->last = failed.last;
        sw_problem_add(&f->all, p);
    }
    if (has_most && (double)n > most)
        sw_check_add(f,
                     "max %s items required to match contains schema, but matched %s items at %s",
                     sw_problem_count(f->c, (size_t)most), sw_problem_count(f->c, n), where);
}

void sw_check_list(struct frame *f)
{
    size_t n = f->v.as.list->n;
    sw_check_count(f, "minItems", n, true);
    sw_check_count(f, "maxItems", n, false);
    check_unique(f);
    check_items(f);
    const struct sw_value *contains = f->draft >= 6 ? sw_keyword(f, "contains") : NULL;
    if (contains)
        check_contains(f, contains);
}
