/* The table of commands, and what to type instead of others. */
#include "cli/commands/commands.h"

#include "base/base.h"

/* Verbs of kubectl, Helm and the package managers. */
const char *sw_command_instead(const char *verb)
{
    static const char *const rows[][2] = {
        { "apply", "slipway run RECIPE" },
        { "build", "slipway package FOLDER" },
        { "check", "slipway lint RECIPE" },
        { "delete", "slipway uninstall NAME" },
        { "dependency", "slipway vendor list RECIPE" },
        { "deploy", "slipway run RECIPE, or make deploy for the operator" },
        { "describe", "slipway explain NAME" },
        { "events", "slipway explain NAME" },
        { "get", "slipway status" },
        { "history", "slipway releases NAME" },
        { "init", "slipway create NAME" },
        { "install", "slipway run RECIPE" },
        { "list", "slipway status" },
        { "logs", "slipway explain NAME" },
        { "ls", "slipway status" },
        { "new", "slipway create NAME" },
        { "pull", "slipway fetch RECIPE" },
        { "remove", "slipway uninstall NAME" },
        { "rm", "slipway uninstall NAME" },
        { "show", "slipway status NAME" },
        { "start", "slipway run RECIPE, or slipway controller" },
        { "template", "slipway render RECIPE" },
        { "tree", "slipway graph RECIPE" },
        { "up", "slipway run RECIPE" },
        { "upgrade", "slipway run RECIPE" },
        { "validate", "slipway lint RECIPE" },
        { "watch", "slipway status -w" },
        { "why", "slipway explain NAME" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_streq(rows[i][0], verb))
            return rows[i][1];
    return NULL;
}

/* clang-format off */
const struct sw_command *const sw_commands[] = {
    &sw_command_run, &sw_command_controller, &sw_command_status, &sw_command_explain,
    &sw_command_emulate, &sw_command_replay, &sw_command_hooks, &sw_command_completion,
    &sw_command_render, &sw_command_graph, &sw_command_lint, &sw_command_fetch,
    &sw_command_create, &sw_command_package, &sw_command_configmap, &sw_command_diff,
    &sw_command_rbac, &sw_command_man, &sw_command_gather, &sw_command_bundle,
    &sw_command_uninstall, &sw_command_preflight, &sw_command_plan, &sw_command_test,
    &sw_command_releases, &sw_command_takeover, &sw_command_vendor, &sw_command_wait,
    &sw_command_version,
    NULL
};
