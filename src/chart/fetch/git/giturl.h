#pragma once
/* giturl: URLs such as "git+https://host/group/repo.git//charts/driver?ref=v1.2". */
#include "base/base.h"

/** A URL, split. All strings are owned. */
struct sw_git_url {
    char *remote; /* the URL or path for git: "https://host/group/repo.git", "/srv/repo" */
    char *path;   /* of the chart in the repository, "" for its top; no "..", no empty elements */
    char *ref;    /* branch, tag or commit; "" for what the repository's HEAD is */
    char *host;   /* "host:port"; "" of git+file:// */
    char *username, *password; /* from the URL, and not in @remote; NULL: none */
};

/** Parse a URL. The path in the repository follows "//", or `?path=`; `?ref=` gives the ref.
 * @return 0 | SW_INVALID: what is wrong with it. Pinned by test/unit/chart/fetch_sources_test.c. */
int sw_git_url_parse(const char *text, struct sw_git_url *out, struct sw_err *err) SW_CHECKED;
/** Free its strings. Twice is harmless. */
void sw_git_url_done(struct sw_git_url *url);

/** The URL as text with another path and ref, without a password; heap. */
char *sw_git_url_text(const struct sw_git_url *url, const char *path, const char *ref);

/** @relative to @path within one repository: "charts/a" + "../b" = "charts/b". @*out is the
 * caller's. @return 0 | SW_INVALID: it leads outside, or is absolute */
int sw_git_path_join(const char *path, const char *relative, char **out,
                     struct sw_err *err) SW_CHECKED;
