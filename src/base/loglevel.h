#pragma once
/* loglevel: how much is logged, changed while the process runs: by the words that people and
 * OpenShift have for it, or by a file, which a ConfigMap mounted into a pod is. */
#include <stdbool.h>

#include "base/base.h"

struct sw_loop;
struct sw_log_file;

/** "error", "warn", "info", "debug"; or OpenShift's Normal (info), Debug, Trace, TraceAll.
 * @return false: none of them, *out untouched */
bool sw_log_level_parse(const char *name, enum sw_log_level *out);

/** What is logged from now on; said in the log where that is a change. */
void sw_log_level_change(enum sw_log_level level, const char *why);

/** Follow the level in @path, looked at every few seconds; while the file is missing or empty, what
 * was set before holds. A word that is no level is told once, and changes nothing.
 * @path: copied; NULL or "": nothing is followed, and NULL returned, which close accepts */
struct sw_log_file *sw_log_file_open(struct sw_loop *loop, const char *path);
void sw_log_file_close(struct sw_log_file *f);
