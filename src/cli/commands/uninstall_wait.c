/* Objects that are deleted and stay until their controller takes a finalizer off. What that
 * controller needs must stay as long. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "cli/commands/uninstall.h"
#include "data/data.h"
#include "kube/kube.h"

/* Is @finalizer one of Kubernetes' own, which the cluster's controllers take off? */
static bool is_clusters_own(const char *finalizer)
{
    SW_AUTO_CHARS *domain = sw_strndup(finalizer, strcspn(finalizer, "/"));
    return !strchr(finalizer, '/') || sw_streq(domain, "kubernetes.io") ||
           sw_ends_with(domain, ".kubernetes.io") || sw_ends_with(domain, ".k8s.io");
}

const char *uninstall_held_by(struct json_object *object)
{
    struct json_object *all = sw_json_find(object, "metadata", "finalizers", NULL);
    for (size_t i = 0; i < sw_json_len(all); i++) {
        const char *finalizer = json_object_get_string(sw_json_at(all, i));
        if (!is_clusters_own(finalizer))
            return finalizer;
    }
    return NULL;
}

struct held {
    const char *uid;
    struct json_object *live; /* owned; NULL: it has gone */
    bool synced;
};

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct held *held = arg;
    if (w->type == SW_WATCH_SYNCED)
        held->synced = true;
    if (w->type == SW_WATCH_SYNCED || w->type == SW_WATCH_ERROR)
        return;
    json_object_put(held->live);
    const bool is_it = w->type != SW_WATCH_DELETED && sw_streq(sw_obj_uid(w->object), held->uid);
    held->live = is_it ? json_object_get(w->object) : NULL;
}

int uninstall_await_gone(struct uninstall *u, const struct sw_kind *kind, const char *ns,
                         struct json_object *object, struct sw_err *err)
{
    struct sw_loop *loop = u->conn.loop;
    const char *name = sw_obj_name(object);
    struct held held = { .uid = sw_obj_uid(object) };
    const int64_t until_ms = sw_loop_now_ms(loop) + u->opts.timeout_ms;
    uninstall_say(u, "wait for", kind->kind, ns, name, uninstall_held_by(object));
    (void)fflush(stdout);
    struct sw_kube_watch *watch = sw_kube_watch_open(
        u->conn.kube, kind, &(struct sw_watch_opts){ .ns = ns, .name = name }, on_watch, &held);
    while ((!held.synced || held.live) && !u->conn.signal && sw_loop_now_ms(loop) < until_ms)
        sw_loop_step(loop, until_ms - sw_loop_now_ms(loop));
    const bool gone = held.synced && !held.live;
    const char *finalizer = held.live ? uninstall_held_by(held.live) : NULL;
    int rc = gone ? 0
                  : sw_err_set(err, SW_UNAVAILABLE, "%s %s%s%s is deleted and has not gone: %s%s",
                               kind->kind, ns ? ns : "", ns ? "/" : "", name,
                               finalizer ? "its controller has not taken off the finalizer "
                                         : "the API server has not deleted it yet",
                               finalizer ? finalizer : "");
    sw_kube_watch_close(watch);
    json_object_put(held.live);
    return rc;
}
