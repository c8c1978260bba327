/* The extender's filter over 5,000 nodes of 8 GPUs, from bytes to bytes, without the network: one
 * JSON object a line. CPU time, since others may be at work on the machine. */
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/data.h"
#include "process.h"
#include "slicing/scheduler/cache/cache.h"
#include "slicing/scheduler/extender.h"

enum { NODES = 5000, GPUS = 8, CLAIMS = 20000, TIMES = 1000 };

static double cpu_ms(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void add_nodes(struct cache *p)
{
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, "nvidia-mig", "spec", "acceleratorType", NULL);
    sw_json_set(doc, sw_mig_geometry_to_json(g), "status", "nodeResources", "migPlacement", NULL);
    struct json_object *gpus = sw_json_need_list(doc, "status", "nodeResources", "nodeGpus", NULL);
    for (int i = 0; i < GPUS; i++) {
        struct json_object *gpu = json_object_new_object();
        SW_AUTO_CHARS *uuid = sw_printf("GPU-8c5b1d9e-0000-4000-8000-%012d", i);
        sw_json_set_str(gpu, uuid, "gpuUuid", NULL);
        json_object_array_add(gpus, gpu);
    }
    for (int i = 0; i < NODES; i++) {
        SW_AUTO_CHARS *name = sw_printf("node-%05d", i);
        cache_observe_node(p, name, true, false);
        if (cache_observe_accelerator(p, name, doc, NULL) < 0)
            abort();
    }
}

/* A claim of a pod of its own; @whole: of a whole GPU */
static void add_claim(struct cache *p, int i, bool whole)
{
    SW_AUTO_CHARS *text = sw_printf(
        "{\"metadata\":{\"name\":\"claim-%d\",\"uid\":\"11111111-2222-3333-4444-%012d\"},"
        "\"spec\":{\"profile\":\"%s\",\"podRef\":{\"uid\":\"pod-%d\",\"namespace\":\"n\",\"name\":"
        "\"p\"},\"migPlacement\":{\"start\":%d,\"size\":%d},\"gpuUUID\":"
        "\"GPU-8c5b1d9e-0000-4000-8000-%012d\",\"nodename\":\"node-%05d\"},\"status\":{\"state\":"
        "\"inUse\"}}",
        i, i, whole ? "7g.40gb" : "1g.5gb", i, whole ? 0 : 6, whole ? 8 : 1, i / NODES % GPUS,
        i % NODES);
    SW_AUTO_CHARS *name = sw_printf("claim-%d", i);
    SW_AUTO_JSON *doc = NULL;
    if (sw_json_parse(text, strlen(text), NULL, &doc, NULL) < 0 ||
        cache_observe_claim(p, name, "", doc, 1, NULL) < 0)
        abort();
}

static char *question(const char *profile)
{
    struct printbuf *out = printbuf_new();
    sprintbuf(out,
              "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"asker-%s\"},"
              "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"some.registry/image:tag\","
              "\"resources\":{\"limits\":{\"mig.das.com/%s\":\"1\"}}}]}},\"NodeNames\":[",
              profile, profile);
    for (int i = 0; i < NODES; i++)
        sprintbuf(out, "%s\"node-%05d\"", i ? "," : "", i);
    sprintbuf(out, "]}");
    char *text = sw_strdup(out->buf);
    printbuf_free(out);
    return text;
}

static void measure(struct cache *p, const char *what, const char *profile)
{
    SW_AUTO(extender) *x = extender_new(p, true, 16);
    SW_AUTO_CHARS *body = question(profile);
    static double took[TIMES];
    struct extender_outcome outcome = { 0 };
    for (int i = 0; i < TIMES; i++) {
        struct printbuf *out = printbuf_new();
        const double begin = cpu_ms();
        if (extender_filter(x, body, strlen(body), 1, out, &outcome, NULL) < 0)
            abort();
        took[i] = cpu_ms() - begin;
        printbuf_free(out);
    }
    qsort(took, TIMES, sizeof took[0], by_value);
    printf("{\"bench\":\"scheduler-filter-cpu\",\"case\":\"%s\",\"nodes\":%d,\"gpus_per_node\":%d,"
           "\"claims\":%d,\"fit\":%zu,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"target_p99_ms\":5,"
           "\"rss_kib\":%ld,\"target_rss_kib\":32768}\n",
           what, NODES, GPUS, CLAIMS, outcome.n_fit, took[TIMES / 2], took[TIMES * 99 / 100],
           rss_kib(getpid(), "VmRSS:"));
}

int main(void)
{
    SW_AUTO(cache) *p = cache_new(SW_MIG_PACKED, false);
    add_nodes(p);
    for (int i = 0; i < CLAIMS; i++)
        add_claim(p, i, false);
    measure(p, "most fit", "1g.5gb");
    for (int i = CLAIMS; i < NODES * GPUS; i++)
        add_claim(p, i, false);
    measure(p, "a slice in the way on each GPU", "7g.40gb");
    for (int i = 0; i < NODES * GPUS; i++)
        add_claim(p, i, true); /* under the same names: now all is taken */
    measure(p, "none fits", "1g.5gb");
    measure(p, "no such profile", "1g.6gb");
    return 0;
}
