#pragma once
/* endpoint: a small HTTP server for what an operator is asked by others: health and metrics. Only
 * GET and HEAD, only the paths of a table. */
struct sw_endpoint;
struct sw_err;
struct sw_loop;

/** @answer: the body, heap, which the server frees; @*status is 200 unless it says otherwise. */
struct sw_endpoint_path {
    const char *path;
    char *(*answer)(void *arg, int *status);
};

/** Listen on "host:port" (":8081": all addresses). "0" serves nothing: @*out is NULL. Port 0 is
 * any; which one it became is logged. @paths ends with a NULL path and outlives the server.
 * @return 0 | SW_INVALID: not an address | SW_UNAVAILABLE: it cannot be listened on */
int sw_endpoint_open(struct sw_loop *loop, const char *address,
                     const struct sw_endpoint_path *paths, void *arg, struct sw_endpoint **out,
                     struct sw_err *err);
/** NULL is accepted. */
void sw_endpoint_close(struct sw_endpoint *e);
