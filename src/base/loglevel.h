#pragma once
/* loglevel: the log level, which can change while the process runs: by its name (slipway's or
 * OpenShift's), or by a file, such as a ConfigMap that is mounted into a pod. */
#include <stdbool.h>

#include "base/base.h"

struct sw_loop;
struct sw_log_file;

/** "error", "warn", "info", "debug"; or OpenShift's Normal (info), Debug, Trace, TraceAll.
 * @return false: none of them, *out untouched */
bool sw_log_level_parse(const char *name, enum sw_log_level *out);

/** Set the log level; a change is logged with @why. */
void sw_log_level_change(enum sw_log_level level, const char *why);

/** Follow the level in the file @path, which is read every few seconds. While the file is missing
 * or empty, the level that was set before applies. An invalid level is logged once and ignored.
 * @path: copied; NULL or "": returns NULL, which sw_log_file_close() accepts */
struct sw_log_file *sw_log_file_open(struct sw_loop *loop, const char *path);
/** Stop following the file. NULL is accepted. */
void sw_log_file_close(struct sw_log_file *f);
