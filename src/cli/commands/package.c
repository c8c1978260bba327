/* slipway package: a recipe as one file to give away, as `helm package` makes it. */
#include "cli/command/cli.h"
#include "cli/commands/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/package/pack.h"
#include "cli/recipe/source_flags.h"

struct package_opts {
    struct sw_source_flags source;
    const char *destination;
};

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(offsetof(struct package_opts, source)),
    { "destination", 'd', SW_FLAG_STRING, offsetof(struct package_opts, destination), "DIR", NULL,
      "the folder to write to (default: the current one)" },
    { 0 },
};

static int package(const struct package_opts *o, const char *source, char **path,
                   struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_CHARS *bytes = NULL;
    size_t len = 0;
    int rc = sw_source_open(&o->source, source, NULL, &recipe, NULL, err);
    if (rc == 0)
        rc = sw_recipe_pack(recipe, &bytes, &len, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *name = sw_recipe_archive_name(recipe);
    *path = sw_printf("%s/%s", o->destination, name);
    return sw_file_write(*path, bytes, len, 0666, err);
}

static int execute(const struct sw_call *call)
{
    struct package_opts o = { .destination = "." };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    if (!*o.destination)
        return sw_cli_usage("package", "--destination: '' is no folder");
    SW_ERR(err);
    SW_AUTO_CHARS *path = NULL;
    if (package(&o, rest.items[0], &path, &err) < 0)
        return sw_cli_fail("package", &err);
    SW_AUTO_CHARS *words = sw_printf("wrote %s\n", path);
    return sw_cli_print(words, strlen(words));
}

const struct sw_command sw_command_package = {
    .name = "package",
    .args = "RECIPE",
    .missing = "which recipe? The folder of a chart is needed",
    .summary = "pack a recipe into an archive",
    .details = "Writes <name>-<version>.tgz as `helm package` does, dependencies included. Equal "
               "recipes give\n"
               "equal bytes; $SOURCE_DATE_EPOCH says which time the files have in it.",
    .flags = flags,
    .execute = execute,
};
