#pragma once
/* libarchive, loaded at first use: with it come libxml2, ICU and a C++ runtime, several times the
 * start-up of a program that renders a directory. What is read from archives and written to them
 * is for the callers to decide. */
#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>

/* Each function that slipway calls, and its name here: one a line, hack/image.sh reads them. */
#define SW_ARCHIVE_FUNCTIONS(X)                                                                    \
    X(archive_read_new, read_new)                                                                  \
    X(archive_read_free, read_free)                                                                \
    X(archive_read_support_format_tar, read_tar)                                                   \
    X(archive_read_support_filter_gzip, read_gzip)                                                 \
    X(archive_read_support_filter_zstd, read_zstd)                                                 \
    X(archive_read_open_memory, read_open_memory)                                                  \
    X(archive_read_next_header, read_header)                                                       \
    X(archive_read_data, read_data)                                                                \
    X(archive_read_support_format_empty, read_empty)                                               \
    X(archive_read_open, read_open)                                                                \
    X(archive_write_new, write_new)                                                                \
    X(archive_write_free, write_free)                                                              \
    X(archive_write_close, write_close)                                                            \
    X(archive_write_set_format_pax_restricted, write_pax)                                          \
    X(archive_write_set_format_option, write_format_option)                                        \
    X(archive_write_add_filter_gzip, write_gzip)                                                   \
    X(archive_write_set_filter_option, write_filter_option)                                        \
    X(archive_write_set_bytes_in_last_block, write_last_block)                                     \
    X(archive_write_open, write_open)                                                              \
    X(archive_write_header, write_header)                                                          \
    X(archive_write_data, write_data)                                                              \
    X(archive_error_string, error_string)                                                          \
    X(archive_filter_bytes, filter_bytes)                                                          \
    X(archive_entry_pathname, entry_pathname)                                                      \
    X(archive_entry_pathname_utf8, entry_pathname_utf8)                                            \
    X(archive_entry_filetype, entry_filetype)                                                      \
    X(archive_entry_hardlink, entry_hardlink)                                                      \
    X(archive_entry_new, entry_new)                                                                \
    X(archive_entry_free, entry_free)                                                              \
    X(archive_entry_set_pathname, entry_set_pathname)                                              \
    X(archive_entry_set_filetype, entry_set_filetype)                                              \
    X(archive_entry_set_perm, entry_set_perm)                                                      \
    X(archive_entry_set_size, entry_set_size)                                                      \
    X(archive_entry_set_mtime, entry_set_mtime)

/** The functions' addresses, set by sw_archive_load(). */
extern struct sw_archive_functions {
#define SW_ARCHIVE_MEMBER(function, name) __typeof__(&function) name;
    SW_ARCHIVE_FUNCTIONS(SW_ARCHIVE_MEMBER)
#undef SW_ARCHIVE_MEMBER
} sw_archive;

/** Load the library at the first call, from any thread; it is never unloaded.
 * @return false: it is not installed, or lacks a function */
bool sw_archive_load(void);
