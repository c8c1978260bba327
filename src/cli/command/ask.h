#pragma once
/* ask: questions to the user of a terminal. */
#include <stdbool.h>

#include "base/base.h"

/** Whether somebody can be asked: both standard input and standard error are a terminal. */
bool sw_cli_can_ask(void);

/** Print "<question> [<fallback>]: " on standard error and read a line. An empty line is @fallback
 * (NULL: there is none, and it is asked again); what @check refuses is asked again, with the
 * reason.
 * @check NULL: all is right. @*answer is the caller's.
 * @return 0 | SW_INVALID: the input has ended. Pinned by test/emulator/cli/create_test.sh. */
int sw_cli_ask(const char *question, const char *fallback,
               int (*check)(void *arg, const char *answer, struct sw_err *err), void *arg,
               char **answer, struct sw_err *err) SW_CHECKED;
