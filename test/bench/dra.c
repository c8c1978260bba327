/* slipway-device-plugin by Dynamic Resource Allocation: how long NodePrepareResources and
 * NodeUnprepareResources take besides NVML (GPUs are made up), what is asked of the API server for
 * a claim, and how much memory the process has at rest. API server, scheduler and kubelet are
 * played here, the plugin is a process of its own. One JSON object a line.
 *
 *     dra [PROGRAM] */
#include "slicing/dra/dra.h"
#include "node.h"

enum { N_ROUNDS = 20, N_AT_ONCE = 7, SETTLED_S = 7 };

#define CLAIMS "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
#define PLUGIN "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/"

/* Wait until the node's devices are published. */
static void wait_published(void)
{
    for (const double end = now_s() + 20; now_s() < end; sw_loop_step(loop, 20)) {
        SW_AUTO_JSON *a = ask("GET", "/apis/resource.k8s.io/v1/resourceslices", NULL);
        if (sw_json_len(sw_json_find(a, "items", NULL)) > 1)
            return;
    }
    die("nothing is published");
}

/* A claim of the slice @start, as kube-scheduler allocates it. @return its uid */
static char *make_claim(int i, int start)
{
    make(CLAIMS,
         sw_printf(
             "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{"
             "\"name\":\"c%d\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{"
             "\"deviceClassName\":\"mig.slipway.dev\"}}]}}}",
             i));
    SW_AUTO_CHARS *path = sw_printf(CLAIMS "/c%d/status", i), *pool = sw_dra_pool("node");
    SW_AUTO_CHARS *body = sw_printf(
        "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":"
        "\"r\",\"driver\":\"" SW_DRA_DRIVER "\",\"pool\":\"%s\",\"device\":"
        "\"gpu-0-mig-1g5gb-%d\"}]}}}}",
        pool, start);
    SW_AUTO_JSON *claim = ask("PATCH", path, body);
    if (answer_code < 0)
        die(answer);
    return sw_strdup(sw_obj_uid(claim));
}

/* NodePrepareResourcesRequest and NodeUnprepareResourcesRequest with one claim */
static size_t request(char *out, size_t cap, int i, const char *uid)
{
    char name[16];
    const size_t n = (size_t)snprintf(name, sizeof name, "c%d", i), u = strlen(uid), ns = 7;
    return (size_t)snprintf(out, cap, "\n%c\n%cdefault\x12%c%s\x1a%c%s", (int)(n + u + ns + 6),
                            (int)ns, (int)u, uid, (int)n, name);
}

static void on_prepared(const uint8_t *message, size_t len, void *arg SW_UNUSED)
{
    if (!memmem(message, len, "gpu-0-mig-1g5gb", 15)) {
        (void)fwrite(message, 1, len, stderr);
        die("not prepared");
    }
}

static double prepare(int i, const char *uid)
{
    char m[128];
    const size_t len = request(m, sizeof m, i, uid);
    return call("plugins/" SW_DRA_DRIVER "/dra.sock", PLUGIN "NodePrepareResources", m, len,
                on_prepared);
}

static double unprepare(int i, const char *uid)
{
    char m[128];
    const size_t len = request(m, sizeof m, i, uid);
    return call("plugins/" SW_DRA_DRIVER "/dra.sock", PLUGIN "NodeUnprepareResources", m, len,
                NULL);
}

static void settle(double s)
{
    for (const double end = now_s() + s; now_s() < end;)
        sw_loop_step(loop, 20);
}

int main(int argc, char **argv)
{
    start_cluster();
    SW_AUTO_CHARS *sub = sw_printf("cd %s && mkdir -p kubelet/plugins kubelet/plugins_registry "
                                   "kubelet/device-plugins",
                                   dir);
    if (system(sub) != 0)
        return 1;
    const pid_t pid = start_plugin(argc > 1 ? argv[1] : "build/slipway-device-plugin", "--api=dra");
    wait_published();
    settle(1);
    double up[N_ROUNDS * N_AT_ONCE], down[N_ROUNDS * N_AT_ONCE];
    int n = 0;
    uint64_t asked = 0;
    const double cpu = cpu_s(pid);
    for (int r = 0; r < N_ROUNDS; r++) {
        char *uids[N_AT_ONCE];
        for (int i = 0; i < N_AT_ONCE; i++)
            uids[i] = make_claim(n + i, i);
        settle(0.1); /* what the watches tell has arrived */
        const uint64_t before = sw_emulator_n_requests(emu);
        for (int i = 0; i < N_AT_ONCE; i++)
            up[n + i] = prepare(n + i, uids[i]);
        settle(0.5); /* what is written afterwards */
        for (int i = 0; i < N_AT_ONCE; i++)
            down[n + i] = unprepare(n + i, uids[i]);
        settle(0.5);
        asked += sw_emulator_n_requests(emu) - before;
        for (int i = 0; i < N_AT_ONCE; i++) {
            SW_AUTO_CHARS *path = sw_printf(CLAIMS "/c%d", n + i);
            SW_AUTO_JSON *gone = ask("DELETE", path, NULL);
            free(uids[i]);
        }
        n += N_AT_ONCE;
    }
    const double each_ms = (cpu_s(pid) - cpu) / n * 1e3;
    settle(SETTLED_S);
    qsort(up, (size_t)n, sizeof up[0], by_value);
    qsort(down, (size_t)n, sizeof down[0], by_value);
    (void)printf(
        "{\"bench\":\"dra-prepare\",\"n\":%d,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,"
        "\"unprepare_p50_ms\":%.3f,\"unprepare_p99_ms\":%.3f,\"requests_of_a_claim\":%.2f,"
        "\"cpu_ms_of_a_claim\":%.3f}\n",
        n, up[n / 2] * 1e3, up[n * 99 / 100] * 1e3, up[n - 1] * 1e3, down[n / 2] * 1e3,
        down[n * 99 / 100] * 1e3, (double)asked / n, each_ms);
    (void)printf("{\"bench\":\"dra-memory\",\"rss_kib\":%ld,\"anon_kib\":%ld,\"peak_kib\":%ld,"
                 "\"target_kib\":8192}\n",
                 rss_kib(pid, "VmRSS:"), rss_kib(pid, "RssAnon:"), rss_kib(pid, "VmHWM:"));
    return end_node(pid);
}
