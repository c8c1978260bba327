#pragma once
/* Template functions and methods: how they are described, found and called. A template set is made
 * with an index of functions, which finds a row by name while a template is parsed, so that the
 * execution looks up none. Which functions there are is not known here but in funcs/. */
#include "chart/template/value/types.h"
#include "data/go/text.h"

struct exec;
struct func;

/** A call in progress: the arguments have the types of the row. */
struct call {
    struct exec *x; /* for functions that need exec.h */
    struct text
        *text;   /* the output; what is appended to it since @mark is scratch, or the result */
    size_t mark; /* its length when the call began */
    struct sw_arena *arena; /* the render's */
    const struct func *func;
    struct sw_value *args;
    size_t n;
    bool is_element;        /* the first argument is a field or the dot: what a map or list holds,
                               which Go has as an interface{} and not as what is in it */
    struct sw_value self;   /* a method's receiver */
    struct sw_value result; /* what the function leaves */
};

/** @return 0 with c->result set, or sw_call_fail() */
typedef int func_fn(struct call *c);

/* Parameter types, one letter each; '*' after the last: any number of those.
 *   v interface {}   r reflect.Value   s string   b bool   i int   I int64   f float64
 *   m map[string]interface {}   l []interface {}   S []string   y []uint8
 *   t time.Time   d time.Duration   M time.Month   x *semver.Version
 *   u uint32   c sprig.certificate */
/** A function or method that templates can call. */
struct func {
    const char *name;
    func_fn *fn;
    const char *params;
    const char *doc;
    uint16_t variant; /* for an implementation that several rows share */
    uint8_t special;  /* enum func_special */
};

/** Functions that the evaluator calls in a way of its own. */
enum func_special {
    FUNC_PLAIN,
    FUNC_AND, /* its arguments are evaluated one after another, until one decides */
    FUNC_OR,
    FUNC_CALL, /* gets the text of its first argument besides */
};

/** The size of an index. */
enum { SW_FUNC_SLOTS = 1024 };

/** The functions and methods of a template set, which borrows them. */
struct func_index {
    const struct func *slots[SW_FUNC_SLOTS]; /* functions, by the hash of the name */
    /** By type, ended by a row without a name; NULL: no methods. An object's type has its own. */
    const struct func *methods[SW_T_COUNT];
};

/** Add a table of functions, ended by a row without a name. A function that is there already is
 * kept. The number of all functions stays well below SW_FUNC_SLOTS. */
void sw_func_index_add(struct func_index *index, const struct func *rows);
/** @return the function, or NULL. */
const struct func *sw_func_find(const struct func_index *index, const char *name, size_t len);

/** Number of fixed parameters, and whether any number of the last type may follow. */
static inline size_t sw_func_arity(const struct func *f, bool *variadic)
{
    size_t n = 0; /* of few letters: faster than strlen() */
    while (f->params[n])
        n++;
    *variadic = n > 0 && f->params[n - 1] == '*';
    return *variadic ? n - 2 : n;
}

/** What a parameter letter stands for. */
struct func_param {
    const char *name; /* the Go type */
    uint8_t type;     /* enum sw_type; SW_T_NIL: any */
    bool can_be_nil;
};
extern const struct func_param sw_func_params[128]; /* by letter */

/* ---- for the functions' bodies ---- */

/** Set the error of a call; the evaluator puts "error calling NAME: " and the place in front.
 * @return SW_INVALID */
int sw_call_fail(struct call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Fail as Go does where a method is called through a nil interface or pointer. */
int sw_call_nil_deref(struct call *c);

/** Leave @v as the result. */
static inline int sw_return(struct call *c, struct sw_value v)
{
    c->result = v;
    return 0;
}

/** Cut off what the call has appended to its text, as a string in the arena. */
static inline struct sw_value sw_call_take(struct call *c)
{
    size_t len;
    const char *s = sw_text_take(c->text, c->mark, c->arena, &len);
    return sw_value_text(s, len);
}
/** Leave what the call has appended to its text as the result, a string. */
static inline int sw_return_text(struct call *c)
{
    return sw_return(c, sw_call_take(c));
}

/** The variants of methods that compare. */
enum { SW_ORDER_NUMBER, SW_ORDER_LESS, SW_ORDER_GREATER, SW_ORDER_EQUAL };
/** Leave @order as -1, 0 or 1, or whether it is as the row's variant says. */
int sw_return_order(struct call *c, int order);

/** Leave a copy of @s as the result. */
static inline int sw_return_str(struct call *c, const char *s, size_t len)
{
    return sw_return(c, sw_value_str(c->arena, s, len));
}

/** Go's reflect.DeepEqual; takes fuel, and is false without it. */
bool sw_call_equal(struct call *c, struct sw_value a, struct sw_value b);
/** Take fuel for work beyond that of a usual call: @n steps, each of about 100 ns. The evaluator
 * charges by itself for the bytes of the arguments and of the result.
 * @return 0 | SW_INVALID: too little */
int sw_call_charge(struct call *c, uint64_t n);
/** Fail when the execution has no room for @bytes more. To be asked before sw_arena_alloc(), where
 * the size comes from an argument; what makes texts, lists and maps asks by itself.
 * @return 0 | SW_INVALID */
int sw_call_room(struct call *c, size_t bytes);
/** Fail when something of @bytes would be larger than the output may be. @return 0 | SW_INVALID */
int sw_call_check_size(struct call *c, double bytes);
