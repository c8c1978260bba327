#pragma once
/* connect: the connection of a command to a cluster: which cluster, and the end by a signal. */
#include "cli/command/cli.h"

struct event;
struct sw_emulator;
struct sw_kube;
struct sw_kube_config;
struct sw_loop;

/** The options that name the cluster; borrowed for the connection's life. */
struct sw_connect_opts {
    const char *kubeconfig, *context;
    const char *manager; /* field manager and user agent; NULL: "slipway" */
    bool emulate;
    int64_t n_nodes; /* of the emulator; 0: its usual five */
    const char *platform;
    const char *delays; /* NULL: the emulator's usual ones */
    const char *rules;  /* folder of rules besides the built-in ones, or NULL */
    const char *faults; /* a plan of what goes wrong on the emulator, or NULL */
};

/** Rows for a command's table of flags, given its options struct and the member that is the
 * struct above. */
#define SW_CONNECT_FLAGS(type, member)                                                             \
    { "kubeconfig",                                                                                \
      0,                                                                                           \
      SW_FLAG_STRING,                                                                              \
      offsetof(type, member.kubeconfig),                                                           \
      "FILE",                                                                                      \
      NULL,                                                                                        \
      "cluster and user; else $KUBECONFIG, the pod's account, ~/.kube/config" },                   \
    {                                                                                              \
        "context", 0, SW_FLAG_STRING, offsetof(type, member.context), "NAME", NULL,                \
            "context of the kubeconfig instead of its current one"                                 \
    }

/** A loop with a client on it. */
struct sw_connection {
    struct sw_loop *loop;
    struct sw_emulator *emulator; /* NULL: a real cluster */
    struct sw_kube_config *config;
    struct sw_kube *kube;
    struct event *interrupt, *terminate;
    const char *command;
    bool patient;     /* requests are retried while the server does not answer: print that once */
    bool is_down;     /* the server does not answer, and that was printed */
    int signal;       /* the one that ended the loop; 0: none */
    int64_t until_ms; /* requests.h waits for no answer longer, on the loop's clock; 0: for ever */
    void (*on_signal)(void *arg);
    void *arg;
};

/** Open loop, emulator and client. Zero-initialise; sw_connection_done() in any case.
 * @return 0 | as sw_kubeconfig_load(), sw_kube_new(), sw_emulator_open() */
int sw_connection_init(struct sw_connection *conn, const char *command,
                       const struct sw_connect_opts *opts, struct sw_err *err) SW_CHECKED;
/** Close client, emulator and loop; twice is harmless. */
void sw_connection_done(struct sw_connection *conn);
