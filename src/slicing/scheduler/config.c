/* A KubeSchedulerConfiguration, made of the same tables that place slices. Source:
 * k8s.io/kube-scheduler/config/v1beta1 (Kubernetes 1.19 to 1.22) and v1 (from 1.25; v1beta3 before,
 * from 1.22, v1beta2 from 1.21). */
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/scheduler/scheduler.h"

/* What a kube-scheduler needs. In a cluster with more than a hundred nodes it asks about a part
 * only, another one each time, unless its configuration says all; then none may have room,
 * although one of the others has. A newer one would let the pod wait then; 1.20 can be made to try
 * again at once (collect.c), so that five tries see all nodes: as each node costs it some
 * microseconds for each pod, it asks about a fifth. */
static const struct needs {
    int minor;           /* from this one on */
    const char *version; /* of its configuration */
    int percentage_of_nodes_to_score;
} needs_of[] = { { 25, "v1", 100 },
                 { 23, "v1beta3", 100 },
                 { 22, "v1beta2", 100 },
                 { 21, "v1beta1", 100 },
                 { 20, "v1beta1", 20 } };

/* A kube-scheduler before 1.22 (but for the last patches of 1.20 and 1.21) ends with a panic when
 * an extender refuses what its own rules would allow and a less important pod is around: it picks
 * among nodes without a victim, and never asks the extender for one. Source:
 * kubernetes/kubernetes#101548; seen with 1.20.2 by test/cluster/scheduler_test.sh. */
static const char no_preemption[] = "  plugins:\n    postFilter:\n      disabled:\n"
                                    "      - name: DefaultPreemption\n";

/* One resource for each profile of the tables. */
static void put_resources(struct printbuf *out)
{
    size_t n;
    const struct sw_mig_model *models = sw_mig_models(&n);
    SW_AUTO_JSON *known = json_object_new_object();
    for (size_t i = 0; i < n; i++) {
        SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(&models[i]);
        for (size_t k = 0; k < g->n_kinds; k++) {
            char name[SW_MIG_NAME_LEN];
            (void)sw_mig_resource_text(&g->kinds[k].profile, name);
            if (json_object_object_get_ex(known, name, NULL))
                continue;
            json_object_object_add(known, name, NULL);
            sprintbuf(out, "  - {name: " SW_MIG_DAS_PREFIX "%s, ignoredByScheduler: false}\n",
                      name);
        }
    }
}

/* "KEY: VALUE": a name such as 1234 or a path with a colon would be something else unquoted. */
static void put_text(struct printbuf *out, const char *key, const char *value)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set_str(doc, value, key, NULL);
    SW_AUTO_CHARS *text = sw_yaml_text(doc, NULL);
    sprintbuf(out, "%s", text);
}

static void put_head(struct printbuf *out, const struct sw_scheduler_config *o)
{
    if (o->lease_ns) {
        sprintbuf(out, "leaderElection:\n  leaderElect: true\n  resourceName: das-scheduler\n  ");
        put_text(out, "resourceNamespace", o->lease_ns);
    } else {
        sprintbuf(out, "leaderElection:\n  leaderElect: false\n");
    }
    sprintbuf(out, "clientConnection:\n");
    if (o->kubeconfig) {
        sprintbuf(out, "  ");
        put_text(out, "kubeconfig", o->kubeconfig);
    }
    sprintbuf(out, "  # pods come and go in bursts, and a pod is an event or two\n"
                   "  qps: 500\n  burst: 1000\n"
                   "# a profile of contention is taken all the time, and takes time\n"
                   "enableProfiling: false\nenableContentionProfiling: false\n");
}

int sw_scheduler_config_text(const struct sw_scheduler_config *options, char **out,
                             struct sw_err *err)
{
    static const struct sw_scheduler_config none = { .percentage_of_nodes_to_score = -1 };
    const struct sw_scheduler_config *o = options ? options : &none;
    const char *kube = o->kube_version ? o->kube_version : "1.20";
    const struct needs *needs = NULL;
    int major = 0, minor = -1;
    if (sscanf(kube + (kube[0] == 'v'), "%d.%d", &major, &minor) == 2 && major == 1)
        for (size_t i = 0; i < SW_COUNT(needs_of) && !needs; i++)
            needs = minor >= needs_of[i].minor ? &needs_of[i] : NULL;
    if (!needs)
        return sw_err_set(err, SW_INVALID, "'%s' is no Kubernetes version from 1.20 on", kube);
    const int percentage = o->percentage_of_nodes_to_score < 0 ? needs->percentage_of_nodes_to_score
                                                               : o->percentage_of_nodes_to_score;
    struct printbuf *text = printbuf_new();
    sprintbuf(text,
              "apiVersion: kubescheduler.config.k8s.io/%s\nkind: KubeSchedulerConfiguration\n",
              needs->version);
    put_head(text, o);
    sprintbuf(text, "# a freed slice is given away within seconds\n"
                    "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 2\n");
    if (percentage)
        sprintbuf(text, "percentageOfNodesToScore: %d\n", percentage);
    sprintbuf(text, "profiles:\n- ");
    put_text(text, "schedulerName", o->scheduler_name ? o->scheduler_name : "das-scheduler");
    sprintbuf(text, "%sextenders:\n- ",
              strcmp(needs->version, "v1beta1") == 0 ? no_preemption : "");
    put_text(text, "urlPrefix", o->url ? o->url : "http://127.0.0.1:8888");
    sprintbuf(text,
              "  filterVerb: filter\n  prioritizeVerb: prioritize\n"
              "  bindVerb: bind\n  preemptVerb: preempt\n  weight: 10\n  nodeCacheCapable: true\n"
              "  ignorable: false\n  httpTimeout: 10s\n%s",
              o->ca_file ? "  enableHTTPS: true\n  tlsConfig:\n    " : "");
    if (o->ca_file)
        put_text(text, "caFile", o->ca_file);
    sprintbuf(text, "  # one a profile: wildcards are refused\n  managedResources:\n");
    put_resources(text);
    *out = sw_strndup(text->buf, (size_t)text->bpos);
    printbuf_free(text);
    return 0;
}
