#pragma once
/* commands: one file a command. Each file defines the command's row: its name, the texts of --help,
 * its options, and the function that executes it. */
#include "cli/command/cli.h"

/** The rows. */
extern const struct sw_command sw_command_run, sw_command_controller, sw_command_status,
    sw_command_explain, sw_command_emulate, sw_command_replay, sw_command_hooks,
    sw_command_completion, sw_command_render, sw_command_graph, sw_command_lint, sw_command_fetch,
    sw_command_create, sw_command_package, sw_command_configmap, sw_command_diff, sw_command_rbac,
    sw_command_man, sw_command_gather, sw_command_bundle, sw_command_uninstall,
    sw_command_preflight, sw_command_plan, sw_command_test, sw_command_releases,
    sw_command_takeover, sw_command_vendor, sw_command_wait, sw_command_pause, sw_command_resume,
    sw_command_tree, sw_command_retry, sw_command_history, sw_command_rollback, sw_command_logs,
    sw_command_dashboard, sw_command_report, sw_command_version, sw_command_dependency,
    sw_command_recommend, sw_command_verify_release, sw_command_slices;

/** The command of this name, or of Helm's name for it; NULL: none. */
const struct sw_command *sw_command_named(const char *name);
/** What to type instead of @verb, which other tools have: "slipway status", static; NULL: nothing
 * is known. */
const char *sw_command_instead(const char *verb);

/** All commands, in the order of `slipway --help`; ends with NULL. */
extern const struct sw_command *const sw_commands[];
