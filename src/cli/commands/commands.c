/* The table of commands, and what to type instead of others. */
#include "cli/commands/commands.h"

#include "base/base.h"

/* Verbs of kubectl, Helm and the package managers. */
const char *sw_command_instead(const char *verb)
{
    static const char *const rows[][2] = {
        { "apply", "slipway run RECIPE" },
        { "build", "slipway package FOLDER, or slipway dependency build FOLDER" },
        { "check", "slipway lint RECIPE" },
        { "delete", "slipway uninstall NAME" },
        { "deploy", "slipway run RECIPE, or make deploy for the operator" },
        { "describe", "slipway explain NAME" },
        { "events", "slipway explain NAME" },
        { "get", "slipway status" },
        { "install", "slipway run RECIPE" },
        { "list", "slipway status" },
        { "ls", "slipway status" },
        { "new", "slipway create NAME" },
        { "pull", "slipway fetch RECIPE" },
        { "remove", "slipway uninstall NAME" },
        { "rm", "slipway uninstall NAME" },
        { "show", "slipway status NAME" },
        { "stop", "slipway pause NAME, or slipway uninstall NAME" },
        { "start", "slipway run RECIPE, or slipway controller" },
        { "ui", "slipway dashboard" },
        { "up", "slipway run RECIPE" },
        { "upgrade", "slipway run RECIPE" },
        { "validate", "slipway lint RECIPE" },
        { "watch", "slipway status -w" },
        { "web", "slipway dashboard" },
        { "why", "slipway explain NAME" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_streq(rows[i][0], verb))
            return rows[i][1];
    return NULL;
}

const struct sw_command *sw_command_named(const char *name)
{
    static const struct {
        const char *name;
        const struct sw_command *command;
    } others[] = { { "init", &sw_command_create },
                   { "template", &sw_command_render },
                   { "dep", &sw_command_dependency },
                   { "dependencies", &sw_command_dependency } };
    for (size_t i = 0; i < SW_COUNT(others); i++)
        if (sw_streq(others[i].name, name))
            return others[i].command;
    return sw_command_find(sw_commands, name);
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
    &sw_command_pause, &sw_command_resume, &sw_command_retry, &sw_command_history,
    &sw_command_rollback, &sw_command_tree, &sw_command_logs, &sw_command_dashboard, &sw_command_report,
    &sw_command_slices,
    &sw_command_dependency, &sw_command_recommend, &sw_command_verify_release, &sw_command_version, NULL
};
