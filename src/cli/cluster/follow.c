#include "cli/cluster/follow.h"

#include <json-c/json.h>
#include <stdio.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"

enum { STEP_MS = 60000, AGAIN_MS = 1000, BEAT_MS = 10000 };

static void on_event(const struct sw_watch_event *w, void *arg)
{
    struct sw_follow *f = arg;
    f->changed = true;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        sw_json_set(f->resources, json_object_get(w->object), w->name, NULL);
        break;
    case SW_WATCH_DELETED:
        (void)sw_json_del(f->resources, w->name, NULL);
        break;
    case SW_WATCH_SYNCED:
        f->synced = true;
        f->code = 0;
        break;
    case SW_WATCH_ERROR:
        f->code = sw_err_set(&f->err, w->code, "%s", sw_err_text(w->err));
        break;
    }
}

/* Wait a moment. @return false: a signal, or the deadline */
static bool rest(struct sw_connection *conn)
{
    const int64_t end_ms = sw_loop_now_ms(conn->loop) + AGAIN_MS;
    if (conn->until_ms && end_ms >= conn->until_ms)
        return false;
    for (int64_t now_ms = end_ms - AGAIN_MS; now_ms < end_ms && !conn->signal;
         now_ms = sw_loop_now_ms(conn->loop))
        sw_loop_step(conn->loop, end_ms - now_ms);
    return !conn->signal;
}

/* A patient connection asks until the server answers, as its watches do, and says so. */
static int find_kind(struct sw_connection *conn, const struct sw_kind **out, struct sw_err *err)
{
    int64_t said_ms = sw_loop_now_ms(conn->loop);
    int rc = sw_cluster_resource_kind(conn, out, err);
    while (rc == SW_UNAVAILABLE && conn->patient && rest(conn)) {
        sw_err_done(err);
        rc = sw_cluster_resource_kind(conn, out, err);
        if (rc != SW_UNAVAILABLE || sw_loop_now_ms(conn->loop) < said_ms + BEAT_MS)
            continue;
        said_ms = sw_loop_now_ms(conn->loop);
        (void)fprintf(stderr, "slipway %s: the API server still does not answer\n", conn->command);
    }
    return rc;
}

int sw_follow_open(struct sw_follow *follow, struct sw_connection *conn, const char *name,
                   struct sw_err *err)
{
    const struct sw_kind *kind;
    const int rc = find_kind(conn, &kind, err);
    if (rc < 0)
        return rc;
    follow->conn = conn;
    follow->resources = json_object_new_object();
    follow->watch = sw_kube_watch_open(conn->kube, kind, &(struct sw_watch_opts){ .name = name },
                                       on_event, follow);
    return 0;
}

bool sw_follow_next(struct sw_follow *follow)
{
    struct sw_connection *conn = follow->conn;
    for (int64_t left_ms = STEP_MS; !conn->signal; sw_loop_step(conn->loop, left_ms)) {
        if (conn->until_ms)
            left_ms = conn->until_ms - sw_loop_now_ms(conn->loop);
        if (follow->changed && (follow->synced || follow->code)) {
            follow->changed = false;
            return true;
        }
        if (left_ms <= 0)
            return false;
    }
    return false;
}

void sw_follow_done(struct sw_follow *follow)
{
    sw_kube_watch_close(SW_TAKE(follow->watch));
    json_object_put(SW_TAKE(follow->resources));
}
