#pragma once
/* gitlib: libgit2, loaded at first use: a program that reads no git repository starts without it,
 * and works where it is not installed. Its structs change from one minor version to the next, so
 * only the version that slipway was built with is loaded. */
#if __has_include(<git2.h>)
#include <git2.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h> /* since 1.9 git_error_set_str() is declared there */
#endif
#define SW_HAVE_GIT 1
#else
#define SW_HAVE_GIT 0
#endif

#include "base/base.h"

#if SW_HAVE_GIT
/* name in libgit2, name here */
#define SW_GIT_FUNCTIONS(X)                                                                        \
    X(git_libgit2_init, init)                                                                      \
    X(git_libgit2_shutdown, shutdown)                                                              \
    X(git_libgit2_opts, set_opt)                                                                   \
    X(git_error_last, error_last)                                                                  \
    X(git_error_set_str, error_set)                                                                \
    X(git_repository_init, repository_init)                                                        \
    X(git_repository_open, repository_open)                                                        \
    X(git_repository_free, repository_free)                                                        \
    X(git_remote_create_anonymous, remote_create)                                                  \
    X(git_remote_connect, remote_connect)                                                          \
    X(git_remote_ls, remote_ls)                                                                    \
    X(git_remote_download, remote_download)                                                        \
    X(git_remote_free, remote_free)                                                                \
    X(git_fetch_options_init, fetch_options)                                                       \
    X(git_credential_userpass_plaintext_new, userpass)                                             \
    X(git_credential_username_new, username)                                                       \
    X(git_credential_ssh_key_new, ssh_key)                                                         \
    X(git_credential_ssh_key_from_agent, ssh_agent)                                                \
    X(git_oid_fromstr, oid_read)                                                                   \
    X(git_oid_tostr, oid_text)                                                                     \
    X(git_object_lookup, object_lookup)                                                            \
    X(git_object_peel, object_peel)                                                                \
    X(git_object_id, object_id)                                                                    \
    X(git_object_free, object_free)                                                                \
    X(git_tree_lookup, tree_lookup)                                                                \
    X(git_tree_free, tree_free)                                                                    \
    X(git_tree_entrycount, tree_count)                                                             \
    X(git_tree_entry_byindex, tree_at)                                                             \
    X(git_tree_entry_bypath, tree_find)                                                            \
    X(git_tree_entry_free, entry_free)                                                             \
    X(git_tree_entry_name, entry_name)                                                             \
    X(git_tree_entry_id, entry_id)                                                                 \
    X(git_tree_entry_filemode, entry_mode)                                                         \
    X(git_blob_lookup, blob_lookup)                                                                \
    X(git_blob_rawcontent, blob_bytes)                                                             \
    X(git_blob_rawsize, blob_size)                                                                 \
    X(git_blob_free, blob_free)

/** The functions' addresses. */
struct sw_git_lib {
#define SW_GIT_MEMBER(function, name) __typeof__(&function) name;
    SW_GIT_FUNCTIONS(SW_GIT_MEMBER)
#undef SW_GIT_MEMBER
};

/** The library, loaded and initialised for the life of the process.
 * @return NULL with @err SW_UNAVAILABLE: it is not installed, or of another version */
const struct sw_git_lib *sw_git_load(struct sw_err *err);
#endif
