/* Names and types before an evaluation. What is dyn is left to it. */
#include <stdlib.h>
#include <string.h>

#include "data/cel/ast.h"
#include "data/go/regex.h"

enum { MAX_LOCALS = 64, MAX_OVERLOADS = 24 };

struct checker {
    struct sw_cel *cel;
    struct {
        const char *name;
        const struct cel_type *type;
    } locals[MAX_LOCALS];
    size_t n_locals;
    bool mixed; /* inside of format(): elements may be of several types */
};

static const struct cel_type *check(struct checker *c, struct cel_node *node);

static struct sw_arena *arena_of(struct checker *c)
{
    return c->cel->arena;
}

static const char *text_of(struct checker *c, const struct cel_type *type)
{
    return sw_cel_type_text(arena_of(c), type);
}

static const struct cel_type *unknown(void)
{
    return sw_cel_type(CEL_ERROR);
}

static bool is_dyn(const struct cel_type *type)
{
    return type->kind == CEL_DYN || type->kind == CEL_ERROR;
}

static void expect(struct checker *c, const struct cel_node *node, const struct cel_type *is,
                   const struct cel_type *expected)
{
    if (!sw_cel_same_type(is, expected))
        sw_cel_problem(c->cel, node->at, "expected type '%s' but found '%s'", text_of(c, expected),
                       text_of(c, is));
}

/* ---- names --------------------------------------------------------------------------------------
 */

static const struct cel_type *variable_type(struct checker *c, const struct sw_cel_variable *v)
{
    const struct cel_type *type = NULL;
    switch (v->sort) {
    case SW_CEL_AUTHORIZER:
        return sw_cel_type(CEL_AUTHORIZER);
    case SW_CEL_RESOURCE:
        return sw_cel_type(CEL_RESOURCE_CHECK);
    case SW_CEL_TYPED:
    case SW_CEL_OPTIONAL:
        type = sw_cel_schema_type(arena_of(c), v->schema);
        break;
    case SW_CEL_ROOT:
    case SW_CEL_ROOT_OPTIONAL:
        type = sw_cel_root_type(arena_of(c), v->schema);
        break;
    case SW_CEL_DYN:
        break;
    }
    if (!type)
        type = sw_cel_type(CEL_DYN);
    const bool optional = v->sort == SW_CEL_OPTIONAL || v->sort == SW_CEL_ROOT_OPTIONAL;
    return optional ? sw_cel_type_of(arena_of(c), CEL_OPTIONAL, type, NULL) : type;
}

static bool is_local(const struct checker *c, const char *name)
{
    for (size_t i = 0; i < c->n_locals; i++)
        if (sw_streq(c->locals[i].name, name))
            return true;
    return false;
}

/* "int", "google.protobuf.Timestamp": a name that is a type. */
static bool type_named(const char *name, enum cel_kind *kind)
{
    for (*kind = CEL_NULL; *kind < CEL_N_VALUES; (*kind)++)
        if (sw_streq(sw_cel_kind_name(*kind), name))
            return true;
    return false;
}

static const struct cel_type *take_type(struct cel_node *node, enum cel_kind kind)
{
    node->kind = CEL_CONST;
    node->value = (struct cel_value){ .kind = CEL_TYPE, .type = sw_cel_type(kind) };
    return sw_cel_type(CEL_TYPE);
}

static const struct cel_type *check_name(struct checker *c, struct cel_node *node)
{
    const struct sw_cel_env *env = c->cel->env;
    enum cel_kind kind;
    for (size_t i = c->n_locals; i-- > 0;) {
        if (!sw_streq(c->locals[i].name, node->name))
            continue;
        node->local = true;
        node->slot = i;
        return c->locals[i].type;
    }
    for (size_t i = 0; i < env->n_variables; i++) {
        if (!sw_streq(env->variables[i].name, node->name))
            continue;
        node->slot = i;
        c->cel->named |= (uint64_t)1 << (i & 63);
        return variable_type(c, &env->variables[i]);
    }
    if (type_named(node->name, &kind))
        return take_type(node, kind);
    sw_cel_problem(c->cel, node->at, "undeclared reference to '%s' (in container '')", node->name);
    return unknown();
}

/* ---- fields -------------------------------------------------------------------------------------
 */

/* `a.b.c` as a text, where it is made of names alone. */
static const char *qualified(struct checker *c, const struct cel_node *node)
{
    if (node->kind == CEL_IDENT)
        return is_local(c, node->name) ? NULL : node->name;
    if (node->kind != CEL_SELECT || node->has || node->optional)
        return NULL;
    const char *of = qualified(c, node->args[0]);
    return of ? sw_arena_printf(arena_of(c), "%s.%s", of, node->name) : NULL;
}

/* Variables of policies, and names with dots that are declared as a whole. */
static const struct cel_type *check_qualified(struct checker *c, struct cel_node *node)
{
    const struct sw_cel_env *env = c->cel->env;
    const char *name = node->kind == CEL_SELECT ? qualified(c, node) : NULL;
    enum cel_kind kind;
    if (!name)
        return NULL;
    for (size_t i = 0; i < env->n_composed; i++) {
        if (!sw_starts_with(name, "variables.") || !sw_streq(env->names[i], node->name) ||
            node->args[0]->kind != CEL_IDENT)
            continue;
        node->kind = CEL_COMPOSED;
        node->slot = i;
        return env->composed[i] ? env->composed[i]->root->type : sw_cel_type(CEL_DYN);
    }
    for (size_t i = 0; i < env->n_variables; i++) {
        if (!sw_streq(env->variables[i].name, name))
            continue;
        node->kind = CEL_IDENT;
        node->slot = i;
        c->cel->named |= (uint64_t)1 << (i & 63);
        return variable_type(c, &env->variables[i]);
    }
    if (type_named(name, &kind))
        return take_type(node, kind);
    if (env->names && sw_starts_with(name, "variables.") && node->args[0]->kind == CEL_IDENT) {
        sw_cel_problem(c->cel, node->at, "undefined field '%s'", node->name);
        return unknown();
    }
    return NULL;
}

static const struct cel_type *field_of(struct checker *c, struct cel_node *node,
                                       const struct cel_type *of)
{
    switch (of->kind) {
    case CEL_DYN:
    case CEL_ERROR:
        return sw_cel_type(CEL_DYN);
    case CEL_MAP:
        expect(c, node, sw_cel_type(CEL_STRING), of->a);
        return of->b;
    case CEL_OBJECT: {
        const struct cel_type *field = sw_cel_field_type(arena_of(c), of, node->name);
        if (field)
            return field;
        sw_cel_problem(c->cel, node->at, "undefined field '%s'", node->name);
        return unknown();
    }
    case CEL_MESSAGE:
        return sw_cel_type(sw_cel_message_field(of->name, node->name));
    default:
        sw_cel_problem(c->cel, node->at, "type '%s' does not support field selection",
                       text_of(c, of));
        return unknown();
    }
}

/* has(variables.x): they are there. */
static bool is_composed(const struct checker *c, const struct cel_node *node)
{
    const struct sw_cel_env *env = c->cel->env;
    if (!node->has || node->args[0]->kind != CEL_IDENT ||
        !sw_streq(node->args[0]->name, "variables"))
        return false;
    for (size_t i = 0; i < env->n_composed; i++)
        if (sw_streq(env->names[i], node->name))
            return true;
    return false;
}

static const struct cel_type *check_select(struct checker *c, struct cel_node *node)
{
    if (is_composed(c, node)) {
        node->kind = CEL_CONST;
        node->value = sw_cel_bool(true);
        return sw_cel_type(CEL_BOOL);
    }
    const struct cel_type *whole = check_qualified(c, node);
    if (whole)
        return whole;
    const struct cel_type *of = check(c, node->args[0]);
    const bool optional = of->kind == CEL_OPTIONAL;
    const struct cel_type *field = field_of(c, node, optional ? of->a : of);
    if (node->has)
        return sw_cel_type(CEL_BOOL);
    return optional || node->optional ? sw_cel_type_of(arena_of(c), CEL_OPTIONAL, field, NULL)
                                      : field;
}

/* ---- calls --------------------------------------------------------------------------------------
 */

/* Literals of some functions are tried before, where all types are right. */
static void check_literal(struct checker *c, const struct cel_node *node)
{
    static const char *const functions[] = { "matches", "timestamp", "duration" };
    const struct cel_node *arg = node->args[node->n - 1];
    if (arg->kind != CEL_CONST || arg->value.kind != CEL_STRING)
        return;
    for (size_t i = 0; i < SW_COUNT(functions); i++) {
        if (!sw_streq(functions[i], node->name))
            continue;
        SW_AUTO(sw_regex) *regex = NULL;
        struct cel_run x = { .arena = arena_of(c), .limit = UINT64_MAX };
        const bool valid = i == 0   ? sw_regex_compile(arg->value.s.p, arg->value.s.len, &regex,
                                                       NULL) == 0
                           : i == 1 ? sw_cel_to_timestamp(&x, &arg->value, 0).kind != CEL_ERROR
                                    : sw_cel_to_duration(&x, &arg->value, 0).kind != CEL_ERROR;
        if (!valid)
            sw_cel_problem(c->cel, arg->at, "invalid %s argument", functions[i]);
    }
}

static const char *arguments_text(struct checker *c, const struct cel_node *node,
                                  const struct cel_type *const *types)
{
    char *text = NULL;
    for (size_t i = 0; i < node->n; i++) {
        const bool on = node->method && i == 0;
        sw_append(&text, "%s%s%s", on || i == node->method ? "" : ", ", text_of(c, types[i]),
                  on ? ".(" : "");
    }
    SW_AUTO_CHARS *all = text;
    return sw_arena_printf(arena_of(c), "%s%s)", node->method ? "" : "(", all ? all : "");
}

static const struct cel_type *no_overload(struct checker *c, const struct cel_node *node,
                                          const struct cel_type *const *types)
{
    sw_cel_problem(c->cel, node->at, "found no matching overload for '%s' applied to '%s'",
                   node->name, arguments_text(c, node, types));
    return unknown();
}

/* optional.of(), sets.contains(): the name is a function's, and what is before the dot no value. */
static void take_namespace(struct checker *c, struct cel_node *node)
{
    bool any = false;
    const struct cel_function *found[MAX_OVERLOADS];
    const struct cel_node *on = node->method ? node->args[0] : NULL;
    if (!on || on->kind != CEL_IDENT || is_local(c, on->name))
        return;
    const char *full = sw_arena_printf(arena_of(c), "%s.%s", on->name, node->name);
    (void)sw_cel_overloads(full, false, node->n - 1, found, MAX_OVERLOADS, &any);
    if (!any || (sw_streq(on->name, "jsonpatch") && !c->cel->env->makes_patches))
        return;
    node->name = full;
    node->method = false;
    node->args++;
    node->n--;
}

static const struct cel_type *check_call(struct checker *c, struct cel_node *node)
{
    const struct cel_function *found[MAX_OVERLOADS];
    bool any = false;
    take_namespace(c, node);
    const bool mixed = c->mixed;
    c->mixed = mixed || (node->method && node->n == 2 && sw_streq(node->name, "format"));
    const struct cel_type **types = sw_arena_alloc(arena_of(c), (node->n + 1) * sizeof *types);
    for (size_t i = 0; i < node->n; i++)
        types[i] = check(c, node->args[i]);
    c->mixed = mixed;
    const size_t n = sw_cel_overloads(node->name, node->method, node->n, found, MAX_OVERLOADS,
                                      &any);
    const struct cel_type *result = NULL;
    node->overloads = sw_arena_alloc(arena_of(c), (n + 1) * sizeof *node->overloads);
    for (size_t i = 0; i < n; i++) {
        const struct cel_type *one;
        if (!sw_cel_signature_fits(arena_of(c), found[i]->signature, types, node->n, &one))
            continue;
        node->overloads[node->n_overloads++] = found[i];
        result = !result || sw_cel_same_type(result, one) ? (result ? result : one)
                                                          : sw_cel_type(CEL_DYN);
    }
    if (!any) {
        sw_cel_problem(c->cel, node->at, "undeclared reference to '%s' (in container '')",
                       node->name);
        return unknown();
    }
    if (!result)
        return no_overload(c, node, types);
    return result;
}

/* ---- logic, lists, maps -------------------------------------------------------------------------
 */

static const struct cel_type *check_logic(struct checker *c, struct cel_node *node)
{
    for (size_t i = 0; i < 2; i++)
        expect(c, node->args[i], check(c, node->args[i]), sw_cel_type(CEL_BOOL));
    return sw_cel_type(CEL_BOOL);
}

static const struct cel_type *check_choice(struct checker *c, struct cel_node *node)
{
    const struct cel_type *types[3];
    for (size_t i = 0; i < 3; i++)
        types[i] = check(c, node->args[i]);
    if (!sw_cel_same_type(types[0], sw_cel_type(CEL_BOOL)) || !sw_cel_same_type(types[1], types[2]))
        return no_overload(c, node, types);
    return sw_cel_joined_type(arena_of(c), types[1], types[2]);
}

/* The common type of every @step-th element from @from on. */
static const struct cel_type *check_elements(struct checker *c, struct cel_node *node, size_t from,
                                             size_t step, const struct cel_type **types)
{
    const struct cel_type *common = NULL;
    for (size_t i = from; i < node->n; i += step) {
        const struct cel_type *is = types[i];
        if (node->maybe[i] && (step == 1 || from == 1)) {
            expect(c, node->args[i], is,
                   sw_cel_type_of(arena_of(c), CEL_OPTIONAL, sw_cel_type(CEL_DYN), NULL));
            is = is->kind == CEL_OPTIONAL ? is->a : sw_cel_type(CEL_DYN);
        }
        const bool same = !common || sw_cel_same_type(is, common);
        if (!same && !c->mixed) {
            expect(c, node->args[i], is, common);
            break;
        }
        is = same ? is : sw_cel_type(CEL_DYN);
        common = !common ? is : sw_cel_joined_type(arena_of(c), common, is);
    }
    return common ? common : sw_cel_unbound();
}

static const struct cel_type *check_literal_of(struct checker *c, struct cel_node *node)
{
    const struct cel_type **types = sw_arena_alloc(arena_of(c), (node->n + 1) * sizeof *types);
    for (size_t i = 0; i < node->n; i++)
        types[i] = check(c, node->args[i]);
    if (node->kind == CEL_NEW_LIST)
        return sw_cel_type_of(arena_of(c), CEL_LIST, check_elements(c, node, 0, 1, types), NULL);
    return sw_cel_type_of(arena_of(c), CEL_MAP, check_elements(c, node, 0, 2, types),
                          check_elements(c, node, 1, 2, types));
}

/* A value of a message's field. */
static void check_message_field(struct checker *c, const struct cel_node *node, size_t i)
{
    const enum cel_kind declared = sw_cel_message_field(node->name, node->fields[i]);
    const struct cel_type *is = check(c, node->args[i]);
    if (node->maybe[i] && is->kind != CEL_OPTIONAL && !is_dyn(is))
        expect(c, node->args[i], is, sw_cel_type_of(arena_of(c), CEL_OPTIONAL, is, NULL));
    if (node->maybe[i] && is->kind == CEL_OPTIONAL)
        is = is->a;
    const struct cel_type *type = sw_cel_type(declared);
    if (declared == CEL_ERROR ? !is_dyn(is) : !sw_cel_same_type(is, type))
        sw_cel_problem(c->cel, node->places[i],
                       "expected type of field '%s' is '%s' but provided type is '%s'",
                       node->fields[i], declared == CEL_ERROR ? "" : text_of(c, type),
                       text_of(c, is));
}

static const struct cel_type *check_message(struct checker *c, struct cel_node *node)
{
    const bool patches = c->cel->env->makes_patches;
    const bool known = patches &&
                       (sw_streq(node->name, "JSONPatch") || sw_streq(node->name, "Object") ||
                        sw_starts_with(node->name, "Object."));
    enum cel_kind kind;
    if (!known) {
        const bool type = type_named(node->name, &kind);
        sw_cel_problem(c->cel, node->at,
                       type ? "'%s' is not a message type"
                            : "undeclared reference to '%s' (in container '')",
                       node->name);
        return unknown();
    }
    for (size_t i = 0; i < node->n; i++)
        check_message_field(c, node, i);
    return sw_cel_message_type(arena_of(c), node->name);
}

/* ---- loops --------------------------------------------------------------------------------------
 */

static size_t declare(struct checker *c, const struct cel_node *node, const char *name,
                      const struct cel_type *type)
{
    const size_t slot = c->n_locals;
    if (c->n_locals == MAX_LOCALS) {
        sw_cel_problem(c->cel, node->at, "too many nested variables");
        return slot - 1;
    }
    c->locals[c->n_locals].name = name;
    c->locals[c->n_locals++].type = type;
    if (c->n_locals > c->cel->n_locals)
        c->cel->n_locals = c->n_locals;
    return slot;
}

/* The types of a loop's variables. @return false: there is nothing to go through */
static bool element_types(struct checker *c, const struct cel_node *node, const struct cel_type *of,
                          const struct cel_type **first, const struct cel_type **second)
{
    const bool two = node->vars[1] != NULL;
    const bool optional = node->loop == CEL_OPT_MAP || node->loop == CEL_OPT_FLAT_MAP;
    *first = *second = sw_cel_type(CEL_DYN);
    if (is_dyn(of))
        return true;
    if (of->kind == CEL_LIST && !optional) {
        *first = two ? sw_cel_type(CEL_INT) : of->a;
        *second = of->a;
        return true;
    }
    if (of->kind == CEL_MAP && !optional) {
        *first = of->a;
        *second = of->b;
        return true;
    }
    if (of->kind == CEL_OPTIONAL && optional) {
        *first = of->a;
        return true;
    }
    sw_cel_problem(c->cel, node->args[0]->at,
                   "expression of type '%s' cannot be range of a comprehension (must be list, map, "
                   "or dynamic)",
                   text_of(c, of));
    return false;
}

static const struct cel_type *loop_type(struct checker *c, const struct cel_node *node,
                                        const struct cel_type *element, const struct cel_type *key,
                                        const struct cel_type *result)
{
    switch (node->loop) {
    case CEL_ALL:
    case CEL_EXISTS:
    case CEL_EXISTS_ONE:
        expect(c, node->result, result, sw_cel_type(CEL_BOOL));
        return sw_cel_type(CEL_BOOL);
    case CEL_FILTER:
        expect(c, node->result, result, sw_cel_type(CEL_BOOL));
        return sw_cel_type_of(arena_of(c), CEL_LIST, element, NULL);
    case CEL_SORT_BY:
        return sw_cel_type_of(arena_of(c), CEL_LIST, element, NULL);
    case CEL_MAP_LIST:
    case CEL_TRANSFORM_LIST:
        return sw_cel_type_of(arena_of(c), CEL_LIST, result, NULL);
    case CEL_TRANSFORM_MAP:
        return sw_cel_type_of(arena_of(c), CEL_MAP, key, result);
    case CEL_OPT_MAP:
        return sw_cel_type_of(arena_of(c), CEL_OPTIONAL, result, NULL);
    default:
        return result;
    }
}

static const struct cel_type *check_loop(struct checker *c, struct cel_node *node)
{
    const struct cel_type *first, *second;
    const struct cel_type *of = check(c, node->args[0]);
    const size_t before = c->n_locals;
    (void)element_types(c, node, of, &first, &second);
    node->slot = declare(c, node, node->vars[0], first);
    if (node->vars[1])
        (void)declare(c, node, node->vars[1], second);
    if (node->condition)
        expect(c, node->condition, check(c, node->condition), sw_cel_type(CEL_BOOL));
    const struct cel_type *result = check(c, node->result);
    c->n_locals = before;
    return loop_type(c, node, first, first, result);
}

static const struct cel_type *check_kind(struct checker *c, struct cel_node *node)
{
    switch (node->kind) {
    case CEL_CONST:
        return sw_cel_type(node->value.kind);
    case CEL_IDENT:
        return check_name(c, node);
    case CEL_SELECT:
        return check_select(c, node);
    case CEL_CALL:
        return check_call(c, node);
    case CEL_AND:
    case CEL_OR:
        return check_logic(c, node);
    case CEL_CHOICE:
        return check_choice(c, node);
    case CEL_NEW_LIST:
    case CEL_NEW_MAP:
        return check_literal_of(c, node);
    case CEL_NEW_MESSAGE:
        return check_message(c, node);
    case CEL_LOOP:
        return check_loop(c, node);
    case CEL_COMPOSED:
        break;
    }
    return unknown();
}

static const struct cel_type *check(struct checker *c, struct cel_node *node)
{
    if (!sw_stack_has_room()) {
        sw_cel_problem(c->cel, node->at, "the expression is too deep");
        return unknown();
    }
    node->type = check_kind(c, node);
    return node->type;
}

/* A format, and as many arguments as it has places for. */
static void check_format(struct checker *c, const struct cel_node *node)
{
    const struct cel_node *text = node->args[0], *list = node->args[node->n - 1];
    if (!node->method || !sw_streq(node->name, "format") || text->kind != CEL_CONST ||
        list->kind != CEL_NEW_LIST)
        return;
    SW_AUTO_CHARS *wrong = sw_cel_format_fault(text->value, list->n);
    if (wrong)
        sw_cel_problem(c->cel, node->at, "%s", wrong);
}

static void check_literals(struct checker *c, const struct cel_node *node)
{
    if (node->kind == CEL_CALL && node->n) {
        check_literal(c, node);
        check_format(c, node);
    }
    for (size_t i = 0; i < node->n; i++)
        check_literals(c, node->args[i]);
    if (node->condition)
        check_literals(c, node->condition);
    if (node->result)
        check_literals(c, node->result);
}

void sw_cel_check(struct sw_cel *cel)
{
    struct checker c = { .cel = cel };
    (void)check(&c, cel->root);
    if (!cel->n_problems)
        check_literals(&c, cel->root);
}
