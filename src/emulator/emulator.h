#pragma once
/* emulator: a Kubernetes cluster in the process. It has a REST API on loopback that behaves as
 * kube-apiserver does (kubectl works against it), a store of documents (store.h), controllers for
 * DaemonSets, Deployments, Jobs and pods, and YAML rules that say what custom resources do.
 * Everything runs on the caller's loop and its clock. Clients are in src/kube. */
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

/** The platform whose CRDs and objects the cluster has from the start. */
enum sw_emu_platform { SW_EMU_OPENSHIFT, SW_EMU_KUBERNETES };
/** What --platform of commands takes. */
#define SW_EMU_PLATFORMS "openshift|kubernetes|eks|gke|aks|oke|kind"

/** The delays of the cluster; zero: none. See sw_emu_delays_human. */
struct sw_emu_delays {
    int schedule_ms;    /* from created to bound */
    int pull_ms;        /* an image that the node has not had before */
    int pod_start_ms;   /* from bound, and pulled, to Running */
    int pod_ready_ms;   /* from Running to Ready */
    int pod_stop_ms;    /* from deleted to gone */
    int job_run_ms;     /* how long a pod that ends runs */
    int rule_percent;   /* the delays in the YAML rules are multiplied by it; 100: as written */
    int jitter_percent; /* each delay is longer by up to this, by the seed */
};
/** The delays of `--delays 1`: slow enough for a person to follow. */
extern const struct sw_emu_delays sw_emu_delays_human;

/** Small charts that play the vendors' own under their names, each file as "<chart>/<path>"; ended
 * by a NULL name. They install what the built-in rules play, and nothing that works on a cluster.
 */
extern const struct sw_embedded sw_stand_ins[];

/** Read a factor of these delays: "0" (none), "0.5", "1".
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
    const char *as_user;     /* the header Impersonate-User, or NULL */
    const char *content_type;
    const char *body; /* @body_len bytes */
    size_t body_len;
};

/** What happens to a request instead of its answer. */
enum sw_emu_fault_type {
    SW_FAULT_NONE,
    SW_FAULT_ERROR,    /* answer with @code; the request is not carried out */
    SW_FAULT_LOST,     /* carry it out, then close without an answer */
    SW_FAULT_RESET,    /* close at once; the request is not carried out */
    SW_FAULT_HANG,     /* never answer, nor carry it out; the connection stays open */
    SW_FAULT_TRUNCATE, /* watch: close in the middle of the line of the @after-th event */
    SW_FAULT_GARBLE,   /* watch: the line of the @after-th event is no JSON */
    SW_FAULT_EXPIRE,   /* watch: an ERROR event with 410 instead of the @after-th event */
    SW_FAULT_DOUBLE,   /* watch: each event twice */
    SW_FAULT_REORDER,  /* watch: the @after-th event comes after the one that follows it */
    SW_FAULT_STALE,    /* list: as it was before the last change of the kind;
                          kinds of a group version: without the newest CRD's */
};

/** What to do with a request instead of answering it at once. */
struct sw_emu_fault {
    enum sw_emu_fault_type type;
    int code;          /* ERROR: 409, 410, 429, 500, 503... */
    int retry_after_s; /* ERROR: the Retry-After header, 0: none */
    int delay_ms;      /* before anything else, for every type */
    int after;         /* which watch event, from 1 */
};

/** The Kubernetes releases that can be emulated: 1.20 to the default, the newest. */
#define SW_EMULATOR_KUBE_VERSION "1.36"
enum { SW_EMULATOR_OLDEST_MINOR = 20, SW_EMULATOR_NEWEST_MINOR = 36 };

/** The zero value is the default of each. Strings are copied. */
struct sw_emulator_opts {
    const char *listen; /* "127.0.0.1:0" */
    enum sw_emu_platform platform;
    const char *cloud; /* "eks", "gke", "aks", "oke", "kind": whose nodes (provider ID, labels,
                          taints, system, kernel) and StorageClasses the cluster has; NULL: nobody's
                          in particular. With SW_EMU_KUBERNETES alone */
    int n_nodes;       /* of all roles; 0: the usual five (1 control plane, 1 CPU-only, 3 GPU) */
    bool no_nodes;
    bool no_controllers;        /* an API server alone */
    bool tls;                   /* HTTPS, with a CA of its own; only who has the administrator's
                                   token, which is in the kubeconfig, is the administrator */
    bool rbac;                  /* roles say who may do what; else everybody may do everything */
    const char *kube_version;   /* "1.29"; SW_EMULATOR_KUBE_VERSION */
    const char *runtime_config; /* versions of APIs that are served or not, as kube-apiserver's flag
                                   --runtime-config says; NULL: those of the release */
    const char *feature_gates; /* "DRAPartitionableDevices=false,...", as its --feature-gates; NULL:
                                  as in the release */
    const char *rules_dir;     /* besides the built-in rules; NULL: none */
    const char *troubles;      /* names of rules' `trouble`, comma separated; NULL: none */
    const char *faults;        /* a plan of faults (docs/faults.md); NULL: none */
    struct sw_emu_delays delays;
    uint64_t seed; /* of names and uids; 0: from the system */
    /** The real addresses of services' admission webhooks: "ns/service=host:port", more after
     * commas. NULL: emulated pods answer. */
    const char *webhook_addresses;
    /** Called before a request is handled; may set @fault, which is zeroed. */
    void (*on_request)(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg);
    /** Called after the answer was passed to the connection; for a watch: when it began. */
    void (*on_answer)(const struct sw_emu_request *req, int code, void *arg);
    void *arg; /* of both hooks */
};

/** Start the cluster. @return 0 | SW_INVALID (an option, a rule: file and line) | SW_UNAVAILABLE
 * (the address cannot be listened on) */
int sw_emulator_open(struct sw_loop *loop, const struct sw_emulator_opts *opts,
                     struct sw_emulator **out, struct sw_err *err);
/** Closes all connections. NULL is accepted. */
void sw_emulator_close(struct sw_emulator *emu);

/** Set platform and cloud of @opts as one of SW_EMU_PLATFORMS says, which is borrowed; NULL: the
 * default, OpenShift. */
void sw_emulator_set_platform(struct sw_emulator_opts *opts, const char *name);
/** "http://127.0.0.1:43210", with TLS "https://...". Borrowed. */
const char *sw_emulator_url(const struct sw_emulator *emu);
/** The objects, for controllers and tests. Borrowed. */
struct sw_store *sw_emulator_store(struct sw_emulator *emu);
/** A kubeconfig for it as YAML; heap, the caller's. */
char *sw_emulator_kubeconfig(const struct sw_emulator *emu);
/** A bearer token of a ServiceAccount, good for a day; heap, the caller's. */
char *sw_emulator_token(const struct sw_emulator *emu, const char *ns, const char *account);
/** Reset every connection, as a server that crashes; it continues to listen. */
void sw_emulator_drop(struct sw_emulator *emu);
/** Upgrade the cluster to @version ("1.36"): the API server restarts, which resets every
 * connection, and serves that release from now on. Objects and nodes stay as they are.
 * @return 0 | SW_INVALID: it is no release that the emulator knows */
int sw_emulator_upgrade(struct sw_emulator *emu, const char *version, struct sw_err *err);
/** Restart the API server with other feature gates, which resets every connection; @gates as in
 * sw_emulator_opts. What is stored stays as it is. @return 0 | SW_INVALID: a gate, or its value */
int sw_emulator_set_feature_gates(struct sw_emulator *emu, const char *gates, struct sw_err *err);
/** Start a plan of faults (faults/faults.h); free it before the emulator. The caller sets its
 * `on_request` hook. */
void sw_emulator_start_faults(struct sw_emulator *emu, struct sw_faults *faults);
/** Accept waiting connections now, not in the next turn of the loop. Not from a callback. */
void sw_emulator_accept(struct sw_emulator *emu);
/** fork(), not from a callback. The child has its own cluster and loop, at another address; the
 * requests that were sent before are handled there, then its connections end as those of killed
 * clients. The parent's cluster is not affected.
 * @return 0 in the child, its pid in the parent, or -1 with errno */
pid_t sw_emulator_fork(struct sw_emulator *emu) SW_CHECKED;
/** Requests answered so far. */
uint64_t sw_emulator_n_requests(const struct sw_emulator *emu);
