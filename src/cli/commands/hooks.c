/* slipway hooks: what the operator does to manifests, from the table of hooks. */
#include "operator/manifests/hooks.h"
#include "cli/commands/commands.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>

struct hooks_opts {
    const char *output;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct hooks_opts, output), "FORMAT", "json|text",
      "json: one document (default text)" },
    { 0 },
};

static int execute(const struct sw_call *call)
{
    struct hooks_opts opts = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &opts, 0, &rest);
    if (rc)
        return rc - 1;
    SW_AUTO_JSON *list = json_object_new_array();
    bool json = sw_streq(opts.output, "json");
    for (const struct sw_hook *h = sw_hooks; h->name; h++) {
        const char *phase = h->phase == SW_HOOK_BEFORE_APPLY ? "before-apply" : "wait";
        if (!json) {
            (void)printf("%s%s\n    %s; %s\n    %s\n", h == sw_hooks ? "" : "\n", h->name, phase,
                         h->kinds, h->doc);
            continue;
        }
        struct json_object *row = json_object_new_object();
        sw_json_set_str(row, h->name, "name", NULL);
        sw_json_set_str(row, phase, "phase", NULL);
        sw_json_set_str(row, h->kinds, "kinds", NULL);
        sw_json_set_str(row, h->doc, "doc", NULL);
        sw_json_set_str(row, h->example, "example", NULL);
        (void)json_object_array_add(list, row);
    }
    return json ? sw_cli_print_json(list) : SW_EXIT_OK;
}

const struct sw_command sw_command_hooks = {
    .name = "hooks",
    .args = "",
    .summary = "list the annotations that change or delay how manifests are applied",
    .flags = flags,
    .execute = execute,
};
