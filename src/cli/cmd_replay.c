/* slipway replay: a walk in which things go wrong, again and step by step. */
#include "cli/cli.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/picture.h"
#include "cli/trial.h"
#include "data/data.h"
#include "data/yaml.h"

struct replay_opts {
    const char *output;
};

const struct sw_flag sw_flags_replay[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct replay_opts, output), "FORMAT", "text|json",
      "text (what happens, line by line), or json (the end alone)" },
    { 0 },
};

static void say(int64_t at_ms, const char *line, void *arg SW_UNUSED)
{
    (void)printf("%8.1fs  %s\n", (double)at_ms / 1000, line);
}

static void print_json(const struct sw_trial_end *end, const char *diff)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    json_object_object_add(doc, "ready", json_object_new_boolean(end->ready));
    json_object_object_add(doc, "same", json_object_new_boolean(end->ready && !diff));
    json_object_object_add(doc, "requests", json_object_new_uint64(end->n_requests));
    json_object_object_add(doc, "faults", json_object_new_uint64(end->n_faults));
    json_object_object_add(doc, "lives", json_object_new_int(end->n_lives));
    json_object_object_add(doc, "tookMs", json_object_new_int64(end->took_ms));
    if (end->words)
        json_object_object_add(doc, "stoodAt", json_object_new_string(end->words));
    if (diff)
        json_object_object_add(doc, "diff", json_object_new_string(diff));
    (void)printf("%s\n", json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY |
                                                                 JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void print_text(const struct sw_trial_end *end, const char *diff)
{
    (void)printf("%s after %.1f s: %llu requests, %llu of them spoilt, %d %s of the controller\n",
                 end->ready ? "Ready" : "not Ready", (double)end->took_ms / 1000,
                 (unsigned long long)end->n_requests, (unsigned long long)end->n_faults,
                 end->n_lives, end->n_lives == 1 ? "life" : "lives");
    if (end->words)
        (void)printf("it stood at: %s\n", end->words);
    if (end->ready)
        (void)printf("the cluster is %s\n", diff ? "not what it is after an undisturbed walk:"
                                                 : "what it is after an undisturbed walk");
    if (diff)
        (void)fputs(diff, stdout);
}

/* The same walk with nothing going wrong. */
static int run_calm(const struct sw_trial *trial, struct json_object **picture, struct sw_err *err)
{
    struct sw_trial calm = { .recipe = trial->recipe,
                             .kubernetes = trial->kubernetes,
                             .n_nodes = trial->n_nodes,
                             .seed = trial->seed };
    struct sw_trial_end end;
    int rc = sw_trial_run(&calm, &end, err);
    if (rc == 0 && !end.ready)
        rc = sw_err_set(err, SW_UNAVAILABLE, "the walk does not end well even undisturbed: %s",
                        end.words);
    if (rc == 0)
        *picture = json_object_get(end.picture);
    sw_trial_end_done(&end);
    return rc;
}

static int replay(struct sw_trial *trial, bool json)
{
    SW_ERR(err);
    SW_AUTO_JSON *want = NULL;
    struct sw_trial_end end;
    if (run_calm(trial, &want, &err) < 0)
        return sw_cli_fail("replay", &err);
    trial->say = json ? NULL : say;
    if (sw_trial_run(trial, &end, &err) < 0)
        return sw_cli_fail("replay", &err);
    SW_AUTO_CHARS *diff = end.ready ? sw_picture_diff(want, end.picture) : NULL;
    bool same = end.ready && !diff;
    if (json)
        print_json(&end, diff);
    else
        print_text(&end, diff);
    sw_trial_end_done(&end);
    return same ? SW_EXIT_OK : SW_EXIT_FAILED;
}

int sw_cmd_replay(int argc, char **argv)
{
    struct replay_opts opts = { 0 };
    struct sw_operands rest;
    struct sw_trial trial;
    uint64_t *kills = NULL;
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_cli_parse("replay", argc, argv, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    const char *path = rest.items[0];
    rc = sw_file_read(path, 16 << 20, &text, &len, &err);
    if (rc == 0)
        rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, &doc, &err);
    if (rc == 0)
        rc = sw_trial_read(doc, path, &trial, &kills, &err);
    rc = rc < 0 ? sw_cli_fail("replay", &err) : replay(&trial, sw_streq(opts.output, "json"));
    free(kills);
    return rc;
}
