/* An expression's evaluation: each node costs one, functions besides by what they go through. */
#include <stdlib.h>
#include <string.h>

#include "data/cel/ast.h"
#include "data/data.h"

static struct cel_value eval(struct cel_run *x, const struct sw_cel *cel,
                             const struct cel_node *node);

/* ---- names and fields ---------------------------------------------------------------------------
 */

static struct cel_value authorizer(struct cel_run *x, json_object *user, enum cel_kind kind)
{
    struct cel_check *check = sw_arena_alloc(x->arena, sizeof *check);
    if (kind == CEL_RESOURCE_CHECK) {
        check->group = sw_json_str(user, NULL, "resource", "group", NULL);
        check->resource = sw_json_str(user, NULL, "resource", "resource", NULL);
        check->subresource = sw_json_str(user, NULL, "subResource", NULL);
        check->ns = sw_json_str(user, NULL, "namespace", NULL);
        check->name = sw_json_str(user, NULL, "name", NULL);
    }
    return (struct cel_value){ .kind = kind, .check = check };
}

static struct cel_value eval_variable(struct cel_run *x, const struct sw_cel *cel, size_t slot)
{
    const struct sw_cel_variable *v = &cel->env->variables[slot];
    json_object *json = x->input->values[slot];
    switch (v->sort) {
    case SW_CEL_AUTHORIZER:
        return authorizer(x, json, CEL_AUTHORIZER);
    case SW_CEL_RESOURCE:
        return authorizer(x, json, CEL_RESOURCE_CHECK);
    case SW_CEL_OPTIONAL:
    case SW_CEL_ROOT_OPTIONAL: {
        const struct cel_value some = sw_cel_from_json(x, json, v->schema);
        return sw_cel_optional(x, json ? &some : NULL);
    }
    default:
        return sw_cel_from_json(x, json, v->schema);
    }
}

/* A variable of a policy: evaluated once. */
static struct cel_value eval_composed(struct cel_run *x, const struct sw_cel *cel, size_t slot)
{
    if (x->kept[slot].kind == CEL_ERROR && !x->kept[slot].s.p) {
        const struct sw_cel *other = cel->env->composed[slot];
        struct cel_value *locals = x->locals;
        x->locals = sw_arena_alloc(x->arena, (other->n_locals + 1) * sizeof *x->locals);
        x->kept[slot] = eval(x, other, other->root);
        x->locals = locals;
    }
    const struct cel_value v = x->kept[slot];
    return v.kind == CEL_ERROR ? sw_cel_fail(x, "composited variable \"%s\" fails to evaluate: %s",
                                             cel->env->names[slot], v.s.p)
                               : v;
}

static struct cel_value select_field(struct cel_run *x, const struct cel_node *node,
                                     struct cel_value of)
{
    struct cel_value found;
    const struct cel_value key = sw_cel_static(node->name);
    if (of.kind != CEL_MAP && of.kind != CEL_MESSAGE)
        return node->has        ? sw_cel_bool(false)
               : node->optional ? sw_cel_optional(x, NULL)
                                : sw_cel_fail(x, "no such key: %s", node->name);
    const bool there = of.kind == CEL_MESSAGE
                           ? sw_cel_message_find(x, of.message, node->name, &found)
                           : sw_cel_find(x, of.map, key, &found);
    if (node->has)
        return sw_cel_bool(there);
    if (node->optional)
        return there && found.kind == CEL_ERROR ? found : sw_cel_optional(x, there ? &found : NULL);
    return there ? found : sw_cel_fail(x, "no such key: %s", node->name);
}

static struct cel_value eval_select(struct cel_run *x, const struct sw_cel *cel,
                                    const struct cel_node *node)
{
    const struct cel_value of = eval(x, cel, node->args[0]);
    if (of.kind == CEL_ERROR)
        return of;
    if (of.kind != CEL_OPTIONAL)
        return select_field(x, node, of);
    if (!of.some)
        return node->has ? sw_cel_bool(false) : of;
    struct cel_node step = *node;
    step.optional = !node->has;
    return select_field(x, &step, *of.some);
}

/* ---- calls --------------------------------------------------------------------------------------
 */

/* What a call costs besides: a tenth of a text's bytes, each element of a list. */
static uint64_t cost_of(const struct cel_value *args, size_t n)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CEL_STRING || args[i].kind == CEL_BYTES)
            cost += args[i].s.len / 10;
        else if (args[i].kind == CEL_LIST)
            cost += args[i].list->n;
    }
    return cost;
}

static bool takes(const struct cel_function *f, const struct cel_value *args, size_t n)
{
    enum cel_kind kinds[8];
    if (sw_cel_signature_kinds(f->signature, kinds, SW_COUNT(kinds)) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (kinds[i] != CEL_DYN && kinds[i] != args[i].kind)
            return false;
    return true;
}

/* Has the kind an order? */
static bool is_ordered(enum cel_kind kind)
{
    return kind >= CEL_BOOL && kind <= CEL_DURATION && kind != CEL_LIST && kind != CEL_MAP &&
           kind != CEL_TYPE;
}

static struct cel_value no_overload(struct cel_run *x, const struct cel_node *node,
                                    const struct cel_value *args)
{
    static const char *const comparisons[] = { "_<_", "_>_", "_<=_", "_>=_" };
    static const char *const of_texts[] = { "contains", "startsWith", "endsWith", "matches" };
    char *text = NULL;
    if (sw_streq(node->name, "_[_]"))
        return sw_cel_index(x, args[0], args[1]);
    for (size_t i = 0; i < SW_COUNT(comparisons); i++)
        if (sw_streq(comparisons[i], node->name) && !is_ordered(args[0].kind))
            return sw_cel_fail(x, "no such overload: %s", node->name);
    for (size_t i = 0; i < SW_COUNT(of_texts); i++)
        if (sw_streq(of_texts[i], node->name))
            return sw_cel_no_overload(x);
    if (sw_cel_is_operator(node->name))
        return sw_cel_no_overload(x);
    if (sw_streq(node->name, "size"))
        return sw_cel_fail(x, "no such overload: size");
    for (size_t i = 0; i < node->n; i++)
        sw_append(&text, "%s%s", i ? ", " : "", sw_cel_kind_name(args[i].kind));
    SW_AUTO_CHARS *all = text;
    return sw_cel_fail(x, "no such overload: %s(%s)", node->name, all ? all : "");
}

static struct cel_value eval_call(struct cel_run *x, const struct sw_cel *cel,
                                  const struct cel_node *node)
{
    struct cel_value few[4], *args = few;
    if (node->n > SW_COUNT(few))
        args = sw_arena_alloc(x->arena, node->n * sizeof *args);
    for (size_t i = 0; i < node->n; i++) {
        args[i] = eval(x, cel, node->args[i]);
        if (args[i].kind == CEL_ERROR)
            return args[i];
    }
    const bool cheap = node->name[0] == '_' && node->name[1] == '[';
    if (!cheap && !sw_streq(node->name, "size") && !sw_cel_charge(x, cost_of(args, node->n)))
        return sw_cel_over(x);
    for (size_t i = 0; i < node->n_overloads; i++)
        if (takes(node->overloads[i], args, node->n))
            return node->overloads[i]->fn(x, args, node->overloads[i]->variant);
    return no_overload(x, node, args);
}

/* ---- logic --------------------------------------------------------------------------------------
 */

/* A false side of && and a true one of || decide, even where the other is an error. */
static struct cel_value eval_logic(struct cel_run *x, const struct sw_cel *cel,
                                   const struct cel_node *node)
{
    const bool decides = node->kind == CEL_OR;
    const struct cel_value a = eval(x, cel, node->args[0]);
    if (sw_cel_is(a, decides))
        return a;
    const struct cel_value b = eval(x, cel, node->args[1]);
    if (sw_cel_is(b, decides))
        return b;
    if (a.kind == CEL_ERROR)
        return a;
    if (b.kind == CEL_ERROR)
        return b;
    return a.kind == CEL_BOOL && b.kind == CEL_BOOL ? sw_cel_bool(!decides) : sw_cel_no_overload(x);
}

static struct cel_value eval_choice(struct cel_run *x, const struct sw_cel *cel,
                                    const struct cel_node *node)
{
    const struct cel_value condition = eval(x, cel, node->args[0]);
    if (condition.kind == CEL_ERROR)
        return condition;
    if (condition.kind != CEL_BOOL)
        return sw_cel_no_overload(x);
    return eval(x, cel, node->args[condition.b ? 1 : 2]);
}

/* ---- lists and maps -----------------------------------------------------------------------------
 */

/* Values that are gathered. */
struct gathered {
    struct cel_value *items;
    size_t n, cap;
};

static void gather(struct cel_run *x, struct gathered *g, struct cel_value v)
{
    if (!sw_arena_has_room(x->arena, (g->cap + 1) * 3 * sizeof v)) {
        x->cancelled = true;
        return;
    }
    SW_ARENA_GROW(x->arena, g->items, g->n, g->cap);
    g->items[g->n++] = v;
}

/* The place of a key's value; NULL: the key is not there. */
static struct cel_value *find_entry(struct cel_run *x, const struct gathered *g,
                                    struct cel_value key)
{
    (void)sw_cel_charge(x, g->n / 32);
    for (size_t i = 0; i < g->n; i += 2)
        if (sw_cel_equal(x, g->items[i], key))
            return &g->items[i + 1];
    return NULL;
}

/* Set the value of a key. @return false: it cannot be a key (*error) */
static bool put_entry(struct cel_run *x, struct gathered *g, struct cel_value key,
                      struct cel_value value, struct cel_value *error)
{
    const bool is_key = key.kind == CEL_STRING || key.kind == CEL_INT || key.kind == CEL_UINT ||
                        key.kind == CEL_BOOL;
    if (!is_key) {
        *error = sw_cel_fail(x, "unsupported key type");
        return false;
    }
    struct cel_value *before = find_entry(x, g, key);
    if (before) {
        *before = value;
        return true;
    }
    gather(x, g, key);
    gather(x, g, value);
    return true;
}

/* Add a key and its value. @return false: the key is there, or cannot be one (*error) */
static bool gather_entry(struct cel_run *x, struct gathered *g, struct cel_value key,
                         struct cel_value value, struct cel_value *error)
{
    if (find_entry(x, g, key)) {
        const struct cel_value text = sw_cel_to_string(x, &key, 0);
        *error = sw_cel_fail(x, "insert failed: key %.*s already exists", (int)text.s.len,
                             text.s.p);
        return false;
    }
    return put_entry(x, g, key, value, error);
}

static struct cel_value eval_list(struct cel_run *x, const struct sw_cel *cel,
                                  const struct cel_node *node)
{
    struct gathered g = { 0 };
    for (size_t i = 0; i < node->n; i++) {
        struct cel_value v = eval(x, cel, node->args[i]);
        if (v.kind == CEL_ERROR)
            return v;
        if (node->maybe[i] && v.kind != CEL_OPTIONAL)
            return sw_cel_no_overload(x);
        if (node->maybe[i] && !v.some)
            continue;
        gather(x, &g, node->maybe[i] ? *v.some : v);
    }
    return sw_cel_list(x, g.items, g.n);
}

static struct cel_value eval_map(struct cel_run *x, const struct sw_cel *cel,
                                 const struct cel_node *node)
{
    struct gathered g = { 0 };
    for (size_t i = 0; i + 1 < node->n; i += 2) {
        const struct cel_value key = eval(x, cel, node->args[i]);
        if (key.kind == CEL_ERROR)
            return key;
        struct cel_value v = eval(x, cel, node->args[i + 1]), error;
        if (v.kind == CEL_ERROR)
            return v;
        if (node->maybe[i] && v.kind != CEL_OPTIONAL)
            return sw_cel_no_overload(x);
        if (node->maybe[i] && !v.some)
            continue;
        if (!put_entry(x, &g, key, node->maybe[i] ? *v.some : v, &error))
            return error;
    }
    return sw_cel_map(x, g.items, g.n / 2);
}

static struct cel_value eval_message(struct cel_run *x, const struct sw_cel *cel,
                                     const struct cel_node *node)
{
    const char **names = sw_arena_alloc(x->arena, (node->n + 1) * sizeof *names);
    struct cel_value *values = sw_arena_alloc(x->arena, (node->n + 1) * sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < node->n; i++) {
        const struct cel_value v = eval(x, cel, node->args[i]);
        if (v.kind == CEL_ERROR)
            return v;
        if (node->maybe[i] && v.kind != CEL_OPTIONAL)
            return sw_cel_no_overload(x);
        if (node->maybe[i] && !v.some)
            continue;
        names[n] = node->fields[i];
        values[n++] = node->maybe[i] ? *v.some : v;
    }
    return sw_cel_message_make(x, node->type, names, values, n);
}

/* ---- loops --------------------------------------------------------------------------------------
 */

/* A loop that runs: what it goes through, and what came of it so far. */
struct loop {
    const struct cel_node *node;
    const struct cel_list *list;
    const struct cel_value *entries; /* of a map */
    size_t n;
    struct gathered out;
    struct gathered elements; /* of sortBy(): @out has their keys */
    size_t holding;           /* elements for which it holds */
    struct cel_value error;   /* the first of all() and exists(): another element may decide */
    bool has_error, decided;
};

/* Set the variables to the @i-th element. */
static void set_element(struct cel_run *x, const struct loop *l, size_t i)
{
    struct cel_value *vars = x->locals + l->node->slot;
    const bool two = l->node->vars[1] != NULL;
    if (l->list && two)
        vars[0] = sw_cel_int((int64_t)i);
    if (l->list)
        vars[two] = sw_cel_at(x, l->list, i);
    else
        vars[0] = l->entries[2 * i];
    if (!l->list && two)
        vars[1] = l->entries[2 * i + 1];
}

/* Take the entries of a map, which transformMapEntry() made. */
static bool take_entries(struct cel_run *x, struct loop *l, struct cel_value v,
                         struct cel_value *error)
{
    if (v.kind != CEL_MAP) {
        *error = sw_cel_no_overload(x);
        return false;
    }
    const struct cel_value *entries = sw_cel_entries(x, v.map);
    for (size_t i = 0; i < v.map->n; i++)
        if (!gather_entry(x, &l->out, entries[2 * i], entries[2 * i + 1], error))
            return false;
    return true;
}

/* Take the result for the element in the variables. @return false: the loop ends with *@error */
static bool take_result(struct cel_run *x, struct loop *l, struct cel_value v,
                        struct cel_value *error)
{
    const struct cel_value *vars = x->locals + l->node->slot;
    const enum cel_loop kind = l->node->loop;
    const bool truth = kind == CEL_ALL || kind == CEL_EXISTS || kind == CEL_EXISTS_ONE ||
                       kind == CEL_FILTER;
    if (v.kind != CEL_ERROR && truth && v.kind != CEL_BOOL)
        v = sw_cel_no_overload(x);
    if (v.kind == CEL_ERROR && (kind == CEL_ALL || kind == CEL_EXISTS)) {
        l->error = l->has_error ? l->error : v;
        l->has_error = true;
        return true;
    }
    if (v.kind == CEL_ERROR) {
        *error = v;
        return false;
    }
    switch (kind) {
    case CEL_ALL:
    case CEL_EXISTS:
        l->decided = v.b == (kind == CEL_EXISTS);
        break;
    case CEL_EXISTS_ONE:
        l->holding += v.b;
        break;
    case CEL_FILTER:
        if (v.b)
            gather(x, &l->out, vars[0]);
        break;
    case CEL_TRANSFORM_MAP:
        return gather_entry(x, &l->out, vars[0], v, error);
    case CEL_TRANSFORM_ENTRY:
        return take_entries(x, l, v, error);
    case CEL_SORT_BY:
        gather(x, &l->elements, vars[0]);
        gather(x, &l->out, v);
        break;
    default:
        gather(x, &l->out, v);
    }
    return true;
}

static struct cel_value loop_result(struct cel_run *x, const struct loop *l)
{
    switch (l->node->loop) {
    case CEL_ALL:
    case CEL_EXISTS:
        if (l->has_error && !l->decided)
            return l->error;
        return sw_cel_bool(l->decided == (l->node->loop == CEL_EXISTS));
    case CEL_EXISTS_ONE:
        return sw_cel_bool(l->holding == 1);
    case CEL_TRANSFORM_MAP:
    case CEL_TRANSFORM_ENTRY:
        return sw_cel_map(x, l->out.items, l->out.n / 2);
    case CEL_SORT_BY:
        return sw_cel_sorted(x, l->elements.items, l->out.items, l->out.n);
    default:
        return sw_cel_list(x, l->out.items, l->out.n);
    }
}

static struct cel_value run_loop(struct cel_run *x, const struct sw_cel *cel, struct loop *l)
{
    struct cel_value error;
    for (size_t i = 0; i < l->n && !l->decided; i++) {
        if (!sw_cel_charge(x, 1))
            return sw_cel_over(x);
        set_element(x, l, i);
        if (l->node->condition) {
            const struct cel_value holds = eval(x, cel, l->node->condition);
            if (holds.kind != CEL_BOOL)
                return holds.kind == CEL_ERROR ? holds : sw_cel_no_overload(x);
            if (!holds.b)
                continue;
        }
        const struct cel_value v = eval(x, cel, l->node->result);
        /* what is inside may have used the locals behind: those of this loop are as they were */
        if (!take_result(x, l, v, &error))
            return error;
    }
    return loop_result(x, l);
}

/* optional.optMap(), optFlatMap() */
static struct cel_value eval_opt_map(struct cel_run *x, const struct sw_cel *cel,
                                     const struct cel_node *node, struct cel_value of)
{
    if (of.kind != CEL_OPTIONAL)
        return sw_cel_no_overload(x);
    if (!of.some)
        return of;
    x->locals[node->slot] = *of.some;
    const struct cel_value v = eval(x, cel, node->result);
    return v.kind == CEL_ERROR || node->loop == CEL_OPT_FLAT_MAP ? v : sw_cel_optional(x, &v);
}

/* What a message calls a type that is no list or map. */
static const char *go_name(enum cel_kind kind)
{
    static const char *const names[CEL_N_VALUES] = {
        [CEL_NULL] = "Null",         [CEL_BOOL] = "Bool",           [CEL_INT] = "Int",
        [CEL_UINT] = "Uint",         [CEL_DOUBLE] = "Double",       [CEL_STRING] = "String",
        [CEL_BYTES] = "Bytes",       [CEL_TIMESTAMP] = "Timestamp", [CEL_DURATION] = "Duration",
        [CEL_OPTIONAL] = "Optional",
    };
    return names[kind] ? names[kind] : sw_cel_kind_name(kind);
}

static struct cel_value eval_loop(struct cel_run *x, const struct sw_cel *cel,
                                  const struct cel_node *node)
{
    const struct cel_value of = eval(x, cel, node->args[0]);
    if (of.kind == CEL_ERROR)
        return of;
    if (node->loop == CEL_OPT_MAP || node->loop == CEL_OPT_FLAT_MAP)
        return eval_opt_map(x, cel, node, of);
    struct loop l = { .node = node };
    if (of.kind == CEL_LIST) {
        l.list = of.list;
        l.n = of.list->n;
    } else if (of.kind == CEL_MAP) {
        l.entries = sw_cel_entries(x, of.map);
        l.n = of.map->n;
    } else {
        return sw_cel_fail(x, "got 'types.%s', expected iterable type", go_name(of.kind));
    }
    return run_loop(x, cel, &l);
}

/* ---- all ----------------------------------------------------------------------------------------
 */

static struct cel_value eval(struct cel_run *x, const struct sw_cel *cel,
                             const struct cel_node *node)
{
    if (node->kind == CEL_CONST)
        return node->value;
    if (!sw_cel_charge(x, 1) || !sw_stack_has_room())
        return sw_cel_over(x);
    switch (node->kind) {
    case CEL_CONST:
        break;
    case CEL_IDENT:
        return node->local ? x->locals[node->slot] : eval_variable(x, cel, node->slot);
    case CEL_SELECT:
        return eval_select(x, cel, node);
    case CEL_CALL:
        return eval_call(x, cel, node);
    case CEL_AND:
    case CEL_OR:
        return eval_logic(x, cel, node);
    case CEL_CHOICE:
        return eval_choice(x, cel, node);
    case CEL_NEW_LIST:
        return eval_list(x, cel, node);
    case CEL_NEW_MAP:
        return eval_map(x, cel, node);
    case CEL_NEW_MESSAGE:
        return eval_message(x, cel, node);
    case CEL_LOOP:
        return eval_loop(x, cel, node);
    case CEL_COMPOSED:
        return eval_composed(x, cel, node->slot);
    }
    return sw_cel_no_overload(x);
}

struct cel_value sw_cel_eval(struct cel_run *x, const struct sw_cel *cel)
{
    const struct cel_value v = eval(x, cel, cel->root);
    return x->cancelled ? sw_cel_over(x) : v;
}
