#include "cli/cluster/cluster_facts.h"

#include <json-c/json.h>

#include "chart/recipe/recipe.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/manifests/node_choice.h"
#include "operator/manifests/sharing.h"

enum { RETRIES = 3 };

int sw_cluster_facts_read(struct sw_connection *conn, struct json_object *resource,
                          const struct sw_recipe *recipe, struct sw_cluster_facts *out,
                          struct sw_err *err)
{
    SW_AUTO_JSON *nodes = NULL;
    const struct sw_request_opts opts = { .retries = RETRIES };
    int rc = sw_cluster_find(conn, "v1", "Node", NULL, NULL, &opts, &nodes, err);
    if (rc < 0)
        return rc;
    out->node_set = sw_node_set_new();
    out->facts = sw_facts_new();
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct sw_node *node = sw_node_parse(sw_json_at(nodes, i));
        if (!node)
            continue;
        SW_AUTO_CHARS *group = sw_group_id(node);
        (void)sw_node_put(out->node_set, out->facts, node, group, 0, NULL, NULL);
        sw_node_free(node);
    }
    sw_facts_set_openshift(out->facts, sw_kube_serves(conn->kube, "config.openshift.io"));
    for (size_t i = 0; sw_facts_sources[i].kind; i++) {
        const struct sw_facts_source *source = &sw_facts_sources[i];
        SW_ERR(ignored);
        SW_AUTO_JSON *object = NULL;
        if (sw_cluster_find(conn, source->api_version, source->kind, source->ns, source->name,
                            &opts, &object, &ignored) == 0)
            (void)sw_facts_put_source(out->facts, i, object);
    }
    SW_AUTO_JSON *of_recipe = sw_sharing_of_recipe(recipe ? sw_recipe_metadata(recipe) : NULL);
    SW_AUTO_JSON *tolerations = sw_sharing_node_tolerations(resource, of_recipe);
    struct sw_node_choice choice = { out->node_set, resource, tolerations };
    sw_facts_groups(out->facts, sw_node_is_chosen, &choice, &out->groups);
    return 0;
}

void sw_cluster_facts_read_gates(struct sw_connection *conn, const struct sw_recipe *recipe,
                                 struct sw_cluster_facts *facts)
{
    SW_ERR(ignored);
    SW_AUTO_JSON *gates = NULL;
    if (!sw_recipe_mentions(recipe, SW_FACT_FEATURE_GATES) ||
        sw_cluster_feature_gates(conn, &gates, &ignored) < 0)
        return;
    json_object_object_foreach(gates, name, on)
    {
        (void)sw_facts_set_feature_gate(facts->facts, name, json_object_get_boolean(on));
    }
}

void sw_cluster_facts_done(struct sw_cluster_facts *facts)
{
    sw_groups_done(&facts->groups);
    sw_facts_free(facts->facts);
    sw_node_set_free(facts->node_set);
    *facts = (struct sw_cluster_facts){ 0 };
}
