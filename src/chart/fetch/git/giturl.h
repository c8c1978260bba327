#pragma once
/* giturl: "git+https://host/group/repo.git//charts/driver?ref=v1.2", taken apart. */
#include "base/base.h"

/** All are owned. */
struct sw_git_url {
    char *remote; /* as git knows it: "https://host/group/repo.git", "/srv/repo" */
    char *path;   /* of the chart in the repository, "" for its top; no "..", no empty parts */
    char *ref;    /* branch, tag or commit; "" for what the repository's HEAD is */
    char *host;   /* "host:port"; "" of git+file:// */
    char *username, *password; /* that stood in it, and stand in @remote no more; NULL: none */
};

/** The path begins at "//"; `?ref=` (or `?path=`, which goes before) ends the address.
 * @return 0 | SW_INVALID: what is wrong with it. Pinned by test/unit/chart/fetch_sources_test.c. */
int sw_git_url_parse(const char *text, struct sw_git_url *out, struct sw_err *err) SW_CHECKED;
void sw_git_url_done(struct sw_git_url *url);

/** The address again, of another path and ref, heap. */
char *sw_git_url_text(const struct sw_git_url *url, const char *path, const char *ref);

/** @relative to @path within one repository: "charts/a" + "../b" = "charts/b". @*out is the
 * caller's. @return 0 | SW_INVALID: it leads outside, or is absolute */
int sw_git_path_join(const char *path, const char *relative, char **out,
                     struct sw_err *err) SW_CHECKED;
