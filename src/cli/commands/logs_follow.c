/* slipway logs -f: the logs of a resource's containers as they are written, of those too that begin
 * later. The inventory names the objects that make pods; each of them has a watch of its pods (a
 * BuildConfig one of its builds, a build one of its pod), each container that runs a request. */
#include "cli/cluster/connect.h"
#include "cli/cluster/follow.h"
#include "cli/cluster/requests.h"
#include "cli/commands/logs.h"
#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"

#include <json-c/json.h>
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRIES = 2, MAX_LINE_BYTES = 64 << 10, MAX_STREAMS = 1000 };

/* The log of one instance of a container. */
struct stream {
    struct following *f;
    struct stream *next;
    char *key; /* "uid/container/when it was started" */
    char *pod, *container;
    struct printbuf *line;           /* begun, not ended yet */
    struct sw_kube_request *request; /* NULL: it has ended */
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
    struct stream *streams;
    size_t n_streams; /* that have not ended */
    bool is_full;     /* that there are too many was told */
};

/* ---- a container -------------------------------------------------------------------------------
 */

static void print_begun(struct stream *s)
{
    if (s->line->bpos)
        sw_logs_print(s->pod, s->container, s->line->buf, (size_t)s->line->bpos);
    printbuf_reset(s->line);
}

static void on_text(const char *bytes, size_t len, void *arg)
{
    struct stream *s = arg;
    for (const char *end = bytes + len; bytes < end;) {
        const char *nl = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((nl ? nl : end) - bytes), room = MAX_LINE_BYTES - (size_t)s->line->bpos;
        bool is_long = n > room;
        n = is_long ? room : n;
        printbuf_memappend(s->line, bytes, (int)n);
        bytes += n;
        if (nl && !is_long && !s->line->bpos)
            sw_logs_print(s->pod, s->container, "", 0);
        else if (nl || is_long)
            print_begun(s);
        bytes += nl && !is_long;
    }
    (void)fflush(stdout);
}

static void on_end(const struct sw_kube_answer *answer, void *arg)
{
    struct stream *s = arg;
    s->request = NULL;
    s->f->n_streams--;
    print_begun(s);
    (void)fflush(stdout);
    if (answer->code < 0 && answer->code != SW_NOTFOUND)
        (void)fprintf(stderr, "slipway logs: %s/%s: %s\n", s->pod, s->container,
                      sw_err_text(answer->err));
}

static void stream_free(struct stream *s)
{
    sw_kube_cancel(s->request);
    free(s->key);
    free(s->pod);
    free(s->container);
    printbuf_free(s->line);
    free(s);
}

static void begin_stream(struct following *f, const char *ns, const char *pod,
                         const char *container, char *key, bool is_new)
{
    const struct sw_request_opts opts = { .container = container,
                                          .tail_lines = is_new ? 0 : f->choice->tail,
                                          .retries = RETRIES,
                                          .on_text = on_text };
    struct stream *s = sw_zalloc(1, sizeof *s);
    s->f = f;
    s->key = key;
    s->pod = sw_strdup(pod);
    s->container = sw_strdup(container);
    s->line = printbuf_new();
    s->next = f->streams;
    f->streams = s;
    f->n_streams++;
    s->request = sw_kube_logs(f->conn->kube, ns, pod, &opts, on_end, s);
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

static void follow_container(struct following *f, struct json_object *pod,
                             struct json_object *status, bool is_new)
{
    const char *name = sw_json_str(status, "", "name", NULL), *at = started_at(status);
    if (!at || (f->choice->container && !sw_streq(f->choice->container, name)))
        return;
    SW_AUTO_CHARS *key = sw_printf("%s/%s/%s", sw_obj_uid(pod), name, at);
    for (struct stream *s = f->streams; s; s = s->next)
        if (sw_streq(s->key, key))
            return;
    if (f->n_streams < MAX_STREAMS) {
        begin_stream(f, sw_obj_namespace(pod), sw_obj_name(pod), name, SW_TAKE(key), is_new);
        return;
    }
    if (!f->is_full)
        (void)fprintf(stderr,
                      "slipway logs: more than %d containers: the others are left out; name a "
                      "state, or a container (-c)\n",
                      MAX_STREAMS);
    f->is_full = true;
}

/* ---- pods --------------------------------------------------------------------------------------
 */

/* A pod that is gone needs its streams no more, once they have ended. */
static void forget_pod(struct following *f, const char *uid)
{
    size_t len = strlen(uid);
    for (struct stream **at = &f->streams, *s; (s = *at);) {
        if (!s->request && strncmp(s->key, uid, len) == 0 && s->key[len] == '/') {
            *at = s->next;
            stream_free(s);
        } else {
            at = &s->next;
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
    struct json_object *inventory = sw_json_find(resource, "status", "inventory", NULL);
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
    for (struct stream *s; (s = f->streams);) {
        f->streams = s->next;
        stream_free(s);
    }
}

int sw_logs_follow(struct sw_connection *conn, const struct sw_logs_choice *choice,
                   struct sw_err *err)
{
    struct following f = { .conn = conn, .choice = choice };
    struct sw_follow resources = { 0 };
    SW_AUTO_JSON *first = NULL;
    int rc = sw_cluster_resource(conn, choice->name, RETRIES, &first, err);
    if (rc == 0)
        rc = sw_logs_check_state(first, choice->state, err);
    if (rc == 0)
        rc = sw_follow_open(&resources, conn, choice->name, err);
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
