/* hooks: what slipway does to manifests, printed from the table that does it. */
#include "operator/manifests/hooks.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"
#include "data/data.h"

#include <json-c/json.h>
#include <stdio.h>

struct hooks_opts {
    const char *output;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct hooks_opts, output), "FORMAT", "json|text",
      "json: one document" },
    { 0 },
};

static const char *phase_name(enum sw_hook_phase phase)
{
    return phase == SW_HOOK_BEFORE_APPLY ? "before-apply" : "wait";
}

static int print_json(void)
{
    SW_AUTO_JSON *list = json_object_new_array();
    for (const struct sw_hook *h = sw_hooks; h->name; h++) {
        struct json_object *row = json_object_new_object();
        sw_json_set_str(row, h->name, "name", NULL);
        sw_json_set_str(row, phase_name(h->phase), "phase", NULL);
        sw_json_set_str(row, h->kinds, "kinds", NULL);
        sw_json_set_str(row, h->doc, "doc", NULL);
        (void)json_object_array_add(list, row);
    }
    return sw_cli_print_json(list);
}

static int print_text(void)
{
    for (const struct sw_hook *h = sw_hooks; h->name; h++)
        (void)printf("%s%s\n    %s; %s\n    %s\n", h == sw_hooks ? "" : "\n", h->name,
                     phase_name(h->phase), h->kinds, h->doc);
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct hooks_opts opts = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &opts, 0, &rest);
    if (rc)
        return rc - 1;
    return sw_streq(opts.output, "json") ? print_json() : print_text();
}

const struct sw_command sw_command_hooks = {
    .name = "hooks",
    .args = "",
    .summary = "list what is done to manifests, and the annotations that ask for it",
    .flags = flags,
    .execute = execute,
};
