#include "cli/simulate/simulation.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/install.h"
#include "cli/recipe/resource.h"
#include "cli/simulate/snapshot.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "emulator/faults/faults.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "kube/lease.h"
#include "operator/controller/controller.h"

enum {
    INSTALL_MS = 60000,
    WALK_MS = 60 * 60000, /* after the last fault */
    SETTLE_MS = 5000,     /* Ready must still be so then */
    HORIZON_MS = 180000,  /* of random faults */
    RESTART_MS = 1000,    /* from killed to started again */
};

struct sw_walk {
    const struct sw_simulation *simulation;
    struct sw_connection conn; /* with the client that installs */
    struct sw_kube *kube;      /* the controller's client; closed when it is killed */
    struct sw_lease *lease;
    struct sw_controller *controller;
    struct sw_faults *faults;
    struct json_object *resource;
    int64_t began_ms;
    uint64_t n_requests;
    uint64_t n_branched; /* of them, at the last call of sw_simulation.branch */
    size_t next_kill;
    int n_lives, installed;
};

/* ---- output ------------------------------------------------------------------------------------
 */

static void say(struct sw_walk *w, const char *line)
{
    if (w->simulation->say)
        w->simulation->say(sw_loop_now_ms(w->conn.loop) - w->began_ms, line, w->simulation->arg);
}

static void on_event(const struct sw_controller_event *event, void *arg)
{
    SW_AUTO_CHARS *line = sw_printf("%s%s%s: %s", event->reason, event->state ? " " : "",
                                    event->state ? event->state : "", event->message);
    say(arg, line);
}

/* ---- the server's side -------------------------------------------------------------------------
 */

/* The loop stops after each request of the controller, whether it is killed then or not: so all
 * walks are the same until the request after which they are killed or branch. */
static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg)
{
    struct sw_walk *w = arg;
    if (!w->kube)
        return; /* the installer's */
    if (w->faults)
        sw_faults_on_request(req, fault, w->faults);
    if (req->resource && sw_streq(req->resource, "leases"))
        return;
    w->n_requests++;
    sw_loop_stop(w->conn.loop);
}

/* ---- the controller ----------------------------------------------------------------------------
 */

static void on_started(void *arg)
{
    struct sw_walk *w = arg;
    if (w->controller) {
        sw_controller_resume(w->controller);
        return;
    }
    w->controller = sw_controller_open(w->conn.loop, w->kube,
                                       &(struct sw_controller_opts){ .rights = SW_RIGHTS_CALLER,
                                                                     .stand_ins = sw_stand_ins,
                                                                     .on_event = on_event,
                                                                     .arg = w });
}

static void on_stopped(const char *why, void *arg)
{
    struct sw_walk *w = arg;
    SW_AUTO_CHARS *line = sw_printf("not leading any more: %s", why);
    say(w, line);
    sw_controller_pause(w->controller);
}

static int start_controller(struct sw_walk *w, struct sw_err *err)
{
    int rc = sw_kube_new(w->conn.loop, w->conn.config,
                         &(struct sw_kube_opts){ .seed = w->simulation->seed + 1 }, &w->kube, err);
    if (rc < 0)
        return rc;
    w->n_lives++;
    return sw_lease_open(w->conn.loop, w->conn.config,
                         &(struct sw_lease_opts){ .ns = "default",
                                                  .name = "slipway",
                                                  .identity = "slipway-0",
                                                  .seed = w->simulation->seed + 1,
                                                  .on_started = on_started,
                                                  .on_stopped = on_stopped,
                                                  .arg = w },
                         &w->lease, err);
}

/* As kill -9: no request is sent any more. */
static void kill_controller(struct sw_walk *w)
{
    sw_controller_close(SW_TAKE(w->controller));
    sw_lease_close(SW_TAKE(w->lease));
    sw_kube_free(SW_TAKE(w->kube));
}

static void step(struct sw_walk *w, int64_t until_ms)
{
    int64_t left_ms = until_ms - sw_loop_now_ms(w->conn.loop);
    if (left_ms > 0)
        sw_loop_step(w->conn.loop, left_ms);
}

/* ---- the walk ----------------------------------------------------------------------------------
 */

static void on_installed(int code, const struct sw_err *err SW_UNUSED, void *arg)
{
    ((struct sw_walk *)arg)->installed = code < 0 ? code : 1;
}

static bool is_ready(struct sw_walk *w)
{
    const char *name = sw_obj_name(w->resource);
    return w->controller && sw_controller_phase(w->controller, name) == SW_PHASE_READY &&
           sw_controller_is_idle(w->controller, name);
}

pid_t sw_simulation_fork(struct sw_walk *w)
{
    pid_t pid = sw_emulator_fork(w->conn.emulator);
    if (pid != 0)
        return pid;
    kill_controller(w);
    sw_kube_config_free(w->conn.config);
    w->conn.config = sw_kube_config_new(sw_emulator_url(w->conn.emulator));
    return 0;
}

static void fork_walk(struct sw_walk *w)
{
    const struct sw_simulation *s = w->simulation;
    w->n_branched = w->n_requests;
    sw_emulator_accept(w->conn.emulator);
    const struct sw_simulation *other = s->branch ? s->branch(w, w->n_requests, s->arg) : NULL;
    if (other)
        w->simulation = other;
}

/* Run until the controller is Ready for SETTLE_MS after the last kill and fault, or until
 * @until_ms. */
static int run(struct sw_walk *w, int64_t calm_ms, int64_t until_ms, struct sw_err *err)
{
    const struct sw_simulation *s;
    struct sw_loop *loop = w->conn.loop;
    int64_t ready_ms = 0;
    while (sw_loop_now_ms(loop) < until_ms) {
        if (w->n_requests > w->n_branched)
            fork_walk(w);
        s = w->simulation;
        if (w->next_kill < s->n_kills && w->n_requests >= s->kills[w->next_kill]) {
            SW_AUTO_CHARS *line = sw_printf("killed after request %llu",
                                            (unsigned long long)w->n_requests);
            say(w, line);
            w->next_kill++;
            kill_controller(w);
            int64_t restart_ms = sw_loop_now_ms(loop) + RESTART_MS;
            while (sw_loop_now_ms(loop) < restart_ms)
                step(w, restart_ms);
            int rc = start_controller(w, err);
            if (rc < 0)
                return rc;
        }
        int64_t now_ms = sw_loop_now_ms(loop);
        bool calm = w->next_kill == s->n_kills && now_ms >= calm_ms;
        if (!calm || !is_ready(w))
            ready_ms = 0;
        else if (!ready_ms)
            ready_ms = now_ms;
        else if (now_ms >= ready_ms + SETTLE_MS)
            return 0;
        step(w, ready_ms ? ready_ms + SETTLE_MS : now_ms < calm_ms ? calm_ms : until_ms);
    }
    return 0;
}

/* Open the cluster and apply the resource, without a controller. */
static int prepare(struct sw_walk *w, struct sw_err *err)
{
    const struct sw_simulation *s = w->simulation;
    struct sw_emulator_opts emu = {
        .platform = s->kubernetes ? SW_EMU_KUBERNETES : SW_EMU_OPENSHIFT,
        .n_nodes = s->n_nodes,
        .seed = s->seed ? s->seed : 1,
        .on_request = on_request,
        .arg = w,
        .delays = sw_emu_delays_human,
    };
    static const struct sw_source_flags source = { .stand_ins = true };
    int rc = sw_resource_make(&(struct sw_resource_opts){ .recipe = s->recipe, .source = &source },
                              &w->resource, err);
    w->conn.command = "replay";
    w->conn.loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    if (rc == 0)
        rc = sw_emulator_open(w->conn.loop, &emu, &w->conn.emulator, err);
    if (rc < 0)
        return rc;
    w->conn.config = sw_kube_config_new(sw_emulator_url(w->conn.emulator));
    rc = sw_kube_new(w->conn.loop, w->conn.config, &(struct sw_kube_opts){ .seed = 1 },
                     &w->conn.kube, err);
    if (rc == 0) {
        int64_t until_ms = sw_loop_now_ms(w->conn.loop) + INSTALL_MS;
        struct sw_install *in = sw_install_start(&w->conn, w->resource, on_installed, w);
        while (!w->installed && sw_loop_now_ms(w->conn.loop) < until_ms)
            step(w, until_ms);
        if (!w->installed)
            sw_install_cancel(in);
        if (w->installed != 1)
            rc = sw_err_set(err, SW_UNAVAILABLE, "the resource is not accepted");
    }
    sw_kube_free(SW_TAKE(w->conn.kube));
    return rc;
}

static int walk(struct sw_walk *w, struct sw_simulation_end *end, struct sw_err *err)
{
    int rc = prepare(w, err);
    if (rc == 0)
        fork_walk(w);
    if (rc == 0 && w->simulation->plan)
        rc = sw_faults_new(w->simulation->plan,
                           w->simulation->plan_name ? w->simulation->plan_name : "plan", &w->faults,
                           err);
    if (rc < 0)
        return rc;
    w->began_ms = sw_loop_now_ms(w->conn.loop);
    if (w->faults)
        sw_emulator_start_faults(w->conn.emulator, w->faults);
    rc = start_controller(w, err);
    int64_t calm_ms = w->began_ms + (w->faults ? sw_faults_end_ms(w->faults) : 0);
    if (rc == 0)
        rc = run(w, calm_ms, calm_ms + WALK_MS, err);
    if (rc < 0)
        return rc;
    *end = (struct sw_simulation_end){
        .ready = is_ready(w),
        .snapshot = sw_snapshot(sw_emulator_store(w->conn.emulator)),
        .n_requests = w->n_requests,
        .n_faults = w->faults ? sw_faults_count(w->faults) : 0,
        .n_lives = w->n_lives,
        .took_ms = sw_loop_now_ms(w->conn.loop) - w->began_ms - SETTLE_MS,
    };
    SW_AUTO_JSON *status = !end->ready && w->controller
                               ? sw_controller_status(w->controller, sw_obj_name(w->resource))
                               : NULL;
    if (!end->ready)
        end->message = sw_strdup(status ? sw_json_str(status, "no status", "state", NULL)
                                        : "nobody leads");
    return 0;
}

int sw_simulation_run(const struct sw_simulation *simulation, struct sw_simulation_end *end,
                      struct sw_err *err)
{
    struct sw_walk w = { .simulation = simulation };
    *end = (struct sw_simulation_end){ 0 };
    int rc = walk(&w, end, err);
    kill_controller(&w);
    sw_faults_free(w.faults);
    json_object_put(w.resource);
    sw_connection_done(&w.conn);
    return rc;
}

void sw_simulation_end_done(struct sw_simulation_end *end)
{
    free(end->message);
    json_object_put(end->snapshot);
    *end = (struct sw_simulation_end){ 0 };
}

/* ---- documents ---------------------------------------------------------------------------------
 */

struct json_object *sw_simulation_random(uint64_t seed, uint64_t n_requests)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    struct json_object *doc = json_object_new_object(), *kills = json_object_new_array();
    uint64_t at = 0;
    for (uint64_t i = state >> 60 & 3; i > 0; i--) { /* none to three */
        state = state * 6364136223846793005u + 1442695040888963407u;
        at += 1 + (state >> 33) % (n_requests ? n_requests : 1);
        json_object_array_add(kills, json_object_new_uint64(at));
    }
    json_object_object_add(doc, "kills", kills);
    json_object_object_add(doc, "plan", sw_faults_random(seed, HORIZON_MS));
    return doc;
}

int sw_simulation_read(struct json_object *doc, const char *name, struct sw_simulation *out,
                       uint64_t **kills, struct sw_err *err)
{
    static const char *const keys[] = { "recipe", "platform", "nodes", "seed", "kills", "plan" };
    *kills = NULL;
    if (!json_object_is_type(doc, json_type_object))
        return sw_err_set(err, SW_INVALID, "%s: expected a mapping", name);
    json_object_object_foreach(doc, key, v)
    {
        bool known = false;
        for (size_t i = 0; i < SW_COUNT(keys); i++)
            known = known || sw_streq(keys[i], key);
        (void)v;
        if (!known)
            return sw_err_set(err, SW_INVALID, "%s: %s: no such key", name, key);
    }
    const char *platform = sw_json_str(doc, "openshift", "platform", NULL);
    bool kubernetes = sw_streq(platform, "kubernetes");
    if (!kubernetes && !sw_streq(platform, "openshift"))
        return sw_err_set(err, SW_INVALID, "%s: platform: expected openshift or kubernetes", name);
    *out = (struct sw_simulation){ .recipe = sw_json_str(doc, NULL, "recipe", NULL),
                                   .kubernetes = kubernetes,
                                   .n_nodes = (int)sw_json_int(doc, 0, "nodes", NULL),
                                   .seed = (uint64_t)sw_json_int(doc, 1, "seed", NULL),
                                   .plan = sw_json_get(doc, "plan"),
                                   .plan_name = name };
    if (!out->recipe)
        return sw_err_set(err, SW_INVALID, "%s: recipe: it is missing", name);
    struct json_object *list = sw_json_get(doc, "kills");
    uint64_t *at = *kills = sw_zalloc(sw_json_len(list) + 1, sizeof *at);
    out->kills = at;
    out->n_kills = sw_json_len(list);
    for (size_t i = 0; i < out->n_kills; i++) {
        int64_t n = json_object_get_int64(sw_json_at(list, i));
        if (n <= 0 || (i && (uint64_t)n <= at[i - 1]))
            return sw_err_set(err, SW_INVALID,
                              "%s: kills[%zu]: expected numbers of requests, ascending", name, i);
        at[i] = (uint64_t)n;
    }
    return 0;
}
