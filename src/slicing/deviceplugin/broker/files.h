#pragma once
/* files: small JSON files in a folder. Internal to deviceplugin. */
#include <json-c/json.h>
#include <stdbool.h>

#include "base/base.h"

enum { DP_RECORD_BYTES = 256 * 1024 }; /* at most, of a record or CDI file */

/** Replace the file: other processes see the old or the new content (no fsync). */
int dp_file_write(const char *dir, const char *name, struct json_object *doc,
                  struct sw_err *err) SW_CHECKED;
/** Whether that file holds just what would be written. */
bool dp_file_is(const char *dir, const char *name, struct json_object *doc);
/** Remove the file, if it is there. */
int dp_file_remove(const char *dir, const char *name, struct sw_err *err) SW_CHECKED;
/** Make the folder and those above it. */
int dp_dir_make(const char *dir, struct sw_err *err) SW_CHECKED;
/** Lock the folder for this process, until it closes @fd or ends.
 * @return 0 | SW_CONFLICT: another one has it (unless @wait, then its end is waited for) */
int dp_dir_lock(const char *dir, bool wait, int *fd, struct sw_err *err) SW_CHECKED;
/** Each file of @dir whose name ends so; @doc is borrowed, NULL where it is no JSON (@rc, @err). */
int dp_dir_each(const char *dir, const char *suffix,
                void (*each)(const char *name, struct json_object *doc, int rc,
                             const struct sw_err *err, void *arg),
                void *arg, struct sw_err *err) SW_CHECKED;
