#pragma once
/* recipe_flags: the options of every command that renders a recipe: the recipe, its values, and
 * what templates see of the cluster. */
#include <stddef.h>

#include "chart/recipe/recipe.h"
#include "cli/command/cli.h"
#include "cli/recipe/source_flags.h"

struct json_object;

/** The options; zero-initialise, sw_recipe_flags_done(). */
struct sw_recipe_flags {
    struct sw_source_flags source;
    const char *name, *namespace;
    struct sw_list_arg files, set, set_string, set_json, set_file;
    const char *facts;
    const char *kube_version;
    struct sw_list_arg api_versions;
};
/** Free the lists; the strings are argv's. */
void sw_recipe_flags_done(struct sw_recipe_flags *flags);

/** The rows of a command's table; @at: the offset of its struct sw_recipe_flags. */
#define SW_RECIPE_FLAG(at, field) ((at) + offsetof(struct sw_recipe_flags, field))
#define SW_RECIPE_FLAGS(at)                                                                        \
    SW_SOURCE_FLAGS(SW_RECIPE_FLAG(at, source)),                                                   \
        { "name",                                                                                  \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          SW_RECIPE_FLAG(at, name),                                                                \
          "NAME",                                                                                  \
          NULL,                                                                                    \
          "the release's name (default: the recipe's)" },                                          \
        { "namespace",                                                                             \
          'n',                                                                                     \
          SW_FLAG_STRING,                                                                          \
          SW_RECIPE_FLAG(at, namespace),                                                           \
          "NAME",                                                                                  \
          NULL,                                                                                    \
          "the release's namespace (default: default)" },                                          \
        { "values",                                                                                \
          'f',                                                                                     \
          SW_FLAG_LIST,                                                                            \
          SW_RECIPE_FLAG(at, files),                                                               \
          "FILE",                                                                                  \
          NULL,                                                                                    \
          "read values from a YAML file" },                                                        \
        { "set",                                                                                   \
          0,                                                                                       \
          SW_FLAG_LIST,                                                                            \
          SW_RECIPE_FLAG(at, set),                                                                 \
          "A.B=C",                                                                                 \
          NULL,                                                                                    \
          "set values: a.b=1,c={x,y},d[0]=z" },                                                    \
        { "set-string",                                                                            \
          0,                                                                                       \
          SW_FLAG_LIST,                                                                            \
          SW_RECIPE_FLAG(at, set_string),                                                          \
          "A.B=C",                                                                                 \
          NULL,                                                                                    \
          "set values, all of them strings" },                                                     \
        { "set-json",                                                                              \
          0,                                                                                       \
          SW_FLAG_LIST,                                                                            \
          SW_RECIPE_FLAG(at, set_json),                                                            \
          "A.B=JSON",                                                                              \
          NULL,                                                                                    \
          "set values given as JSON" },                                                            \
        { "set-file",                                                                              \
          0,                                                                                       \
          SW_FLAG_LIST,                                                                            \
          SW_RECIPE_FLAG(at, set_file),                                                            \
          "A.B=FILE",                                                                              \
          NULL,                                                                                    \
          "set values to what is in files" },                                                      \
        { "facts",                                                                                 \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          SW_RECIPE_FLAG(at, facts),                                                               \
          "FILE",                                                                                  \
          NULL,                                                                                    \
          "runtime values as the controller would give them, from a YAML file" },                  \
        { "kube-version",                                                                          \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          SW_RECIPE_FLAG(at, kube_version),                                                        \
          "VERSION",                                                                               \
          NULL,                                                                                    \
          "the Kubernetes version that templates see" },                                           \
    {                                                                                              \
        "api-versions", 'a', SW_FLAG_LIST, SW_RECIPE_FLAG(at, api_versions), "GROUP/VERSION",      \
            NULL, "an API version that templates see besides the usual ones"                       \
    }

/** A recipe with its plan, opened by the options. Zero-initialise. */
struct sw_opened_recipe {
    struct sw_recipe *recipe;
    struct sw_values *values;
    struct sw_plan *plan;
    struct json_object *facts;
    struct sw_render_env env; /* borrows from flags and what follows */
    struct sw_arena *arena;
    struct sw_list_arg files, api_versions; /* of the flags, those with commas split */
};
/** Free what @opened holds; it is empty then. */
void sw_opened_recipe_done(struct sw_opened_recipe *opened);

/** Read @source and the values; plan it unless @no_plan. Call sw_opened_recipe_done()
 * after a failure too. @return 0 | what opening or planning returned */
int sw_recipe_flags_open(const struct sw_recipe_flags *flags, const char *source, bool no_plan,
                         struct sw_opened_recipe *opened, struct sw_err *err) SW_CHECKED;
