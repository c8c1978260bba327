/* walk: how long it takes from one state's gate to the next state's first object, in this process,
 * on an embedded cluster where everything happens at once. Prints one JSON object.
 *
 *     build/bench/walk recipes/nvidia-mig [--nodes N]
 *
 * "Gate seen" is the moment at which the engine says that a state is ready; the end of the interval
 * is the server reading the first apply that follows it (so it includes rendering and the request).
 * Whole-process figures (wall, CPU, peak memory of `slipway run`) are hack/bench.sh's. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/recipe/resource.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "operator/controller/controller.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_GAPS = 256 };

struct bench {
    struct sw_connection conn;
    struct sw_controller *controller;
    struct json_object *resource;
    const char *name;
    int64_t ready_ns; /* when a state became ready, and nothing has been applied since; or 0 */
    double gaps_ms[MAX_GAPS];
    size_t n_gaps;
    uint64_t n_requests, n_writes;
    bool failed, trace;
};

static int64_t now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       void *arg)
{
    struct bench *b = arg;
    b->n_requests++;
    if (b->trace)
        (void)fprintf(stderr, "%s %s %.160s\n", req->verb, req->path, req->body ? req->body : "");
    bool apply = sw_streq(req->verb, "patch") && req->content_type &&
                 strstr(req->content_type, "apply-patch") && !sw_streq(req->subresource, "status");
    b->n_writes += !sw_streq(req->verb, "get") && !sw_streq(req->verb, "list") &&
                   !sw_streq(req->verb, "watch");
    if (!apply || !b->ready_ns)
        return;
    if (b->n_gaps < MAX_GAPS)
        b->gaps_ms[b->n_gaps++] = (double)(now_ns() - b->ready_ns) / 1e6;
    b->ready_ns = 0;
}

static void on_event(const struct sw_controller_event *e, void *arg)
{
    struct bench *b = arg;
    if (sw_streq(e->reason, "StateReady"))
        b->ready_ns = now_ns();
}

static void on_change(const char *resource, void *arg)
{
    struct bench *b = arg;
    if (sw_controller_phase(b->controller, resource) == SW_PHASE_READY)
        sw_loop_stop(b->conn.loop);
}

static void on_installed(int code, const struct sw_err *err, void *arg)
{
    struct bench *b = arg;
    if (code < 0) {
        (void)fprintf(stderr, "walk: %s\n", sw_err_text(err));
        b->failed = true;
        sw_loop_stop(b->conn.loop);
        return;
    }
    b->controller = sw_controller_open(b->conn.loop, b->conn.kube,
                                       &(struct sw_controller_opts){ .rights = SW_RIGHTS_CALLER,
                                                                     .only = b->name,
                                                                     .one_shot = true,
                                                                     .stand_ins = sw_stand_ins,
                                                                     .on_change = on_change,
                                                                     .on_event = on_event,
                                                                     .arg = b });
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int run(struct bench *b, const char *recipe, int n_nodes, struct sw_err *err)
{
    b->conn.loop = sw_loop_new(NULL);
    struct sw_emulator_opts emu = { .n_nodes = n_nodes, .on_request = on_request, .arg = b };
    int rc = sw_resource_make(&(struct sw_resource_opts){ .recipe = recipe }, &b->resource, err);
    if (rc == 0)
        rc = sw_emulator_open(b->conn.loop, &emu, &b->conn.emulator, err);
    if (rc < 0)
        return rc;
    b->name = sw_obj_name(b->resource);
    b->conn.config = sw_kube_config_new(sw_emulator_url(b->conn.emulator));
    rc = sw_kube_new(b->conn.loop, b->conn.config, &(struct sw_kube_opts){ 0 }, &b->conn.kube, err);
    if (rc < 0)
        return rc;
    int64_t began = now_ns();
    (void)sw_install_start(&b->conn, b->resource, on_installed, b);
    sw_loop_run(b->conn.loop);
    double wall_ms = (double)(now_ns() - began) / 1e6;
    qsort(b->gaps_ms, b->n_gaps, sizeof b->gaps_ms[0], compare);
    (void)printf("{\"bench\":\"walk\",\"recipe\":\"%s\",\"nodes\":%d,\"wall_ms\":%.1f,"
                 "\"requests\":%llu,\"writes\":%llu,\"gate_to_apply_ms\":{\"n\":%zu,"
                 "\"median\":%.2f,\"max\":%.2f}}\n",
                 recipe, n_nodes ? n_nodes : 5, wall_ms, (unsigned long long)b->n_requests,
                 (unsigned long long)b->n_writes, b->n_gaps,
                 b->n_gaps ? b->gaps_ms[b->n_gaps / 2] : 0,
                 b->n_gaps ? b->gaps_ms[b->n_gaps - 1] : 0);
    return b->failed ? SW_INVALID : 0;
}

int main(int argc, char **argv)
{
    struct bench b = { .trace = getenv("WALK_TRACE") != NULL }; /* each request, to stderr */
    SW_ERR(err);
    int n_nodes = argc == 4 && strcmp(argv[2], "--nodes") == 0 ? (int)strtol(argv[3], NULL, 10) : 0;
    if (argc != 2 && !n_nodes) {
        (void)fprintf(stderr, "usage: walk RECIPE [--nodes N]\n");
        return 2;
    }
    sw_log_set_level(SW_LOG_WARN);
    int rc = run(&b, argv[1], n_nodes, &err);
    if (rc < 0 && err.text)
        (void)fprintf(stderr, "walk: %s\n", err.text);
    sw_controller_close(b.controller);
    sw_connection_done(&b.conn);
    json_object_put(b.resource);
    return rc < 0;
}
