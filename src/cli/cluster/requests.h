#pragma once
/* talk: what commands say to the API server one after another, reading and changing: each call runs
 * the connection's loop until its answer is there, or its deadline (until_ms) is past. */
#include "base/base.h"
#include "kube/kube.h"

struct json_object;
struct sw_connection;

/* All of these: 0 | what sw_kube's requests answer | SW_UNAVAILABLE where a signal came or the
 * deadline. Objects and texts are the caller's. */

/** Learn every kind that is served. */
int sw_cluster_kinds(struct sw_connection *conn, struct sw_err *err) SW_CHECKED;
/** By apiVersion and kind; NULL and SW_NOTFOUND where it is not served. */
int sw_cluster_kind(struct sw_connection *conn, const char *api_version, const char *kind,
                    const struct sw_kind **out, struct sw_err *err) SW_CHECKED;
/** One object (@name), or with no name the list of all as an array, by apiVersion and kind.
 * @ns: left aside where the kind has none */
int sw_cluster_find(struct sw_connection *conn, const char *api_version, const char *kind,
                    const char *ns, const char *name, const struct sw_request_opts *opts,
                    struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The SpecialResource @name, as sw_cluster_find(). Where the cluster has no such kind, @err says
 * how slipway is installed. */
int sw_cluster_resource(struct sw_connection *conn, const char *name, int retries,
                        struct json_object **out, struct sw_err *err) SW_CHECKED;
/** What is said there. */
#define SW_NOT_INSTALLED                                                                           \
    "slipway is not installed in this cluster: it serves no SpecialResource ('make deploy' or "    \
    "'helm install slipway charts/slipway' installs it)"
/** Every page of a list, as one array. */
int sw_cluster_list(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                    const struct sw_request_opts *opts, struct json_object **items,
                    struct sw_err *err) SW_CHECKED;
/** One object, the caller's. @return 0 | SW_NOTFOUND | as above */
int sw_cluster_get(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                   const char *name, const struct sw_request_opts *opts,
                   struct json_object **object, struct sw_err *err) SW_CHECKED;
/** Delete one object. @return 0 | SW_NOTFOUND | as above */
int sw_cluster_delete(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                      const char *name, const struct sw_request_opts *opts,
                      struct sw_err *err) SW_CHECKED;
/** Server-side apply; @*out as it is then (or would be: opts->dry_run). */
int sw_cluster_apply(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                     const char *name, struct json_object *doc, const struct sw_request_opts *opts,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
/** A merge patch. */
int sw_cluster_patch(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                     const char *name, struct json_object *patch, struct sw_err *err) SW_CHECKED;
/** The log of a container, the caller's; @opts: container, tail_lines, limit_bytes, previous.
 * @return 0 | as above */
int sw_cluster_logs(struct sw_connection *conn, const char *ns, const char *pod,
                    const struct sw_request_opts *opts, char **text, size_t *len,
                    struct sw_err *err) SW_CHECKED;
/** GET any path. */
int sw_cluster_path(struct sw_connection *conn, const char *path, char **text, size_t *len,
                    struct sw_err *err) SW_CHECKED;
