/* emulator: how long an embedded cluster takes to start, and to bring several DaemonSets to every
 * node of it, all delays at 0, on a virtual clock. Prints one JSON object for each size.
 *
 *     build/bench/emulator [NODES [DAEMONSETS]]   without: 5, 50, 500 nodes, 5 DaemonSets */
#include "emulator/emulator.h"
#include "base/base.h"
#include "base/loop.h"
#include "data/yaml/yaml.h"
#include "emulator/store/store.h"
#include "emulator/write/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long peak_kib(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void pass(struct sw_loop *loop, int64_t ms)
{
    int64_t end = sw_loop_now_ms(loop) + ms;
    while (sw_loop_now_ms(loop) < end)
        sw_loop_step(loop, end - sw_loop_now_ms(loop));
}

static int create(struct sw_store *store, int i)
{
    json_object *doc = NULL;
    SW_STATUS(status);
    SW_AUTO_CHARS *yaml = sw_printf(
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d%d}, spec: {selector: "
        "{matchLabels: {app: d%d}}, template: {metadata: {labels: {app: d%d}}, spec: {containers: "
        "[{name: a, image: a, resources: {requests: {cpu: 10m, memory: 16Mi}}}]}}}}",
        i, i, i);
    int rc = sw_yaml_parse(yaml, strlen(yaml), NULL, &doc, NULL);
    const struct sw_emu_kind *kind = sw_store_kind(store, "apps", "DaemonSet");
    if (rc == 0)
        rc = sw_store_create(store, kind, "default", doc, NULL, NULL, &status);
    json_object_put(doc);
    return rc;
}

static int settle(int n_nodes, int n_sets)
{
    SW_ERR(err);
    struct sw_emulator *emu;
    struct sw_loop *loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    double t0 = cpu_s();
    int rc = sw_emulator_open(loop, &(struct sw_emulator_opts){ .n_nodes = n_nodes, .seed = 1 },
                              &emu, &err);
    if (rc < 0) {
        (void)fprintf(stderr, "emulator: %s\n", sw_err_text(&err));
        sw_loop_free(loop);
        return 1;
    }
    struct sw_store *store = sw_emulator_store(emu);
    pass(loop, 1000);
    double t1 = cpu_s();
    uint64_t before = sw_store_version(store);
    for (int i = 0; i < n_sets && rc == 0; i++)
        rc = create(store, i);
    pass(loop, 1000);
    double t2 = cpu_s();
    size_t pods = sw_store_count(store, sw_store_kind(store, "", "Pod"), "default");
    (void)printf("{\"bench\":\"emulator\",\"nodes\":%d,\"daemonsets\":%d,\"pods\":%zu,"
                 "\"writes\":%llu,\"start_cpu_s\":%.3f,\"settle_cpu_s\":%.3f,\"peak_kib\":%ld}\n",
                 n_nodes, n_sets, pods, (unsigned long long)(sw_store_version(store) - before),
                 t1 - t0, t2 - t1, peak_kib());
    sw_emulator_close(emu);
    sw_loop_free(loop);
    return rc < 0;
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 5, 50, 500 };
    int n_sets = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5, rc = 0;
    if (argc > 1)
        return settle((int)strtol(argv[1], NULL, 10), n_sets);
    for (size_t i = 0; i < SW_COUNT(sizes) && rc == 0; i++)
        rc = settle(sizes[i], n_sets);
    return rc;
}
