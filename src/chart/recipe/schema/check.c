/* A check: a value and a schema, schemas in schemas, references, what is left unevaluated. */
#include "chart/recipe/schema/check.h"

#include <string.h>

void sw_check_give_up(struct check *c, const char *why)
{
    if (!c->gave_up)
        (void)sw_err_set(c->err, SW_INVALID, "%s", why);
    c->gave_up = true;
}

bool sw_check_step(struct check *c, size_t n)
{
    c->steps += n;
    if (c->steps > SW_CHECK_MAX_STEPS)
        sw_check_give_up(c, "checking the values against the schema takes too long");
    return !c->gave_up;
}

bool sw_check_matches(struct check *c, struct sw_value pattern, const char *text, size_t len)
{
    SW_ERR(why);
    const struct sw_regex *regex = sw_schema_regex(c->schema, pattern, &why);
    if (!regex) {
        sw_check_give_up(c, sw_err_text(&why));
        return false;
    }
    if (!sw_check_step(c, len * sw_regex_size(regex) / 256)) /* as many as the search takes */
        return false;
    long *spans = sw_arena_alloc(c->arena, 2 * sw_regex_n_groups(regex) * sizeof *spans);
    return sw_regex_find(regex, text, len, 0, spans);
}

/* ---- what is left unevaluated -------------------------------------------------------------------
 */

static size_t size_of(struct sw_value v)
{
    if (sw_value_is_map(v))
        return sw_map_count(v.as.map);
    return sw_value_is_list(v) && v.as.list ? v.as.list->n : 0;
}

/* How many items the schema itself speaks of; SIZE_MAX: all. */
static size_t n_items_spoken_of(const struct frame *f)
{
    const struct sw_value *items = sw_keyword(f, "items"),
                          *first = f->draft < 2020 ? items : sw_keyword(f, "prefixItems");
    bool is_tuple = first && sw_value_is_list(*first);
    if (f->draft < 2020 ? (items && !is_tuple) || (is_tuple && sw_keyword(f, "additionalItems"))
                        : items != NULL)
        return SIZE_MAX;
    return is_tuple && first->as.list ? first->as.list->n : 0;
}

/* @is_asked: a schema above this one has unevaluated... */
static void unevaluated_init(struct frame *f, bool is_asked)
{
    bool is_map = sw_value_is_map(f->v);
    size_t n = size_of(f->v), from = 0;
    if (f->draft < 2019 || n == 0)
        return;
    if (!is_asked && !sw_keyword(f, is_map ? "unevaluatedProperties" : "unevaluatedItems"))
        return;
    if (is_map && sw_keyword(f, "additionalProperties"))
        return;
    if (!is_map)
        from = n_items_spoken_of(f);
    if (from >= n)
        return;
    f->rest = (struct unevaluated){ sw_arena_alloc(f->c->arena, n), n, n - from };
    for (size_t i = 0; i < n; i++)
        f->rest.is[i] = i >= from;
}

/* What a schema for the same value has evaluated is evaluated. */
static void unevaluated_merge(struct unevaluated *rest, const struct unevaluated *other)
{
    for (size_t i = 0; rest->left && i < rest->n; i++)
        if (rest->is[i] && !(other->left && other->is[i])) {
            rest->is[i] = false;
            rest->left--;
        }
}

static void check_unevaluated(struct frame *f)
{
    bool is_map = sw_value_is_map(f->v);
    const struct sw_value *schema = is_map || sw_value_is_list(f->v)
                                        ? sw_keyword(f, is_map ? "unevaluatedProperties"
                                                               : "unevaluatedItems")
                                        : NULL;
    const struct sw_entry *e = is_map ? sw_map_sorted(f->v.as.map) : NULL;
    for (size_t i = 0; schema && f->rest.left && i < f->rest.n; i++)
        if (f->rest.is[i])
            sw_problem_add(
                &f->all,
                is_map ? sw_check_inside(f->c, schema, e[i].value,
                                         (struct spot){ .key = e[i].key, .key_len = e[i].key_len })
                       : sw_check_inside(f->c, schema, f->v.as.list->items[i],
                                         (struct spot){ .index = i }));
    if (schema)
        f->rest.left = 0;
}

/* ---- schemas in schemas -------------------------------------------------------------------------
 */

static void check_all_of(struct frame *f, const struct sw_list *all)
{
    struct problem failed = { 0 };
    for (size_t i = 0; i < all->n && !f->c->gave_up; i++)
        sw_problem_add(&failed, sw_check_self(f, &all->items[i], NULL, false));
    if (!failed.first)
        return;
    struct problem *p = sw_problem(f->c, "'allOf' failed");
    p->first = failed.first;
    p->last = failed.last;
    sw_problem_add(&f->all, p);
}

static void check_any_of(struct frame *f, const struct sw_list *all)
{
    struct problem failed = { 0 };
    bool fits = false;
    for (size_t i = 0; i < all->n && !f->c->gave_up && !(fits && !f->rest.left); i++) {
        struct problem *p = sw_check_self(f, &all->items[i], NULL, false);
        fits |= !p;
        sw_problem_add(&failed, p);
    }
    if (fits)
        return;
    struct problem *p = sw_problem(f->c, "'anyOf' failed");
    p->first = failed.first;
    p->last = failed.last;
    sw_problem_add(&f->all, p);
}

static void check_one_of(struct frame *f, const struct sw_list *all)
{
    struct problem failed = { 0 };
    size_t fits = SIZE_MAX;
    for (size_t i = 0; i < all->n && !f->c->gave_up; i++) {
        struct problem *p = sw_check_self(f, &all->items[i], NULL, fits != SIZE_MAX);
        if (!p && fits != SIZE_MAX) {
            sw_check_add(f, "'oneOf' failed, subschemas %s, %s matched",
                         sw_problem_count(f->c, fits), sw_problem_count(f->c, i));
            return;
        }
        if (!p)
            fits = i;
        else if (fits == SIZE_MAX)
            sw_problem_add(&failed, p);
    }
    if (fits != SIZE_MAX)
        return;
    struct problem *p = sw_problem(f->c, "'oneOf' failed, none matched");
    p->first = failed.first;
    p->last = failed.last;
    sw_problem_add(&f->all, p);
}

static const struct sw_list *list_of(const struct frame *f, const char *keyword)
{
    const struct sw_value *v = sw_keyword(f, keyword);
    return v && sw_value_is_list(*v) && v->as.list && v->as.list->n ? v->as.list : NULL;
}

static void check_combinations(struct frame *f)
{
    const struct sw_value *schema = sw_keyword(f, "not");
    if (schema && !sw_check_self(f, schema, NULL, true))
        sw_check_add(f, "'not' failed");
    const struct sw_list *all = list_of(f, "allOf"), *any = list_of(f, "anyOf"),
                         *one = list_of(f, "oneOf");
    if (all)
        check_all_of(f, all);
    if (any)
        check_any_of(f, any);
    if (one)
        check_one_of(f, one);
    schema = f->draft >= 7 ? sw_keyword(f, "if") : NULL;
    if (!schema)
        return;
    schema = sw_keyword(f, sw_check_self(f, schema, NULL, true) ? "else" : "then");
    if (schema)
        sw_problem_add(&f->all, sw_check_self(f, schema, NULL, false));
}

/* ---- references ---------------------------------------------------------------------------------
 */

static struct problem *check_ref(struct frame *f, const struct sw_value *schema,
                                 const char *keyword)
{
    struct problem *p = sw_check_self(f, schema, keyword, false);
    if (!p)
        return NULL;
    struct problem *ref = sw_problem(f->c, "validation failed");
    ref->kind = PROBLEM_REFERENCE;
    if (p->kind == PROBLEM_GROUP) {
        ref->first = p->first;
        ref->last = p->last;
    } else {
        sw_problem_add(ref, p);
    }
    return ref;
}

/* The outermost schema that is being checked and may take the place of @schema. */
static const struct sw_value *recursive_target(const struct check *c, const struct sw_value *schema)
{
    const struct schema_node *node = sw_schema_node(c->schema, schema);
    if (!node || !node->res->is_recursive || node->res->root != schema)
        return schema;
    for (const struct scope *s = c->scope; s; s = s->up)
        if (s->node && s->node->res->is_recursive)
            schema = s->schema;
    return schema;
}

static const struct sw_value *find_dynamic(const struct schema_node *node,
                                           const struct schema_anchor *name)
{
    for (size_t i = 0; node && i < node->res->n_anchors; i++) {
        const struct schema_anchor *a = &node->res->anchors[i];
        if (a->is_dynamic && a->len == name->len && memcmp(a->name, name->name, a->len) == 0)
            return a->schema;
    }
    return NULL;
}

static const struct sw_value *dynamic_target(const struct check *c, const struct schema_node *node)
{
    const struct sw_value *schema = node->dynamic_ref;
    if (!node->dynamic_name.name ||
        find_dynamic(sw_schema_node(c->schema, schema), &node->dynamic_name) != schema)
        return schema;
    for (const struct scope *s = c->scope; s; s = s->up) {
        const struct sw_value *found = find_dynamic(s->node, &node->dynamic_name);
        schema = found ? found : schema;
    }
    return schema;
}

static void check_dynamic_refs(struct frame *f, const struct schema_node *node)
{
    if (node->recursive_ref)
        sw_problem_add(&f->all,
                       check_ref(f, recursive_target(f->c, node->recursive_ref), "$recursiveRef"));
    if (node->dynamic_ref)
        sw_problem_add(&f->all, check_ref(f, dynamic_target(f->c, node), "$dynamicRef"));
}

/* ---- one schema ---------------------------------------------------------------------------------
 */

/* The same schema for the same value again: it would never end. */
static const struct scope *find_cycle(const struct scope *scope)
{
    for (const struct scope *s = scope->up; s && s->depth == scope->depth; s = s->up)
        if (s->schema == scope->schema)
            return s;
    return NULL;
}

/* The keywords that led to a scope. */
static const char *keywords_to(struct check *c, const struct scope *s)
{
    if (!s->up)
        return "";
    const char *up = keywords_to(c, s->up);
    if (s->keyword)
        return sw_arena_printf(c->arena, "%s/%s", up, s->keyword);
    const char *above = sw_schema_place(c->schema, s->up->schema, c->arena),
               *here = sw_schema_place(c->schema, s->schema, c->arena);
    return sw_arena_printf(c->arena, "%s%s", up,
                           sw_starts_with(here, above) ? here + strlen(above) : here);
}

static struct problem *group(struct frame *f)
{
    if (!f->all.first || f->all.first == f->all.last)
        return f->all.first;
    struct problem *p = sw_problem(f->c, "validation failed");
    p->kind = PROBLEM_GROUP;
    p->first = f->all.first;
    p->last = f->all.last;
    return p;
}

static struct problem *check_keywords(struct frame *f, const struct schema_node *node)
{
    struct problem *p = sw_check_kind(f);
    if (p)
        return p;
    if (node->ref) {
        p = check_ref(f, node->ref, "$ref");
        if (f->draft < 2019)
            return p;
        sw_problem_add(&f->all, p);
    }
    if (sw_value_is_map(f->v))
        sw_check_map(f);
    else if (sw_value_is_list(f->v))
        sw_check_list(f);
    else if (sw_value_is_string(f->v))
        sw_check_string(f);
    else if (sw_value_is_number(f->v))
        sw_check_number(f);
    if (!f->all.first || !f->c->quiet) {
        check_dynamic_refs(f, node);
        check_combinations(f);
        if (f->draft >= 2019)
            check_unevaluated(f);
    }
    return group(f);
}

/* @above: what asks for what is left unevaluated; NULL: another value, nobody. */
static struct problem *check_value(struct check *c, const struct sw_value *schema,
                                   struct sw_value v, const struct unevaluated *above,
                                   struct unevaluated *rest)
{
    if (schema->type == SW_T_BOOL && !schema->as.b)
        return sw_problem(c, "false schema");
    const struct schema_node *node = c->scope->node;
    struct frame f = { .c = c, .v = v, .node = node, .draft = node ? node->res->draft : 2020 };
    unevaluated_init(&f, above && above->left);
    struct problem *p = NULL;
    if (node) {
        const struct scope *cycle = find_cycle(c->scope);
        if (cycle)
            return sw_problem(c, "both %s and %s resolve to \"%s#%s\" causing reference cycle",
                              keywords_to(c, c->scope), keywords_to(c, cycle), node->res->url,
                              sw_schema_place(c->schema, schema, c->arena));
        bool deep = c->depth >= SW_SCHEMA_MAX_DEPTH || !sw_stack_has_room();
        if (deep)
            sw_check_give_up(c, "the schema goes too deep");
        if (!sw_check_step(c, 1))
            return sw_problem(c, "given up");
        c->depth++;
        p = check_keywords(&f, node);
        c->depth--;
    }
    *rest = f.rest;
    return p;
}

struct problem *sw_check_inside(struct check *c, const struct sw_value *schema, struct sw_value v,
                                struct spot spot)
{
    const struct spot *before = c->spot;
    const struct scope *above = c->scope;
    struct scope scope = { above, schema, sw_schema_node(c->schema, schema), NULL,
                           above ? above->depth + 1 : 0 };
    struct unevaluated rest = { 0 };
    spot.up = before;
    c->spot = &spot;
    c->scope = &scope;
    struct problem *p = check_value(c, schema, v, NULL, &rest);
    c->spot = before;
    c->scope = above;
    return p;
}

struct problem *sw_check_self(struct frame *f, const struct sw_value *schema, const char *keyword,
                              bool quiet)
{
    struct check *c = f->c;
    const struct scope *above = c->scope;
    struct scope scope = { above, schema, sw_schema_node(c->schema, schema), keyword,
                           above->depth };
    struct unevaluated rest = { 0 };
    bool was_quiet = c->quiet;
    c->quiet |= quiet;
    c->scope = &scope;
    struct problem *p = check_value(c, schema, f->v, &f->rest, &rest);
    c->quiet = was_quiet;
    c->scope = above;
    if (!p)
        unevaluated_merge(&f->rest, &rest);
    return p;
}

struct problem *sw_check_name(struct check *c, const struct sw_value *schema, struct sw_value name)
{
    const struct spot *before = c->spot;
    const struct scope *above = c->scope;
    c->spot = NULL;
    c->scope = NULL;
    struct problem *p = sw_check_inside(c, schema, name, (struct spot){ 0 });
    c->spot = before;
    c->scope = above;
    return p;
}

/* ---- the whole ----------------------------------------------------------------------------------
 */

static struct problem *run(struct check *c, struct sw_value value)
{
    return sw_check_inside(c, &c->schema->root, value, (struct spot){ 0 });
}

/* What does not fit, as a text. */
static int tell(struct check *c, const struct problem *p)
{
    SW_AUTO_CHARS *text = sw_strdup("");
    for (const struct problem *at = p->kind == PROBLEM_GROUP ? p->first : p; at; at = at->next)
        sw_problem_print(&text, at, 0);
    if (c->n_problems > SW_CHECK_MAX_PROBLEMS)
        sw_append(&text, "\n- and %zu more", c->n_problems - SW_CHECK_MAX_PROBLEMS);
    return sw_err_set(c->err, SW_INVALID, "%s", text);
}

int sw_schema_check(const struct sw_schema *schema, struct sw_value value, struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct check c = { .schema = schema, .arena = arena, .err = err, .quiet = true };
    const struct problem *p = run(&c, value);
    if (p && !c.gave_up) {
        c.quiet = false;
        c.steps = 0;
        p = run(&c, value);
    }
    return c.gave_up ? SW_INVALID : p ? tell(&c, p) : 0;
}
