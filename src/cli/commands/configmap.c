/* slipway configmap: a recipe as a ConfigMap's manifest, for the controller's cm:// URLs. */
#include "base/output.h"
#include "cli/commands/commands.h"

#include "chart/recipe/package/config_map.h"
#include "cli/recipe/source_flags.h"
#include "data/json/json.h"
#include "data/yaml/yaml.h"

struct configmap_opts {
    struct sw_source_flags source;
    const char *name, *namespace;
    bool packed;
};

#define FIELD(member) offsetof(struct configmap_opts, member)

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(FIELD(source)),
    SW_MIRROR_FLAG(FIELD(source)),
    { "name", 0, SW_FLAG_STRING, FIELD(name), "NAME", NULL,
      "name of the ConfigMap (default: the recipe's)" },
    { "namespace", 'n', SW_FLAG_STRING, FIELD(namespace), "NAME", NULL,
      "namespace of the ConfigMap (default: none)" },
    { "packed", 0, SW_FLAG_BOOL, FIELD(packed), NULL, NULL,
      "an archive with its index.yaml in any case, as the Special Resource Operator reads it" },
    { 0 },
};

static int execute(const struct sw_call *call)
{
    struct configmap_opts o = { 0 };
    struct sw_operands rest;
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_JSON *map = NULL;
    size_t len;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    if (sw_source_open(&o.source, rest.items[0], NULL, &recipe, NULL, &err) < 0 ||
        sw_recipe_to_config_map(recipe, o.name, o.namespace, o.packed, &map, &err) < 0)
        return sw_cli_fail("configmap", &err);
    SW_AUTO_CHARS *text = sw_yaml_text(map, &len);
    sw_output_as_it_is(true);
    return sw_cli_print(text, len);
}

const struct sw_command sw_command_configmap = {
    .name = "configmap",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "print a ConfigMap that contains a recipe",
    .details =
        "For spec.chart.repository.url: cm://<namespace>/<name>. A chart without dependencies has "
        "one key for\n"
        "each file, which can be edited in place; others are an archive with its index.yaml.",
    .flags = flags,
    .execute = execute,
};
