/* What a user reads in the resource when something stands still: the container, its exit code, the
 * end of its log, the objects and nodes that are waited for, since when; and nothing twice. */
#include "operator/engine/recording/recording.h"
#include "ranges.h"
#include "run_sro.h"

#define WAIT "    " SRO "wait: 'true'\n"
#define FAILS                                                                                      \
    "        emulator.slipway.dev/exit-code: '7'\n        emulator.slipway.dev/log: \"loading\\n"  \
    "no such device\"\n"

static const char job[] = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: it\n"
                          "  annotations:\n" WAIT "spec:\n  backoffLimit: 0\n  template:\n"
                          "    metadata:\n      annotations:\n" FAILS
                          "    spec:\n      restartPolicy: Never\n      containers:\n"
                          "      - name: helper\n        image: i\n      - name: main\n"
                          "        image: i\n";
static const char daemon_set[] =
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: it\n  annotations:\n" WAIT
    "spec:\n  selector:\n    matchLabels:\n      app: it\n  template:\n    metadata:\n"
    "      labels:\n        app: it\n      annotations:\n" FAILS
    "    spec:\n      containers:\n      - name: main\n        image: i\n";
static const char map[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

static const char nowhere[] =
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: it\n  annotations:\n    " SRO
    "wait: \"true\"\nspec:\n  nodeSelector: {zone: mars}\n  containers: [{name: c, image: i}]\n";

struct scene {
    struct world w;
    char *root, *dir;
};

static void scene_open(struct scene *s, const char *manifest)
{
    *s = (struct scene){ .root = chart_root() };
    world_open(&s->w);
    s->dir = CHART(s->root, "r", { "templates/0000-map.yaml", map },
                   { "templates/1000-it.yaml", manifest });
    sro_run(&s->w, s->dir);
}

static void scene_close(struct scene *s)
{
    world_close(&s->w);
    free(s->dir);
    chart_remove(s->root);
}

static struct json_object *state_of(struct world *w, const char *name)
{
    struct json_object *states = sw_json_find(sro_get(w, "r"), "status", "states", NULL);
    return sw_json_find_by(states, "name", name);
}

static void expect_words(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in '%s'", words, text);
}

static void a_failed_job_names_container_exit_code_and_log(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, job);
    sro_until(&s.w, "r", "Errored", "the end of its log: no such device");
    struct json_object *st = state_of(&s.w, "1000");
    assert_string_equal(sw_json_str(st, "", "class", NULL), "Failed");
    const char *message = sw_json_str(st, "", "message", NULL);
    expect_words(message, "Job r/it");
    expect_words(message, "exit code 7");
    assert_true(*sw_json_str(st, "", "since", NULL));
    struct json_object *one = sw_json_at(sw_json_get(st, "awaits"), 0);
    assert_string_equal(sw_json_str(one, "", "object", NULL), "Job r/it");
    assert_string_equal(sw_json_str(one, "", "class", NULL), "Failed");
    expect_words(sw_json_str(one, "", "message", NULL), "no such device");
    scene_close(&s);
}

static void a_crashing_daemonset_names_pod_node_and_log(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, daemon_set);
    sro_until(&s.w, "r", "Progressing", "the end of its log: no such device");
    struct json_object *st = state_of(&s.w, "1000");
    const char *message = sw_json_str(st, "", "message", NULL);
    expect_words(message, "pod it-");
    expect_words(message, " on node ");
    expect_words(message, "exit code 7");
    struct json_object *nodes = sw_json_get(st, "nodes");
    size_t n = sw_json_len(sw_json_get(nodes, "missing"));
    assert_true(n > 0);
    assert_int_equal(sw_json_int(nodes, -1, "labelled", NULL), 0);
    assert_true((int64_t)n <= sw_json_int(nodes, 0, "total", NULL));
    scene_close(&s);
}

/* ---- what says nothing itself: its Events do ----------------------------------------------------
 */

static void pods_that_are_refused_are_told(void **state)
{
    (void)state;
    static const char quota[] = "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: none\n"
                                "spec:\n  hard: {pods: \"0\"}\n";
    static const char *const heads[] = {
        "apiVersion: apps/v1\nkind: DaemonSet",
        "apiVersion: apps/v1\nkind: StatefulSet",
        "apiVersion: apps/v1\nkind: Deployment",
    };
    for (size_t i = 0; i < SW_COUNT(heads); i++) {
        struct scene s = { .root = chart_root() };
        SW_AUTO_CHARS *maker = sw_printf(
            "%s\nmetadata:\n  name: it\n  annotations:\n" WAIT
            "spec:\n  selector:\n    matchLabels:\n      app: it\n  template:\n    metadata:\n"
            "      labels:\n        app: it\n    spec:\n      containers:\n"
            "      - name: main\n        image: i\n",
            heads[i]);
        world_open(&s.w);
        s.dir = CHART(s.root, "r", { "templates/0000-quota.yaml", quota },
                      { "templates/1000-it.yaml", maker });
        sro_run(&s.w, s.dir);
        sro_until(&s.w, "r", "Progressing", "exceeded quota: none");
        expect_words(sw_json_str(state_of(&s.w, "1000"), "", "message", NULL), "r/it");
        scene_close(&s);
    }
}

static void a_pod_that_lacks_a_secret_names_it(void **state)
{
    (void)state;
    static const char pod[] =
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: it\n  annotations:\n" WAIT
        "spec:\n  containers: [{name: c, image: i}]\n"
        "  volumes: [{name: key, secret: {secretName: of-nobody}}]\n";
    struct scene s;
    scene_open(&s, pod);
    sro_until(&s.w, "r", "Progressing", "secret \"of-nobody\" not found");
    assert_int_equal(world_create(&s.w, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":"
                                        "{\"name\":\"of-nobody\",\"namespace\":\"r\"}}"),
                     0);
    sro_until(&s.w, "r", "Ready", NULL);
    scene_close(&s);
}

static void what_is_ready_awaits_nothing(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, map);
    sro_until(&s.w, "r", "Ready", NULL);
    assert_null(sw_json_get(state_of(&s.w, "1000"), "awaits"));
    assert_null(sw_json_find(state_of(&s.w, "1000"), "nodes", "missing", NULL));
    scene_close(&s);
}

/* What is logged while the world turns for so long, besides Events. Heap. */
static char *logged(struct world *w, int64_t for_ms)
{
    FILE *file = tmpfile();
    int err = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    sw_log_set_level(SW_LOG_INFO);
    world_wait(w, for_ms);
    sw_log_set_level(SW_LOG_ERROR);
    assert_true(dup2(err, STDERR_FILENO) >= 0);
    (void)close(err);
    rewind(file);
    char *text = sw_zalloc(4096, 1);
    text[fread(text, 1, 4095, file)] = '\0';
    (void)fclose(file);
    return text;
}

static uint64_t n_asked; /* but for watches, which are opened anew now and then */

static void count_asked(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                        struct world *w SW_UNUSED)
{
    n_asked += !sw_streq(req->verb, "watch");
}

static void must_log_nothing(struct world *w)
{
    world_wait(w, 60 * 60000);
    w->on_request = count_asked;
    n_asked = w->n_events = 0;
    SW_AUTO_CHARS *text = logged(w, 60 * 60000);
    assert_string_equal(text, "");
}

static void waiting_writes_and_logs_nothing(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, nowhere);
    sro_until(&s.w, "r", "Progressing", "didn't match Pod's node");
    must_log_nothing(&s.w);
    assert_int_equal(s.w.n_events, 0);
    assert_int_equal(n_asked, 0);
    assert_int_equal(world_patch(&s.w, "v1", "Node", NULL, "gpu-0", NULL,
                                 "{\"metadata\":{\"labels\":{\"zone\":\"mars\"}}}"),
                     0);
    sro_until(&s.w, "r", "Ready", NULL);
    assert_true(s.w.n_events > 0); /* a change is told */
    scene_close(&s);
}

/* It is run again every ten minutes in the end, which is told, and that it failed as before. */
static void what_fails_again_is_told_once_a_run(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, job);
    sro_until(&s.w, "r", "Errored", "no such device");
    must_log_nothing(&s.w);
    assert_between(s.w.n_events, 1, 12);
    scene_close(&s);
}

static int n_lost; /* writes of a status that are done, and not answered */

static void lose_statuses(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                          struct world *w SW_UNUSED)
{
    SW_AUTO_CHARS *body = req->body_len ? sw_strndup(req->body, req->body_len) : NULL;
    if (!sw_streq(req->subresource, "status") || !body || !strstr(body, "\"Progressing: "))
        return;
    n_lost++;
    fault->type = SW_FAULT_LOST;
}

/* It went from Ready to Progressing and back while answers were lost: Progressing stood there. */
static void a_status_whose_answer_was_lost_is_written_again(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, map);
    sro_until(&s.w, "r", "Ready", NULL);
    s.w.on_request = lose_statuses;
    assert_int_equal(world_delete(&s.w, "v1", "ConfigMap", "r", "c"), 0);
    world_wait(&s.w, 60000);
    assert_true(n_lost > 0);
    struct json_object *doc = world_get(&s.w, SR_VERSION, "SpecialResource", NULL, "r");
    assert_true(sw_starts_with(sw_json_str(doc, "", "status", "state", NULL), "Ready"));
    assert_non_null(world_get(&s.w, "v1", "ConfigMap", "r", "c"));
    scene_close(&s);
}

static int n_refused;

static void refuse_statuses(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                            struct world *w SW_UNUSED)
{
    if (!sw_streq(req->subresource, "status") || !sw_streq(req->resource, "specialresources"))
        return;
    n_refused++;
    fault->type = SW_FAULT_ERROR;
    fault->code = 403;
}

static size_t n_events_of(struct world *w, const char *reason)
{
    SW_AUTO_JSON *list = json_object_get(world_get(w, "v1", "Event", NULL, NULL));
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        n += sw_streq(sw_json_str(sw_json_at(list, i), "", "reason", NULL), reason);
    return n;
}

static void a_status_that_cannot_be_written_is_told_once(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, map);
    sro_until(&s.w, "r", "Ready", NULL);
    n_refused = 0;
    s.w.on_request = refuse_statuses;
    assert_int_equal(world_delete(&s.w, "v1", "ConfigMap", "r", "c"), 0);
    world_wait(&s.w, 30 * 60000);
    assert_true(n_refused > 1);
    assert_int_equal(n_events_of(&s.w, "StatusNotWritten"), 1);
    s.w.on_request = NULL;
    world_wait(&s.w, 30 * 60000);
    assert_int_equal(n_events_of(&s.w, "StatusNotWritten"), 1);
    assert_non_null(world_get(&s.w, "v1", "ConfigMap", "r", "c"));
    scene_close(&s);
}

/* What was applied is written down: nothing has to be rendered to take it away. */
static void a_broken_recipe_can_be_deleted(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, map);
    sro_until(&s.w, "r", "Ready", NULL);
    assert_int_equal(world_patch(&s.w, SR_VERSION, "SpecialResource", NULL, "r", NULL,
                                 "{\"spec\":{\"chart\":{\"repository\":{\"url\":"
                                 "\"file:///nowhere\"}}}}"),
                     0);
    sro_until(&s.w, "r", "Errored", NULL);
    sro_delete(&s.w, "r");
    assert_null(world_get(&s.w, "v1", "ConfigMap", "r", "c"));
    scene_close(&s);
}

/* ---- a recipe in a ConfigMap -------------------------------------------------------------------
 */

#define RECIPE                                                                                     \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"recipe\","             \
    "\"namespace\":\"default\"},\"data\":{"                                                        \
    "\"0000-a.yaml\":\"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\ndata: {v: '1'}\"," \
    "\"1000-b.yaml\":\"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: b}\\ndata: {v: '1'}\"," \
    "\"2000-c.yaml\":\"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: c}\\ndata: {v: '1'}\""  \
    "}}"
#define RESOURCE                                                                                   \
    "{\"apiVersion\":\"" SR_VERSION "\",\"kind\":\"SpecialResource\",\"metadata\":{\"name\":"      \
    "\"r\"},\"spec\":{\"namespace\":\"r\",\"chart\":{\"name\":\"recipe\",\"version\":\"0.0.1\","   \
    "\"repository\":{\"name\":\"x\",\"url\":\"cm://default/recipe\"}}}}"

static const char *version_of(struct world *w, const char *name)
{
    return sw_json_str(world_get(w, "v1", "ConfigMap", "r", name), "", "metadata",
                       "resourceVersion", NULL);
}

static bool b_is_new(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *b = world_get(w, "v1", "ConfigMap", "r", "b");
    return sw_streq(sw_json_str(b, "", "data", "v", NULL), "2");
}

static size_t n_applies;

static void count_applies(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                          struct world *w SW_UNUSED)
{
    n_applies += sw_streq(req->verb, "patch") && strstr(req->path, "/namespaces/r/configmaps/") &&
                 !strstr(req->path, "sh.helm");
}

static void editing_one_file_walks_only_what_changed(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "other", { "templates/0000-map.yaml", map });
    world_open(&w);
    sro_run(&w, dir); /* installs the definitions */
    sro_until(&w, "other", "Ready", NULL);
    assert_int_equal(world_create(&w, RECIPE), 0);
    assert_int_equal(world_create(&w, RESOURCE), 0);
    w.name = "r";
    sro_until(&w, "r", "Ready", NULL);
    SW_AUTO_CHARS *a = sw_strdup(version_of(&w, "a"));
    SW_AUTO_CHARS *c = sw_strdup(version_of(&w, "c"));
    world_wait(&w, 60000);
    w.on_request = count_applies;
    n_applies = 0;
    assert_int_equal(world_patch(&w, "v1", "ConfigMap", "default", "recipe", NULL,
                                 "{\"data\":{\"1000-b.yaml\":\"apiVersion: v1\\nkind: "
                                 "ConfigMap\\nmetadata: {name: b}\\ndata: {v: '2'}\"}}"),
                     0);
    assert_true(world_until(&w, b_is_new, NULL, 60000));
    sro_until(&w, "r", "Ready", NULL);
    assert_int_equal(n_applies, 1);
    assert_string_equal(version_of(&w, "a"), a);
    assert_string_equal(version_of(&w, "c"), c);
    world_close(&w);
    chart_remove(root);
}

static size_t n_specs;

static void count_specs(const char *line, size_t len SW_UNUSED, void *arg SW_UNUSED)
{
    n_specs += strstr(line, "\"kind\":\"spec\"") != NULL;
}

static void writing_its_status_is_no_change_of_a_resource(void **state)
{
    (void)state;
    struct world w = { .name = "r" };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "r", { "templates/0000-map.yaml", map });
    const struct sw_engine_opts engine = { 0 };
    struct sw_recording *recording = sw_recording_new(&(struct sw_recording_opts){
        .version = "1", .salt = "s", .engine = &engine, .write = count_specs });
    world_open(&w);
    sro_apply(&w, dir);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "r", NULL,
                                 "{\"spec\":{\"namespace\":\"\"}}"),
                     0);
    n_specs = 0;
    w.controller = sw_controller_open(w.conn.loop, w.conn.kube,
                                      &(struct sw_controller_opts){ .recording = recording });
    sro_until(&w, "r", "Ready", NULL);
    world_wait(&w, 60000);
    assert_int_equal(n_specs, 1);
    world_close(&w);
    sw_recording_free(recording);
    chart_remove(root);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_failed_job_names_container_exit_code_and_log),
        TEST(a_crashing_daemonset_names_pod_node_and_log),
        TEST(pods_that_are_refused_are_told),
        TEST(a_pod_that_lacks_a_secret_names_it),
        TEST(what_is_ready_awaits_nothing),
        TEST(waiting_writes_and_logs_nothing),
        TEST(what_fails_again_is_told_once_a_run),
        TEST(a_status_whose_answer_was_lost_is_written_again),
        TEST(a_status_that_cannot_be_written_is_told_once),
        TEST(a_broken_recipe_can_be_deleted),
        TEST(editing_one_file_walks_only_what_changed),
        TEST(writing_its_status_is_no_change_of_a_resource),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
