#pragma once
/* folders: files that one who is not trusted names, of which only those below certain folders may
 * be read. A path is walked from the folder on, name by name: links are followed while they stay
 * below it, and nothing but folders and regular files is opened. What lies elsewhere is not looked
 * at, so that an answer does not tell whether it exists. */
#include <stddef.h>

#include "base/base.h"

struct sw_folders;
/** @list: absolute paths, separated by commas; "": none, so that all is refused.
 * @return 0 | SW_INVALID: a path that is not absolute */
int sw_folders_new(const char *list, struct sw_folders **out, struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_folders_free(struct sw_folders *folders);
SW_DEFINE_AUTO(sw_folders, sw_folders_free)

/** The list again; the caller's. */
char *sw_folders_text(const struct sw_folders *folders);

/** Open the folder or regular file @path to read it; the file descriptor is the caller's, with
 * O_CLOEXEC.
 * @return it | SW_FORBIDDEN: not below one of the folders, or not readable | SW_NOTFOUND |
 *         SW_INVALID: neither a folder nor a regular file, too many links */
int sw_folders_open(const struct sw_folders *folders, const char *path,
                    struct sw_err *err) SW_CHECKED;
/** As sw_file_read(), of a file that may be opened so. */
int sw_folders_read(const struct sw_folders *folders, const char *path, size_t max_bytes,
                    char **out, size_t *len_bytes, struct sw_err *err) SW_CHECKED;
