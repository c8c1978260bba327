#pragma once
/* loggather: lines of the log written together. Each write wakes whoever reads the log, which costs
 * a server that logs every answer as much as a tenth of its work. */
#include "base/base.h"

struct sw_loop;
struct sw_log_gather;

/** From now on what is logged as info or debug waits for more, for 20 ms or until there are 8 KiB;
 * an error or a warning is written at once, behind what was logged before it. What waits is lost
 * with a process that is killed. One at a time. */
struct sw_log_gather *sw_log_gather_open(struct sw_loop *loop);
/** Write what waits; from now on each line is written at once. NULL: nothing. */
void sw_log_gather_close(struct sw_log_gather *g);
