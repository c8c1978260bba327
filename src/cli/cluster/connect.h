#pragma once
/* connect: the connection of a command to a cluster: which cluster, and the end by a signal. */
#include "cli/command/cli.h"

struct event;
struct sw_emulator;
struct sw_kube;
struct sw_kube_config;
struct sw_loop;

/** The options that select the cluster; borrowed until the connection is closed. */
struct sw_connect_opts {
    const char *kubeconfig, *context;
    const char *server, *cluster, *user, *token, *as_user, *as_groups;
    int64_t request_timeout_ms; /* 0: the client's */
    const char *manager;        /* field manager and user agent; NULL: "slipway" */
    bool emulate;
    int64_t n_nodes; /* of the emulator; 0: its default */
    const char *platform;
    const char *kube_version;  /* of the emulator, "1.34"; NULL: its default */
    const char *delays;        /* NULL: the emulator's defaults */
    const char *rules;         /* folder of rules besides the built-in ones, or NULL */
    const char *faults;        /* file with a plan of faults on the emulator, or NULL */
    const char *authorization; /* of the emulator: "none", "rbac"; NULL: none */
    const char *troubles;      /* that the emulator's operators play, comma separated, or NULL */
    bool no_signals;           /* another connection may be open, whose loop handles them */
};

/** Rows for a command's table of flags, given its options struct and the member that is the
 * struct above. */
#define SW_CONNECT_FLAGS(type, member)                                                             \
    SW_FLAG_ROW("kubeconfig", 0, SW_FLAG_STRING, offsetof(type, member.kubeconfig), "FILE",        \
                "kubeconfig file (default $KUBECONFIG, the pod's account, ~/.kube/config)"),       \
        SW_FLAG_ROW("context", 0, SW_FLAG_STRING, offsetof(type, member.context), "NAME",          \
                    "context of the kubeconfig (default: its current one)"),                       \
        SW_FLAG_ROW("cluster", 0, SW_FLAG_STRING, offsetof(type, member.cluster), "NAME",          \
                    "cluster of the kubeconfig, instead of the context's"),                        \
        SW_FLAG_ROW("user", 0, SW_FLAG_STRING, offsetof(type, member.user), "NAME",                \
                    "user of the kubeconfig, instead of the context's"),                           \
        SW_FLAG_ROW("server", 0, SW_FLAG_STRING, offsetof(type, member.server), "URL",             \
                    "API server, instead of the cluster's"),                                       \
        SW_FLAG_ROW("token", 0, SW_FLAG_STRING, offsetof(type, member.token), "TOKEN",             \
                    "bearer token, instead of what the user has"),                                 \
        SW_FLAG_ROW("as", 0, SW_FLAG_STRING, offsetof(type, member.as_user), "USER",               \
                    "impersonate this user"),                                                      \
        SW_FLAG_ROW("as-group", 0, SW_FLAG_STRING, offsetof(type, member.as_groups), "GROUPS",     \
                    "with --as: the user's groups, separated by commas"),                          \
        SW_FLAG_ROW("request-timeout", 0, SW_FLAG_DURATION,                                        \
                    offsetof(type, member.request_timeout_ms), "TIME",                             \
                    "time limit of each request, such as 5s (default 30s)")

/** A loop with a client on it. */
struct sw_connection {
    struct sw_loop *loop;
    struct sw_emulator *emulator; /* NULL: a real cluster */
    struct sw_kube_config *config;
    struct sw_kube *kube;
    struct sw_kube_config *account_config; /* of sw_connection_as(); NULL: there is none */
    struct sw_kube *account_kube;
    struct sw_timer *silent_timer;
    int64_t told_ms; /* when it was last told that the server says nothing; 0: it says something */
    struct event *signals[3]; /* SIGINT, SIGTERM, SIGHUP; NULL: not handled */
    const char *command;
    bool patient;     /* print once that the server does not answer, and when it answers again */
    bool is_down;     /* the former was printed */
    char *why_down;   /* why it does not answer; NULL: it does */
    int signal;       /* the one that ended the loop; 0: none */
    int64_t until_ms; /* deadline of the requests of requests.h, on the loop's clock; 0: none */
    int64_t end_ms;   /* the same of all of them: the command's own time limit; 0: none */
    void (*on_signal)(void *arg);
    void *arg;
};

/** Open loop, emulator and client. Zero-initialise; sw_connection_done() in any case.
 * @return 0 | as sw_kubeconfig_load(), sw_kube_new(), sw_emulator_open() */
int sw_connection_init(struct sw_connection *conn, const char *command,
                       const struct sw_connect_opts *opts, struct sw_err *err) SW_CHECKED;
/** Say what failed, as sw_cli_fail() does. @return its status; SW_EXIT_TIMEOUT where @end_ms was
 * over before the server answered */
int sw_connection_fail(const struct sw_connection *conn, const struct sw_err *err);
/** Has a request to the API server had no answer for 2 s? */
bool sw_connection_is_silent(const struct sw_connection *conn);
/** A second client of the emulator, as the ServiceAccount @account in @ns: conn->account_kube.
 * @return 0 | as sw_kube_new() */
int sw_connection_as(struct sw_connection *conn, const struct sw_connect_opts *opts, const char *ns,
                     const char *account, struct sw_err *err) SW_CHECKED;
/** Close client, emulator and loop; twice is harmless. */
void sw_connection_done(struct sw_connection *conn);
