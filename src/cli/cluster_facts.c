#include "cli/cluster_facts.h"

#include "cli/connect.h"
#include "cli/talk.h"
#include "controller/partition.h"
#include "data/data.h"
#include "engine/roster.h"

enum { RETRIES = 3 };

struct choice {
    const struct sw_roster *roster;
    struct json_object *selector, *tolerations;
};

static bool is_chosen(const char *name, void *arg)
{
    const struct choice *choice = arg;
    uint32_t node = sw_roster_find(choice->roster, name);
    return node != SW_NO_NODE && sw_roster_matches(choice->roster, node, choice->selector) &&
           !sw_roster_is_tainted(choice->roster, node, choice->tolerations);
}

static void put_node(struct sw_roster *roster, struct sw_facts *facts, struct json_object *doc)
{
    struct sw_node *node = sw_node_parse(doc);
    if (!node)
        return;
    SW_AUTO_CHARS *group = sw_group_id(node);
    const struct sw_roster_facts row = {
        .name = node->name,
        .group = group,
        .labels = node->labels,
        .n_labels = node->n_labels,
        .taints = (const struct sw_roster_taint *)node->taints,
        .n_taints = node->n_taints,
        .taint_record = node->taint_record,
        .ready = node->ready,
        .unschedulable = node->unschedulable,
    };
    (void)sw_roster_put(roster, &row, NULL);
    (void)sw_facts_put_node(facts, node);
    sw_node_free(node);
}

static void read_sources(struct sw_connection *conn, struct sw_facts *facts)
{
    const struct sw_request_opts opts = { .retries = RETRIES };
    for (size_t i = 0; sw_facts_sources[i].kind; i++) {
        const struct sw_facts_source *source = &sw_facts_sources[i];
        SW_ERR(err);
        SW_AUTO_JSON *object = NULL;
        if (sw_talk_find(conn, source->api_version, source->kind, source->ns, source->name, &opts,
                         &object, &err) == 0)
            (void)sw_facts_put_source(facts, i, object);
    }
}

int sw_cluster_facts_read(struct sw_connection *conn, struct json_object *resource,
                          struct sw_cluster_facts *out, struct sw_err *err)
{
    SW_AUTO_JSON *nodes = NULL;
    const struct sw_request_opts opts = { .retries = RETRIES };
    int rc = sw_talk_find(conn, "v1", "Node", NULL, NULL, &opts, &nodes, err);
    if (rc < 0)
        return rc;
    struct sw_roster *roster = sw_roster_new();
    SW_AUTO_JSON *tolerations = partition_tolerations(resource);
    struct choice choice = { roster, sw_json_find(resource, "spec", "nodeSelector", NULL),
                             tolerations };
    out->facts = sw_facts_new();
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        put_node(roster, out->facts, sw_json_at(nodes, i));
    sw_facts_set_openshift(out->facts, sw_kube_serves(conn->kube, "config.openshift.io"));
    read_sources(conn, out->facts);
    sw_facts_groups(out->facts, is_chosen, &choice, &out->groups);
    sw_roster_free(roster);
    return 0;
}

void sw_cluster_facts_done(struct sw_cluster_facts *facts)
{
    sw_groups_done(&facts->groups);
    sw_facts_free(facts->facts);
    *facts = (struct sw_cluster_facts){ 0 };
}
