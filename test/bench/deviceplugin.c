/* slipway-device-plugin: how long Allocate takes besides NVML (GPUs are made up), and how much
 * memory the process has at rest. API server and kubelet are played here, the plugin is a process
 * of its own. One JSON object a line.
 *
 *     deviceplugin [PROGRAM] */
#include "node.h"

enum { N_RESOURCES = 7, N_ROUNDS = 20, N_AT_ONCE = 7, SETTLED_S = 7 };

#define CLAIMS "/apis/inference.redhat.com/v1alpha1/namespaces/das-operator/allocationclaims"

static int n_registered;

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

/* AllocateRequest with one id */
static double allocate(int i)
{
    char id[32], m[64];
    const int n = snprintf(id, sizeof id, "1g.5gb-%d", i);
    const int len = snprintf(m, sizeof m, "\n%c\n%c%s", n + 2, n, id);
    return call("device-plugins/mig.das.com_1g.5gb.sock", "/v1beta1.DevicePlugin/Allocate", m,
                (size_t)len, NULL);
}

/* ---- claims -------------------------------------------------------------------------------------
 */

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
    start_cluster();
    SW_AUTO_CHARS *sub = sw_printf("mkdir -p %s/kubelet/device-plugins", dir);
    if (system(sub) != 0)
        return 1;
    struct sw_grpc_server *kubelet = NULL;
    SW_AUTO_CHARS *socket = sw_printf("%s/kubelet/device-plugins/kubelet.sock", dir);
    if (sw_grpc_server_open(
            loop,
            &(struct sw_grpc_server_opts){ .socket = socket, .methods = methods, .n_methods = 1 },
            &kubelet, NULL) < 0)
        return 1;
    const pid_t pid = start_plugin(argc > 1 ? argv[1] : "build/slipway-device-plugin",
                                   "--api=deviceplugin");
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
    sw_grpc_server_close(kubelet);
    return end_node(pid);
}
