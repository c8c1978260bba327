/* slipway slices: the slices of GPUs as they lie, and what would have to move for pods that wait.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/gpu_slices.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/view/gpu_slices.h"
#include "data/data.h"
#include "kube/kube.h"

struct slices_opts {
    struct sw_connect_opts connect;
    const char *output, *defragment;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct slices_opts, output), "FORMAT",
      "table|drawing|json", "a line for each slice (default), each GPU to scale, or a document" },
    { "defragment", 0, SW_FLAG_STRING, offsetof(struct slices_opts, defragment), "NAMESPACE/POD",
      NULL,
      "ask slipway-scheduler to move pods that may be moved for this one, which waits, and show "
      "nothing" },
    SW_CONNECT_FLAGS(struct slices_opts, connect),
    { 0 },
};

/* As slipway-scheduler reads it: SW_SCHEDULER_DEFRAGMENT. */
#define REQUEST "slipway.dev/defragment"

/* An annotation of the pod, another one each time. */
static int ask(struct sw_connection *conn, const char *of, struct sw_err *err)
{
    const char *slash = strchr(of, '/');
    SW_AUTO_CHARS *ns = slash ? sw_strndup(of, (size_t)(slash - of)) : sw_strdup("default");
    const char *name = slash ? slash + 1 : of;
    SW_AUTO_JSON *pod = NULL;
    char now[21];
    int rc = sw_cluster_find(conn, "v1", "Pod", ns, name, NULL, &pod, err);
    if (rc < 0)
        return rc;
    if (*sw_json_str(pod, "", "spec", "nodeName", NULL))
        return sw_err_set(err, SW_INVALID, "pod '%s/%s' does not wait: it is on node %s", ns, name,
                          sw_json_str(pod, "", "spec", "nodeName", NULL));
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set_str(patch, sw_time_rfc3339(sw_loop_wall_ms(conn->loop), now), "metadata",
                    "annotations", REQUEST, NULL);
    rc = sw_cluster_patch(conn, &sw_kind_pod, ns, name, patch, err);
    if (rc == 0)
        (void)printf(
            "slipway-scheduler is asked to move pods for %s/%s; Events of the pod say what "
            "it does\n",
            ns, name);
    return rc;
}

static int show(struct sw_connection *conn, const struct slices_opts *opts, const char *node,
                struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    int rc = sw_gpu_slices_read(conn, node, &doc, err);
    if (rc < 0)
        return rc;
    if (node && !sw_json_len(sw_json_get(doc, "gpus"))) { /* it has no GPUs, or is none at all */
        SW_AUTO_JSON *found = NULL;
        rc = sw_cluster_find(conn, "v1", "Node", NULL, node, NULL, &found, err);
        if (rc < 0)
            return rc;
    }
    if (sw_streq(opts->output, "json"))
        return sw_cli_print_json(doc);
    SW_AUTO_CHARS *text = sw_streq(opts->output, "drawing") ? sw_gpu_slices_drawing(doc)
                                                            : sw_gpu_slices_table(doc);
    return sw_cli_print(text, strlen(text));
}

static int execute(const struct sw_call *call)
{
    struct slices_opts opts = { 0 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    if (opts.defragment && rest.n)
        return sw_cli_usage("slices", "--defragment takes no node");
    rc = sw_connection_init(&conn, "slices", &opts.connect, &err);
    if (rc == 0)
        rc = opts.defragment ? ask(&conn, opts.defragment, &err)
                             : show(&conn, &opts, rest.n ? rest.items[0] : NULL, &err);
    if (rc < 0)
        rc = sw_cli_fail("slices", &err);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_slices = {
    .name = "slices",
    .args = "[NODE]",
    .summary = "show the slices of GPUs, who holds them, and what pods wait for",
    .details =
        "Shows the GPUs of all nodes, or of one, whether their slices are given out by "
        "ResourceClaims "
        "or by\n"
        "AllocationClaims: where each slice lies in the GPU's memory, its state, its claim and its "
        "pods. Of pods\n"
        "that wait for slices it says why, and where kube-scheduler allocates them, what would "
        "have "
        "to move:\n"
        "the pods in the way that would find another place, or those that slipway-scheduler would "
        "evict.\n"
        "\n"
        "Nothing is moved, but with --defragment NAMESPACE/POD: slipway-scheduler then moves pods "
        "for that one,\n"
        "if they have the annotation slipway.dev/may-move: \"true\" and a controller that makes "
        "them "
        "again.\n"
        "\n"
        "Exit status: 0 done, 1 it failed, 2 bad usage.",
    .flags = flags,
    .execute = execute,
};
