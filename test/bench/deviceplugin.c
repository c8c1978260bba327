/* slipway-device-plugin: how long Allocate takes besides NVML (GPUs are made up), and how much
 * memory the process has at rest. API server and kubelet are played here, the plugin is a process
 * of its own. One JSON object a line.
 *
 *     deviceplugin [PROGRAM] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "net/grpc/grpc.h"
#include "process.h"

enum { N_RESOURCES = 7, N_ROUNDS = 20, N_AT_ONCE = 7, SETTLED_S = 7 };

static const char crd[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/"
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"
    "{\"name\":\"%s.inference.redhat.com\"},\"spec\":{\"group\":\"inference.redhat.com\",\"scope\":"
    "\"Namespaced\",\"names\":{\"kind\":\"%s\",\"plural\":\"%s\"},\"versions\":[{\"name\":"
    "\"v1alpha1\","
    "\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{"
    "\"openAPIV3Schema\":"
    "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";
#define CLAIMS "/apis/inference.redhat.com/v1alpha1/namespaces/das-operator/allocationclaims"

static struct sw_loop *loop;
static struct sw_kube *kube;
static char dir[] = "/tmp/slipway-bench-XXXXXX";
static int n_registered;
static char *answer; /* of the last request */
static int answer_code;
static bool answered;

static void die(const char *what)
{
    (void)fprintf(stderr, "deviceplugin: %s\n", what);
    exit(1);
}

/* ---- the API server ----------------------------------------------------------------------------
 */

static void on_answer(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    free(answer);
    answer = sw_strdup(a->text ? a->text : "");
    answer_code = a->code;
    answered = true;
}

static struct json_object *ask(const char *method, const char *path, const char *body)
{
    answered = false;
    const bool patch = strcmp(method, "PATCH") == 0;
    (void)sw_kube_raw(
        kube, method, path,
        &(struct sw_request_opts){ .body = body,
                                   .content_type = patch ? "application/merge-patch+json" : NULL },
        on_answer, NULL);
    while (!answered)
        sw_loop_step(loop, 1000);
    struct json_object *doc = NULL;
    (void)!sw_json_parse(answer, strlen(answer), NULL, &doc, NULL);
    return doc;
}

static void make(const char *path, char *body)
{
    SW_AUTO_JSON *doc = ask("POST", path, body);
    if (answer_code < 0)
        die(answer);
    free(body);
}

static void start_cluster(struct sw_emulator **emu)
{
    SW_ERR(err);
    if (sw_emulator_open(loop,
                         &(struct sw_emulator_opts){ .no_nodes = true, .no_controllers = true },
                         emu, &err) < 0)
        die(sw_err_text(&err));
    struct sw_kube_config *config = sw_kube_config_new(sw_emulator_url(*emu));
    SW_AUTO_CHARS *file = sw_printf("%s/kubeconfig", dir);
    SW_AUTO_CHARS *text = sw_kubeconfig_text(config, "bench");
    if (sw_file_write(file, text, strlen(text), &err) < 0 ||
        sw_kube_new(loop, config, NULL, &kube, &err) < 0)
        die(sw_err_text(&err));
    sw_kube_config_free(config);
    make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         sw_printf(crd, "allocationclaims", "AllocationClaim", "allocationclaims"));
    make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         sw_printf(crd, "nodeaccelerators", "NodeAccelerator", "nodeaccelerators"));
    make("/api/v1/namespaces", sw_strdup("{\"metadata\":{\"name\":\"das-operator\"}}"));
    make("/api/v1/nodes", sw_strdup("{\"metadata\":{\"name\":\"node\"}}"));
}

/* ---- kubelet -----------------------------------------------------------------------------------
 */

static void serve_register(struct sw_grpc_call *call, const uint8_t *message SW_UNUSED,
                           size_t len SW_UNUSED, void *arg SW_UNUSED)
{
    n_registered++;
    sw_grpc_call_send(call, NULL, 0);
    sw_grpc_call_end(call, SW_GRPC_OK, NULL);
}

static const struct sw_grpc_method methods[] = { { "/v1beta1.Registration/Register",
                                                   serve_register } };

static bool done;
static int status;
static void on_done(int s, const char *words, void *arg SW_UNUSED)
{
    status = s;
    done = true;
    if (s != SW_GRPC_OK)
        die(words);
}

/* AllocateRequest with one id */
static double allocate(int i)
{
    char id[32], m[64];
    const int n = snprintf(id, sizeof id, "1g.5gb-%d", i);
    const int len = snprintf(m, sizeof m, "\n%c\n%c%s", n + 2, n, id);
    SW_AUTO_CHARS *socket = sw_printf("%s/kubelet/device-plugins/mig.das.com_1g.5gb.sock", dir);
    const double began = now_s();
    done = false;
    (void)sw_grpc_request_start(
        loop, &(struct sw_grpc_request_opts){ .socket = socket,
                                              .path = "/v1beta1.DevicePlugin/Allocate",
                                              .message = (uint8_t *)m,
                                              .len_bytes = (size_t)len,
                                              .timeout_ms = 20000,
                                              .on_done = on_done });
    while (!done)
        sw_loop_step(loop, 1000);
    return now_s() - began;
}

/* ---- the plugin --------------------------------------------------------------------------------
 */

static pid_t start_plugin(const char *program)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    SW_AUTO_CHARS *kubeconfig = sw_printf("--kubeconfig=%s/kubeconfig", dir);
    SW_AUTO_CHARS *kubelet = sw_printf("--kubelet-dir=%s/kubelet", dir);
    SW_AUTO_CHARS *cdi = sw_printf("--cdi-dir=%s/cdi", dir);
    SW_AUTO_CHARS *journal = sw_printf("--journal-dir=%s/journal", dir);
    (void)execl(program, program, "--node-name=node", "--emulated-mode", "--log-level=warn",
                "--health-probe-bind-address=127.0.0.1:0", kubeconfig, kubelet, cdi, journal, NULL);
    _exit(127);
}

static char *gpu_uuid(void)
{
    for (;;) {
        SW_AUTO_JSON *a = ask(
            "GET",
            "/apis/inference.redhat.com/v1alpha1/namespaces/das-operator/nodeaccelerators/node",
            NULL);
        const char *uuid = sw_json_str(
            sw_json_at(sw_json_find(a, "status", "nodeResources", "nodeGpus", NULL), 0), "",
            "gpuUuid", NULL);
        if (*uuid)
            return sw_strdup(uuid);
        sw_loop_step(loop, 20);
    }
}

static void one_pod(int i, int start, const char *gpu)
{
    SW_AUTO_CHARS *path = sw_printf(CLAIMS "/c%d/status", i);
    SW_AUTO_JSON *pod = NULL, *state = NULL;
    SW_AUTO_CHARS *body = sw_printf(
        "{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"nodeName\":\"node\",\"containers\":[{"
        "\"name\":\"c\","
        "\"image\":\"x\",\"resources\":{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"}}}]}}",
        i);
    pod = ask("POST", "/api/v1/namespaces/default/pods", body);
    make(CLAIMS,
         sw_printf(
             "{\"apiVersion\":\"inference.redhat.com/v1alpha1\",\"kind\":\"AllocationClaim\","
             "\"metadata\":{\"name\":\"c%d\",\"labels\":{\"slipway.dev/"
             "node\":\"node\"}},\"spec\":{\"profile\":\"1g.5gb\",\"nodename\":"
             "\"node\",\"gpuUUID\":\"%s\",\"migPlacement\":{\"start\":%d,\"size\":1},\"podRef\":"
             "{\"namespace\":\"default\",\"name\":\"p%d\",\"uid\":\"%s\"}}}",
             i, gpu, start, i, sw_obj_uid(pod)));
    state = ask("PATCH", path, "{\"status\":{\"state\":\"created\"}}");
}

int main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN);
    sw_log_set_level(SW_LOG_ERROR);
    if (!mkdtemp(dir))
        return 1;
    SW_AUTO_CHARS *clean = sw_printf("rm -r %s", dir),
                  *sub = sw_printf("mkdir -p %s/kubelet/device-plugins", dir);
    if (system(sub) != 0)
        return 1;
    loop = sw_loop_new(NULL);
    struct sw_emulator *emu = NULL;
    struct sw_grpc_server *kubelet = NULL;
    start_cluster(&emu);
    SW_AUTO_CHARS *socket = sw_printf("%s/kubelet/device-plugins/kubelet.sock", dir);
    if (sw_grpc_server_open(
            loop,
            &(struct sw_grpc_server_opts){ .socket = socket, .methods = methods, .n_methods = 1 },
            &kubelet, NULL) < 0)
        return 1;
    const pid_t pid = start_plugin(argc > 1 ? argv[1] : "build/slipway-device-plugin");
    const double end = now_s() + 20;
    while (n_registered < N_RESOURCES && now_s() < end)
        sw_loop_step(loop, 100);
    SW_AUTO_CHARS *gpu = gpu_uuid();
    double took[N_ROUNDS * N_AT_ONCE];
    int n = 0;
    const double cpu = cpu_s(pid);
    for (int r = 0; r < N_ROUNDS; r++) {
        for (int i = 0; i < N_AT_ONCE; i++)
            one_pod(r * N_AT_ONCE + i, i, gpu);
        for (int i = 0; i < 20; i++) /* what the watches tell has arrived */
            sw_loop_step(loop, 5);
        for (int i = 0; i < N_AT_ONCE; i++)
            took[n++] = allocate(i);
        for (int i = 0; i < N_AT_ONCE; i++) {
            SW_AUTO_CHARS *path = sw_printf("/api/v1/namespaces/default/pods/p%d",
                                            r * N_AT_ONCE + i);
            SW_AUTO_JSON *gone = ask("DELETE", path, "{\"gracePeriodSeconds\":0}");
        }
        for (int i = 0; i < 40; i++)
            sw_loop_step(loop, 5);
    }
    const double each_ms = (cpu_s(pid) - cpu) / n * 1e3; /* of a pod's whole life, claims and all */
    for (const double settled = now_s() + SETTLED_S; now_s() < settled;)
        sw_loop_step(loop, 100);
    qsort(took, (size_t)n, sizeof took[0], by_value);
    (void)printf("{\"bench\":\"device-plugin-allocate\",\"n\":%d,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
                 "\"max_ms\":%.3f,\"cpu_ms_of_a_pod\":%.3f,"
                 "\"target_ms\":5}\n",
                 n, took[n / 2] * 1e3, took[n * 99 / 100] * 1e3, took[n - 1] * 1e3, each_ms);
    (void)printf(
        "{\"bench\":\"device-plugin-memory\",\"rss_kib\":%ld,\"anon_kib\":%ld,\"peak_kib\":%ld,"
        "\"target_kib\":8192}\n",
        rss_kib(pid, "VmRSS:"), rss_kib(pid, "RssAnon:"), rss_kib(pid, "VmHWM:"));
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
    sw_grpc_server_close(kubelet);
    sw_kube_free(kube);
    sw_emulator_close(emu);
    sw_loop_free(loop);
    free(answer);
    return system(clean) != 0;
}
