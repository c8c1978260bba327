#include "cli/cluster/leader.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "data/data.h"

enum { RETRIES = 1 };

/* The holder of @lease, the caller's; NULL: it has none, or it does not renew it. */
static char *holder_of(struct json_object *lease)
{
    const char *holder = sw_json_str(lease, "", "spec", "holderIdentity", NULL);
    int64_t lease_ms = 1000 * sw_json_int(lease, 15, "spec", "leaseDurationSeconds", NULL);
    int64_t renewed_ms = 0;
    SW_ERR(err);
    if (sw_time_parse(sw_json_str(lease, "", "spec", "renewTime", NULL), &renewed_ms, &err) < 0)
        renewed_ms = 0;
    sw_err_done(&err);
    if (!*holder || sw_now_ms() - renewed_ms > 2 * lease_ms)
        return NULL;
    return sw_printf("%s/%s", sw_obj_namespace(lease), holder);
}

char *sw_leader_find(struct sw_connection *conn)
{
    static const char version[] = "coordination.k8s.io/v1";
    SW_AUTO_JSON *list = NULL;
    SW_AUTO_JSON *own = NULL;
    SW_ERR(err);
    const struct sw_request_opts opts = { .field_selector = "metadata.name=" SW_OPERATOR_LEASE,
                                          .retries = RETRIES };
    int rc = sw_cluster_find(conn, version, "Lease", NULL, NULL, &opts, &list, &err);
    char *holder = NULL;
    for (size_t i = 0; rc == 0 && !holder && i < sw_json_len(list); i++)
        holder = holder_of(sw_json_at(list, i));
    sw_err_done(&err);
    if (rc == SW_FORBIDDEN &&
        sw_cluster_find(conn, version, "Lease", sw_cli_operator_namespace(), SW_OPERATOR_LEASE,
                        &(struct sw_request_opts){ .retries = RETRIES }, &own, &err) == 0)
        holder = holder_of(own);
    return holder;
}
