#pragma once
/* recipe_flags: the options of every command that renders a recipe (the recipe, its values, and
 * what templates see of the cluster), and the execution of commands on one recipe. */
#include <stddef.h>

#include "chart/recipe/recipe.h"
#include "cli/command/cli.h"
#include "cli/recipe/source_flags.h"

struct json_object;

/** The options that set values. Zero-initialise; sw_values_args_done(). */
struct sw_values_args {
    struct sw_list_arg files, set, set_string, set_json, set_file, set_literal;
};
/** The rows of a command's table; @at: the offset of its struct sw_values_args. */
#define SW_VALUES_ARG(at, field) ((at) + offsetof(struct sw_values_args, field))
#define SW_VALUES_ARGS(at)                                                                         \
    SW_FLAG_ROW("values", 'f', SW_FLAG_LIST, SW_VALUES_ARG(at, files), "FILE",                     \
                "YAML file of values; can be repeated, the last file has precedence"),             \
        SW_FLAG_ROW("set", 0, SW_FLAG_LIST, SW_VALUES_ARG(at, set), "A.B=C",                       \
                    "set values, as helm's --set: a.b=1,c={x,y},d[0]=z"),                          \
        SW_FLAG_ROW("set-string", 0, SW_FLAG_LIST, SW_VALUES_ARG(at, set_string), "A.B=C",         \
                    "set values that are always strings"),                                         \
        SW_FLAG_ROW("set-json", 0, SW_FLAG_LIST, SW_VALUES_ARG(at, set_json), "A.B=JSON",          \
                    "set values given as JSON"),                                                   \
        SW_FLAG_ROW("set-file", 0, SW_FLAG_LIST, SW_VALUES_ARG(at, set_file), "A.B=FILE",          \
                    "set values to the content of files"),                                         \
        SW_FLAG_ROW("set-literal", 0, SW_FLAG_LIST, SW_VALUES_ARG(at, set_literal), "A.B=TEXT",    \
                    "set a value to a text as it is: no comma, brace or backslash is special")

/** The options for sw_values_from_flags(), borrowed from @args. File names with commas are split in
 * @args; the parts are allocated in @arena. */
struct sw_values_flags sw_values_args_read(struct sw_values_args *args, struct sw_arena *arena);
/** Free the lists; the strings are not theirs. */
void sw_values_args_done(struct sw_values_args *args);

/** The options; zero-initialise, sw_recipe_flags_done(). */
struct sw_recipe_flags {
    struct sw_source_flags source;
    const char *name, *namespace;
    struct sw_values_args values;
    const char *facts;
    const char *kube_version;
    struct sw_list_arg api_versions;
    bool no_schema, dependency_update; /* of render */
    /* No option: */
    struct sw_recipe *recipe; /* opened already, instead of the source; taken */
    bool sample;              /* without facts: sample_values.h */
    bool own_resource;        /* rendered as for the recipe's own resource: its name, namespace and
                                 spec.set are the defaults */
};
/** Free the lists; the strings are argv's. */
void sw_recipe_flags_done(struct sw_recipe_flags *flags);

/** The rows of a command's table; @at: the offset of its struct sw_recipe_flags. */
#define SW_RECIPE_FLAG(at, field) ((at) + offsetof(struct sw_recipe_flags, field))
#define SW_RECIPE_FLAGS(at) SW_RECIPE_FLAGS_IN(at, "default")
/** The same of commands with another default for --namespace, @ns in its help. */
#define SW_RECIPE_FLAGS_IN(at, ns)                                                                 \
    SW_SOURCE_FLAGS(SW_RECIPE_FLAG(at, source)),                                                   \
        SW_FLAG_ROW("name", 0, SW_FLAG_STRING, SW_RECIPE_FLAG(at, name), "NAME",                   \
                    "name of the release (default: the recipe's)"),                                \
        SW_FLAG_ROW("namespace", 'n', SW_FLAG_STRING, SW_RECIPE_FLAG(at, namespace), "NAME",       \
                    "namespace of the release (default: " ns ")"),                                 \
        SW_VALUES_ARGS(SW_RECIPE_FLAG(at, values)),                                                \
        SW_FLAG_ROW("facts", 0, SW_FLAG_STRING, SW_RECIPE_FLAG(at, facts), "FILE",                 \
                    "YAML file of runtime values, as the controller passes them to templates"),    \
        SW_FLAG_ROW("kube-version", 0, SW_FLAG_STRING, SW_RECIPE_FLAG(at, kube_version),           \
                    "VERSION", "Kubernetes version that templates see, such as 1.29"),             \
        SW_FLAG_ROW("api-versions", 'a', SW_FLAG_LIST, SW_RECIPE_FLAG(at, api_versions),           \
                    "GROUP/VERSION",                                                               \
                    "API version that templates see besides the default ones; can be repeated")

/** A recipe with its plan, opened by the options. Zero-initialise. */
struct sw_opened_recipe {
    struct sw_recipe *recipe;
    struct sw_values *values;
    struct sw_plan *plan;
    struct json_object *facts;
    struct json_object *resource; /* with own_resource: the recipe's own; NULL: it has none */
    struct sw_render_env env;     /* borrows from flags and what follows */
    struct sw_arena *arena;
};
/** Free what @opened holds; it is empty then. */
void sw_opened_recipe_done(struct sw_opened_recipe *opened);

/** Read @source and the values; plan it unless @no_plan. Call sw_opened_recipe_done()
 * after a failure too. @return 0 | what opening or planning returned */
int sw_recipe_flags_open(struct sw_recipe_flags *flags, const char *source, bool no_plan,
                         struct sw_opened_recipe *opened, struct sw_err *err) SW_CHECKED;

/** The work of a command on a recipe. @return an enum sw_exit | less than 0, with the message in
 * @err */
typedef int sw_recipe_fn(void *opts, struct sw_opened_recipe *recipe, struct sw_err *err);
/** Execute a command on one recipe: parse the arguments of @call into @opts, open and plan the
 * recipe, call @fn, print its error. Of two operands the first is the release's name, as in
 * `helm template NAME CHART`. @flags: the member of @opts; freed.
 * @return an enum sw_exit */
int sw_recipe_execute(const struct sw_call *call, void *opts, struct sw_recipe_flags *flags,
                      size_t max_operands, sw_recipe_fn *fn);
