#pragma once
/* emulator: a Kubernetes cluster in the process. A REST API on loopback that behaves as
 * kube-apiserver does (kubectl works against it), over a store of documents (store.h), with
 * controllers that make DaemonSets, Deployments, Jobs and pods live, and YAML rules for what custom
 * resources do. Everything runs on the caller's loop and its clock. What it leaves to others: the
 * client side (src/kube), and every decision of slipway. */
#include "base/loop.h"

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sw_emulator;
struct sw_err;
struct sw_faults;
struct sw_store;

/** Whose CRDs and objects are there from the start. */
enum sw_emu_platform { SW_EMU_OPENSHIFT, SW_EMU_KUBERNETES };

/** How long things take in the cluster; zero: at once. A human pace is sw_emu_delays_human. */
struct sw_emu_delays {
    int schedule_ms;  /* from created to bound */
    int pull_ms;      /* an image that the node has not had before */
    int pod_start_ms; /* from bound, and pulled, to Running */
    int pod_ready_ms; /* from Running to Ready */
    int pod_stop_ms;  /* from deleted to gone */
    int job_run_ms;   /* how long a pod that ends runs */
    int rule_percent; /* of the delays written in the YAML rules that are waited; 100: as written */
    int jitter_percent; /* each delay is longer by up to this much, by the seed */
};
/** The delays of `--delays 1`: as slow as a person can follow. */
extern const struct sw_emu_delays sw_emu_delays_human;

/** Read a factor of the human pace as a person writes it: "0" (at once), "0.5", "1".
 * @return 0 | SW_INVALID: not a number from 0 to 1000 */
int sw_emu_delays_read(const char *text, struct sw_emu_delays *out, struct sw_err *err) SW_CHECKED;

/** One request, as hooks see it. Borrowed for the call. */
struct sw_emu_request {
    uint64_t n;              /* counted from 1 in order of arrival */
    const char *verb;        /* get list watch create update patch delete deletecollection, or the
                                HTTP method in lower case for what is not a resource */
    const char *group;       /* "" for core and for what is not a resource */
    const char *version;     /* "v1" */
    const char *resource;    /* "pods", NULL for what is not a resource */
    const char *subresource; /* "status", or NULL */
    const char *ns;          /* or NULL */
    const char *name;        /* or NULL */
    const char *path;        /* with the query */
    const char *user_agent;  /* or NULL */
    const char *as_user;     /* whom the client acts as, or NULL */
    const char *content_type;
    const char *body; /* @body_len bytes */
    size_t body_len;
};

/** What happens to a request instead of its answer. */
enum sw_emu_fault_type {
    SW_FAULT_NONE,
    SW_FAULT_ERROR,    /* answer with @code, nothing was done */
    SW_FAULT_LOST,     /* do it, then close without an answer */
    SW_FAULT_RESET,    /* close at once, nothing was done */
    SW_FAULT_HANG,     /* never answer, nothing was done; the connection stays open */
    SW_FAULT_TRUNCATE, /* watch: close in the middle of the line of the @after-th event */
    SW_FAULT_GARBLE,   /* watch: the line of the @after-th event is no JSON */
    SW_FAULT_EXPIRE,   /* watch: an ERROR event with 410 instead of the @after-th event */
    SW_FAULT_DOUBLE,   /* watch: each event twice */
    SW_FAULT_REORDER,  /* watch: the @after-th event comes after the one that follows it */
    SW_FAULT_STALE,    /* list: as it was before the last change of the kind;
                          kinds of a group version: without the one that came last */
};

/** What to do with a request instead of answering it at once. */
struct sw_emu_fault {
    enum sw_emu_fault_type type;
    int code;          /* ERROR: 409, 410, 429, 500, 503... */
    int retry_after_s; /* ERROR: the Retry-After header, 0: none */
    int delay_ms;      /* before anything, whatever the type */
    int after;         /* which watch event, from 1 */
};

/** The zero value is the default of each. Strings are copied. */
struct sw_emulator_opts {
    const char *listen; /* "127.0.0.1:0" */
    enum sw_emu_platform platform;
    int n_nodes; /* workers and all; 0: the usual five (1 control plane, 1 CPU-only, 3 GPU) */
    bool no_nodes;
    bool no_controllers;      /* an API server alone */
    const char *kube_version; /* "1.29" */
    const char *rules_dir;    /* besides the built-in rules; NULL: none */
    const char *faults;       /* a plan of what goes wrong (docs/faults.md); NULL: none */
    struct sw_emu_delays delays;
    uint64_t seed; /* of names and uids; 0: from the system */
    /** Where admission webhooks of services really are: "ns/service=host:port", more after commas.
     * NULL: emulated pods answer for them. */
    const char *webhook_addresses;
    /** Before a request is handled: observe it, ask for a fault (zeroed). */
    void (*on_request)(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg);
    /** After its answer was handed to the connection; for a watch: when it began. */
    void (*on_answer)(const struct sw_emu_request *req, int code, void *arg);
    void *arg; /* of both hooks */
};

/** Start the cluster. @return 0 | SW_INVALID (an option, a rule: file and line) | SW_UNAVAILABLE
 * (the address cannot be listened on) */
int sw_emulator_open(struct sw_loop *loop, const struct sw_emulator_opts *opts,
                     struct sw_emulator **out, struct sw_err *err);
/** Closes all connections. NULL is accepted. */
void sw_emulator_close(struct sw_emulator *emu);

/** "http://127.0.0.1:43210". Borrowed. */
const char *sw_emulator_url(const struct sw_emulator *emu);
/** The objects, for controllers and tests. Borrowed. */
struct sw_store *sw_emulator_store(struct sw_emulator *emu);
/** A kubeconfig for it as YAML; heap, the caller's. */
char *sw_emulator_kubeconfig(const struct sw_emulator *emu);
/** Reset every connection, as a server that dies; it goes on listening. */
void sw_emulator_drop(struct sw_emulator *emu);
/** The time of a plan of faults (faults/faults.h) begins; free it before the emulator. Its
 * `on_request` hook is the caller's to set. */
void sw_emulator_start_faults(struct sw_emulator *emu, struct sw_faults *faults);
/** Whoever has connected is taken in now, not in the next turn of the loop. Not from a callback. */
void sw_emulator_accept(struct sw_emulator *emu);
/** fork(), not from a callback. In the child, the cluster and its loop are the child's own: at
 * another address, and its connections end as those of clients that were killed (what they had sent
 * is handled before). The parent's cluster goes on as if nothing had been.
 * @return 0 in the child; its pid; -1 and errno: there is none */
pid_t sw_emulator_fork(struct sw_emulator *emu) SW_CHECKED;
/** Requests answered so far. */
uint64_t sw_emulator_n_requests(const struct sw_emulator *emu);
