#pragma once
/* cel: the Common Expression Language as Kubernetes has it: expressions are parsed and checked
 * once, with the types of what they name, and evaluated within a budget. Who evaluates says which
 * variables there are; rights are asked for through a callback. Protobuf messages are not known.
 * Source: the language definition of CEL, and Kubernetes "Common Expression Language in
 * Kubernetes"; messages as kube-apiserver 1.36 has them. Pinned by test/unit/data/data_cel_test.c.
 */
#include <json-c/json.h>

#include "base/base.h"

/** A checked expression. */
struct sw_cel;

/** What a variable is. */
enum sw_cel_sort {
    SW_CEL_DYN,      /* a document, of which nothing is known before */
    SW_CEL_TYPED,    /* a document with a structural schema */
    SW_CEL_ROOT,     /* the same, of a Kubernetes object: apiVersion, kind, metadata besides */
    SW_CEL_OPTIONAL, /* as TYPED, an optional: none where it is NULL */
    SW_CEL_ROOT_OPTIONAL,
    SW_CEL_AUTHORIZER, /* who asks: the document has username and groups */
    SW_CEL_RESOURCE,   /* authorizer.requestResource: a check of what is asked for */
};

/** A variable. */
struct sw_cel_variable {
    const char *name;
    enum sw_cel_sort sort;
    json_object *schema; /* borrowed as long as the expression lives */
};

/** What an expression may name: borrowed for the call, what it points to (names, schemas,
 * expressions) as long as the expression lives. Variables of expressions (`variables.x`) are
 * evaluated when first needed. */
struct sw_cel_env {
    const struct sw_cel_variable *variables;
    size_t n_variables;
    const char *const *names;             /* of `variables` */
    const struct sw_cel *const *composed; /* their expressions */
    size_t n_composed;
    bool makes_patches; /* Object{...}, JSONPatch{...} and jsonpatch.escapeKey(), of mutations */
};

/** What is asked of an authorizer. Texts are NULL where nothing was said. */
struct sw_cel_question {
    const char *user; /* NULL: who sends the request */
    json_object *groups;
    const char *path, *group, *resource, *subresource, *ns, *name, *verb;
};

/** The values of an evaluation, and its limits. */
struct sw_cel_input {
    json_object *const *values; /* by variable */
    /** Whether it is allowed. @reason: the caller's; NULL where nothing is said. */
    bool (*allows)(const struct sw_cel_question *question, char **reason, void *arg);
    void *arg;
    uint64_t limit; /* 0: that of an expression in Kubernetes */
};

/** Parse and check. @return 0 | SW_INVALID: @err has what kube-apiserver says, "ERROR:
 * <input>:1:5: undeclared reference to ..." */
int sw_cel_compile(const char *text, const struct sw_cel_env *env, struct sw_cel **out,
                   struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_cel_free(struct sw_cel *cel);
SW_DEFINE_AUTO(sw_cel, sw_cel_free)
/** The expression @text, a document's string that keeps it: it is compiled once, and again where
 * @env is another. Borrowed from @text. @return 0 | SW_INVALID */
int sw_cel_keep(json_object *text, const struct sw_cel_env *env, const struct sw_cel **out,
                struct sw_err *err) SW_CHECKED;

/** The type of the result as messages name it: "bool", "dyn", "list(string)". Borrowed. */
const char *sw_cel_type_name(const struct sw_cel *cel);
/** Whether the result may be of that type, by its name. */
bool sw_cel_may_be(const struct sw_cel *cel, const char *type);
/** Whether the variable of that number is named. */
bool sw_cel_names(const struct sw_cel *cel, size_t variable);

/** What an evaluation may cost at most, by the limits in the schemas of the variables, which have
 * to live: a text, list or map without one may be as large as a request. UINT64_MAX: nobody knows.
 * Pinned by test/unit/data/data_cel_cost_test.c. */
uint64_t sw_cel_most_cost(const struct sw_cel *cel);
/** The bytes that a value of a schema has at least as JSON. */
uint64_t sw_cel_least_bytes(json_object *schema);
/** Evaluate. @out: the result as a document, new. @cost: what it cost is added; may be NULL.
 * @return 0 | SW_INVALID: "no such key: x", "operation cancelled: actual cost limit exceeded",
 * "type mismatch: ..." of an Object{...} whose types are not named for the fields they are in */
int sw_cel_run(const struct sw_cel *cel, const struct sw_cel_input *input, json_object **out,
               uint64_t *cost, struct sw_err *err) SW_CHECKED;
/** Evaluate to a truth. @return 1 | 0 | SW_INVALID */
int sw_cel_holds(const struct sw_cel *cel, const struct sw_cel_input *input, uint64_t *cost,
                 struct sw_err *err) SW_CHECKED;

/** A quantity ("10Gi"), as CEL has it in a document; new. */
json_object *sw_cel_quantity(const char *text);
/** A semantic version, likewise. */
json_object *sw_cel_semver(const char *text);
/** A map in which a key that is missing is an empty map, as `device.attributes` is; new. */
json_object *sw_cel_open_map(void);
