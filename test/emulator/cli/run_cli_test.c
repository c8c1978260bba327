/* `slipway run` as its users meet it: what it prints, where, and what it ends with. */
#include "data/data.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- running it --------------------------------------------------------------------------------
 */

struct outcome {
    int exit; /* -signal where one ended it */
    char *out, *err;
};

static void outcome_done(struct outcome *o)
{
    free(o->out);
    free(o->err);
}
#define OUTCOME __attribute__((cleanup(outcome_done))) struct outcome

static char *read_back(FILE *f)
{
    long len = ftell(f);
    char *text = sw_zalloc((size_t)len + 1, 1);
    rewind(f);
    assert_int_equal(fread(text, 1, (size_t)len, f), (size_t)len);
    (void)fclose(f);
    return text;
}

static pid_t start(char *const *argv, FILE *out, FILE *err)
{
    const char *program = getenv("SLIPWAY");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(fileno(out), 1);
        (void)dup2(fileno(err), 2);
        (void)unsetenv("KUBECONFIG");
        (void)execv(program ? program : SW_SOURCE_DIR "/build/test/slipway", argv);
        _exit(127);
    }
    return pid;
}

static struct outcome finish(pid_t pid, FILE *out, FILE *err)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)fseek(out, 0, SEEK_END);
    (void)fseek(err, 0, SEEK_END);
    return (struct outcome){ WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                             read_back(out), read_back(err) };
}

static struct outcome slipway(char *const *argv)
{
    FILE *out = tmpfile(), *err = tmpfile();
    assert_true(out && err);
    return finish(start(argv, out, err), out, err);
}
#define SLIPWAY(...) slipway((char *const[]){ "slipway", __VA_ARGS__, NULL })
#define KMOD SW_SOURCE_DIR "/charts/example/simple-kmod"
#define MIG SW_SOURCE_DIR "/recipes/nvidia-mig"

static void assert_has(const char *text, const char *want)
{
    if (!strstr(text, want))
        fail_msg("no '%s' in: %s", want, text);
}

static struct json_object *parse(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s in: %s", sw_err_text(&err), text);
    return doc;
}

/* ---- a recipe in a folder of its own -----------------------------------------------------------
 */

static char dir[] = "/tmp/run_cli_test.XXXXXX";
static char *recipe;

static void put(const char *name, const char *text)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", recipe, name);
    SW_ERR(err);
    if (sw_file_write(path, text, strlen(text), &err) < 0)
        fail_msg("%s", sw_err_text(&err));
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    recipe = sw_printf("%s/mod", dir);
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", recipe);
    return mkdir(recipe, 0755) || mkdir(templates, 0755);
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = { "Chart.yaml", "templates/0000-a.yaml", "templates", "" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", recipe, names[i]);
        (void)remove(path);
    }
    free(recipe);
    return rmdir(dir);
}

#define CHART "apiVersion: v2\nname: mod\nversion: 1.0.0\n"

/* ---- what it prints ----------------------------------------------------------------------------
 */

static void document_is_alone_on_stdout(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n_needs;
    } want[] = { { "cert-manager.cert-manager", 0 },
                 { "cert-manager", 1 },
                 { "nfd.node-feature-discovery", 0 },
                 { "nfd", 1 },
                 { "gpu-operator.gpu-operator", 1 },
                 { "gpu-operator", 1 },
                 { "webhook", 1 },
                 { "scheduler", 1 },
                 { "dra-driver", 3 },
                 { "validation", 1 } };
    OUTCOME o = SLIPWAY("run", MIG, "--emulate", "--delays", "0", "-o", "json");
    assert_non_null(strstr(o.err, "stand-ins of the emulator"));
    assert_null(strchr(strchr(o.err, '\n') + 1, '\n')); /* and no other line */
    assert_int_equal(o.exit, 0);
    SW_AUTO_JSON *doc = parse(o.out);
    assert_string_equal(sw_json_str(doc, "", "name", NULL), "nvidia-mig");
    assert_string_equal(sw_json_str(doc, "", "phase", NULL), "Ready");
    struct json_object *states = sw_json_get(doc, "states");
    assert_int_equal(sw_json_len(states), SW_COUNT(want));
    for (size_t i = 0; i < SW_COUNT(want); i++) {
        struct json_object *s = sw_json_find_by(states, "name", want[i].name);
        assert_string_equal(sw_json_str(s, "", "phase", NULL), "Ready");
        assert_int_equal(sw_json_len(sw_json_get(s, "needs")), want[i].n_needs);
        assert_int_equal(sw_json_int(s, -1, "objects", "ready", NULL),
                         sw_json_int(s, -2, "objects", "total", NULL));
        assert_true(*sw_json_str(s, "", "startedAt", NULL));
        assert_true(*sw_json_str(s, "", "readyAt", NULL));
    }
    struct json_object *nodes = sw_json_get(doc, "nodes");
    size_t n_validated = 0;
    assert_int_equal(sw_json_len(nodes), 5);
    for (size_t i = 0; i < 5; i++)
        n_validated += sw_streq(
            sw_json_str(sw_json_at(nodes, i), "", "labels",
                        "specialresource.openshift.io/state-nvidia-mig-validation", NULL),
            "Ready");
    assert_true(n_validated >= 3);
}

static void events_are_plain_lines(void **state)
{
    (void)state;
    OUTCOME o = SLIPWAY("run", KMOD, "--emulate", "--delays", "0");
    assert_string_equal(o.err, "");
    assert_int_equal(o.exit, 0);
    assert_null(strchr(o.out, '\033'));
    assert_has(o.out, "StateReady: state 0000");
    assert_has(o.out, "StateReady: state 1000");
    size_t len = strlen(o.out);
    const char *last = "simple-kmod: Ready\n";
    assert_true(len > strlen(last));
    assert_string_equal(o.out + len - strlen(last), last);
}

static void kubernetes_without_openshift_walks_too(void **state)
{
    (void)state;
    OUTCOME o = SLIPWAY("run", KMOD, "--emulate", "--delays", "0", "--platform", "kubernetes");
    assert_string_equal(o.err, "");
    assert_int_equal(o.exit, 0);
}

static void chart_of_sro_walks_with_its_values(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    SW_AUTO_CHARS *chart = sw_printf("%s/charts/simple-kmod", shared);
    SW_AUTO_CHARS *values = sw_printf("%s/goldens/recipe/values.yaml", chart);
    OUTCOME o = SLIPWAY("run", chart, "-f", values, "--emulate", "--delays", "0", "-o", "json");
    assert_string_equal(o.err, "");
    assert_int_equal(o.exit, 0);
    SW_AUTO_JSON *doc = parse(o.out);
    assert_string_equal(sw_json_str(doc, "", "phase", NULL), "Ready");
}

/* ---- how it ends -------------------------------------------------------------------------------
 */

static void timeout_exits_3_and_says_where_it_stood(void **state)
{
    (void)state;
    put("Chart.yaml", CHART);
    put("templates/0000-a.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: slow\n  annotations: {"
        "specialresource.openshift.io/wait: \"true\"}\nspec:\n  selector: {matchLabels: {a: b}}\n"
        "  template:\n    metadata: {labels: {a: b}}\n    spec:\n      nodeSelector: {no: where}\n"
        "      containers: [{name: c, image: quay.io/x/y:1}]\n");
    OUTCOME o = SLIPWAY("run", recipe, "--emulate", "--delays", "0", "--timeout", "5s");
    assert_int_equal(o.exit, 3);
    assert_has(o.err, "mod timed out");
    assert_has(o.err, "state '0000'");
    assert_has(o.err, "Deployment mod/slow");
    OUTCOME j = SLIPWAY("run", recipe, "--emulate", "--delays", "0", "--timeout", "5s", "-o",
                        "json");
    assert_int_equal(j.exit, 3);
    SW_AUTO_JSON *doc = parse(j.out);
    assert_has(sw_json_str(doc, "", "message", NULL), "Deployment mod/slow");
}

static void failure_exits_1_and_names_the_object(void **state)
{
    (void)state;
    put("Chart.yaml", CHART);
    put("templates/0000-a.yaml",
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: bad\n  annotations: {"
        "specialresource.openshift.io/wait: \"true\", helm.sh/readiness-success: '[\"{.x} == y\"]',"
        " helm.sh/readiness-failure: '[\"{.active} == 1\", \"{.succeeded} == 1\"]'}\nspec:\n"
        "  template:\n    spec:\n      restartPolicy: Never\n"
        "      containers: [{name: c, image: quay.io/x/y:1}]\n");
    OUTCOME o = SLIPWAY("run", recipe, "--emulate", "--delays", "0", "--timeout", "20s");
    assert_int_equal(o.exit, 1);
    assert_has(o.err, "mod failed");
    assert_has(o.err, "state '0000'");
    assert_has(o.err, "Job mod/bad");
}

static void interrupt_ends_it_cleanly(void **state)
{
    (void)state;
    put("Chart.yaml", CHART);
    put("templates/0000-a.yaml",
        "apiVersion: x.example.com/v1\nkind: Never\nmetadata: {name: a}\n");
    FILE *out = tmpfile(), *err = tmpfile();
    char *const argv[] = { "slipway", "run", recipe, "--emulate", NULL };
    pid_t pid = start(argv, out, err);
    while (ftell(out) == 0) { /* until it has said something: then it listens to signals */
        (void)usleep(10000);
        (void)fseek(out, 0, SEEK_END);
        if (waitpid(pid, NULL, WNOHANG) != 0)
            fail_msg("it ended by itself");
    }
    assert_int_equal(kill(pid, SIGINT), 0);
    OUTCOME o = finish(pid, out, err);
    assert_int_equal(o.exit, 128 + SIGINT);
    assert_has(o.err, "mod interrupted");
}

static void bad_input_gets_one_clear_message(void **state)
{
    (void)state;
    static const struct {
        const char *chart, *template;
        int exit;
        const char *want;
    } cases[] = {
        { "name: [", "", 2, "Chart.yaml" },
        { "apiVersion: v2\nversion: 1.0.0\n", "", 2, "name" },
        { CHART, "a: {{ .Values.x.y.z }\n", 2, "0000-a.yaml:1" },
        { CHART, "ok: 1\n---\nx: {{ fail \"no luck\" }}\n", 2, "no luck" },
        { CHART, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: [}\n", 2,
          "0000-a.yaml:4" },
        { CHART, "apiVersion: v1\nmetadata: {name: a}\n", 2, "kind" },
        { CHART, "kind: ConfigMap\nmetadata: {name: a}\n", 2, "apiVersion" },
        { CHART, "apiVersion: v1\nkind: ConfigMap\n", 2, "name" },
        { CHART, "apiVersion: nothing.example.com/v1\nkind: Never\nmetadata: {name: a}\n", 3,
          "nothing.example.com" },
        { CHART, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: 7}\n", 1,
          "Service mod/a" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        put("Chart.yaml", cases[i].chart);
        put("templates/0000-a.yaml", cases[i].template);
        OUTCOME o = SLIPWAY("run", recipe, "--emulate", "--delays", "0", "--timeout",
                            cases[i].exit == 3 ? "5s" : "20s");
        if (o.exit != cases[i].exit)
            fail_msg("case %zu: exit %d: %s", i, o.exit, o.err);
        assert_has(o.err, cases[i].want);
    }
}

static void what_cannot_begin_exits_2(void **state)
{
    (void)state;
    OUTCOME none = SLIPWAY("run", "/nonexistent/recipe", "--emulate");
    assert_int_equal(none.exit, 2);
    assert_has(none.err, "/nonexistent/recipe");
    OUTCOME delays = SLIPWAY("run", KMOD, "--emulate", "--delays", "often");
    assert_int_equal(delays.exit, 2);
    assert_has(delays.err, "--delays: 'often'");
    OUTCOME nodes = SLIPWAY("run", KMOD, "--emulate", "--nodes", "1");
    assert_int_equal(nodes.exit, 2);
    OUTCOME config = SLIPWAY("run", KMOD, "--kubeconfig", "/nonexistent/config");
    assert_int_equal(config.exit, 2);
    assert_has(config.err, "/nonexistent/config");
    OUTCOME set = SLIPWAY("run", KMOD, "--emulate", "--set", "a[");
    assert_int_equal(set.exit, 2);
}

static void server_that_is_down_is_said_once(void **state)
{
    (void)state;
    SW_AUTO_CHARS *config = sw_printf("%s/config", dir);
    const char *text = "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                       "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\n"
                       "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                       "users: [{name: u, user: {}}]\n";
    SW_ERR(err);
    assert_int_equal(sw_file_write(config, text, strlen(text), &err), 0);
    OUTCOME o = SLIPWAY("run", KMOD, "--kubeconfig", config, "--timeout", "2s");
    (void)unlink(config);
    assert_int_equal(o.exit, 3);
    const char *first = strstr(o.err, "127.0.0.1:1");
    assert_non_null(first);
    assert_has(o.err, "trying again");
    assert_null(strstr(strstr(o.err, "trying again") + 1, "trying again"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_is_alone_on_stdout),
        cmocka_unit_test(events_are_plain_lines),
        cmocka_unit_test(kubernetes_without_openshift_walks_too),
        cmocka_unit_test(chart_of_sro_walks_with_its_values),
        cmocka_unit_test(timeout_exits_3_and_says_where_it_stood),
        cmocka_unit_test(failure_exits_1_and_names_the_object),
        cmocka_unit_test(interrupt_ends_it_cleanly),
        cmocka_unit_test(bad_input_gets_one_clear_message),
        cmocka_unit_test(what_cannot_begin_exits_2),
        cmocka_unit_test(server_that_is_down_is_said_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
