#include "chart/template/lang/exec.h"

#include <string.h>

#include "chart/template/lang/function.h"
#include "chart/template/value/print.h"
#include "data/go/strconv.h"

/* Walks a parsed template and writes its output. The rules, and the place that each error names,
 * are those of Go's text/template. Functions return 0, a negative code with x->err set, or, out of
 * a list within a range, one of these: */
enum { BREAK = 1, CONTINUE = 2 };

static const char no_value[] = "<no value>";
enum { NO_VALUE_LEN = sizeof no_value - 1 };

static int walk(struct exec *x, struct sw_value dot, const struct node *node);

/* ---- nodes ---- */

static int walk_list(struct exec *x, struct sw_value dot, const struct node_list *list)
{
    x->frame->node = &list->node;
    int room = sw_exec_check_stack(x);
    if (room < 0)
        return room;
    for (uint32_t i = 0; i < list->n; i++) {
        int rc = walk(x, dot, list->nodes[i]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

struct loop {
    const struct node_branch *range;
    size_t mark; /* of the variables, those of the loop included */
};

/* Execute the body of a range once. @return 0 | BREAK | negative */
static int iterate(struct exec *x, const struct loop *l, struct sw_value index,
                   struct sw_value elem)
{
    const struct node_pipe *pipe = l->range->pipe;
    int rc = sw_exec_charge(x, 1);
    if (rc == 0 && pipe->is_assign && pipe->n_decl > 0) {
        rc = sw_exec_set_var(x, &pipe->decl[0]->names[0], pipe->n_decl > 1 ? index : elem);
        if (rc == 0 && pipe->n_decl > 1)
            rc = sw_exec_set_var(x, &pipe->decl[1]->names[0], elem);
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

static int walk_range(struct exec *x, struct sw_value dot, const struct node_branch *r)
{
    size_t mark = x->n_vars;
    struct sw_value v;
    int rc = sw_eval_pipe(x, dot, r->pipe, &v);
    if (rc < 0)
        return rc;
    const struct loop l = { r, x->n_vars };
    size_t n = sw_value_len(v);
    uint8_t extra = sw_types[v.type].elem == SW_T_NIL ? SW_V_IFACE : 0;
    struct sw_entry *e;
    switch (sw_kind(v)) {
    case SW_K_INVALID:
        break;
    case SW_K_INT:
    case SW_K_UINT:
        n = sw_kind(v) == SW_K_INT && v.as.i < 0 ? 0 : v.as.u;
        if (n > 0 && r->pipe->n_decl > 1)
            rc = sw_exec_fail(x, "can't use %s to iterate over more than one variable",
                              sw_value_print(x->arena, v));
        for (struct sw_value i = { .type = v.type, .extra = v.extra }; i.as.u < n && rc == 0;
             i.as.u++)
            rc = iterate(x, &l, (struct sw_value){ 0 }, i);
        break;
    case SW_K_SLICE:
        for (size_t i = 0; i < n && rc == 0; i++) {
            struct sw_value elem = sw_value_at(v, i);
            elem.extra |= extra;
            rc = iterate(x, &l, sw_value_int((int64_t)i), elem);
        }
        break;
    case SW_K_MAP: /* in the order of the keys, over the entries as they were at the start */
        if (!sw_arena_has_room(x->arena, n * sizeof *e))
            return sw_exec_exhausted(x);
        e = sw_arena_alloc(x->arena, n * sizeof *e);
        if (n > 0)
            memcpy(e, sw_map_sorted(v.as.map), n * sizeof *e);
        for (size_t i = 0; i < n && rc == 0; i++) {
            e[i].value.extra |= extra;
            rc = iterate(x, &l, sw_value_text(e[i].key, e[i].key_len), e[i].value);
        }
        break;
    default:
        rc = sw_exec_fail(x, "range can't iterate over %s", sw_value_print(x->arena, v));
    }
    if (rc == BREAK)
        rc = 0;
    else if (rc == 0 && n == 0 && r->else_list)
        rc = walk_list(x, dot, r->else_list);
    x->n_vars = mark;
    return rc;
}

static int walk(struct exec *x, struct sw_value dot, const struct node *node)
{
    struct sw_value v = { 0 };
    int rc;
    x->frame->node = node;
    switch ((enum node_kind)node->kind) {
    case N_TEXT: {
        const struct node_text *t = (const struct node_text *)node;
        sw_text_put(&x->text, t->s, t->len);
        return sw_exec_check_output(x);
    }
    case N_ACTION: {
        const struct node_pipe *pipe = ((const struct node_action *)node)->pipe;
        rc = sw_eval_pipe(x, dot, pipe, &v);
        if (rc < 0 || pipe->n_decl > 0)
            return rc;
        x->frame->node = node;
        if (v.type == SW_T_INVALID) {
            sw_text_put(&x->text, no_value, NO_VALUE_LEN);
        } else if (v.type == SW_T_STRING) {
            sw_text_put(&x->text, v.as.s, v.len);
        } else {
            size_t before = x->text.len;
            sw_print_indirect(&x->text, v);
            rc = sw_exec_charge(x, (x->text.len - before) / 64);
        }
        return rc < 0 ? rc : sw_exec_check_output(x);
    }
    case N_LIST:
        return walk_list(x, dot, (const struct node_list *)node);
    case N_IF:
    case N_WITH: {
        const struct node_branch *b = (const struct node_branch *)node;
        size_t mark = x->n_vars;
        rc = sw_eval_pipe(x, dot, b->pipe, &v);
        if (rc == 0 && sw_value_truth(v))
            rc = walk_list(x, node->kind == N_WITH ? v : dot, b->list);
        else if (rc == 0 && b->else_list)
            rc = walk_list(x, dot, b->else_list);
        x->n_vars = mark;
        return rc;
    }
    case N_RANGE:
        return walk_range(x, dot, (const struct node_branch *)node);
    case N_TEMPLATE: {
        const struct node_template *t = (const struct node_template *)node;
        const struct tmpl *tmpl = sw_scope_find(x->scope, &t->name);
        if (!tmpl)
            return sw_exec_fail(x, "template %s not defined",
                                sw_quoted(x->arena, t->name.s, t->name.len));
        rc = t->pipe ? sw_eval_pipe(x, dot, t->pipe, &v) : 0;
        return rc < 0 ? rc : sw_exec_tmpl(x, tmpl, v);
    }
    case N_BREAK:
        return BREAK;
    case N_CONTINUE:
        return CONTINUE;
    default:
        return 0;
    }
}

/* ---- templates ---- */

int sw_exec_tmpl(struct exec *x, const struct tmpl *tmpl, struct sw_value dot)
{
    struct frame frame = { .tmpl = tmpl, .vars = x->n_vars }, *outer = x->frame;
    int rc = outer ? sw_exec_check_depth(x) : 0;
    if (rc == 0 && outer)
        rc = sw_exec_charge(x, 1);
    if (rc < 0)
        return rc;
    sw_exec_push_var(x, sw_name("$", 1), dot);
    x->frame = &frame;
    x->depth++;
    rc = walk_list(x, dot, tmpl->root);
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
    return sw_err_set(x->err, SW_NOTFOUND,
                      "template: no template %s associated with template \"gotpl\"",
                      sw_quoted(x->arena, name->s, name->len));
}

static char *find_no_value(char *from, const char *end)
{
    while (end - from >= NO_VALUE_LEN && (from = memchr(from, '<', (size_t)(end - from)))) {
        if (end - from >= NO_VALUE_LEN && memcmp(from, no_value, NO_VALUE_LEN) == 0)
            return from;
        from++;
    }
    return NULL;
}

void sw_exec_strip_no_value(struct exec *x, size_t mark)
{
    struct text *t = &x->text;
    char *end = t->p + t->len, *from, *to;
    if (t->len - mark < NO_VALUE_LEN)
        return;
    from = find_no_value(t->p + mark, end);
    for (to = from; from;) {
        from += NO_VALUE_LEN;
        char *next = find_no_value(from, end);
        size_t n = (size_t)((next ? next : end) - from);
        memmove(to, from, n);
        to += n;
        from = next;
        if (!next)
            t->len = (size_t)(to - t->p);
    }
}
