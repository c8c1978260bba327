/* Evaluates pipelines: commands, their arguments and the calls of functions and methods. */
#include <string.h>

#include "chart/template/lang/exec.h"
#include "chart/template/lang/function.h"
#include "chart/template/value/object.h"
#include "chart/template/value/print.h"

/* ---- variables ---- */

void sw_exec_push_var(struct exec *x, struct name name, struct sw_value v)
{
    SW_GROW(x->vars, x->n_vars, x->cap_vars);
    x->vars[x->n_vars++] = (struct var){ name, v };
}

static struct var *find_var(struct exec *x, const struct name *name)
{
    enum { FEW = 64 };
    for (size_t i = x->n_vars; i-- > x->frame->vars;) {
        if (!sw_name_equal(&x->vars[i].name, name))
            continue;
        uint64_t passed = x->n_vars - i;
        if (passed > FEW) /* the next step fails where they are not enough */
            x->fuel -= x->fuel < passed / FEW ? x->fuel : passed / FEW;
        return &x->vars[i];
    }
    return NULL;
}

int sw_exec_set_var(struct exec *x, const struct name *name, struct sw_value v)
{
    struct var *var = find_var(x, name);
    if (!var)
        return sw_exec_fail(x, "undefined variable: %.*s", (int)name->len, name->s);
    var->value = v;
    return 0;
}

/* ---- commands ---- */

static const char *node_text(struct exec *x, const struct node *n)
{
    size_t mark = x->text.len, len;
    sw_node_print(&x->text, n);
    return sw_text_take(&x->text, mark, x->arena, &len);
}

static int not_a_function(struct exec *x, struct node *const *args, size_t n_args,
                          const struct sw_value *final)
{
    if (n_args <= 1 && !final)
        return 0;
    return sw_exec_fail(x, "can't give argument to non-function %s", node_text(x, args[0]));
}

/* .a.b.c: all but the last without arguments. */
static int eval_fields(struct exec *x, struct sw_value dot, struct sw_value receiver,
                       const struct node *node, const struct name *names, size_t n,
                       struct node *const *args, size_t n_args, const struct sw_value *final,
                       struct sw_value *out)
{
    for (size_t i = 0; i + 1 < n; i++) {
        int rc = sw_eval_field(x, dot, &names[i], node, NULL, 0, NULL, receiver, &receiver);
        if (rc < 0)
            return rc;
    }
    return sw_eval_field(x, dot, &names[n - 1], node, args, n_args, final, receiver, out);
}

static int eval_field_node(struct exec *x, struct sw_value dot, const struct node_names *f,
                           struct node *const *args, size_t n_args, const struct sw_value *final,
                           struct sw_value *out)
{
    x->frame->node = &f->node;
    return eval_fields(x, dot, dot, &f->node, f->names, f->n, args, n_args, final, out);
}

static int eval_function(struct exec *x, struct sw_value dot, const struct node_ident *i,
                         const struct node *cmd, struct node *const *args, size_t n_args,
                         const struct sw_value *final, struct sw_value *out)
{
    x->frame->node = &i->node;
    return sw_eval_call(x, dot, i->func, i->func->name, cmd, args, n_args, final,
                        (struct sw_value){ 0 }, out);
}

static int eval_chain(struct exec *x, struct sw_value dot, const struct node_chain *c,
                      struct node *const *args, size_t n_args, const struct sw_value *final,
                      struct sw_value *out)
{
    struct sw_value base = { 0 };
    int rc;
    x->frame->node = &c->node;
    if (c->base->kind == N_NIL)
        return sw_exec_fail(x, "indirection through explicit nil in nil");
    if (c->base->kind == N_PIPE)
        rc = sw_eval_pipe(x, dot, (const struct node_pipe *)c->base, &base);
    else
        rc = eval_function(x, dot, (const struct node_ident *)c->base, c->base, NULL, 0, NULL,
                           &base);
    if (rc < 0)
        return rc;
    return eval_fields(x, dot, base, &c->node, c->names, c->n, args, n_args, final, out);
}

static int eval_variable(struct exec *x, struct sw_value dot, const struct node_names *v,
                         struct node *const *args, size_t n_args, const struct sw_value *final,
                         struct sw_value *out)
{
    x->frame->node = &v->node;
    const struct var *var = find_var(x, &v->names[0]);
    if (!var)
        return sw_exec_fail(x, "undefined variable: %.*s", (int)v->names[0].len, v->names[0].s);
    if (v->n == 1) {
        int rc = not_a_function(x, args, n_args, final);
        *out = var->value;
        return rc;
    }
    return eval_fields(x, dot, var->value, &v->node, v->names + 1, v->n - 1, args, n_args, final,
                       out);
}

static int eval_constant(struct exec *x, struct sw_value dot, const struct node *n,
                         struct sw_value *out)
{
    switch ((enum node_kind)n->kind) {
    case N_BOOL:
        *out = sw_value_bool(((const struct node_bool *)n)->value);
        return 0;
    case N_DOT:
        *out = dot;
        return 0;
    case N_NUMBER:
        x->frame->node = n;
        *out = ((const struct node_number *)n)->ideal;
        if (out->type == SW_T_INVALID)
            return sw_exec_fail(x, "%s overflows int", node_text(x, n));
        return 0;
    case N_STRING:
        *out = ((const struct node_string *)n)->value;
        return 0;
    default:
        return sw_exec_fail(x, "nil is not a command");
    }
}

static int eval_command(struct exec *x, struct sw_value dot, const struct node_command *cmd,
                        const struct sw_value *final, struct sw_value *out)
{
    const struct node *first = cmd->args[0];
    int rc;
    switch ((enum node_kind)first->kind) {
    case N_FIELD:
        return eval_field_node(x, dot, (const struct node_names *)first, cmd->args, cmd->n, final,
                               out);
    case N_CHAIN:
        return eval_chain(x, dot, (const struct node_chain *)first, cmd->args, cmd->n, final, out);
    case N_IDENT:
        return eval_function(x, dot, (const struct node_ident *)first, &cmd->node, cmd->args,
                             cmd->n, final, out);
    case N_PIPE:
        rc = not_a_function(x, cmd->args, cmd->n, final);
        return rc < 0 ? rc : sw_eval_pipe(x, dot, (const struct node_pipe *)first, out);
    case N_VARIABLE:
        return eval_variable(x, dot, (const struct node_names *)first, cmd->args, cmd->n, final,
                             out);
    default:
        x->frame->node = first;
        rc = not_a_function(x, cmd->args, cmd->n, final);
        return rc < 0 ? rc : eval_constant(x, dot, first, out);
    }
}

int sw_eval_pipe(struct exec *x, struct sw_value dot, const struct node_pipe *pipe,
                 struct sw_value *out)
{
    struct sw_value v = { 0 };
    x->frame->node = &pipe->node;
    int room = sw_exec_check_stack(x);
    if (room < 0)
        return room;
    for (uint32_t i = 0; i < pipe->n; i++) {
        struct sw_value final = v;
        int rc = sw_exec_charge(x, 1);
        if (rc == 0)
            rc = eval_command(x, dot, pipe->cmds[i], i > 0 ? &final : NULL, &v);
        if (rc < 0)
            return rc;
        /* the value in an interface {}; a nil one is no value */
        v.extra &= (uint8_t)~SW_V_IFACE;
        if (v.type == SW_T_NIL)
            v.type = SW_T_INVALID;
    }
    for (uint8_t i = 0; i < pipe->n_decl; i++) {
        const struct name *name = &pipe->decl[i]->names[0];
        if (!pipe->is_assign) {
            sw_exec_push_var(x, *name, v);
            continue;
        }
        int rc = sw_exec_set_var(x, name, v);
        if (rc < 0)
            return rc;
    }
    *out = v;
    return 0;
}

/* ---- arguments ---- */

static const struct func_param *type_of(char param)
{
    return &sw_func_params[(unsigned char)param];
}

/* The zero of a type that can be nil. */
static struct sw_value nil_of(char param)
{
    uint8_t type = type_of(param)->type;
    return (struct sw_value){ .type = type == SW_T_OBJECT ? SW_T_NIL : type };
}

/* Go's assignability, for the types that parameters have. */
static bool assignable(struct sw_value v, char param)
{
    const struct func_param *to = type_of(param);
    switch (to->type) {
    case SW_T_NIL:
        return true;
    case SW_T_MAP:
    case SW_T_VALUES:
        return v.type == SW_T_MAP || v.type == SW_T_VALUES;
    case SW_T_STRINGS:
        return v.type == SW_T_STRINGS || v.type == SW_T_VERSIONS;
    case SW_T_OBJECT:
        return v.type == SW_T_OBJECT && strcmp(v.as.object->type->name, to->name) == 0;
    default:
        return v.type == to->type;
    }
}

static int validate(struct exec *x, char param, struct sw_value *v)
{
    if (v->type == SW_T_INVALID) {
        if (!type_of(param)->can_be_nil)
            return sw_exec_fail(x, "invalid value; expected %s", type_of(param)->name);
        *v = nil_of(param);
        return 0;
    }
    if (!assignable(*v, param))
        return sw_exec_fail(x, "wrong type for value; expected %s; got %s", type_of(param)->name,
                            v->type == SW_T_NIL ? "interface {}" : sw_value_type_name(*v));
    v->extra &= (uint8_t)~SW_V_IFACE;
    return 0;
}

static int wrong_constant(struct exec *x, const char *expected, const struct node *n)
{
    return sw_exec_fail(x, "expected %s; found %s", expected, node_text(x, n));
}

/* A literal as an argument of type @param. */
static int eval_literal(struct exec *x, struct sw_value dot, char param, const struct node *n,
                        struct sw_value *out)
{
    const struct node_number *num = n->kind == N_NUMBER ? (const struct node_number *)n : NULL;
    switch (param) {
    case 'v':
    case 'r':
        return eval_constant(x, dot, n, out);
    case 's':
        return n->kind == N_STRING ? eval_constant(x, dot, n, out) : wrong_constant(x, "string", n);
    case 'b':
        return n->kind == N_BOOL ? eval_constant(x, dot, n, out) : wrong_constant(x, "bool", n);
    case 'i':
    case 'I':
    case 'd':
    case 'M':
        if (!num || !num->is_int)
            return wrong_constant(x, "integer", n);
        *out = param == 'I' ? sw_value_int64(num->i) : sw_value_int(num->i);
        if (param == 'd' || param == 'M')
            out->type = param == 'd' ? SW_T_DURATION : SW_T_MONTH;
        return 0;
    case 'u':
        if (!num || !num->is_uint)
            return wrong_constant(x, "unsigned integer", n);
        *out = (struct sw_value){ .type = SW_T_UINT32, .as.u = (uint32_t)num->u };
        return 0;
    case 'f':
        if (!num || !num->is_float)
            return wrong_constant(x, "float", n);
        *out = sw_value_float(num->f);
        return 0;
    default:
        return sw_exec_fail(x, "can't handle %s for arg of type %s", node_text(x, n),
                            type_of(param)->name);
    }
}

static int eval_arg(struct exec *x, struct sw_value dot, char param, struct node *n,
                    struct sw_value *out)
{
    int rc;
    x->frame->node = n;
    switch ((enum node_kind)n->kind) {
    case N_DOT:
        *out = dot;
        rc = 0;
        break;
    case N_NIL:
        if (!type_of(param)->can_be_nil)
            return sw_exec_fail(x, "cannot assign nil to %s", type_of(param)->name);
        *out = nil_of(param);
        return 0;
    case N_FIELD:
        rc = eval_field_node(x, dot, (const struct node_names *)n, &n, 1, NULL, out);
        break;
    case N_VARIABLE:
        rc = eval_variable(x, dot, (const struct node_names *)n, NULL, 0, NULL, out);
        break;
    case N_PIPE:
        rc = sw_eval_pipe(x, dot, (const struct node_pipe *)n, out);
        break;
    case N_IDENT:
        rc = eval_function(x, dot, (const struct node_ident *)n, n, NULL, 0, NULL, out);
        break;
    case N_CHAIN:
        rc = eval_chain(x, dot, (const struct node_chain *)n, NULL, 0, NULL, out);
        break;
    default:
        return eval_literal(x, dot, param, n, out);
    }
    return rc != 0 ? rc : validate(x, param, out);
}

/* ---- calls ---- */

int sw_eval_call(struct exec *x, struct sw_value dot, const struct func *f, const char *name,
                 const struct node *node, struct node *const *args, size_t n_args,
                 const struct sw_value *final, struct sw_value self, struct sw_value *out)
{
    enum { FEW = 6, BYTES_PER_STEP = 64 };
    struct sw_value few[FEW] = { 0 }, *argv = few;
    if (n_args > 0) { /* the first is the function itself */
        args++;
        n_args--;
    }
    bool variadic;
    size_t n = n_args + (final ? 1 : 0), fixed = sw_func_arity(f, &variadic);
    if (variadic && n < fixed)
        return sw_exec_fail(x, "wrong number of args for %s: want at least %zu got %zu", name,
                            fixed, n_args);
    if (!variadic && n != fixed)
        return sw_exec_fail(x, "wrong number of args for %s: want %zu got %zu", name, fixed, n);
    int rc = 0;
    if (f->special == FUNC_AND || f->special == FUNC_OR) { /* up to the argument that decides */
        for (size_t i = 0; i < n_args; i++) {
            rc = eval_arg(x, dot, 'r', args[i], out);
            if (rc < 0 || sw_value_truth(*out) == (f->special == FUNC_OR))
                return rc;
        }
        if (final)
            *out = *final;
        return 0;
    }
    if (n > FEW)
        argv = sw_arena_alloc(x->arena, n * sizeof *argv);
    uint64_t bytes = 0; /* of texts that go in */
    for (size_t i = 0; i < n_args && rc == 0; i++) {
        rc = eval_arg(x, dot, f->params[i < fixed ? i : fixed], args[i], &argv[i]);
        bytes += rc == 0 ? argv[i].len : 0;
    }
    if (rc == 0 && final) {
        argv[n_args] = *final;
        bytes += final->len;
        rc = validate(x, f->params[n_args < fixed ? n_args : fixed], &argv[n_args]);
    }
    if (rc == 0)
        rc = sw_exec_charge(x, 1 + bytes / BYTES_PER_STEP);
    if (rc < 0)
        return rc;
    struct call c = { .x = x,
                      .text = &x->text,
                      .mark = x->text.len,
                      .arena = x->arena,
                      .func = f,
                      .args = argv,
                      .n = n,
                      .is_element = n_args > 0 &&
                                    (args[0]->kind == N_FIELD || args[0]->kind == N_DOT),
                      .self = self };
    if (f->special == FUNC_CALL)
        c.self = sw_value_cstr(n_args ? node_text(x, args[0]) : "<value>");
    rc = f->fn(&c);
    if (sw_arena_is_over(x->arena)) {
        x->frame->node = node;
        return sw_exec_exhausted(x);
    }
    if (rc < 0) { /* put the call's place in front of the message; the code is kept */
        SW_AUTO_CHARS *what = sw_printf("error calling %s: %s", name, sw_err_text(x->err));
        x->frame->node = node;
        return sw_exec_fail_at(x, rc, what);
    }
    *out = c.result;
    rc = sw_exec_check_output(x);
    return rc < 0 ? rc : sw_exec_charge(x, c.result.len / BYTES_PER_STEP);
}
