#pragma once
/* loggather: writes several lines of the log at once. Each write wakes the reader of the log, which
 * costs a server that logs every answer up to a tenth of its work. */
#include "base/base.h"

struct sw_loop;
struct sw_log_gather;

/** Buffer lines of level info and debug for 20 ms or until there are 8 KiB. An error or a warning
 * flushes the buffer and is written at once. Buffered lines are lost when the process is killed.
 * Only one can be open at a time. */
struct sw_log_gather *sw_log_gather_open(struct sw_loop *loop);
/** Flush the buffer and write each later line at once. NULL is accepted. */
void sw_log_gather_close(struct sw_log_gather *g);
