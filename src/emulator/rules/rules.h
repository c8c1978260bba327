#pragma once
/* rules: the behaviour of a cluster as data. YAML files (docs/emulator-rules.md) define what
 * happens to custom resources, which objects exist from the start, which images exist, how pods
 * end. This module reads the files and carries them out on a backend: the emulator's store, or a
 * client of a real API server. Rules are level-triggered: after a change they compare what should
 * be with what is, and write only the difference. */
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

/** How an object is deleted. */
enum sw_rules_removal {
    SW_RULES_DELETE,
    SW_RULES_DELETE_NOW, /* without a grace period */
    SW_RULES_EVICT,      /* a Pod, as the Eviction API does it */
};

/** What rules need of a cluster. Reads return the state that is known now. Writes may be
 * asynchronous: their results are reported as changes. A write that failed is tried again after a
 * change, and after some time. */
struct sw_rules_backend {
    void *self;
    /** The object, borrowed until the next write or turn of the loop; NULL: it does not exist, or
     * its kind is not served. */
    json_object *(*find)(void *self, const struct sw_rules_ref *ref);
    /** Call @cb for each object of @ref's kind, namespace and node, in order, until it returns
     * nonzero. */
    void (*each)(void *self, const struct sw_rules_ref *ref, int (*cb)(json_object *doc, void *arg),
                 void *arg);
    /** Whether objects of this kind are in namespaces; -1: the kind is not served. */
    int (*is_namespaced)(void *self, const char *api_version, const char *kind);
    /** Report the objects of this kind, and their changes from now on, by sw_rules_changed(). The
     * kind may not be served yet. Called once for each kind. */
    void (*watch)(void *self, const char *api_version, const char *kind);
    /** Create an object; @doc is borrowed. @return 0 | SW_CONFLICT: it exists | other codes */
    int (*create)(void *self, json_object *doc, struct sw_err *err);
    /** Apply a merge patch to the object, or with @status to its status subresource. */
    int (*patch)(void *self, const struct sw_rules_ref *ref, bool status, json_object *patch,
                 struct sw_err *err);
    /** Delete an object. One that does not exist is no error. @return 0 | SW_PENDING: a
     * PodDisruptionBudget holds the pod that is to be evicted | other codes */
    int (*remove)(void *self, const struct sw_rules_ref *ref, enum sw_rules_removal how,
                  struct sw_err *err);
    /** Objects of the start were created. May be NULL. */
    void (*objects_created)(void *self);
};

/* ---- life ---------------------------------------------------------------------------------------
 */

/** The zero value is the default of each; strings are copied. */
struct sw_rules_opts {
    const char *dir;          /* more files, which add to the built-in ones or replace them */
    bool no_builtin;          /* only @dir's and @text */
    const char *text;         /* one more file, for tests; borrowed for the call */
    const char *platform;     /* "openshift" */
    const char *cloud;        /* of sw_emulator_opts; NULL: none */
    const char *troubles;     /* which documents with `trouble` count, comma separated */
    const char *kube_version; /* "1.29"; required */
    bool real_cluster;        /* without what a real cluster's controllers do themselves */
    int n_nodes;              /* `.nodes` */
    int delay_percent;        /* factor of the rules' delays */
    int jitter_percent;       /* random part of a delay */
    uint64_t seed;
    /** The result of sw_rules_image() or sw_rules_serve_scheduler() may have changed. */
    void (*on_image)(void *arg, const char *image);
    void (*on_scheduler)(void *arg);
    void *arg;
};

/** Read the rules; they are not carried out before sw_rules_start(). @backend is copied. *@out is
 * the caller's.
 * @return 0 | SW_INVALID "file:line: what is wrong", a trouble that is none | SW_NOTFOUND
 * (opts->dir) */
int sw_rules_open(struct sw_loop *loop, const struct sw_rules_backend *backend,
                  const struct sw_rules_opts *opts, struct sw_rules **out,
                  struct sw_err *err) SW_CHECKED;
/** Free the rules, before the backend. NULL is accepted. */
void sw_rules_close(struct sw_rules *rules);

/** Create the `objects` of all files that do not exist. Objects of a kind that is not served yet
 * are created when it is. @return 0, or the error of the first that failed, with file and line */
int sw_rules_create_objects(struct sw_rules *rules, struct sw_err *err) SW_CHECKED;
/** Start to watch the kinds of the rules and to carry the rules out. */
void sw_rules_start(struct sw_rules *rules);

/** For the backend: an object was added (@before NULL), changed, or deleted (@after NULL).
 * Borrowed.
 */
void sw_rules_changed(struct sw_rules *rules, json_object *before, json_object *after);

/** For the backend: more kinds may be served now, so that objects may be created that could not. */
void sw_rules_served(struct sw_rules *rules);

/** The key of a kind in any version, "group/Kind"; the caller's. */
char *sw_rules_kind_key(const char *api_version, const char *kind);

/* ---- for the emulator's controllers -------------------------------------------------------------
 */

/** Whether this container image exists. */
bool sw_rules_image(struct sw_rules *rules, const char *image);
/** The login that a pull of this image needs, "user:password"; borrowed from the rules, NULL: none.
 */
const char *sw_rules_image_login(struct sw_rules *rules, const char *image);
/** Whether the emulator's scheduler serves pods of this schedulerName, which is not
 * `default-scheduler`. */
bool sw_rules_serve_scheduler(struct sw_rules *rules, const char *name);

/** How a container of a pod runs and ends, by annotations and `pods` entries. */
struct sw_pod_plan {
    bool has_exit_code, has_run;
    bool names_container; /* the annotation with the exit code names this container */
    int exit_code;
    int64_t run_ms; /* -1: forever */
    bool never_ready;
    char *log;     /* owned; NULL: none given */
    char *reason;  /* why its containers end, "OOMKilled" say; borrowed from @pod or the rules */
    char *message; /* what they write to their terminationMessagePath; likewise */
};
/** Set @out to the plan of @container of @pod, borrowed; the caller frees out->log. */
void sw_rules_plan_pod(struct sw_rules *rules, json_object *pod, const char *container,
                       struct sw_pod_plan *out);
