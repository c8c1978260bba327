#include "cli/recipe/recipe_flags.h"

#include <string.h>
#include <unistd.h>

#include "data/json/json.h"
#include "data/text/semver.h"
#include "data/yaml/yaml.h"

void sw_recipe_flags_done(struct sw_recipe_flags *flags)
{
    struct sw_list_arg *lists[] = { &flags->files,    &flags->set,      &flags->set_string,
                                    &flags->set_json, &flags->set_file, &flags->api_versions };
    for (size_t i = 0; i < SW_COUNT(lists); i++)
        sw_list_arg_done(lists[i]);
}

void sw_opened_recipe_done(struct sw_opened_recipe *opened)
{
    sw_plan_free(opened->plan);
    sw_recipe_free(opened->recipe);
    sw_values_free(opened->values);
    (void)json_object_put(opened->facts);
    sw_list_arg_done(&opened->files);
    sw_list_arg_done(&opened->api_versions);
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

/* "a,b" for "a" and "b", as Helm takes it; a file that is called so is one. */
static void split_commas(struct sw_arena *arena, const struct sw_list_arg *list,
                         struct sw_list_arg *out)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *at = list->items[i];
        bool whole = !strchr(at, ',') || access(at, F_OK) == 0;
        for (size_t len; *at; at += len + (at[len] == ',')) {
            len = whole ? strlen(at) : strcspn(at, ",");
            SW_GROW(out->items, out->n, out->cap);
            out->items[out->n++] = sw_arena_strndup(arena, at, len);
        }
    }
}

/* "1.29" is v1.29.0. */
static int read_kube_version(struct sw_arena *arena, const char *text, const char **out,
                             struct sw_err *err)
{
    struct sw_semver version;
    if (!text)
        return 0;
    if (sw_semver_parse(text, strlen(text), &version, err) < 0)
        return sw_err_set(err, SW_INVALID, "--kube-version: '%s' is no version", text);
    SW_AUTO_CHARS *full = sw_semver_text(&version);
    *out = sw_arena_printf(arena, "v%s", full);
    return 0;
}

int sw_recipe_flags_open(const struct sw_recipe_flags *flags, const char *source, bool no_plan,
                         struct sw_opened_recipe *opened, struct sw_err *err)
{
    opened->arena = sw_arena_new();
    split_commas(opened->arena, &flags->files, &opened->files);
    split_commas(opened->arena, &flags->api_versions, &opened->api_versions);
    const struct sw_values_flags values = {
        .files = opened->files.items,
        .n_files = opened->files.n,
        .json = flags->set_json.items,
        .n_json = flags->set_json.n,
        .set = flags->set.items,
        .n_set = flags->set.n,
        .string = flags->set_string.items,
        .n_string = flags->set_string.n,
        .file = flags->set_file.items,
        .n_file = flags->set_file.n,
    };
    const char *kube_version = NULL;
    int rc = read_kube_version(opened->arena, flags->kube_version, &kube_version, err);
    if (rc == 0 && flags->facts)
        rc = read_facts(flags->facts, &opened->facts, err);
    if (rc == 0)
        rc = sw_values_from_flags(&values, &opened->values, err);
    if (rc == 0)
        rc = sw_source_open(&flags->source, source, NULL, &opened->recipe, NULL, err);
    opened->env = (struct sw_render_env){
        .release = flags->name,
        .namespace = flags->namespace,
        .facts = opened->facts,
        .kube_version = kube_version,
        .api_versions = opened->api_versions.items,
        .n_api_versions = opened->api_versions.n,
        .add_api_versions = true,
    };
    if (rc == 0 && !no_plan)
        rc = sw_recipe_plan(opened->recipe, opened->values, &opened->env, &opened->plan, err);
    return rc;
}
