#include "template/exec.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "template/funcs.h"
#include "template/object.h"
#include "template/print.h"
#include "template/strconv.h"

/* Walks a parsed template and writes its output. The rules, and where each error is said to be, are
 * those of Go's text/template. Functions return 0, a negative code with x->err set, or, out of a
 * list within a range, one of these: */
enum { BREAK = 1, CONTINUE = 2 };

static int walk(struct exec *x, struct sw_value dot, const struct node *node);

/* ---- errors and limits
 * ---------------------------------------------------------------------------- */

/* "NAME:LINE:COL" of a byte in a text. */
static void put_location(struct text *out, const struct source *source, uint32_t pos)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < pos && i < source->len; i++) {
        if (source->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    sw_text_printf(out, "%s:%zu:%zu", source->name, line, pos - start);
}

static int fail_at(struct exec *x, int code, const char *what)
{
    const struct frame *f = x->frame;
    struct text t = { .limit = 1 << 26 };
    sw_text_puts(&t, "template: ");
    if (f->node) {
        put_location(&t, f->tmpl->source, f->node->pos);
        sw_text_puts(&t, ": executing ");
        sw_quote(&t, f->tmpl->name.s, f->tmpl->name.len, 0);
        sw_text_puts(&t, " at <");
        sw_node_print(&t, f->node);
        sw_text_puts(&t, ">: ");
    } else {
        sw_text_printf(&t, "%s: ", f->tmpl->name.s);
    }
    sw_text_puts(&t, what);
    sw_err_set(x->err, code, "%.*s", (int)t.len, t.p);
    free(t.p);
    return code;
}

int sw_exec_fail(struct exec *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    return fail_at(x, SW_INVALID, what);
}

static int check_memory(struct exec *x)
{
    size_t limit = x->opts.max_memory_bytes;
    if (sw_arena_used(x->arena) - x->arena_start <= limit)
        return 0;
    return sw_exec_fail(x, "the template takes more than %zu bytes of memory", limit);
}

int sw_exec_charge(struct exec *x, uint64_t n)
{
    enum { OFTEN = 64 }; /* steps between two looks at the memory */
    if (x->fuel >= n) {
        bool look = x->fuel / OFTEN != (x->fuel - n) / OFTEN;
        x->fuel -= n;
        return look ? check_memory(x) : 0;
    }
    x->fuel = 0;
    return sw_exec_fail(x, "the template takes more than %llu steps",
                        (unsigned long long)x->opts.fuel);
}

static int check_output(struct exec *x)
{
    if (!x->text.over)
        return 0;
    return sw_exec_fail(x, "the output is larger than %zu bytes", x->opts.max_output_bytes);
}

/* Templates within templates: few of them in honest charts, any number where one includes itself.
 */
static int check_depth(struct exec *x)
{
    const char here = 0;
    size_t used = (size_t)(x->stack > &here ? x->stack - &here : &here - x->stack);
    if (x->depth >= x->opts.max_depth || used > x->stack_limit)
        return sw_exec_fail(x, "exceeded maximum template depth (%u)", x->depth);
    return 0;
}

/* ---- variables
 * ------------------------------------------------------------------------------------ */

static void push_var(struct exec *x, struct name name, struct sw_value v)
{
    SW_GROW(x->vars, x->n_vars, x->cap_vars);
    x->vars[x->n_vars++] = (struct var){ name, v };
}

static struct var *find_var(struct exec *x, const struct name *name)
{
    for (size_t i = x->n_vars; i-- > x->frame->vars;) {
        if (sw_name_equal(&x->vars[i].name, name))
            return &x->vars[i];
    }
    return NULL;
}

static int set_var(struct exec *x, const struct name *name, struct sw_value v)
{
    struct var *var = find_var(x, name);
    if (!var)
        return sw_exec_fail(x, "undefined variable: %.*s", (int)name->len, name->s);
    var->value = v;
    return 0;
}

/* ---- commands
 * ------------------------------------------------------------------------------------- */

static int eval_variable(struct exec *x, struct sw_value dot, const struct node_var *v,
                         struct node *const *args, size_t n_args, const struct sw_value *final,
                         struct sw_value *out);

static int not_a_function(struct exec *x, struct node *const *args, size_t n_args,
                          const struct sw_value *final)
{
    if (n_args <= 1 && !final)
        return 0;
    struct text t = { .limit = 1 << 20 };
    if (args[0]->kind == N_PIPE)
        sw_node_print(&t, args[0]);
    else
        sw_node_print(&t, args[0]);
    int rc = sw_exec_fail(x, "can't give argument to non-function %.*s", (int)t.len, t.p);
    free(t.p);
    return rc;
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

static int eval_field_node(struct exec *x, struct sw_value dot, const struct node_field *f,
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
    struct sw_value base;
    int rc;
    x->frame->node = &c->node;
    if (c->base->kind == N_NIL)
        return sw_exec_fail(x, "indirection through explicit nil in %s", "nil");
    x->frame->node = c->base;
    if (c->base->kind == N_PIPE) {
        rc = sw_eval_pipe(x, dot, (const struct node_pipe *)c->base, &base);
    } else {
        rc = eval_function(x, dot, (const struct node_ident *)c->base, c->base, NULL, 0, NULL,
                           &base);
    }
    if (rc < 0)
        return rc;
    return eval_fields(x, dot, base, &c->node, c->names, c->n, args, n_args, final, out);
}

static int eval_variable(struct exec *x, struct sw_value dot, const struct node_var *v,
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

static int eval_number(struct exec *x, const struct node_number *n, struct sw_value *out)
{
    x->frame->node = &n->node;
    *out = n->ideal;
    if (n->ideal.type == SW_T_INVALID)
        return sw_exec_fail(x, "%.*s overflows int", (int)n->text_len, n->text);
    return 0;
}

static int eval_constant(struct exec *x, struct sw_value dot, const struct node *word,
                         struct sw_value *out)
{
    switch ((enum node_kind)word->kind) {
    case N_BOOL:
        *out = sw_value_bool(((const struct node_bool *)word)->value);
        return 0;
    case N_DOT:
        *out = dot;
        return 0;
    case N_NUMBER:
        return eval_number(x, (const struct node_number *)word, out);
    case N_STRING:
        *out = ((const struct node_string *)word)->value;
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
        return eval_field_node(x, dot, (const struct node_field *)first, cmd->args, cmd->n, final,
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
        return eval_variable(x, dot, (const struct node_var *)first, cmd->args, cmd->n, final, out);
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
    for (uint32_t i = 0; i < pipe->n; i++) {
        struct sw_value final = v;
        int rc = sw_exec_charge(x, 1);
        if (rc == 0)
            rc = eval_command(x, dot, pipe->cmds[i], i > 0 ? &final : NULL, &v);
        if (rc < 0)
            return rc;
        /* what an interface {} holds, or nothing */
        v.extra &= (uint8_t)~SW_V_IFACE;
        if (v.type == SW_T_NIL)
            v.type = SW_T_INVALID;
    }
    for (uint8_t i = 0; i < pipe->n_decl; i++) {
        const struct name *name = &pipe->decl[i]->names[0];
        if (!pipe->is_assign) {
            push_var(x, *name, v);
            continue;
        }
        int rc = set_var(x, name, v);
        if (rc < 0)
            return rc;
    }
    *out = v;
    return 0;
}

/* ---- arguments
 * ------------------------------------------------------------------------------------ */

static bool can_be_nil(char param)
{
    return strchr("vrmlSyVx", param) != NULL;
}

/* The zero of a type that can be nil. */
static struct sw_value nil_of(char param)
{
    switch (param) {
    case 'm':
        return sw_value_typed_map(SW_T_MAP, NULL);
    case 'V':
        return sw_value_typed_map(SW_T_VALUES, NULL);
    case 'l':
        return sw_value_typed_list(SW_T_LIST, NULL);
    case 'S':
        return sw_value_typed_list(SW_T_STRINGS, NULL);
    case 'y':
        return (struct sw_value){ .type = SW_T_BYTES };
    default:
        return sw_value_nil();
    }
}

/* Go's assignability, for the types that parameters have. */
static bool assignable(struct sw_value v, char param)
{
    switch (param) {
    case 'v':
    case 'r':
        return true;
    case 's':
        return v.type == SW_T_STRING;
    case 'b':
        return v.type == SW_T_BOOL;
    case 'i':
        return v.type == SW_T_INT;
    case 'I':
        return v.type == SW_T_INT64;
    case 'f':
        return v.type == SW_T_FLOAT64;
    case 'm':
    case 'V':
        return v.type == SW_T_MAP || v.type == SW_T_VALUES;
    case 'l':
        return v.type == SW_T_LIST;
    case 'S':
        return v.type == SW_T_STRINGS || v.type == SW_T_VERSIONS;
    case 'y':
        return v.type == SW_T_BYTES;
    case 'd':
        return v.type == SW_T_DURATION;
    case 'M':
        return v.type == SW_T_MONTH;
    case 'u':
        return v.type == SW_T_UINT32;
    default:
        return v.type == SW_T_OBJECT &&
               strcmp(v.as.object->type->name, sw_param_type_name(param)) == 0;
    }
}

static int validate(struct exec *x, char param, struct sw_value *v)
{
    if (v->type == SW_T_INVALID) {
        if (!can_be_nil(param))
            return sw_exec_fail(x, "invalid value; expected %s", sw_param_type_name(param));
        *v = nil_of(param);
        return 0;
    }
    if (!assignable(*v, param)) {
        const char *got = v->type == SW_T_NIL ? "interface {}" : sw_value_type_name(*v);
        return sw_exec_fail(x, "wrong type for value; expected %s; got %s",
                            sw_param_type_name(param), got);
    }
    v->extra &= (uint8_t)~SW_V_IFACE;
    return 0;
}

static int wrong_constant(struct exec *x, const char *expected, const struct node *n)
{
    struct text t = { .limit = 1 << 20 };
    sw_node_print(&t, n);
    int rc = sw_exec_fail(x, "expected %s; found %.*s", expected, (int)t.len, t.p);
    free(t.p);
    return rc;
}

static int unhandled_constant(struct exec *x, char param, const struct node *n)
{
    struct text t = { .limit = 1 << 20 };
    sw_node_print(&t, n);
    int rc = sw_exec_fail(x, "can't handle %.*s for arg of type %s", (int)t.len, t.p,
                          sw_param_type_name(param));
    free(t.p);
    return rc;
}

/* A literal where a parameter of type @param is wanted. */
static int eval_literal(struct exec *x, struct sw_value dot, char param, const struct node *n,
                        struct sw_value *out)
{
    const struct node_number *num = n->kind == N_NUMBER ? (const struct node_number *)n : NULL;
    switch (param) {
    case 'v':
    case 'r':
        return eval_constant(x, dot, n, out);
    case 's':
        if (n->kind != N_STRING)
            return wrong_constant(x, "string", n);
        return eval_constant(x, dot, n, out);
    case 'b':
        if (n->kind != N_BOOL)
            return wrong_constant(x, "bool", n);
        return eval_constant(x, dot, n, out);
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
        return unhandled_constant(x, param, n);
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
        if (!can_be_nil(param))
            return sw_exec_fail(x, "cannot assign nil to %s", sw_param_type_name(param));
        *out = nil_of(param);
        return 0;
    case N_FIELD:
        rc = eval_field_node(x, dot, (const struct node_field *)n, &n, 1, NULL, out);
        break;
    case N_VARIABLE:
        rc = eval_variable(x, dot, (const struct node_var *)n, NULL, 0, NULL, out);
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
    return rc < 0 ? rc : validate(x, param, out);
}

/* ---- calls
 * ---------------------------------------------------------------------------------------- */

/* What a function says went wrong, with the call's place in front; its code is kept. */
static int call_failed(struct exec *x, const struct node *node, const char *name, int code)
{
    SW_AUTO_CHARS *what = sw_printf("error calling %s: %s", name, sw_err_text(x->err));
    x->frame->node = node;
    return fail_at(x, code, what);
}

/* and, or: no more arguments than decide. */
static int eval_and_or(struct exec *x, struct sw_value dot, const struct func *f,
                       struct node *const *args, size_t n_args, const struct sw_value *final,
                       struct sw_value *out)
{
    bool stop_at = f->special == FUNC_OR;
    for (size_t i = 0; i < n_args; i++) {
        int rc = eval_arg(x, dot, 'r', args[i], out);
        if (rc < 0 || sw_value_truth(*out) == stop_at)
            return rc;
    }
    if (final)
        *out = *final;
    return 0;
}

static int check_arity(struct exec *x, const struct func *f, const char *name, size_t n_args,
                       size_t n_in)
{
    bool variadic;
    size_t fixed = sw_func_arity(f, &variadic);
    if (variadic && n_in < fixed)
        return sw_exec_fail(x, "wrong number of args for %s: want at least %zu got %zu", name,
                            fixed, n_args);
    if (!variadic && n_in != fixed)
        return sw_exec_fail(x, "wrong number of args for %s: want %zu got %zu", name, fixed, n_in);
    return 0;
}

static int eval_args(struct exec *x, struct sw_value dot, const struct func *f,
                     struct node *const *args, size_t n_args, const struct sw_value *final,
                     struct sw_value *argv)
{
    bool variadic;
    size_t fixed = sw_func_arity(f, &variadic);
    for (size_t i = 0; i < n_args; i++) {
        int rc = eval_arg(x, dot, f->params[i < fixed ? i : fixed], args[i], &argv[i]);
        if (rc < 0)
            return rc;
    }
    if (!final)
        return 0;
    argv[n_args] = *final;
    return validate(x, f->params[n_args < fixed ? n_args : fixed], &argv[n_args]);
}

static const char *node_text(struct exec *x, const struct node *n)
{
    size_t mark = x->text.len, len;
    sw_node_print(&x->text, n);
    return sw_text_take(&x->text, mark, x->arena, &len);
}

int sw_eval_call(struct exec *x, struct sw_value dot, const struct func *f, const char *name,
                 const struct node *node, struct node *const *args, size_t n_args,
                 const struct sw_value *final, struct sw_value self, struct sw_value *out)
{
    enum { FEW = 6 };
    struct sw_value few[FEW], *argv = few;
    if (n_args > 0) { /* the first is the function itself */
        args++;
        n_args--;
    }
    size_t n = n_args + (final ? 1 : 0);
    int rc = check_arity(x, f, name, n_args, n);
    if (rc < 0)
        return rc;
    if (f->special == FUNC_AND || f->special == FUNC_OR)
        return eval_and_or(x, dot, f, args, n_args, final, out);
    if (n > FEW)
        argv = sw_arena_alloc(x->arena, n * sizeof *argv);
    rc = eval_args(x, dot, f, args, n_args, final, argv);
    if (rc == 0)
        rc = sw_exec_charge(x, 1);
    if (rc < 0)
        return rc;
    struct call c = { .x = x, .arena = x->arena, .func = f, .args = argv, .n = n, .self = self };
    if (f->special == FUNC_CALL)
        c.self = sw_value_cstr(n_args ? node_text(x, args[0]) : "<value>");
    rc = f->fn(&c);
    if (rc < 0)
        return call_failed(x, node, name, rc);
    *out = c.result;
    return check_output(x);
}

/* ---- nodes
 * ---------------------------------------------------------------------------------------- */

static int walk_list(struct exec *x, struct sw_value dot, const struct node_list *list)
{
    x->frame->node = &list->node;
    for (uint32_t i = 0; i < list->n; i++) {
        int rc = walk(x, dot, list->nodes[i]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int walk_if_with(struct exec *x, struct sw_value dot, const struct node_branch *b)
{
    size_t mark = x->n_vars;
    struct sw_value v;
    int rc = sw_eval_pipe(x, dot, b->pipe, &v);
    if (rc == 0) {
        if (sw_value_truth(v))
            rc = walk_list(x, b->node.kind == N_WITH ? v : dot, b->list);
        else if (b->else_list)
            rc = walk_list(x, dot, b->else_list);
    }
    x->n_vars = mark;
    return rc;
}

struct loop {
    const struct node_branch *range;
    size_t mark; /* of the variables, those of the loop included */
};

/* One round. @return 0: go on | BREAK | negative */
static int iterate(struct exec *x, const struct loop *l, struct sw_value index,
                   struct sw_value elem)
{
    const struct node_pipe *pipe = l->range->pipe;
    int rc = sw_exec_charge(x, 1);
    if (rc == 0 && pipe->is_assign && pipe->n_decl > 0) {
        rc = set_var(x, &pipe->decl[0]->names[0], pipe->n_decl > 1 ? index : elem);
        if (rc == 0 && pipe->n_decl > 1)
            rc = set_var(x, &pipe->decl[1]->names[0], elem);
    } else if (rc == 0 && pipe->n_decl > 0) {
        x->vars[l->mark - 1].value = elem;
        if (pipe->n_decl > 1)
            x->vars[l->mark - 2].value = index;
    }
    if (rc == 0)
        rc = walk_list(x, elem, l->range->list);
    x->n_vars = l->mark;
    return rc == CONTINUE ? 0 : rc;
}

static int range_list(struct exec *x, const struct loop *l, struct sw_value v)
{
    bool iface = sw_types[v.type].elem == SW_T_NIL;
    int rc = 0;
    for (size_t i = 0, n = sw_value_len(v); i < n && rc == 0; i++) {
        struct sw_value elem = sw_value_at(v, i);
        if (iface)
            elem.extra |= SW_V_IFACE;
        rc = iterate(x, l, sw_value_int((int64_t)i), elem);
    }
    return rc;
}

/* In the order of the keys, over the entries as they were at the start. */
static int range_map(struct exec *x, const struct loop *l, struct sw_value v)
{
    size_t n = sw_map_count(v.as.map);
    bool iface = sw_types[v.type].elem == SW_T_NIL;
    struct sw_entry *e = sw_arena_alloc(x->arena, n * sizeof *e);
    memcpy(e, sw_map_sorted(v.as.map), n * sizeof *e);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (iface)
            e[i].value.extra |= SW_V_IFACE;
        rc = iterate(x, l, sw_value_text(e[i].key, e[i].key_len), e[i].value);
    }
    return rc;
}

static int range_int(struct exec *x, const struct loop *l, struct sw_value v)
{
    if (l->range->pipe->n_decl > 1) {
        size_t mark = x->text.len, len;
        sw_print_value(&x->text, v);
        const char *s = sw_text_take(&x->text, mark, x->arena, &len);
        return sw_exec_fail(x, "can't use %s to iterate over more than one variable", s);
    }
    int rc = 0;
    struct sw_value i = v;
    for (i.as.u = 0; i.as.u < v.as.u && rc == 0; i.as.u++)
        rc = iterate(x, l, (struct sw_value){ 0 }, i);
    return rc;
}

static int range_value(struct exec *x, const struct loop *l, struct sw_value v, bool *ran)
{
    *ran = true;
    switch (sw_kind(v)) {
    case SW_K_INT:
    case SW_K_UINT:
        if (sw_kind(v) == SW_K_INT && v.as.i <= 0)
            break;
        if (v.as.u == 0)
            break;
        return range_int(x, l, v);
    case SW_K_SLICE:
        if (sw_value_len(v) == 0)
            break;
        return range_list(x, l, v);
    case SW_K_MAP:
        if (sw_value_len(v) == 0)
            break;
        return range_map(x, l, v);
    case SW_K_INVALID:
        break;
    default:
        return sw_exec_fail(x, "range can't iterate over %s", sw_value_print(x->arena, v));
    }
    *ran = false;
    return 0;
}

static int walk_range(struct exec *x, struct sw_value dot, const struct node_branch *r)
{
    size_t mark = x->n_vars;
    struct sw_value v;
    bool ran = false;
    x->frame->node = &r->node;
    int rc = sw_eval_pipe(x, dot, r->pipe, &v);
    if (rc == 0)
        rc = range_value(x, &(struct loop){ r, x->n_vars }, v, &ran);
    if (rc == BREAK)
        rc = 0;
    else if (rc == 0 && !ran && r->else_list)
        rc = walk_list(x, dot, r->else_list);
    x->n_vars = mark;
    return rc;
}

static int walk_template(struct exec *x, struct sw_value dot, const struct node_template *t)
{
    struct sw_value v = { 0 };
    x->frame->node = &t->node;
    const struct tmpl *tmpl = sw_scope_find(x->scope, &t->name);
    if (!tmpl) {
        struct text name = { .limit = 1 << 20 };
        sw_quote(&name, t->name.s, t->name.len, 0);
        int rc = sw_exec_fail(x, "template %.*s not defined", (int)name.len, name.p);
        free(name.p);
        return rc;
    }
    int rc = t->pipe ? sw_eval_pipe(x, dot, t->pipe, &v) : 0;
    return rc < 0 ? rc : sw_exec_tmpl(x, tmpl, v);
}

static int walk_action(struct exec *x, struct sw_value dot, const struct node_action *a)
{
    struct sw_value v;
    int rc = sw_eval_pipe(x, dot, a->pipe, &v);
    if (rc < 0 || a->pipe->n_decl > 0)
        return rc;
    x->frame->node = &a->node;
    if (v.type == SW_T_INVALID)
        sw_text_put(&x->text, "<no value>", 10);
    else
        sw_print_indirect(&x->text, v);
    return check_output(x);
}

static int walk(struct exec *x, struct sw_value dot, const struct node *node)
{
    x->frame->node = node;
    switch ((enum node_kind)node->kind) {
    case N_TEXT: {
        const struct node_text *t = (const struct node_text *)node;
        sw_text_put(&x->text, t->s, t->len);
        return check_output(x);
    }
    case N_ACTION:
        return walk_action(x, dot, (const struct node_action *)node);
    case N_LIST:
        return walk_list(x, dot, (const struct node_list *)node);
    case N_IF:
    case N_WITH:
        return walk_if_with(x, dot, (const struct node_branch *)node);
    case N_RANGE:
        return walk_range(x, dot, (const struct node_branch *)node);
    case N_TEMPLATE:
        return walk_template(x, dot, (const struct node_template *)node);
    case N_BREAK:
        return BREAK;
    case N_CONTINUE:
        return CONTINUE;
    default:
        return 0;
    }
}

/* ---- templates
 * ------------------------------------------------------------------------------------ */

int sw_exec_tmpl(struct exec *x, const struct tmpl *tmpl, struct sw_value dot)
{
    struct frame frame = { .tmpl = tmpl, .vars = x->n_vars }, *outer = x->frame;
    if (outer) {
        int rc = check_depth(x);
        if (rc < 0)
            return rc;
    }
    static const char dollar[] = "$";
    push_var(x, sw_name(dollar, 1, sw_name_hash(dollar, 1)), dot);
    x->frame = &frame;
    x->depth++;
    int rc = walk_list(x, dot, tmpl->root);
    x->depth--;
    x->frame = outer;
    x->n_vars = frame.vars;
    return rc < 0 ? rc : 0;
}

int sw_exec_named(struct exec *x, const struct name *name, struct sw_value dot)
{
    const struct tmpl *tmpl = sw_scope_find(x->scope, name);
    if (tmpl)
        return sw_exec_tmpl(x, tmpl, dot);
    struct text t = { .limit = 1 << 20 };
    sw_quote(&t, name->s, name->len, 0);
    sw_err_set(x->err, SW_NOTFOUND, "template: no template %.*s associated with template \"gotpl\"",
               (int)t.len, t.p);
    free(t.p);
    return SW_NOTFOUND;
}

void sw_exec_strip_no_value(struct exec *x, size_t mark)
{
    static const char no_value[] = "<no value>";
    enum { LEN = sizeof no_value - 1 };
    struct text *t = &x->text;
    char *end = t->p + t->len, *from, *to;
    if (t->len - mark < LEN)
        return;
    from = memmem(t->p + mark, t->len - mark, no_value, LEN);
    for (to = from; from;) {
        from += LEN;
        char *next = memmem(from, (size_t)(end - from), no_value, LEN);
        size_t n = (size_t)((next ? next : end) - from);
        memmove(to, from, n);
        to += n;
        from = next;
        if (!next)
            t->len = (size_t)(to - t->p);
    }
}

/* ---- Helm's wording of errors
 * --------------------------------------------------------------------- */

/* "template: LOCATION: REST" -> LOCATION and REST, or false. */
static bool split_error(char *text, char **location, char **rest)
{
    char *a = strstr(text, ": ");
    char *b = a ? strstr(a + 2, ": ") : NULL;
    if (!b)
        return false;
    *b = '\0';
    *location = a + 2;
    *rest = b + 2;
    return true;
}

int sw_exec_clean_error(struct sw_err *err, int rc, const char *file)
{
    static const char start[] = "HELM_ERR_START", end[] = "HELM_ERR_END";
    char *location, *rest;
    SW_AUTO_CHARS *text = sw_strdup(sw_err_text(err));
    if (!sw_starts_with(text, "template: "))
        return rc;
    if (!split_error(text, &location, &rest))
        return sw_err_set(err, rc, "execution error in (%s): %s", file, sw_err_text(err));
    char *from = strstr(rest, start), *to = NULL;
    for (char *p = from; p && (p = strstr(p, end)); p++)
        to = p;
    if (!to)
        return rc;
    from += sizeof start - 1;
    if (to < from)
        return rc;
    return sw_err_set(err, rc, "execution error at (%s): %.*s", location, (int)(to - from), from);
}

int sw_parse_clean_error(struct sw_err *err, int rc, const char *file)
{
    char *location, *rest;
    SW_AUTO_CHARS *text = sw_strdup(sw_err_text(err));
    if (!split_error(text, &location, &rest))
        return sw_err_set(err, rc, "parse error in (%s): %s", file, sw_err_text(err));
    for (char *next; (next = strstr(rest, ": "));)
        rest = next + 2;
    return sw_err_set(err, rc, "parse error at (%s): %s", location, rest);
}
