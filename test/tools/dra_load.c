/* clang-format off */
/* dra_load: what a bench of kube-scheduler with Dynamic Resource Allocation needs besides sched_load
 * (hack/bench-dra.sh), of the server that $KUBECONFIG names.
 *
 *     dra_load slices N GPUS           print DeviceClasses, and the ResourceSlices that N nodes with
 *                                      so many A100s publish
 *     dra_load freed TIMES NAME RESOURCE
 *                                      one node, whose slices pods of the scheduler NAME hold, and one
 *                                      more that waits: the milliseconds from the deletion of one that
 *                                      is bound until the one that waits is, p50 and most
 */
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "bench/process.h"
#include "data/data.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "slicing/dra/dra.h"
#include "slicing/mig/mig.h"

/* ---- slices ------------------------------------------------------------------------------------
 */

static void print_all(struct json_object *docs)
{
    for (size_t i = 0; i < sw_json_len(docs); i++) {
        struct json_object *doc = sw_json_at(docs, i);
        /* the node's uid is not known here: it would be collected */
        json_object_object_del(sw_json_find(doc, "metadata", NULL), "ownerReferences");
        SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
        (void)puts(text);
    }
    json_object_put(docs);
}

static void print_slices(size_t n_nodes, size_t n_gpus)
{
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    struct sw_dra_gpu *gpus = sw_zalloc(n_gpus, sizeof *gpus);
    char(*uuids)[64] = sw_zalloc(n_gpus, sizeof *uuids);
    print_all(sw_dra_classes((struct sw_mig_geometry *[]){ g }, 1));
    for (size_t i = 0; i < n_nodes; i++) {
        SW_AUTO_CHARS *name = sw_printf("node-%05zu", i);
        for (size_t k = 0; k < n_gpus; k++) {
            (void)snprintf(uuids[k], sizeof uuids[k], "GPU-8c5b1d9e-0000-4000-%04zx-%012zx", i, k);
            gpus[k] = (struct sw_dra_gpu){ .uuid = uuids[k],
                                           .product = "NVIDIA A100-SXM4-40GB",
                                           .brand = "Nvidia",
                                           .architecture = "Ampere",
                                           .numa_node = -1,
                                           .cuda_major = 8,
                                           .memory_mib = 40960,
                                           .geometry = g };
        }
        const struct sw_dra_node node = { .name = name, .uid = "", .gpus = gpus, .n_gpus = n_gpus };
        print_all(sw_dra_slices(&node, 1));
    }
    free(uuids);
    free(gpus);
}

/* ---- a slice that gets free --------------------------------------------------------------------
 */

enum { N_SLICES = 7 };

struct freed {
    struct sw_loop *loop;
    struct sw_kube *kube;
    const struct sw_kind *pods;
    const char *scheduler, *resource;
    int next;       /* number of the next pod */
    int bound_last; /* number of the pod that was bound last */
    int n_bound, oldest;
    int held[N_SLICES]; /* in the order in which they were bound */
    bool done;
};

static void die(const char *what, const struct sw_err *err)
{
    (void)fprintf(stderr, "dra_load: %s: %s\n", what, sw_err_text(err));
    exit(1);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct freed *f = arg;
    if (code < 0)
        die("kind", err);
    f->pods = kind;
    f->done = true;
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    if (a->code < 0)
        die("request", a->err);
    ((struct freed *)arg)->done = true;
}

static void run(struct freed *f)
{
    for (f->done = false; !f->done;)
        sw_loop_step(f->loop, 1000);
}

static void on_pod(const struct sw_watch_event *e, void *arg)
{
    struct freed *f = arg;
    if (e->type == SW_WATCH_ERROR)
        die("watch", e->err);
    const char *dash = e->name ? strrchr(e->name, '-') : NULL;
    if (!e->object || !dash || !*sw_json_str(e->object, "", "spec", "nodeName", NULL))
        return;
    const int number = atoi(dash + 1);
    if (number <= f->bound_last)
        return; /* told of again */
    f->bound_last = number;
    f->held[f->n_bound++ % N_SLICES] = number;
}

static void make_pod(struct freed *f)
{
    SW_AUTO_CHARS *text = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"freed-%d\",\"labels\":{"
        "\"load\":\"freed\"}},\"spec\":{\"schedulerName\":\"%s\",\"tolerations\":[{\"operator\":"
        "\"Exists\"}],\"containers\":[{\"name\":\"main\",\"image\":\"none\",\"resources\":{"
        "\"limits\":{"
        "\"%s\":\"1\"}}}]}}",
        f->next++, f->scheduler, f->resource);
    SW_AUTO_JSON *body = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &body, &err) < 0)
        die("pod", &err);
    (void)sw_kube_create(f->kube, f->pods, "default", NULL, body, NULL, on_answer, f);
    run(f);
}

static void wait_bound(struct freed *f, int number)
{
    for (const double end = sw_monotonic_s() + 60; f->bound_last < number;) {
        if (sw_monotonic_s() > end) {
            SW_ERR(err);
            (void)sw_err_set(&err, SW_INVALID, "freed-%d was not bound within a minute", number);
            die("wait", &err);
        }
        sw_loop_step(f->loop, 1000);
    }
}

static double free_one(struct freed *f)
{
    const int waiting = f->next - 1;
    SW_AUTO_CHARS *path = sw_printf("/api/v1/namespaces/default/pods/freed-%d?gracePeriodSeconds=0",
                                    f->held[f->n_bound % N_SLICES]);
    const double began = sw_monotonic_s();
    (void)sw_kube_raw(f->kube, "DELETE", path, NULL, on_answer, f);
    wait_bound(f, waiting);
    const double took = sw_monotonic_s() - began;
    for (const double end = sw_monotonic_s() + 1; sw_monotonic_s() < end;)
        sw_loop_step(f->loop, 100);
    make_pod(f);
    for (const double end = sw_monotonic_s() + 2; sw_monotonic_s() < end;) /* it has been refused */
        sw_loop_step(f->loop, 100);
    return took * 1e3;
}

static void measure_freed(size_t times, const char *scheduler, const char *resource)
{
    struct freed f = {
        .loop = sw_loop_new(NULL), .scheduler = scheduler, .resource = resource, .bound_last = -1
    };
    struct sw_kube_config *config = NULL;
    SW_ERR(err);
    if (sw_kubeconfig_load(NULL, &config, &err) < 0 ||
        sw_kube_new(f.loop, config, NULL, &f.kube, &err) < 0)
        die("kubeconfig", &err);
    (void)sw_kube_kind(f.kube, "v1", "Pod", on_kind, &f);
    run(&f);
    (void)sw_kube_watch_open(f.kube, f.pods,
                             &(struct sw_watch_opts){ .label_selector = "load=freed" }, on_pod, &f);
    for (int i = 0; i < N_SLICES; i++) {
        make_pod(&f);
        wait_bound(&f, i);
    }
    make_pod(&f);
    for (const double end = sw_monotonic_s() + 3; sw_monotonic_s() < end;)
        sw_loop_step(f.loop, 100);
    double *took = sw_zalloc(times, sizeof *took);
    for (size_t i = 0; i < times; i++)
        took[i] = free_one(&f);
    qsort(took, times, sizeof *took, by_value);
    (void)printf("%.0f %.0f\n", took[times / 2], took[times - 1]);
    free(took);
    sw_kube_free(f.kube);
    sw_kube_config_free(config);
    sw_loop_free(f.loop);
}

int main(int argc, char **argv)
{
    const size_t n = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (n && strcmp(argv[1], "slices") == 0)
        print_slices(n, strtoul(argv[3], NULL, 10));
    else if (n && strcmp(argv[1], "freed") == 0 && argc > 4)
        measure_freed(n, argv[3], argv[4]);
    else
        return fputs("usage: see the head of test/tools/dra_load.c\n", stderr), 2;
    return 0;
}
