#pragma once
/* access: asks the API server who a bearer token is (TokenReview), and whether he may read a path
 * (SubjectAccessReview); keeps the answers for a while. */
#include <stddef.h>

struct json_object;
struct sw_access;
struct sw_kube;
struct sw_kube_config;
struct sw_loop;
struct sw_serve_reply;

/** How the API server is asked; borrowed until sw_access_free(). */
struct sw_access_opts {
    struct sw_loop *loop;
    struct sw_kube *kube;   /* NULL: a client of its own, made for the first question */
    const char *kubeconfig; /* of that client; NULL: as sw_kubeconfig_load() finds it */
    const char *program;    /* its user agent, and in logs */
};
struct sw_access *sw_access_new(const struct sw_access_opts *opts);
/** What waits for an answer gets 503. NULL is accepted. */
void sw_access_free(struct sw_access *access);

typedef void sw_access_fn(struct sw_serve_reply *reply, void *arg);

/** A request that somebody sends; texts are borrowed for the call. */
struct sw_access_request {
    const char *token;         /* NULL: none */
    const char *verb;          /* "get" */
    const char *path;          /* "/metrics" */
    void (*forget)(void *arg); /* called instead of the function below; NULL: nothing is */
    /** Called before it with who he is, {"username", "uid", "groups", "extra"} of the TokenReview,
     * borrowed; NULL: nothing is. */
    void (*identify)(struct json_object *user, void *arg);
};
/** Call @allowed(@reply, @arg), now or later, if the token's user may do it. Else @reply is
 * answered: 401 (who is it?), 403 (he may not), 503 (the API server gave no answer, or too many ask
 * at once).
 * Source: controller-runtime's filters.WithAuthenticationAndAuthorization. Pinned by
 * test/emulator/kube/metrics_server_test.c. */
void sw_access_ask(struct sw_access *access, const struct sw_access_request *request,
                   struct sw_serve_reply *reply, sw_access_fn *allowed, void *arg);
