#include "cli/recipe/recipe_flags.h"

#include <string.h>
#include <unistd.h>

#include "cli/recipe/dependencies.h"
#include "cli/recipe/sample_values.h"
#include "data/data.h"
#include "data/text/semver.h"

void sw_values_args_done(struct sw_values_args *args)
{
    struct sw_list_arg *lists[] = { &args->files,    &args->set,      &args->set_string,
                                    &args->set_json, &args->set_file, &args->set_literal };
    for (size_t i = 0; i < SW_COUNT(lists); i++)
        sw_list_arg_done(lists[i]);
}

void sw_recipe_flags_done(struct sw_recipe_flags *flags)
{
    sw_values_args_done(&flags->values);
    sw_list_arg_done(&flags->api_versions);
}

void sw_opened_recipe_done(struct sw_opened_recipe *opened)
{
    sw_plan_free(opened->plan);
    sw_recipe_free(opened->recipe);
    sw_values_free(opened->values);
    (void)json_object_put(opened->facts);
    (void)json_object_put(opened->resource);
    sw_arena_free(opened->arena);
    *opened = (struct sw_opened_recipe){ 0 };
}

static int read_facts(const char *path, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *doc = NULL;
    size_t len;
    int rc = sw_file_read(path, 16U << 20, &text, &len, err);
    if (rc == 0)
        rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, &doc, err);
    if (rc < 0)
        return rc;
    if (doc && !json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: facts must be a map", path);
    *out = SW_TAKE(doc);
    return 0;
}

/* Make "a,b" two elements of @list, as Helm does, unless there is a file of that name. */
static void split_commas(struct sw_list_arg *list, struct sw_arena *arena)
{
    struct sw_list_arg all = { 0 };
    for (size_t i = 0; i < list->n; i++) {
        const char *at = list->items[i];
        bool whole = !strchr(at, ',') || access(at, F_OK) == 0;
        for (size_t len; *at; at += len + (at[len] == ',')) {
            len = whole ? strlen(at) : strcspn(at, ",");
            SW_GROW(all.items, all.n, all.cap);
            all.items[all.n++] = sw_arena_strndup(arena, at, len);
        }
    }
    sw_list_arg_done(list);
    *list = all;
}

struct sw_values_flags sw_values_args_read(struct sw_values_args *args, struct sw_arena *arena)
{
    split_commas(&args->files, arena);
    return (struct sw_values_flags){
        .files = args->files.items,
        .n_files = args->files.n,
        .json = args->set_json.items,
        .n_json = args->set_json.n,
        .set = args->set.items,
        .n_set = args->set.n,
        .string = args->set_string.items,
        .n_string = args->set_string.n,
        .file = args->set_file.items,
        .n_file = args->set_file.n,
        .literal = args->set_literal.items,
        .n_literal = args->set_literal.n,
    };
}

/* A name in the recipe's own resource; NULL: there is none, or a template makes it. */
static const char *own_text(struct json_object *resource, const char *map, const char *field)
{
    const char *text = sw_json_str(resource, "", map, field, NULL);
    return *text && !strstr(text, "{{") ? text : NULL;
}

int sw_recipe_flags_open(struct sw_recipe_flags *flags, const char *source, bool no_plan,
                         struct sw_opened_recipe *opened, struct sw_err *err)
{
    struct sw_semver version;
    SW_AUTO_CHARS *kube_version = NULL; /* "1.29" is v1.29.0 */
    int rc = 0;
    opened->arena = sw_arena_new();
    split_commas(&flags->api_versions, opened->arena);
    const struct sw_values_flags values = sw_values_args_read(&flags->values, opened->arena);
    if (flags->kube_version) {
        if (sw_semver_parse(flags->kube_version, strlen(flags->kube_version), &version, err) < 0)
            return sw_err_set(err, SW_INVALID, "--kube-version: '%s' is no version",
                              flags->kube_version);
        kube_version = sw_semver_text(&version);
    }
    if (flags->facts)
        rc = read_facts(flags->facts, &opened->facts, err);
    if (rc == 0)
        rc = sw_values_from_flags(&values, &opened->values, err);
    opened->recipe = SW_TAKE(flags->recipe);
    if (rc == 0 && flags->dependency_update)
        rc = sw_dependencies_get_missing(&flags->source, source, stderr, err);
    if (rc == 0 && !opened->recipe)
        rc = sw_source_open(&flags->source, source, NULL, &opened->recipe, NULL, err);
    if (rc == 0 && flags->own_resource)
        rc = sw_own_resource_values(opened->recipe, source, &opened->values, &opened->resource,
                                    err);
    const char *name = flags->name ? flags->name : own_text(opened->resource, "metadata", "name");
    const char *ns = flags->namespace ? flags->namespace
                                      : own_text(opened->resource, "spec", "namespace");
    if (rc == 0 && flags->sample && !flags->facts)
        rc = sw_sample_values(opened->recipe, source, name, ns, &opened->values, &opened->facts,
                              err);
    opened->env = (struct sw_render_env){
        .release = name,
        .namespace = ns,
        .facts = opened->facts,
        .kube_version = kube_version ? sw_arena_printf(opened->arena, "v%s", kube_version) : NULL,
        .api_versions = flags->api_versions.items,
        .n_api_versions = flags->api_versions.n,
        .add_api_versions = true,
        .no_schema = flags->no_schema,
    };
    if (rc == 0 && !no_plan)
        rc = sw_recipe_plan(opened->recipe, opened->values, &opened->env, &opened->plan, err);
    return rc;
}

int sw_recipe_execute(const struct sw_call *call, void *opts, struct sw_recipe_flags *flags,
                      size_t max_operands, sw_recipe_fn *fn)
{
    struct sw_opened_recipe opened = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, opts, max_operands, &rest);
    if (rc) {
        rc--;
    } else {
        if (rest.n == 2)
            flags->name = rest.items[0];
        rc = sw_recipe_flags_open(flags, rest.items[rest.n - 1], false, &opened, &err);
        if (rc == 0)
            rc = fn(opts, &opened, &err);
        if (rc < 0)
            rc = sw_cli_fail(call->command->name, &err);
    }
    sw_opened_recipe_done(&opened);
    sw_recipe_flags_done(flags);
    return rc;
}
