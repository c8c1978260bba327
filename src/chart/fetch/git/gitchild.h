#pragma once
/* gitchild: requests to a git server, in a child process that can be killed at its deadline. */
#include <stddef.h>
#include <stdint.h>

#include "chart/fetch/fetch.h"
#include "chart/fetch/git/giturl.h"

/** A request. All is borrowed for the call. */
struct git_job {
    const struct sw_git_url *url;
    struct sw_fetch_auth auth;
    const char *dir;    /* an empty folder: the objects come into its "repo" */
    const char *commit; /* to fetch; 40 digits */
    size_t max_bytes;   /* to receive */
    int64_t timeout_ms;
};

/** Ask the server which commit url->ref is now; heap.
 * @return 0 | SW_NOTFOUND: no such ref, repository | SW_FORBIDDEN | SW_UNAVAILABLE | SW_INVALID */
int git_child_find(const struct git_job *job, char **commit, struct sw_err *err) SW_CHECKED;

/** Fetch job->commit with its tree into job->dir: that commit alone where libgit2 and the server
 * can (1.7 on), else its history, in bounds. @return as above */
int git_child_fetch(const struct git_job *job, struct sw_err *err) SW_CHECKED;
