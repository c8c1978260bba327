#pragma once
/* helm_repositories: the chart repositories that `helm repo add` has named on this machine. */
#include <stdbool.h>

#include "base/base.h"

struct json_object;
struct sw_fetch_auth;

/** The file that has them, the caller's: $HELM_REPOSITORY_CONFIG, else repositories.yaml in
 * $HELM_CONFIG_HOME, in helm/ of $XDG_CONFIG_HOME, in ~/.config/helm. */
char *sw_helm_repositories_path(void);

/** The list of repositories in that file, the caller's; NULL: there is no such file.
 * @return 0 | SW_INVALID, SW_FORBIDDEN, SW_UNAVAILABLE: the file cannot be read
 * Source: Helm 3.21 pkg/repo/repo.go, pkg/cli/environment.go. Pinned by
 * test/emulator/chart/dependency_test.sh. */
int sw_helm_repositories_read(struct json_object **out, struct sw_err *err) SW_CHECKED;

/** The URL of the one called @name; borrowed from @list. NULL: there is none. */
const char *sw_helm_repository_url(struct json_object *list, const char *name);

/** What the one with this URL is asked with: strings borrowed from @list. @return false: none has
 * this URL, or it has neither a login nor certificates of its own */
bool sw_helm_repository_auth(struct json_object *list, const char *url, struct sw_fetch_auth *out);
