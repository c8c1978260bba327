/* slipway package: a recipe as one file to give away, as `helm package` makes it. */
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/recipe/source_flags.h"

struct package_opts {
    struct sw_source_flags source;
    const char *destination;
};

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(offsetof(struct package_opts, source)),
    SW_MIRROR_FLAG(offsetof(struct package_opts, source)),
    { "destination", 'd', SW_FLAG_STRING, offsetof(struct package_opts, destination), "DIR", NULL,
      "folder to write to (default: the current one)" },
    { 0 },
};

static int execute(const struct sw_call *call)
{
    struct package_opts o = { .destination = "." };
    struct sw_operands rest;
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_CHARS *path = NULL;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    if (!*o.destination)
        return sw_cli_usage("package", "--destination: '' is no folder");
    if (sw_source_open(&o.source, rest.items[0], NULL, &recipe, NULL, &err) < 0 ||
        sw_source_pack(recipe, o.destination, &path, &err) < 0)
        return sw_cli_fail("package", &err);
    (void)printf("wrote %s\n", path);
    return SW_EXIT_OK;
}

const struct sw_command sw_command_package = {
    .name = "package",
    .args = "RECIPE",
    .missing = "which recipe? The folder of a chart is needed",
    .summary = "pack a recipe into an archive",
    .details = "Writes <name>-<version>.tgz with the dependencies, as `helm package` does. Equal "
               "recipes give equal\n"
               "bytes; $SOURCE_DATE_EPOCH is the time of the files in it.",
    .flags = flags,
    .execute = execute,
};
