/* slipway replay: a recording of a controller's engine, or a simulation of a walk with faults. */
#include "cli/commands/commands.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate/simulation.h"
#include "cli/simulate/snapshot.h"
#include "data/data.h"
#include "data/yaml/yaml.h"
#include "operator/engine/recording/replay.h"

enum { MAX_RECORDING = 1 << 30 };

struct replay_opts {
    const char *output;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct replay_opts, output), "FORMAT", "text|json",
      "text: each event and the result; json: only the result (default text)" },
    { 0 },
};

static void say(int64_t at_ms, const char *line, void *arg SW_UNUSED)
{
    (void)printf("%8.1fs  %s\n", (double)at_ms / 1000, line);
}

static void print_end(const struct sw_simulation_end *end, const char *diff, bool json)
{
    if (json) {
        SW_AUTO_JSON *doc = json_object_new_object();
        sw_json_set(doc, json_object_new_boolean(end->ready), "ready", NULL);
        sw_json_set(doc, json_object_new_boolean(end->ready && !diff), "same", NULL);
        sw_json_set(doc, json_object_new_uint64(end->n_requests), "requests", NULL);
        sw_json_set(doc, json_object_new_uint64(end->n_faults), "faults", NULL);
        sw_json_set(doc, json_object_new_int(end->n_lives), "lives", NULL);
        sw_json_set(doc, json_object_new_int64(end->took_ms), "tookMs", NULL);
        if (end->message)
            sw_json_set_str(doc, end->message, "stoodAt", NULL);
        if (diff)
            sw_json_set_str(doc, diff, "diff", NULL);
        (void)sw_cli_print_json(doc); /* main() checks stdout for errors */
        return;
    }
    (void)printf("%s after %.1f s: %llu requests, %llu of them spoilt, %d %s of the controller\n",
                 end->ready ? "Ready" : "not Ready", (double)end->took_ms / 1000,
                 (unsigned long long)end->n_requests, (unsigned long long)end->n_faults,
                 end->n_lives, end->n_lives == 1 ? "life" : "lives");
    if (end->message)
        (void)printf("it stood at: %s\n", end->message);
    if (end->ready)
        (void)printf("the cluster is %s\n", diff ? "not what it is after an undisturbed walk:"
                                                 : "what it is after an undisturbed walk");
    if (diff)
        (void)fputs(diff, stdout);
}

/* Run the simulation without its faults, then with them, and compare the clusters at the end. */
static int replay(struct sw_simulation *simulation, bool json)
{
    SW_ERR(err);
    struct sw_simulation undisturbed = { .recipe = simulation->recipe,
                                         .kubernetes = simulation->kubernetes,
                                         .n_nodes = simulation->n_nodes,
                                         .seed = simulation->seed };
    struct sw_simulation_end want = { 0 }, end = { 0 };
    int rc = sw_simulation_run(&undisturbed, &want, &err);
    if (rc == 0 && !want.ready)
        rc = sw_err_set(&err, SW_UNAVAILABLE, "the walk does not end well even undisturbed: %s",
                        want.message);
    simulation->say = json ? NULL : say;
    if (rc == 0)
        rc = sw_simulation_run(simulation, &end, &err);
    if (rc < 0) {
        rc = sw_cli_fail("replay", &err);
    } else {
        SW_AUTO_CHARS *diff = end.ready ? sw_snapshot_diff(want.snapshot, end.snapshot) : NULL;
        print_end(&end, diff, json);
        rc = end.ready && !diff ? SW_EXIT_OK : SW_EXIT_FAILED;
    }
    sw_simulation_end_done(&want);
    sw_simulation_end_done(&end);
    return rc;
}

/* ---- recordings ---------------------------------------------------------------------------------
 */

struct recording_view {
    bool json;
    int64_t began_ms; /* of the first step */
    bool began;
    struct json_object *different; /* the steps that differ, for JSON */
};

static void show_step(const struct sw_replay_step *step, void *arg)
{
    struct recording_view *v = arg;
    bool same = step->differs == SIZE_MAX;
    const char *now = step->differs < step->n_actions ? step->actions[step->differs] : NULL;
    if (!v->began)
        v->began_ms = step->now_ms;
    v->began = true;
    if (v->json && !same) {
        struct json_object *d = json_object_new_object();
        sw_json_set(d, json_object_new_int(step->line), "line", NULL);
        sw_json_set_str(d, step->resource, "resource", NULL);
        sw_json_set_str(d, step->event, "event", NULL);
        sw_json_set_str(d, step->recorded ? step->recorded : "", "recorded", NULL);
        sw_json_set_str(d, now ? now : "", "now", NULL);
        (void)json_object_array_add(v->different, d);
    }
    if (v->json)
        return;
    (void)printf("%8.1fs  %s: %s\n", (double)(step->now_ms - v->began_ms) / 1000, step->resource,
                 step->event);
    for (size_t i = 0; i < step->n_actions; i++)
        (void)printf("%11s%s\n", "", step->actions[i]);
    if (!same)
        (void)printf("line %d: recorded: %s\nline %d: now:      %s\n", step->line,
                     step->recorded ? step->recorded : "nothing more", step->line,
                     now ? now : "nothing more");
}

static void print_recording_end(const struct recording_view *v, const struct sw_replay_result *end)
{
    if (!v->json) {
        (void)printf("%zu events in %.1f s, %zu decisions: %s\n", end->n_steps,
                     (double)(end->ended_ms - end->began_ms) / 1000, end->n_actions,
                     end->n_different ? "not those that were recorded"
                                      : "those that were recorded");
        if (end->n_different)
            (void)printf("%zu of the events are answered otherwise, the first in line %d\n",
                         end->n_different, end->first_different);
        if (end->full)
            (void)printf("the recording ended there: it was full (--record-size)\n");
        return;
    }
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_boolean(end->n_different == 0), "same", NULL);
    sw_json_set(doc, json_object_new_uint64(end->n_steps), "events", NULL);
    sw_json_set(doc, json_object_new_uint64(end->n_actions), "decisions", NULL);
    sw_json_set(doc, json_object_new_int64(end->ended_ms - end->began_ms), "tookMs", NULL);
    sw_json_set(doc, json_object_new_boolean(end->full), "full", NULL);
    sw_json_set(doc, json_object_get(v->different), "different", NULL);
    (void)sw_cli_print_json(doc); /* main() checks stdout for errors */
}

static int replay_recording(const char *path, const char *text, size_t len, bool json)
{
    struct recording_view v = { .json = json, .different = json_object_new_array() };
    struct sw_replay_result end;
    SW_ERR(err);
    int rc = sw_replay(text, len, path, show_step, &v, &end, &err);
    if (rc < 0) {
        rc = sw_cli_fail("replay", &err);
    } else {
        print_recording_end(&v, &end);
        rc = end.n_different ? SW_EXIT_FAILED : SW_EXIT_OK;
    }
    json_object_put(v.different);
    return rc;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int replay_simulation(const char *path, const char *text, size_t len, bool json)
{
    struct sw_simulation simulation = { 0 };
    uint64_t *kills = NULL;
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, &doc, &err);
    if (rc == 0)
        rc = sw_simulation_read(doc, path, &simulation, &kills, &err);
    rc = rc < 0 ? sw_cli_fail("replay", &err) : replay(&simulation, json);
    free(kills);
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct replay_opts opts = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    const char *path = rest.items[0];
    bool json = sw_streq(opts.output, "json");
    if (sw_file_read(path, MAX_RECORDING, &text, &len, &err) < 0)
        return sw_cli_fail("replay", &err);
    return sw_recording_is(text, len) ? replay_recording(path, text, len, json)
                                      : replay_simulation(path, text, len, json);
}

const struct sw_command sw_command_replay = {
    .name = "replay",
    .args = "FILE",
    .missing = "which file? A recording of --record, or a simulation",
    .summary = "replay a recording, or run a simulation with faults",
    .details =
        "FILE is a recording that --record of `run` or `controller` wrote. The engine of this "
        "program gets\n"
        "the recorded events again, without a cluster, and its decisions are compared with the "
        "recorded\n"
        "ones.\n"
        "\n"
        "Or FILE is a simulation: a recipe, when the controller is killed, and a plan of faults\n"
        "(docs/faults.md). Cluster and controller run in this process on a virtual clock. The "
        "cluster at\n"
        "the end is compared with that of a walk without faults.\n"
        "\n"
        "Exit status: 0 the same, 1 not Ready or not the same, 2 bad usage or input.",
    .flags = flags,
    .execute = execute,
};
