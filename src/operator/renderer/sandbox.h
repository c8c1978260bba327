#pragma once
/* sandbox: what confines a renderer: limits of memory and time, no descriptor but its socket, a
 * filter of system calls. What goes over a limit ends with a last message that says where it was.
 */
#include <stdbool.h>
#include <stddef.h>

/** Give up everything but memory, time and the socket @fd, which is moved to 0. @wall_ms: only for
 * the last message, the controller has the clock. */
void sandbox_enter(int fd, size_t bytes, unsigned cpu_s, unsigned wall_ms);
/** Whether the kernel took the filter of system calls. */
bool sandbox_is_filtered(void);
/** A piece of work begins: its processor time counts from here. */
void sandbox_work_begins(void);
/** A message is being written: the last message would be within it. */
void sandbox_writes(bool writing);
