/* slipway configmap: a recipe as a ConfigMap's manifest, for the controller's cm:// URLs. */
#include "cli/command/cli.h"
#include "cli/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "chart/recipe/package/config_map.h"
#include "cli/recipe/source_flags.h"
#include "data/json/json.h"
#include "data/yaml/yaml.h"

struct configmap_opts {
    struct sw_source_flags source;
    const char *name, *namespace;
};

#define FIELD(member) offsetof(struct configmap_opts, member)

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(FIELD(source)),
    { "name", 0, SW_FLAG_STRING, FIELD(name), "NAME", NULL,
      "the ConfigMap's name (default: the recipe's)" },
    { "namespace", 'n', SW_FLAG_STRING, FIELD(namespace), "NAME", NULL,
      "the ConfigMap's namespace (default: left to who applies it)" },
    { 0 },
};

static int make(const struct configmap_opts *o, const char *source, char **text, size_t *len,
                struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_JSON *map = NULL;
    int rc = sw_source_open(&o->source, source, NULL, &recipe, NULL, err);
    if (rc == 0)
        rc = sw_recipe_to_config_map(recipe, o->name, o->namespace, &map, err);
    if (rc == 0)
        *text = sw_yaml_text(map, len);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct configmap_opts o = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    if (make(&o, rest.items[0], &text, &len, &err) < 0)
        return sw_cli_fail("configmap", &err);
    return sw_cli_print(text, len);
}

const struct sw_command sw_command_configmap = {
    .name = "configmap",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "print a ConfigMap that carries a recipe",
    .details =
        "For spec.chart.repository.url: cm://<namespace>/<name>. A single chart is written one key "
        "a\n"
        "file, to be edited in place; one with dependencies as an archive with its index.yaml.",
    .flags = flags,
    .execute = execute,
};
