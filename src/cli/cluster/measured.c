#include "cli/cluster/measured.h"

#include <json-c/json.h>
#include <string.h>

#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/facts/facts.h"
#include "operator/release/record.h"

enum { RETRIES = 3 };

/* The service by the cloud's name in spec.providerID, as AICR has it; NULL: not known. */
static const char *provider_of(const char *id)
{
    static const char *const rows[][2] = { { "aws://", "eks" },
                                           { "gce://", "gke" },
                                           { "azure://", "aks" },
                                           { "oci://", "oke" },
                                           { "kind://", "kind" } };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_starts_with(id, rows[i][0]))
            return rows[i][1];
    return NULL;
}

static void add_node(struct json_object *doc, struct json_object *nodes)
{
    struct sw_node *node = sw_node_parse(doc);
    if (!node)
        return;
    struct json_object *row = json_object_new_object(), *facts = sw_node_measured(node);
    const char *provider = provider_of(sw_json_str(doc, "", "spec", "providerID", NULL));
    if (provider)
        sw_json_set_str(facts, provider, "K8s.node.provider", NULL);
    sw_json_set_str(row, node->name, "name", NULL);
    (void)json_object_object_add(row, "facts", facts);
    (void)json_object_array_add(nodes, row);
    sw_node_free(node);
}

/* Helm's newest record of each release says what is installed. */
static void add_releases(struct json_object *records, struct json_object *cluster)
{
    for (size_t i = 0; i < sw_json_len(records); i++) {
        SW_AUTO_JSON *release = NULL;
        SW_ERR(ignored);
        sw_json_set_str(sw_json_at(records, i), "Secret", "kind", NULL); /* lists do not say it */
        if (sw_release_of_record(sw_json_at(records, i), &release, &ignored) < 0)
            continue;
        const char *name = sw_json_str(release, "", "name", NULL);
        SW_AUTO_CHARS *version = sw_printf("K8s.helm.%s.version", name);
        SW_AUTO_CHARS *ns = sw_printf("K8s.helm.%s.namespace", name);
        sw_json_set_str(cluster, sw_json_str(release, "", "chart", "metadata", "version", NULL),
                        version, NULL);
        sw_json_set_str(cluster, sw_json_str(release, "", "namespace", NULL), ns, NULL);
    }
}

static int read_version(struct sw_connection *conn, struct json_object *cluster, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *doc = NULL;
    size_t len;
    int rc = sw_cluster_path(conn, "/version", &(struct sw_request_opts){ .retries = RETRIES },
                             &text, &len, err);
    if (rc == 0)
        rc = sw_json_parse(text, len, NULL, &doc, err);
    if (rc == 0)
        sw_json_set_str(cluster, sw_json_str(doc, "", "gitVersion", NULL), "K8s.server.version",
                        NULL);
    return rc;
}

int sw_cluster_measured(struct sw_connection *conn, struct json_object **out, char **note,
                        struct sw_err *err)
{
    SW_AUTO_JSON *facts = json_object_new_object(), *nodes = NULL, *records = NULL;
    struct json_object *cluster = sw_json_need_map(facts, "cluster", NULL);
    const struct sw_request_opts opts = { .retries = RETRIES };
    const struct sw_request_opts of_helm = { .retries = RETRIES,
                                             .label_selector = "owner=helm,status=deployed" };
    const struct sw_kind *secrets;
    SW_ERR(why);
    int rc = read_version(conn, cluster, err);
    if (rc == 0)
        rc = sw_cluster_find(conn, "v1", "Node", NULL, NULL, &opts, &nodes, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        add_node(sw_json_at(nodes, i), sw_json_need_list(facts, "nodes", NULL));
    rc = sw_cluster_kind(conn, "v1", "Secret", &secrets, &why);
    if (rc == 0)
        rc = sw_cluster_list(conn, secrets, NULL, &of_helm, &records, &why);
    if (rc < 0)
        *note = sw_printf("what Helm has installed is not known: %s", sw_err_text(&why));
    add_releases(records, cluster);
    *out = SW_TAKE(facts);
    return 0;
}
