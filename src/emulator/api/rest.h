#pragma once
/* rest: the API server's HTTP interface. A request is split into its parts (request.h), passed to
 * the hooks (counting, faults), and answered by the function of its verb (verbs.h). Every answer is
 * sent by answer.h, which chooses the representation. */
#include "emulator/emulator.h"
#include "emulator/store/store.h"

struct sw_rest;

/** Borrowed, but for the string. */
struct sw_rest_config {
    struct sw_loop *loop;
    struct sw_store *store;
    const char *listen;             /* NULL: "127.0.0.1:0" */
    const char *cert_pem, *key_pem; /* HTTPS with this certificate; NULL: plain HTTP */
    const char *admin_token; /* the administrator's; without one NULL, and who sends none is it */
    bool rbac;               /* roles say who may do what */
    void (*on_request)(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg);
    void (*on_answer)(const struct sw_emu_request *req, int code, void *arg);
    void *arg;
};
/** Listen and serve. @return 0 | SW_INVALID | SW_UNAVAILABLE, SW_FORBIDDEN (the address) */
int sw_rest_open(const struct sw_rest_config *config, struct sw_rest **out, struct sw_err *err);
/** Closes all connections. NULL is accepted. */
void sw_rest_close(struct sw_rest *rest);
/** Reset every connection. Not from a handler of one. */
void sw_rest_drop(struct sw_rest *rest);
/** sw_serve_accept(). */
void sw_rest_accept(struct sw_rest *rest);
/** In a child of fork(), before sw_loop_after_fork(): replace the parent's sockets (fork.h). The
 * address changes. */
void sw_rest_after_fork(struct sw_rest *rest);
/** "127.0.0.1:43210"; borrowed until sw_rest_after_fork(). */
const char *sw_rest_address(const struct sw_rest *rest);
/** Requests so far. */
uint64_t sw_rest_n_requests(const struct sw_rest *rest);
/** A bearer token of a ServiceAccount, good for a day; heap, the caller's (reviews.c). */
char *sw_rest_account_token(struct sw_store *store, const char *ns, const char *account);
