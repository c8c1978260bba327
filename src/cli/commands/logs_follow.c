/* slipway logs -f: the logs of a resource's containers as they are written, of those too that begin
 * later. The inventory names the objects that make pods; each of them has a watch of its pods (a
 * BuildConfig one of its builds, a build one of its pod), each container that runs a request. */
#include "cli/cluster/connect.h"
#include "cli/cluster/follow.h"
#include "cli/cluster/requests.h"
#include "cli/commands/logs.h"
#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/inventory/inventory.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 2, MAX_LOGS = 1000 };

/* One instance of a container. */
struct container {
    struct container *next;
    char *key; /* "uid/container/when it was started" */
    struct sw_logs_stream *log;
};

/* What pods, or builds, are watched for. */
struct source {
    struct following *f;
    struct source *next;
    char *key;
    struct sw_kube_watch *watch;
    bool builds;
};

struct following {
    struct sw_connection *conn;
    const struct sw_logs_choice *choice;
    struct source *sources;
    struct container *containers; /* the newest first */
    bool is_full;                 /* that there are too many was told */
};

/* ---- a container -------------------------------------------------------------------------------
 */

static void container_free(struct container *c)
{
    sw_logs_stream_free(c->log);
    free(c->key);
    free(c);
}

/* When the instance was started whose log there is: it runs, has ended, or waits to run again.
 * NULL: none was started yet. */
static const char *started_at(struct json_object *status)
{
    const char *at = sw_json_str(status, NULL, "state", "running", "startedAt", NULL);
    if (!at)
        at = sw_json_str(status, NULL, "state", "terminated", "startedAt", NULL);
    return at ? at : sw_json_str(status, NULL, "lastState", "terminated", "startedAt", NULL);
}

static bool is_of(const struct container *c, const char *prefix, size_t len)
{
    return strncmp(c->key, prefix, len) == 0 && c->key[len] == '/';
}

static void follow_container(struct following *f, struct json_object *pod,
                             struct json_object *status, bool is_new)
{
    const char *name = sw_json_str(status, "", "name", NULL), *at = started_at(status);
    if (!at || (f->choice->container && !sw_streq(f->choice->container, name)))
        return;
    SW_AUTO_CHARS *key = sw_printf("%s/%s/%s", sw_obj_uid(pod), name, at);
    const size_t len = strlen(key) - strlen(at) - 1; /* of what all its instances have */
    const bool runs = sw_json_find(status, "state", "running", NULL);
    struct container *before = NULL;
    size_t n_logs = 0;
    for (struct container *c = f->containers; c; c = c->next) {
        bool is_same = sw_streq(c->key, key), is_its = is_of(c, key, len);
        if (is_its)
            sw_logs_stream_set_running(c->log, is_same && runs);
        if (is_same)
            return;
        if (is_its && !before)
            before = c;
        n_logs += !sw_logs_stream_is_over(c->log);
    }
    if (n_logs < MAX_LOGS) {
        struct container *c = sw_zalloc(1, sizeof *c);
        c->log = sw_logs_stream_new(f->conn, sw_obj_namespace(pod), sw_obj_name(pod), name,
                                    is_new ? 0 : f->choice->tail, before ? before->log : NULL);
        sw_logs_stream_set_running(c->log, runs);
        c->key = SW_TAKE(key);
        c->next = f->containers;
        f->containers = c;
        return;
    }
    if (!f->is_full)
        (void)fprintf(stderr,
                      "slipway logs: more than %d containers: the others are left out; name a "
                      "state, or a container (-c)\n",
                      MAX_LOGS);
    f->is_full = true;
}

/* ---- pods --------------------------------------------------------------------------------------
 */

/* What a pod that is gone has written comes to its end. */
static void forget_pod(struct following *f, const char *uid)
{
    const size_t len = strlen(uid);
    for (struct container **at = &f->containers, *c; (c = *at);) {
        bool is_its = is_of(c, uid, len);
        if (is_its)
            sw_logs_stream_set_running(c->log, false);
        if (is_its && sw_logs_stream_is_over(c->log)) {
            *at = c->next;
            container_free(c);
        } else {
            at = &c->next;
        }
    }
}

static void on_pod(const struct sw_watch_event *w, void *arg)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
    struct source *source = arg;
    if (w->type == SW_WATCH_ERROR)
        (void)fprintf(stderr, "slipway logs: %s: %s\n", source->key, sw_err_text(w->err));
    if (w->type == SW_WATCH_DELETED && w->uid)
        forget_pod(source->f, w->uid);
    if (w->type != SW_WATCH_ADDED && w->type != SW_WATCH_MODIFIED)
        return;
    bool is_new = sw_kube_watch_is_synced(source->watch);
    for (size_t i = 0; i < SW_COUNT(lists); i++) {
        struct json_object *list = sw_json_find(w->object, "status", lists[i], NULL);
        for (size_t k = 0; k < sw_json_len(list); k++)
            follow_container(source->f, w->object, sw_json_at(list, k), is_new);
    }
}

static struct source *find_source(struct following *f, const char *key)
{
    struct source *s = f->sources;
    while (s && !sw_streq(s->key, key))
        s = s->next;
    return s;
}

static struct source *add_source(struct following *f, const char *key)
{
    struct source *s = sw_zalloc(1, sizeof *s);
    s->f = f;
    s->key = sw_strdup(key);
    s->next = f->sources;
    f->sources = s;
    return s;
}

static void watch_pods(struct source *s, const char *ns, const char *name, const char *selector)
{
    static const char *const fields[] = { "status.containerStatuses",
                                          "status.initContainerStatuses", NULL };
    const struct sw_watch_opts opts = {
        .ns = ns, .name = name, .label_selector = selector, .fields = fields
    };
    s->watch = sw_kube_watch_open(s->f->conn->kube, &sw_kind_pod, &opts, on_pod, s);
}

static void on_build(const struct sw_watch_event *w, void *arg)
{
    struct source *source = arg;
    if (w->type != SW_WATCH_ADDED && w->type != SW_WATCH_MODIFIED)
        return;
    SW_AUTO_CHARS *pod = sw_printf("%s-build", w->name);
    SW_AUTO_CHARS *key = sw_printf("Pod %s/%s", w->ns, pod);
    if (!find_source(source->f, key))
        watch_pods(add_source(source->f, key), w->ns, pod, NULL);
}

/* ---- objects -----------------------------------------------------------------------------------
 */

static int watch_builds(struct source *s, struct json_object *config, struct sw_err *err)
{
    const struct sw_kind *kind;
    SW_AUTO_CHARS *selector = sw_printf("openshift.io/build-config.name=%s", sw_obj_name(config));
    int rc = sw_cluster_kind(s->f->conn, sw_obj_api_version(config), "Build", &kind, err);
    const struct sw_watch_opts opts = { .ns = sw_obj_namespace(config),
                                        .label_selector = selector };
    if (rc == 0)
        s->watch = sw_kube_watch_open(s->f->conn->kube, kind, &opts, on_build, s);
    return rc;
}

static int watch_selected(struct source *s, struct json_object *live)
{
    SW_AUTO_CHARS *selector = sw_cluster_pod_selector(live);
    if (selector)
        watch_pods(s, sw_obj_namespace(live), NULL, selector);
    return 0;
}

/* Watch what @item of the inventory makes. An object that is not there is asked for again when the
 * inventory changes. */
static int follow_object(struct following *f, struct json_object *item, struct sw_err *err)
{
    const char *kind = sw_json_str(item, "", "kind", NULL),
               *ns = sw_json_str(item, "", "namespace", NULL),
               *name = sw_json_str(item, "", "name", NULL);
    const struct sw_pod_maker *maker = sw_pod_maker_find(kind);
    bool is_pod = sw_streq(kind, "Pod"), builds = sw_streq(kind, "BuildConfig");
    if (!is_pod && !builds && !(maker && maker->selects))
        return 0;
    SW_AUTO_CHARS *key = sw_printf("%s %s/%s", kind, ns, name);
    if (find_source(f, key))
        return 0;
    if (is_pod) {
        watch_pods(add_source(f, key), ns, name, NULL);
        return 0;
    }
    SW_AUTO_JSON *live = NULL;
    int rc = sw_cluster_find(f->conn, sw_json_str(item, "", "apiVersion", NULL), kind, ns, name,
                             &(struct sw_request_opts){ .retries = RETRIES }, &live, err);
    if (rc == SW_NOTFOUND) {
        sw_err_done(err);
        return 0;
    }
    if (rc < 0)
        return rc;
    struct source *s = add_source(f, key);
    return builds ? watch_builds(s, live, err) : watch_selected(s, live);
}

static int follow_resource(struct following *f, struct json_object *resource, struct sw_err *err)
{
    struct json_object *inventory = sw_inventory_of(sw_json_get(resource, "status"));
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i);
        if (!f->choice->state || sw_streq(sw_json_str(item, "", "state", NULL), f->choice->state))
            rc = follow_object(f, item, err);
    }
    return rc;
}

static void following_done(struct following *f)
{
    for (struct source *s; (s = f->sources);) {
        f->sources = s->next;
        sw_kube_watch_close(s->watch);
        free(s->key);
        free(s);
    }
    for (struct container *c; (c = f->containers);) {
        f->containers = c->next;
        container_free(c);
    }
}

int sw_logs_follow(struct sw_connection *conn, const struct sw_logs_choice *choice,
                   struct sw_err *err)
{
    struct following f = { .conn = conn, .choice = choice };
    struct sw_follow resources = { 0 };
    SW_AUTO_JSON *first = NULL;
    int rc = sw_follow_open(&resources, conn, choice->name, err);
    if (rc == 0)
        rc = sw_cluster_resource(conn, choice->name, RETRIES, &first, err);
    if (rc == 0)
        rc = sw_logs_check_state(first, choice->state, err);
    while (rc == 0 && sw_follow_next(&resources)) {
        struct json_object *resource = sw_json_get(resources.resources, choice->name);
        if (resources.code)
            rc = sw_err_move(err, &resources.err);
        else if (!resource)
            break; /* it is gone */
        else
            rc = follow_resource(&f, resource, err);
    }
    following_done(&f);
    sw_follow_done(&resources);
    return rc;
}
