#pragma once
/* files: the table of names and bytes that every source of recipes fills, and the sources on this
 * machine: folders, archives, bundles. A source for HTTP, OCI, git or a cluster fetches bytes, then
 * calls the archive reader or adds files one by one. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/aicr/aicr.h"
#include "chart/recipe/recipe.h"

/** Files of a recipe, charts/ included. Names are relative, without "." or "..", with '/' between.
 */
struct sw_files {
    struct sw_recipe_file *items; /* names and bytes are owned */
    size_t n, cap;
    size_t bytes;                 /* of all together */
    struct sw_recipe_opts limits; /* max_bytes and max_files are set; others as given */
};

/** An empty table; @opts may be NULL. */
struct sw_files sw_files_init(const struct sw_recipe_opts *opts);
/** Empty it; the limits stay. */
void sw_files_done(struct sw_files *files);
/** Free an array of @n files with their names and bytes. */
void sw_files_free(struct sw_recipe_file *files, size_t n);

/** Add one; @name is copied, @bytes taken even on failure. A byte order mark is cut off.
 * @return 0 | SW_INVALID: over a limit */
int sw_files_add(struct sw_files *files, const char *name, char *bytes, size_t len,
                 struct sw_err *err) SW_CHECKED;
/** Add a copy of one. @return as sw_files_add() */
int sw_files_copy(struct sw_files *files, const char *name, const char *bytes, size_t len,
                  struct sw_err *err) SW_CHECKED;
/** The file of that name in a table of @n; NULL: there is none. Borrowed. */
const struct sw_recipe_file *sw_files_find(const struct sw_recipe_file *files, size_t n,
                                           const char *name);
/** Whether one more file of @len bytes may be added. @return 0 | SW_INVALID */
int sw_files_check(const struct sw_files *files, size_t len, struct sw_err *err) SW_CHECKED;
/** Sort by name, in byte order. @return 0 | SW_INVALID: a name is there twice */
int sw_files_sort(struct sw_files *files, struct sw_err *err) SW_CHECKED;

/** Read a chart's directory, without what its .helmignore names. Links are followed.
 * @return 0 | SW_NOTFOUND | SW_FORBIDDEN | SW_INVALID */
int sw_files_read_dir(struct sw_files *files, const char *dir, struct sw_err *err) SW_CHECKED;

/** The same table as chart/aicr takes it. Names and bytes are those of @files; the array is the
 * caller's. */
struct sw_aicr_files sw_files_aicr(const struct sw_files *files);

/** Read a packaged chart; names lose their first folder, but for those of a bundle of AICR that is
 * packed without one. Nothing is written to disk.
 * @return 0 | SW_INVALID: damaged, reaches outside itself, too big */
int sw_files_read_archive(struct sw_files *files, const char *origin, const void *bytes, size_t len,
                          struct sw_err *err) SW_CHECKED;

/** Add what opts->get fetched: its files are moved, its archive is unpacked.
 * @return 0 | SW_INVALID */
int sw_files_take_got(struct sw_files *files, struct sw_recipe_got *got,
                      struct sw_err *err) SW_CHECKED;

/* ---- bundles -----------------------------------------------------------------------------------
 */

/** A table of files as one piece of bytes: a line that says what it is, then each file as
 * "<length of the name> <length>\n<name><bytes>\n". @*bytes is the caller's. */
void sw_files_to_bundle(const struct sw_files *files, char **bytes, size_t *len);
/** @files: initialised. @return 0 | SW_INVALID: not a bundle, over a limit, a name that leads
 * outside */
int sw_files_read_bundle(struct sw_files *files, const void *bytes, size_t len,
                         struct sw_err *err) SW_CHECKED;
