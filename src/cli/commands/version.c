/* slipway version: which slipway this is, and what it was built of. */
#include "cli/commands/commands.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "chart/recipe/recipe.h"

struct version_opts {
    const char *output;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct version_opts, output), "FORMAT", "json|text",
      "json: also commit, compiler and libraries (default text)" },
    { 0 },
};

/* "json-c=0.16 libcurl=7.88.1" as a map. */
static struct json_object *libraries(void)
{
    struct json_object *map = json_object_new_object();
    for (const char *at = sw_build.libraries; *at;) {
        const size_t len = strcspn(at, " "), name_len = strcspn(at, "=");
        SW_AUTO_CHARS *name = sw_strndup(at, name_len < len ? name_len : len);
        SW_AUTO_CHARS *version = name_len < len ? sw_strndup(at + name_len + 1, len - name_len - 1)
                                                : sw_strdup("");
        if (*name)
            sw_json_set_str(map, version, name, NULL);
        at += len + (at[len] == ' ');
    }
    return map;
}

static int print_json(void)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, sw_version, "version", NULL);
    sw_json_set_str(doc, sw_build.commit, "commit", NULL);
    sw_json_set_str(doc, sw_build.date, "date", NULL);
    sw_json_set_str(doc, __VERSION__, "compiler", NULL);
    sw_json_set(doc, libraries(), "libraries", NULL);
    sw_json_set_str(doc, sw_recipe_kube_version, "kubernetes", NULL);
    sw_json_set_str(doc, sw_recipe_helm_version, "helm", NULL);
    return sw_cli_print_json(doc);
}

static int execute(const struct sw_call *call)
{
    struct version_opts opts = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &opts, 0, &rest);
    if (rc)
        return rc - 1;
    if (sw_streq(opts.output, "json"))
        return print_json();
    (void)printf("slipway %s\n", sw_version);
    return SW_EXIT_OK;
}

const struct sw_command sw_command_version = {
    .name = "version",
    .args = "",
    .summary = "print the version",
    .details =
        "The version is a semantic one; what is no release has its commit behind a plus sign. "
        "The document says, too, which\n"
        "Kubernetes and which Helm templates see where nothing else is said.",
    .flags = flags,
    .execute = execute,
};
