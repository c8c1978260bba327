/* The long-running controller and `status` as processes of their own, against the cluster of this
 * one. */
#include "run_child.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define KMOD SW_SOURCE_DIR "/charts/example/simple-kmod"

static char config[] = "/tmp/run_operator_test.XXXXXX";

/* ---- processes ---------------------------------------------------------------------------------
 */

static char *stop_child(struct world *w, struct child *c)
{
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    return end_of(w, c, 0);
}

struct wanted {
    struct child *child;
    const char *text;
};

static bool has_said(struct world *w SW_UNUSED, void *arg)
{
    struct wanted *wanted = arg;
    SW_AUTO_CHARS *text = said(wanted->child);
    return strstr(text, wanted->text);
}

static void until_said(struct world *w, struct child *c, const char *text)
{
    struct wanted wanted = { c, text };
    for (int i = 0; i < 3000 && !has_said(w, &wanted); i++)
        sw_loop_step(w->conn.loop, 10);
    if (!has_said(w, &wanted))
        fail_msg("it never said '%s'", text);
}

/* ---- the world ---------------------------------------------------------------------------------
 */

static void open_world(struct world *w)
{
    w->real_clock = true;
    world_open_with(w, &(struct sw_emulator_opts){ 0 });
    write_config(w, config);
}

static void close_world(struct world *w)
{
    (void)unlink(config);
    world_close(w);
}

static bool cluster_says_ready(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *sr = world_get(w, "sro.openshift.io/v1beta1", "SpecialResource", NULL,
                                       "simple-kmod");
    return sw_streq(sw_json_str(sw_obj_condition(sr, "Ready"), "", "status", NULL), "True");
}

static void until_ready(struct world *w)
{
    for (int i = 0; i < 3000 && !cluster_says_ready(w, NULL); i++)
        sw_loop_step(w->conn.loop, 10);
    assert_true(cluster_says_ready(w, NULL));
}

/* A port that was free a moment ago. */
static int free_port(void)
{
    struct sockaddr_in addr = { .sin_family = AF_INET };
    socklen_t len = sizeof addr;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    (void)close(fd);
    return ntohs(addr.sin_port);
}

/* GET @path from the controller's port; heap. */
static char *ask(int port, const char *path)
{
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char *text = sw_zalloc(1, 65536);
    size_t len = 0;
    ssize_t n;
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0) {
        (void)dprintf(fd, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
        while (len < 65535 && (n = read(fd, text + len, 65535 - len)) > 0)
            len += (size_t)n;
    }
    (void)close(fd);
    return text;
}

static void assert_has(const char *text, const char *want)
{
    if (!strstr(text, want))
        fail_msg("no '%s' in: %s", want, text);
}

/* ---- scenarios ---------------------------------------------------------------------------------
 */

static void controller_walks_serves_and_stops(void **state)
{
    (void)state;
    struct world w = { 0 };
    open_world(&w);
    world_apply(&w, &(struct sw_resource_opts){ .recipe = KMOD });
    int metrics = free_port(), health = free_port();
    SW_AUTO_CHARS *m = sw_printf("127.0.0.1:%d", metrics);
    SW_AUTO_CHARS *h = sw_printf("127.0.0.1:%d", health);
    assert_int_equal(setenv("RELEASE_VERSION", "4.12.0", 1), 0);
    struct child c = START("controller", "--allowed-files", "/", "--kubeconfig", config,
                           "--metrics-addr", m, "--health-probe-bind-address", h);
    until_ready(&w);
    SW_AUTO_CHARS *healthz = ask(health, "/healthz");
    SW_AUTO_CHARS *readyz = ask(health, "/readyz");
    SW_AUTO_CHARS *none = ask(health, "/nothing");
    SW_AUTO_CHARS *text = ask(metrics, "/metrics");
    assert_has(healthz, "200 OK");
    assert_has(readyz, "200 OK");
    assert_has(none, "404");
    assert_has(text, "\nsro_managed_resources_total 1\n");
    assert_has(text, "release=\"4.12.0\"} 1\n");
    (void)unsetenv("RELEASE_VERSION");
    assert_has(text, "sro_states_completed_info{specialresource=\"simple-kmod\","
                     "state=\"templates/1000-driver-container.yaml\"} 1\n");
    assert_has(text, "\nsro_used_nodes{cr=\"simple-kmod\",kind=\"DaemonSet\",name=\"simple-kmod");
    assert_has(text, "sro_kind_completed_info{specialresource=\"simple-kmod\",kind=\"DaemonSet\","
                     "name=\"simple-kmod-driver-container\",namespace=\"simple-kmod\"} 1\n");
    assert_has(text, "kind=\"Namespace\",name=\"simple-kmod\",namespace=\"\"} 1\n");
    assert_has(text,
               "\nslipway_used_nodes{cr=\"simple-kmod\",kind=\"DaemonSet\",name=\"simple-kmod");
    assert_has(text, "\nsro_upgrade_alert{cr=\"simple-kmod\"} 0\n");
    assert_has(text, "kind=\"DaemonSet\"");
    struct json_object *sr = world_get(&w, "sro.openshift.io/v1beta1", "SpecialResource", NULL,
                                       "simple-kmod");
    assert_string_equal(sw_json_str(sr, "", "status", "state", NULL), "Ready: ");
    struct json_object *finalizers = sw_json_find(sr, "metadata", "finalizers", NULL);
    assert_string_equal(json_object_get_string(sw_json_at(finalizers, 0)),
                        "sro.openshift.io/finalizer");
    SW_AUTO_CHARS *log = stop_child(&w, &c);
    assert_has(log, "stopping");
    close_world(&w);
}

static void status_reads_what_the_cluster_says(void **state)
{
    (void)state;
    struct world w = { 0 };
    open_world(&w);
    struct child before = START("status", "--kubeconfig", config);
    SW_AUTO_CHARS *unserved = end_of(&w, &before, 2);
    assert_has(unserved, "slipway is not installed in this cluster");
    world_run(&w, "charts/example/simple-kmod");
    until_ready(&w);
    struct child table = START("status", "simple-kmod", "--kubeconfig", config);
    SW_AUTO_CHARS *text = end_of(&w, &table, 0);
    assert_has(text, "simple-kmod  Ready");
    assert_has(text, "all");
    struct child json = START("status", "simple-kmod", "-o", "json", "--kubeconfig", config);
    SW_AUTO_CHARS *doc = end_of(&w, &json, 0);
    assert_has(doc, "\"phase\": \"Ready\"");
    struct child none = START("status", "other", "--kubeconfig", config);
    SW_AUTO_CHARS *missing = end_of(&w, &none, 2);
    assert_has(missing, "'other'");
    close_world(&w);
}

static size_t n_object_writes;

static void count_object_writes(const struct sw_emu_request *req,
                                struct sw_emu_fault *fault SW_UNUSED, struct world *w SW_UNUSED)
{
    bool reads = sw_streq(req->verb, "get") || sw_streq(req->verb, "list") ||
                 sw_streq(req->verb, "watch");
    bool is_own = sw_streq(req->resource, "specialresources") || /* the Lease of the run */
                  sw_streq(req->resource, "leases");
    n_object_writes += !reads && !is_own;
}

static void second_run_finds_all_done(void **state)
{
    (void)state;
    struct world w = { .on_request = count_object_writes };
    open_world(&w);
    struct child first = START("run", KMOD, "--kubeconfig", config);
    SW_AUTO_CHARS *text = end_of(&w, &first, 0);
    assert_has(text, "StateStarted");
    assert_true(n_object_writes > 5);
    n_object_writes = 0;
    struct child second = START("run", KMOD, "--kubeconfig", config);
    SW_AUTO_CHARS *again = end_of(&w, &second, 0);
    assert_null(strstr(again, "StateStarted"));
    assert_has(again, "simple-kmod: Ready");
    assert_int_equal(n_object_writes, 0);
    close_world(&w);
}

/* The program by another name, with other flags, until it has said @said; what it said, the
 * caller's. */
static char *say_as(struct world *w, const char *other_name, const char *const *flags,
                    const char *said)
{
    const char *program = getenv("SLIPWAY");
    char dir[] = "/tmp/run_operator_test.XXXXXX", name[64];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(name, sizeof name, "%s/%s", dir, other_name);
    assert_int_equal(symlink(program ? program : SW_SOURCE_DIR "/build/test/slipway", name), 0);
    const char *argv[8] = { name };
    for (size_t i = 0; flags[i]; i++)
        argv[i + 1] = flags[i];
    struct child c = { .out = tmpfile() };
    c.pid = fork();
    if (c.pid == 0) {
        (void)dup2(fileno(c.out), 1);
        (void)dup2(fileno(c.out), 2);
        (void)execv(name, (char **)argv);
        _exit(127);
    }
    until_said(w, &c, said);
    char *log = stop_child(w, &c);
    (void)unlink(name);
    (void)rmdir(dir);
    return log;
}

/* SRO's Deployment starts /manager with its own flags, DAS's das-operator operator. */
static void program_works_under_the_names_and_flags_of_others(void **state)
{
    const char *const sro[] = { "--metrics-addr=127.0.0.1:0",
                                "--enable-leader-election",
                                "--health-probe-bind-address=0",
                                "--kubeconfig",
                                config,
                                NULL };
    const char *const das[] = { "operator",
                                "--metrics-bind-address=0",
                                "--health-probe-bind-address=0",
                                "--kubeconfig",
                                config,
                                NULL };
    (void)state;
    struct world w = { 0 };
    open_world(&w);
    SW_AUTO_CHARS *manager = say_as(&w, "manager", sro, "leading");
    assert_non_null(
        world_get(&w, "coordination.k8s.io/v1", "Lease", "default", "b6ae617b.openshift.io"));
    /* there are no definitions yet */
    SW_AUTO_CHARS *worker = say_as(&w, "das-operator", das, "the controller cannot work");
    close_world(&w);
}

static void next_leader_takes_over_when_one_stops(void **state)
{
    (void)state;
    struct world w = { 0 };
    open_world(&w);
    assert_int_equal(setenv("POD_NAME", "one", 1), 0);
    struct child one = START("controller", "--allowed-files", "/", "--kubeconfig", config,
                             "--leader-elect", "--metrics-bind-address", "0",
                             "--health-probe-bind-address", "0");
    until_said(&w, &one, "leading");
    assert_int_equal(setenv("POD_NAME", "two", 1), 0);
    struct child two = START("controller", "--allowed-files", "/", "--kubeconfig", config,
                             "--leader-elect", "--metrics-bind-address", "0",
                             "--health-probe-bind-address", "0");
    until_said(&w, &two, "leader identity=one");
    SW_AUTO_CHARS *first = stop_child(&w, &one);
    assert_has(first, "not leading any more");
    until_said(&w, &two, "leading");
    world_apply(&w, &(struct sw_resource_opts){ .recipe = KMOD });
    until_ready(&w);
    SW_AUTO_CHARS *second = stop_child(&w, &two);
    (void)unsetenv("POD_NAME");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controller_walks_serves_and_stops),
        cmocka_unit_test(status_reads_what_the_cluster_says),
        cmocka_unit_test(second_run_finds_all_done),
        cmocka_unit_test(program_works_under_the_names_and_flags_of_others),
        cmocka_unit_test(next_leader_takes_over_when_one_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
