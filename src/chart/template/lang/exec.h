#pragma once
/* The state of one execution; inside the template module only. */
#include "chart/template/lang/ast.h"
#include "chart/template/lang/scope.h"
#include "chart/template/template.h"
#include "data/go/text.h"

/** A variable of a template. */
struct var {
    struct name name;
    struct sw_value value;
};

/** One template being executed: Go's text/template state. */
struct frame {
    const struct tmpl *tmpl;
    const struct node *node; /* where it is, for errors */
    size_t vars;             /* its first variable */
};

/** The execution of a template of a set. */
struct exec {
    struct sw_arena *arena;
    struct sw_template_opts opts;   /* defaults filled in */
    struct text text;               /* output, and scratch space after it */
    const struct func_index *funcs; /* for tpl, and methods */
    const struct scope *scope;
    struct include_count *includes; /* of include, by name */
    struct frame *frame;
    struct var *vars; /* the stack of all frames */
    size_t n_vars, cap_vars;
    uint64_t fuel; /* steps left */
    unsigned depth;
    unsigned tpl_depth; /* texts that tpl executes, in each other */
    struct sw_err *err;
    struct tpl_cache *tpls;
    uint64_t random; /* state of the seeded generator */
};

/** An error at the current node: "template: NAME:LINE:COL: executing ...: <formatted>". */
int sw_exec_fail(struct exec *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** The same of a text, with a code of its own. */
int sw_exec_fail_at(struct exec *x, int code, const char *what);
/** Fail at the current node: there are no steps left, or the memory is used up. */
int sw_exec_exhausted(struct exec *x);
/** Spend @n steps, and see whether there is memory left. */
static inline int sw_exec_charge(struct exec *x, uint64_t n)
{
    if (x->fuel < n || sw_arena_is_over(x->arena)) {
        x->fuel = x->fuel < n ? 0 : x->fuel;
        return sw_exec_exhausted(x);
    }
    x->fuel -= n;
    return 0;
}
/** Fail when x->text has passed its limit. */
int sw_exec_check_output(struct exec *x);
/** Fail when there is no room for a template within this one. */
int sw_exec_check_depth(struct exec *x);
/** Fail when the C stack has no room for a control structure or an expression within this one. */
int sw_exec_check_stack(struct exec *x);

/** Execute the template that @name means into x->text, as Go's ExecuteTemplate does.
 * @return 0 | SW_NOTFOUND | SW_INVALID: what was written is kept */
int sw_exec_named(struct exec *x, const struct name *name, struct sw_value dot);
/** The same for a template. */
int sw_exec_tmpl(struct exec *x, const struct tmpl *tmpl, struct sw_value dot);

/** Remove each "<no value>" from what is in x->text since @mark, as Helm does. */
void sw_exec_strip_no_value(struct exec *x, size_t mark);
/** Reword the error of an execution as Helm does. @return @rc */
int sw_exec_clean_error(struct sw_err *err, int rc, const char *file);
/** Reword the error of parsing as Helm does. @return @rc */
int sw_parse_clean_error(struct sw_err *err, int rc, const char *file);

/** Declare a variable (exec_eval.c). */
void sw_exec_push_var(struct exec *x, struct name name, struct sw_value v);
/** Assign to a variable that was declared. */
int sw_exec_set_var(struct exec *x, const struct name *name, struct sw_value v);
/** The value of a pipeline; its variables are declared or assigned. */
int sw_eval_pipe(struct exec *x, struct sw_value dot, const struct node_pipe *pipe,
                 struct sw_value *out);
/** .Name of @receiver: a field, a key of a map, or a method that is called with @args and @final
 * (exec_field.c). */
int sw_eval_field(struct exec *x, struct sw_value dot, const struct name *name,
                  const struct node *node, struct node *const *args, size_t n_args,
                  const struct sw_value *final, struct sw_value receiver, struct sw_value *out);
/** Call @f with the values of @args (the first is the function itself) and of @final, which may
 * be NULL. @self: a method's receiver. */
int sw_eval_call(struct exec *x, struct sw_value dot, const struct func *f, const char *name,
                 const struct node *node, struct node *const *args, size_t n_args,
                 const struct sw_value *final, struct sw_value self, struct sw_value *out);
