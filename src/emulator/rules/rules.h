#pragma once
/* rules: what happens in a cluster as data. YAML files (docs/emulator-rules.md) say what custom
 * resources do, which objects are there from the start, which images exist, how pods end. This
 * module reads them and carries them out on a backend: the emulator's store, or a client of a real
 * API server. It describes levels: whatever changes, it compares what should be with what is, and
 * writes only what differs. */
#include "base/base.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct sw_loop;
struct sw_rules;

/* ---- the cluster that rules work on -------------------------------------------------------------
 */

/** An object, or with @name NULL all of a kind. Borrowed texts. */
struct sw_rules_ref {
    const char *api_version, *kind;
    const char *ns;   /* NULL: cluster-scoped, or every namespace */
    const char *name; /* NULL: each */
    const char *node; /* Pods only: those bound to this node; NULL: any */
};

/** What rules need of a cluster. Reads answer from what is known now; writes are begun, and what
 * comes of them is heard of as a change (so a write that fails is tried again when something
 * changes, and after a while). */
struct sw_rules_backend {
    void *self;
    /** Borrowed until the next write or turn of the loop; NULL: not there, or kind not served. */
    json_object *(*find)(void *self, const struct sw_rules_ref *ref);
    /** Each object of @ref's kind, namespace and node, in order; nonzero from @cb ends it. */
    void (*each)(void *self, const struct sw_rules_ref *ref, int (*cb)(json_object *doc, void *arg),
                 void *arg);
    /** Whether objects of this kind are in namespaces; -1: the kind is not served. */
    int (*is_namespaced)(void *self, const char *api_version, const char *kind);
    /** Be told of changes of this kind from now on, by sw_rules_changed(); what there is already
     * comes first. The kind may not be served yet. Asked once for a kind. */
    void (*watch)(void *self, const char *api_version, const char *kind);
    /** @doc is borrowed. @return 0 | SW_CONFLICT (exists) | other codes, with words */
    int (*create)(void *self, json_object *doc, struct sw_err *err);
    /** A merge patch on the object, or with @status on its status subresource. */
    int (*patch)(void *self, const struct sw_rules_ref *ref, bool status, json_object *patch,
                 struct sw_err *err);
    /** @now: without a grace period. What is not there is no error. */
    int (*remove)(void *self, const struct sw_rules_ref *ref, bool now, struct sw_err *err);
    /** Objects of the start were created; NULL: nobody wants to know. */
    void (*begun)(void *self);
};

/* ---- life ---------------------------------------------------------------------------------------
 */

/** The zero value is the default of each; strings are copied. */
struct sw_rules_opts {
    const char *dir;          /* more files, which add to the built-in ones or replace them */
    bool no_builtin;          /* only @dir's and @text */
    const char *text;         /* one more file, for tests; borrowed for the call */
    const char *platform;     /* "openshift" */
    const char *kube_version; /* "1.29" */
    bool real_cluster;        /* leave out what a real API server and its managers do themselves */
    int n_nodes;              /* `.nodes` */
    int delay_percent;        /* of the rules' delays that are waited */
    int jitter_percent;
    uint64_t seed;
    /** Something that sw_rules_image() or sw_rules_serve_scheduler() answered may have changed. */
    void (*on_image)(void *arg, const char *image);
    void (*on_scheduler)(void *arg);
    void *arg;
};

/** Read the rules. Nothing is done before sw_rules_start(). @backend is copied.
 * @return 0 | SW_INVALID "file:line: what is wrong" | SW_NOTFOUND (opts->dir) */
int sw_rules_open(struct sw_loop *loop, const struct sw_rules_backend *backend,
                  const struct sw_rules_opts *opts, struct sw_rules **out,
                  struct sw_err *err) SW_CHECKED;
/** Read a file's text and say what is wrong with it, without a cluster. */
int sw_rules_check(const char *file, const char *text, size_t len_bytes,
                   struct sw_err *err) SW_CHECKED;
/** NULL is accepted. The backend must be alive still. */
void sw_rules_close(struct sw_rules *rules);

/** Create the `objects` of all files, those that do not exist. Those whose kind is not served yet
 * are created when it is. @return 0 or what the first that failed says, with file and line */
int sw_rules_create_objects(struct sw_rules *rules, struct sw_err *err) SW_CHECKED;
/** Begin to watch and to act. */
void sw_rules_start(struct sw_rules *rules);

/** The backend's: this object was added, changed (both), or removed (@after NULL). Borrowed. */
void sw_rules_changed(struct sw_rules *rules, json_object *before, json_object *after);

/** The backend's: kinds may be served now that were not, objects may be created that could not. */
void sw_rules_served(struct sw_rules *rules);

/* ---- what the emulator's own controllers ask ----------------------------------------------------
 */

/** Can this container image be pulled? */
bool sw_rules_image(struct sw_rules *rules, const char *image);
/** Does the emulator's scheduler serve pods of this schedulerName? (`default-scheduler` aside) */
bool sw_rules_serve_scheduler(struct sw_rules *rules, const char *name);

/** What becomes of one container of a pod, as annotations and `pods` entries say. */
struct sw_pod_plan {
    bool has_exit_code, has_run;
    bool names_container; /* the exit code is that of this container alone */
    int exit_code;
    int64_t run_ms; /* -1: for ever */
    bool never_ready;
    char *log; /* heap, the caller's; NULL: nothing said */
};
void sw_rules_plan_pod(struct sw_rules *rules, json_object *pod, const char *container,
                       struct sw_pod_plan *out);
