#pragma once
/* requests: requests to the API server, one after another. Each call runs the connection's loop
 * until the answer is there or the deadline of the connection (until_ms) has passed. */
#include "base/base.h"
#include "kube/kube.h"

struct json_object;
struct sw_readiness;
struct sw_connection;

/* All return 0 | the codes of sw_kube's requests | SW_UNAVAILABLE after a signal or the deadline.
 * Objects and texts are the caller's. */

/** Discover all kinds that the server serves. */
int sw_cluster_kinds(struct sw_connection *conn, struct sw_err *err) SW_CHECKED;
/** Which feature gates the server has on, by dry runs (kube/feature_gates): names and booleans,
 * without those that it does not let the user find out. */
int sw_cluster_feature_gates(struct sw_connection *conn, struct json_object **gates,
                             struct sw_err *err) SW_CHECKED;
/** Kinds, in the order of discovery. */
struct sw_kind_list {
    const struct sw_kind **items; /* the array is owned, the kinds are the client's */
    size_t n, cap;
};
/** All kinds that are served and whose objects can be listed and deleted, each in one version. Free
 * @items. */
struct sw_kind_list sw_cluster_removable(const struct sw_connection *conn);
/** Find a kind by apiVersion and name; NULL and SW_NOTFOUND if it is not served. */
int sw_cluster_kind(struct sw_connection *conn, const char *api_version, const char *kind,
                    const struct sw_kind **out, struct sw_err *err) SW_CHECKED;
/** Get one object by apiVersion and kind, or without @name all of them as an array.
 * @ns: ignored for kinds without namespaces */
int sw_cluster_find(struct sw_connection *conn, const char *api_version, const char *kind,
                    const char *ns, const char *name, const struct sw_request_opts *opts,
                    struct json_object **out, struct sw_err *err) SW_CHECKED;
/** What a template looks up: sw_cluster_find() as a sw_recipe_lookup_fn. As in the controller, what
 * does not exist is no error, and a list is an object with items. @conn: a struct sw_connection,
 * whose kinds are discovered */
int sw_cluster_lookup(void *conn, const char *api_version, const char *kind, const char *ns,
                      const char *name, struct json_object **out, struct sw_err *err) SW_CHECKED;
/** @return SW_NOTFOUND, and says that what answers is no API server: it has none of the kinds that
 * each of them has */
int sw_cluster_wrong_server(const struct sw_connection *conn, struct sw_err *err);
/** The kind SpecialResource. If the cluster has none, @err says how slipway is installed. */
int sw_cluster_resource_kind(struct sw_connection *conn, const struct sw_kind **out,
                             struct sw_err *err) SW_CHECKED;
/** The SpecialResource @name (NULL: all), as sw_cluster_find() and sw_cluster_resource_kind(); its
 * inventory and states are unpacked. */
int sw_cluster_resource(struct sw_connection *conn, const char *name, int retries,
                        struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The name among those of @items that is nearest to @typed, borrowed from them; NULL: none is
 * near.
 */
const char *sw_cluster_nearest(struct json_object *items, const char *typed);
/** The SpecialResource whose name is nearest to @typed, the caller's; NULL: none is near, or they
 * cannot be read. */
char *sw_cluster_nearest_resource(struct sw_connection *conn, const char *typed);
/** All pages of a list as one array. */
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
/** Server-side apply; @*out: the result (with opts->dry_run what it would be). */
int sw_cluster_apply(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                     const char *name, struct json_object *doc, const struct sw_request_opts *opts,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
/** Replace one object by @doc, which has a resourceVersion; @*out: as of an apply. */
int sw_cluster_update(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                      const char *name, struct json_object *doc, const struct sw_request_opts *opts,
                      struct json_object **out, struct sw_err *err) SW_CHECKED;
/** A merge patch. */
int sw_cluster_patch(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                     const char *name, struct json_object *patch, struct sw_err *err) SW_CHECKED;
/** What @live, as the server has it, is to be changed by: a merge patch with its resourceVersion,
 * the caller's; NULL: nothing is to be changed. */
typedef struct json_object *sw_cluster_change_fn(struct json_object *live, const void *arg);
/** Patch @live by what @make makes of it; where another has written it meanwhile it is read again,
 * whole, and @make asked once more. @return 0 | as sw_cluster_patch() */
int sw_cluster_change(struct sw_connection *conn, const struct sw_kind *kind, const char *ns,
                      struct json_object *live, sw_cluster_change_fn *make, const void *arg,
                      struct sw_err *err) SW_CHECKED;
/** What selects the pods of @object, as the server has it: its spec.selector.matchLabels as a label
 * selector, the caller's. NULL: it selects none. */
char *sw_cluster_pod_selector(struct json_object *object);
/** The pods that @object, as the server has it, selects by sw_cluster_pod_selector(), as an array;
 * an empty one where it selects none. */
int sw_cluster_pods(struct sw_connection *conn, struct json_object *object, int retries,
                    struct json_object **pods, struct sw_err *err) SW_CHECKED;
/** The builds of a BuildConfig, as the server has it, as an array. */
int sw_cluster_builds(struct sw_connection *conn, struct json_object *config, int retries,
                      struct json_object **builds, struct sw_err *err) SW_CHECKED;
/** How @live, an object as the server has it, is by its kind, into @out; a BuildConfig is as its
 * newest build is. */
void sw_cluster_judge(struct sw_connection *conn, struct json_object *live, int retries,
                      struct sw_readiness *out);
/** The log of a container, the caller's; @opts: container, tail_lines, limit_bytes, previous.
 * @return 0 | as above */
int sw_cluster_logs(struct sw_connection *conn, const char *ns, const char *pod,
                    const struct sw_request_opts *opts, char **text, size_t *len,
                    struct sw_err *err) SW_CHECKED;
/** May @user (NULL: who runs the command) do @what? Both as of sw_kube_access_review(). */
int sw_cluster_access(struct sw_connection *conn, struct json_object *user,
                      struct json_object *what, bool *allowed, struct sw_err *err) SW_CHECKED;
/** POST @body, which is JSON, to any path; the answer's text, the caller's. */
int sw_cluster_post(struct sw_connection *conn, const char *path, const char *body, char **text,
                    size_t *len, struct sw_err *err) SW_CHECKED;
/** GET any path. */
int sw_cluster_path(struct sw_connection *conn, const char *path,
                    const struct sw_request_opts *opts, char **text, size_t *len,
                    struct sw_err *err) SW_CHECKED;
