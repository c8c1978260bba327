#include "emulator/write/seed.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/write/write.h"

static const struct {
    const char *group, *kind, *ns, *text;
} rows[] = {
    { "", "Namespace", NULL, "{\"metadata\":{\"name\":\"kube-system\"}}" },
    { "", "Namespace", NULL, "{\"metadata\":{\"name\":\"kube-public\"}}" },
    { "", "Namespace", NULL, "{\"metadata\":{\"name\":\"kube-node-lease\"}}" },
    { "", "Namespace", NULL, "{\"metadata\":{\"name\":\"default\"}}" },
    { "", "Service", "default",
      "{\"metadata\":{\"name\":\"kubernetes\",\"labels\":{\"component\":\"apiserver\","
      "\"provider\":\"kubernetes\"}},\"spec\":{\"clusterIP\":\"10.96.0.1\",\"ports\":[{\"name\":"
      "\"https\",\"port\":443,\"targetPort\":6443}]}}" },
    { "scheduling.k8s.io", "PriorityClass", NULL,
      "{\"metadata\":{\"name\":\"system-node-critical\"},\"value\":2000001000,\"description\":"
      "\"Used for system critical pods that must not be moved from their current node.\"}" },
    { "scheduling.k8s.io", "PriorityClass", NULL,
      "{\"metadata\":{\"name\":\"system-cluster-critical\"},\"value\":2000000000,\"description\":"
      "\"Used for system critical pods that must run in the cluster, but can be moved to another "
      "node if necessary.\"}" },
};

void sw_seed(struct sw_store *store)
{
    static const struct sw_store_opts opts = { .manager = "kube-apiserver" };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *doc = NULL;
        SW_ERR(err);
        SW_STATUS(status);
        const struct sw_emu_kind *kind = sw_store_kind(store, rows[i].group, rows[i].kind);
        if (sw_json_parse(rows[i].text, strlen(rows[i].text), NULL, &doc, &err) < 0 ||
            sw_store_create(store, kind, rows[i].ns, doc, &opts, NULL, &status) < 0) {
            sw_log(SW_LOG_ERROR, "cannot seed the cluster", "row", rows[i].text, "why",
                   status.message ? status.message : sw_err_text(&err), NULL);
            abort(); /* our own text */
        }
    }
}
