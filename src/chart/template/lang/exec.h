#pragma once
/* The state of one execution; inside the template module only. */
#include "chart/template/go/text.h"
#include "chart/template/lang/ast.h"
#include "chart/template/lang/scope.h"
#include "chart/template/template.h"

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

struct exec {
    struct sw_arena *arena;
    struct sw_template_opts opts;   /* defaults filled in */
    struct text text;               /* output, and scratch behind it */
    const struct func_index *funcs; /* for tpl, and methods */
    struct scope *scope;
    struct frame *frame;
    struct var *vars; /* the stack of all frames */
    size_t n_vars, cap_vars;
    uint64_t fuel;
    unsigned depth;
    unsigned tpl_depth; /* texts that tpl executes, in each other */
    size_t arena_start;
    struct sw_err *err;
    struct tpl_cache *tpls;
    uint64_t random; /* state of the seeded generator */
    bool missing_key_error;
};

/** An error at the current node: "template: NAME:LINE:COL: executing ...: <formatted>". */
int sw_exec_fail(struct exec *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** The same of a text, with a code of its own. */
int sw_exec_fail_at(struct exec *x, int code, const char *what);
/** Spend @n steps. */
int sw_exec_charge(struct exec *x, uint64_t n);
/** Whether x->text has passed its limit; whether there is room for a template within this one. */
int sw_exec_check_output(struct exec *x);
int sw_exec_check_depth(struct exec *x);
/** Whether there is room for a control structure or an expression within this one. */
int sw_exec_check_stack(struct exec *x);

/** Execute a template into x->text, as Go's ExecuteTemplate does. On failure the text is cut back.
 */
int sw_exec_named(struct exec *x, const struct name *name, struct sw_value dot);
int sw_exec_tmpl(struct exec *x, const struct tmpl *tmpl, struct sw_value dot);

/** Helm's way with what is in x->text since @mark: no "<no value>" stays. */
void sw_exec_strip_no_value(struct exec *x, size_t mark);
/** Helm's rewording of an execution error. */
int sw_exec_clean_error(struct sw_err *err, int rc, const char *file);
int sw_parse_clean_error(struct sw_err *err, int rc, const char *file);

/* exec_eval.c */
void sw_exec_push_var(struct exec *x, struct name name, struct sw_value v);
int sw_exec_set_var(struct exec *x, const struct name *name, struct sw_value v);
int sw_eval_pipe(struct exec *x, struct sw_value dot, const struct node_pipe *pipe,
                 struct sw_value *out);
/* exec_field.c: .Name of a value. @args, @final: for methods */
int sw_eval_field(struct exec *x, struct sw_value dot, const struct name *name,
                  const struct node *node, struct node *const *args, size_t n_args,
                  const struct sw_value *final, struct sw_value receiver, struct sw_value *out);
int sw_eval_call(struct exec *x, struct sw_value dot, const struct func *f, const char *name,
                 const struct node *node, struct node *const *args, size_t n_args,
                 const struct sw_value *final, struct sw_value self, struct sw_value *out);
