#pragma once
/* ask: one question to the API server after the other, for commands that have nothing else to do
 * meanwhile: the connection's loop runs until the answer is there. */
#include <stdint.h>

#include "base/base.h"
#include "kube/kube.h"

struct json_object;
struct sw_connection;

/** No question is answered after @until_ms on the connection's loop. */
struct sw_ask {
    struct sw_connection *conn;
    int64_t until_ms;
};

/** One object (@name), or with no name the list of all as an array; the caller's.
 * @return 0 | what sw_kube_get(), sw_kube_list(), sw_kube_kind() say; SW_UNAVAILABLE: out of time
 */
int sw_ask_get(const struct sw_ask *ask, const char *api_version, const char *kind, const char *ns,
               const char *name, const struct sw_request_opts *opts, struct json_object **out,
               struct sw_err *err) SW_CHECKED;
/** The end of a pod's log as text, the caller's. */
int sw_ask_logs(const struct sw_ask *ask, const char *ns, const char *pod,
                const struct sw_request_opts *opts, char **out, struct sw_err *err) SW_CHECKED;
