#pragma once
/* complete: the words that may stand where the cursor is, for the scripts of `slipway completion`.
 */
#include <stdbool.h>

struct sw_command;
struct sw_flag;

/** The argument by which the scripts start the program for it; no command. */
#define COMPLETE_ARGUMENT "__complete"

/** Whether values of the flag are asked for: a context, a cluster, a user, a namespace. */
bool complete_asks(const struct sw_flag *flag);
/** Whether operands of the command are asked for: resources and what they have, nodes. */
bool complete_operands(const struct sw_command *command);

/** Print a candidate a line. @argv: the command and the words behind it, the last being the one at
 * the cursor, perhaps empty. Nothing is said of what goes wrong, and a cluster that does not answer
 * is given 2 s. @return SW_EXIT_OK. Pinned by test/emulator/cli/completion_cluster_test.sh. */
int complete_print(int argc, char **argv);
