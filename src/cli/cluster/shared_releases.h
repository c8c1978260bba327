#pragma once
/* shared_releases: releases that several resources use (operator/manifests/shared_release.h), for
 * commands: who uses them, and leaving them as the operator does. */
#include "base/base.h"

struct json_object;
struct sw_connection;

/** All shared releases of the cluster: {"<namespace>/<release>": entry}, the caller's. @return 0 |
 * as requests.h */
int sw_shared_releases_read(struct sw_connection *conn, struct json_object **out,
                            struct sw_err *err) SW_CHECKED;
/** What templates of the resource of @uid see of them (SW_RELEASES_OF_OTHERS), the caller's; NULL:
 * others own none. */
struct json_object *sw_shared_releases_of_others(struct json_object *all, const char *uid);
/** [{"release", "version", "owner", "sharedWith"}] of those that the resource of @uid uses, and of
 * @name, which its recipe has; the caller's. */
struct json_object *sw_shared_releases_report(struct json_object *all, struct json_object *names,
                                              const char *uid);
/** An item of it: "shared release X 1.0: shared with b, c; owner a"; heap. */
char *sw_shared_release_line(struct json_object *item);

/** The resource leaves all that it uses, as the first step of its deletion. @resources: those that
 * there are; NULL: all of them go. @plan: nothing is written. @*heirs: {release: {"name", "uid"}}
 * to whom it hands over what it has of them. @*objects: entries of its inventory that are not in
 * its status. Both are the caller's. @return 0 | SW_CONFLICT: another one has to hand over to it
 * before | as requests.h */
int sw_shared_releases_leave(struct sw_connection *conn, struct json_object *resource,
                             struct json_object *resources, bool plan, struct json_object **heirs,
                             struct json_object **objects, struct sw_err *err) SW_CHECKED;
/** The last step: its objects are handed over, or deleted. @return 0 | as requests.h */
int sw_shared_releases_end(struct sw_connection *conn, struct json_object *resource,
                           struct sw_err *err) SW_CHECKED;
/** Users that are gone without having left (their finalizer was removed by force) do not count any
 * more, as with the operator; told on stderr. What cannot be read or written is left. @return the
 * uids of those who were the only ones, for sw_controller_opts.gone; the caller's */
struct json_object *sw_shared_releases_forget_gone(struct sw_connection *conn);
