#pragma once
/* engine: the pure core that brings one resource's graph of states to Ready. No I/O, no clock, no
 * sockets, no globals: an event goes in, the actions to carry out are returned, and the same events
 * always give the same actions. What phase a state is in, and what moves it on, is one const table
 * (transitions.c; docs/engine.md shows it as a diagram).
 *
 *     const struct sw_actions *a = sw_engine_step(engine, &(struct sw_event){
 *         .kind = SW_EV_OBSERVED, .key = key, .object = doc, .now_ms = now });
 *     for (size_t i = 0; i < a->n; i++)
 *         perform(&a->items[i]);
 *
 * It leaves to others: rendering (SW_ACT_RENDER asks for it), carrying actions out, retrying
 * requests that got no answer, and keeping watches alive.
 *
 * Restarts. An engine remembers nothing that the cluster does not have. A new one for the same
 * resource gets the resource, with the status that was written last, and asks for the rest; what is
 * as it should be is not written again. So a process may be killed at any time.
 *
 * Events say "look again": doubled, late and reordered ones do no harm, and lost ones only until
 * the next one. Only an answer that never comes stops it: each SW_ACT_RENDER, _APPLY, _DELETE,
 * _RELEASE, _LABEL, _STATUS and _LOGS must be answered exactly once, by success or by a code. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "operator/engine/nodes/node_set.h"
#include "operator/engine/readiness/gate.h"

struct json_object;
struct sw_engine;
struct sw_kept;

/** One object of the cluster. Two keys are the same object when group (not version), kind,
 * namespace and name are. */
struct sw_key {
    const char *api_version;
    const char *kind;
    const char *ns; /* NULL or "": cluster-scoped */
    const char *name;
};

/** A copy of a key, freed by sw_key_done(). Each text may be NULL. */
struct sw_key sw_key_copy(const struct sw_key *key);
/** Free a copy; it is zero then. */
void sw_key_done(struct sw_key *key);
/** Are both namespaces the same? NULL and "" are. */
bool sw_ns_equal(const char *a, const char *b);

/* ---- events ------------------------------------------------------------------------------------
 */

/** What has happened. The fields of struct sw_event that a kind uses are named with it. */
enum sw_event_kind {
    SW_EV_SPEC,          /* @spec: the resource is new or has changed. The first of all events, and
                            only once every node is in the node set */
    SW_EV_RENDERED,      /* answer: @state, @variant, @serial, @objects */
    SW_EV_RENDER_FAILED, /* answer: @state, @variant, @serial, @code, @message */
    SW_EV_OBSERVED, /* @key is as in @object now; NULL: it does not exist. Of one object in order.
                       With @code SW_NOTFOUND: its kind is not served (@message: which group).
                       With another @code: it cannot be watched (@message); of a watch by selector
                       with @watch and without @key.name */
    SW_EV_SYNCED,   /* @watch: all objects that matched its selector have been observed */
    SW_EV_APPLIED,  /* answer: @serial, @key, @code; @object: as the server answered */
    SW_EV_DELETED,  /* answer: @serial, @key, @code; 0 and SW_NOTFOUND are both success. A
                       SW_EV_OBSERVED will follow when the object is gone */
    SW_EV_RELEASED, /* answer: @serial, @key, @code; 0 and SW_NOTFOUND are both success */
    SW_EV_LABELED,  /* answer: @serial, @node, @code. On success the node set has the new labels
                       already */
    SW_EV_STATUS_WRITTEN, /* answer: @serial, @code */
    SW_EV_STATUS_LOST,    /* others have removed what was written: it is written again */
    SW_EV_LOGS,           /* answer: @serial, @key, @code, @text */
    SW_EV_WARNINGS,       /* answer: @serial, @key, @code, @text: of the newest, with a line before
                             it about a pull secret that is not there; NULL: none */
    SW_EV_NODE,           /* @node in the node set has changed or (without name there) is gone */
    SW_EV_FACTS,          /* what templates see has changed (facts, API kinds): render again, and
                             try again at once what failed for lack of a kind */
    SW_EV_UPGRADE,        /* @object: how the upgrade of drivers goes, for the status; NULL: there
                             is no upgrade */
    SW_EV_LEAVING, /* the process is about to end: what is known is put into the status now */
    SW_EV_TIMER,   /* the time of the last SW_ACT_TIMER has come. Harmless at any time */
    SW_EV_COUNT
};

/** Of spec.managementState. */
enum sw_management {
    SW_MANAGED,   /* "", Managed, Force */
    SW_UNMANAGED, /* observe, change nothing, the status stays as it is */
    SW_REMOVED,   /* remove what was applied; the resource stays */
};

/** How far a deletion, or a removal, may go by now. */
enum sw_hold {
    SW_HOLD_NONE,
    SW_HOLD_ALL,  /* nothing is removed yet: hooks before the deletion are running */
    SW_HOLD_LAST, /* hidden states (the namespace) and all Namespaces stay; SW_ACT_EMPTIED when the
                   * others are gone */
    SW_HOLD_COUNT
};

/** One state of the graph, as the recipe has it. */
struct sw_state_spec {
    const char *name;  /* unique; shown, and recorded in the status */
    const char *label; /* <state> of the node label; NULL: none. Two states may share one: nodes
                          get it when both have finished there */
    const char *ready_label; /* key of a label that comes and goes with it, for what others wrote
                                that selects nodes by it; its value is empty. NULL: none */
    const char *title;       /* for "Working on: <title>"; NULL: @name */
    /** A release of its own that it belongs to, for the status, or NULL: "name", "namespace",
     * "version", "digest", "revision", "from" (the version that an upgrade began with), "owner"
     * (the resource that has installed it instead) and "deployed" (the version that was Ready
     * last), which the engine sets. Borrowed. */
    struct json_object *release;
    /** What its objects belong to, which another resource, the owner, has for all that share it:
     * they are observed here. Both NULL: it is not so. */
    const char *shared, *shared_owner;
    const size_t *needs; /* indexes of states; no cycles */
    size_t n_needs;
    bool kernel_affine; /* rendered once for each group (node_set.h) of the resource's nodes */
    bool looks_up;      /* its templates read the cluster: rendered again when its turn comes */
    bool hidden;        /* what comes before the recipe (the namespace): not in the status */
    int64_t timeout_ms; /* how long it may take to get ready; 0: as SW_ANN_TIMEOUT on its objects
                           says, else as the resource does */
};

/** The resource, with its recipe's states. */
struct sw_spec {
    const char *name, *uid;
    const char *predecessor; /* uid of the DASOperator whose objects it goes on with, or NULL */
    const char *rights_of;   /* for hints: what `slipway rbac` is told of it; NULL: "RECIPE" */
    int64_t generation;
    enum sw_management management;
    bool deleting;                     /* has a deletionTimestamp: remove all, then FINALIZED */
    bool orphan;                       /* when deleting: leave all objects, without slipway's marks,
                                          and the labels of the nodes, by which pods find them */
    enum sw_hold hold;                 /* when deleting and not @orphan, or removed */
    const char *hold_message;          /* why it is held, for the status, or NULL */
    bool hold_failed;                  /* that has failed, and goes on */
    int64_t timeout_ms;                /* of states that have none of their own; 0: none */
    struct json_object *node_selector; /* map of labels or NULL: the nodes of the resource */
    struct json_object *taints;        /* array {key,value,effect} or NULL: set on its nodes, which
                                          they do not exclude */
    struct json_object *tolerations;   /* as in a Pod, or NULL: of other taints that do not */
    const struct sw_state_spec *states;
    size_t n_states;
    /** Different whenever a render may come out differently: of recipe, values, resource. */
    const char *revision;
    /** The recipe could not be loaded (0: it could): the code, a message, and SRO's reason for the
     * Errored condition ("ChartFailure"). Earlier states, if any, stay as they are. */
    int code;
    const char *message, *reason;
    const char *overlap; /* which other resources select the same nodes, for a condition, or NULL */
    const char *overlap_with; /* their names; an Event when these change */
    bool overlap_is_bad;      /* it is probably a mistake: the Event is a warning */
    const char *records; /* what is wrong with what is kept about it, for a condition, or NULL */
    const char *records_reason; /* of that condition */
    /** What must come first (another resource), for the status, or NULL. Nothing new is started
     * meanwhile. */
    const char *blocked;
    /** {release: {"name", "uid"}}: the resource that owns the release instead, or NULL. Objects of
     * the release that are not rendered any more are handed over to it, and stay. {release: null}:
     * others use it, and who owns it next is not known yet; its objects wait for that. */
    struct json_object *heirs;
    /** {release: [names]} of releases that are the resource's now: those whose resources are gone
     * without having handed them over, or NULL. What has their mark is taken over. */
    struct json_object *former;
    /** Entries of an inventory, as in a status, or NULL: objects of releases that others have
     * handed over, before a render has them. */
    struct json_object *inherited;
    /** .status of the resource as last read; used in the first SW_EV_SPEC only. */
    struct json_object *status;
};

/** The stage of what a chart has in crds/: before all hooks. */
#define SW_STAGE_CRDS INT_MIN

/** One object of a rendered state, complete: with namespace, owner reference, labels and
 * annotations. When it is applied the engine adds two annotations:
 * specialresource.openshift.io/hash (of its content: by it a later run knows that nothing is to be
 * done) and slipway.dev/resource (the owner's name, for where an owner reference cannot be). */
struct sw_rendered_object {
    struct json_object *doc;    /* borrowed for the step; NULL: */
    const struct sw_kept *text; /* ... its JSON, sorted; borrowed */
    bool awaited; /* the state waits for it without an annotation (`slipway.dev/wait: all`) */
    /** Objects of a lower stage are ready (as far as they are awaited) before one of a higher stage
     * is applied: hooks before install below 0, after install above 0, by weight. Within a stage
     * the engine orders by kind: Namespace, CustomResourceDefinition (until established), the rest,
     * webhook configurations and APIServices last (once the others are ready). */
    int stage;
    /** It runs a second time at this stage, when its first run is over: all hooks of that side of
     * the state are ready, and it is deleted where @drop_ready says so. 0: it runs once. A hook of
     * two events of one walk (`pre-install,post-install`). */
    int again;
    /** Once it has run to completion it is not run again, whatever its content is later: hooks of
     * an install. */
    bool once;
    /** Deleted when it is ready, together with the other hooks of its side of the state (before,
     * after); or when it has failed, and stays failed. Its state goes on as if it still existed. */
    bool drop_ready, drop_failed;
    /** The end of its log is told in an Event when it has succeeded. */
    bool tells_log;
    /** An object of other content, or of the run before, is deleted and made again, not changed. */
    bool drop_before;
    /** Why the image of this driver container does not exist, for people. The object is left as it
     * is, and the vendor's BuildConfig is applied; when its build is done, so is this. NULL: apply
     * it now. */
    const char *missing;
    /** The release that it belongs to, which other resources may use, too; NULL: none. */
    const char *shared;
};

/** The document of @object; the caller's. */
struct json_object *sw_rendered_object_doc(const struct sw_rendered_object *object);

/** Fields that a kind does not use are zero. Everything is borrowed for the step. */
struct sw_event {
    enum sw_event_kind kind;
    int64_t now_ms; /* always */
    uint64_t serial;
    const struct sw_spec *spec;
    const char *state, *variant;
    const struct sw_rendered_object *objects;
    size_t n_objects;
    struct sw_key key;
    struct json_object *object;
    uint64_t watch;
    uint32_t node;
    int code;
    const char *message;
    const char *text; /* logs; NUL-terminated */
    /** RENDERED: @objects are those with which the state was ready last, since the present content
     * failed: how, for people. NULL: they are the present content. */
    const char *rolled_back;
};

/* ---- actions -----------------------------------------------------------------------------------
 */

/** What is to be done. The fields of struct sw_action that a kind has are named with it. */
enum sw_action_kind {
    SW_ACT_RENDER, /* @state for the nodes of @variant (their group; NULL: all), @serial */
    /** Watch @key from now on, for @use: SW_EV_OBSERVED at once (also where it does not exist) and
     * on each change. @key.name NULL: all that @selector matches in @key.ns, then SW_EV_SYNCED with
     * @watch. It lasts until SW_ACT_UNWATCH, also while the kind is not served: report that once,
     * go on when it is. Many watches of one kind may be one request, but each gets every object: an
     * SW_ACT_UNWATCH and an SW_ACT_WATCH of the same number after it asks for all of them again. */
    SW_ACT_WATCH,
    SW_ACT_UNWATCH, /* @watch */
    SW_ACT_APPLY,   /* @doc to @key by server-side apply, @force, @dry_run; @inherit: SRO wrote it
                       last, so its fields are to be taken over first */
    SW_ACT_DELETE,  /* @key, only if it has @uid (NULL: any), @propagation. With @shared, a release:
                       a definition, which stays where others have objects of it; the answer is
                       SW_EV_RELEASED then */
    SW_ACT_RELEASE, /* take slipway's marks off @key (owner reference, labels, annotations), only
                       if it has @uid; the object stays, without an owner, or with @heir as one:
                       {"name", "uid"} of a resource */
    SW_ACT_LABEL,   /* merge patch of metadata.labels of @node (@key.name): @doc, a map of label to
                       value or null. @retaint: its taints become @taints, and the record of those
                       that slipway has set @record (NULL: none), if the node still has @version;
                       else the node set is to be updated first, and the answer is SW_CONFLICT */
    SW_ACT_STATUS,  /* @doc is the resource's .status from now on. One at a time */
    SW_ACT_EVENT,   /* a Kubernetes Event about the resource: @warning, @reason, @message */
    SW_ACT_TIMER,   /* one per engine: SW_EV_TIMER at @at_ms, instead of the last one; 0: none */
    SW_ACT_LOGS,    /* the last @n_bytes of the log of pod @key, of its @container (NULL: the only
                       one) */
    SW_ACT_WARNINGS,  /* the newest Event of type Warning about @key */
    SW_ACT_EMPTIED,   /* all is removed but what SW_HOLD_LAST keeps. Again
                         after a restart */
    SW_ACT_FINALIZED, /* all is removed: the finalizer may go */
    SW_ACT_COUNT
};

/** Which fields of the watched objects the engine reads. */
enum sw_watch_use {
    SW_USE_WHOLE,   /* drift of owned objects: all but metadata.managedFields */
    SW_USE_STATUS,  /* observed objects: metadata, spec, status */
    SW_USE_MEMBERS, /* objects that an assertion speaks of: all but metadata.managedFields */
    SW_USE_WORKERS, /* pods and builds of an object: metadata.name, .namespace, .uid, .labels,
                       .ownerReferences, .deletionTimestamp, .creationTimestamp,
                       spec.nodeName, .restartPolicy, .imagePullSecrets, .containers.name,
                       .volumes.persistentVolumeClaim, status */
};

/** An action; zero what its kind does not have. Borrowed until the engine's next step. */
struct sw_action {
    enum sw_action_kind kind;
    uint64_t serial; /* to be returned in the answer */
    const char *state, *variant;
    bool early; /* RENDER: before the turn of @state; once it has come, what could not be rendered
                   is asked for again */
    uint64_t watch;
    enum sw_watch_use use;
    const char *selector; /* label selector as in a URL; NULL: all */
    struct sw_key key;
    struct json_object *doc;
    bool force, dry_run, inherit;
    const char *uid, *propagation, *shared;
    struct json_object *heir;
    uint32_t node;
    bool retaint;
    struct json_object *taints;
    const char *record;
    uint64_t version;
    bool warning;
    bool minor; /* EVENT: to be told of, and not kept in the cluster */
    const char *reason, *message;
    int64_t at_ms;
    size_t n_bytes;
    const char *container;
};

/** What one step asks for. */
struct sw_actions {
    size_t n;
    const struct sw_action *items; /* in the order in which to begin them */
};

/* ---- the engine --------------------------------------------------------------------------------
 */

/** Zero values are the defaults. */
struct sw_engine_opts {
    /** The grace period: how long a finished state may be not ready before its label is taken off
     * its nodes, where it finishes on all nodes at once; and how long a node may be deselected or
     * not ready. A pod that is not ready on a ready node counts at once. Default 5 minutes. */
    int64_t grace_ms;
    int64_t retry_min_ms;  /* back-off after what passes by itself; default 500 ms ... */
    int64_t retry_max_ms;  /* ... doubling to 30 s; after what does not, this times 10 */
    int64_t status_gap_ms; /* between status writes that carry only progress; default 3 s */
    bool no_grace_labels;  /* drivers' pods go with the labels that they ask for: those by which
                              they could stay are taken off nodes (grace_period.h) */
    /** Nodes that are tainted for resources; NULL: all. Borrowed. */
    const struct sw_node_policy *node_policy;
};

/** Which right lacks by the API server's @message, and the command that gives it, for people; the
 * caller's. NULL: it does not say. @recipe: as sw_spec.rights_of */
char *sw_rights_hint(const char *message, const char *recipe);

/** A new engine, the caller's; sw_engine_free(). @nodes outlives it; engines may share it. @opts
 * may be NULL. */
struct sw_engine *sw_engine_new(struct sw_node_set *nodes, const struct sw_engine_opts *opts);
void sw_engine_free(struct sw_engine *engine); /* NULL is accepted */
/** Has the resource an object of @release, or may it have one? */
bool sw_engine_has_release(const struct sw_engine *engine, const char *release);
/** Does the status that was written last list all objects of @release that the resource has? */
bool sw_engine_has_recorded(const struct sw_engine *engine, const char *release);
/** Have the namespaces and definitions of @release, of which there are former owners (sw_spec), the
 * mark of this resource? Only objects that were rendered and observed since are counted. */
bool sw_engine_has_taken_over(const struct sw_engine *engine, const char *release);
SW_DEFINE_AUTO(sw_engine, sw_engine_free)

/** Take one event. The actions, and all they point to, are borrowed until the next step; they are
 * to be carried out (begun) in order before it. Never fails; an answer to no open request is
 * dropped. */
const struct sw_actions *sw_engine_step(struct sw_engine *engine, const struct sw_event *event);

/** Does the node concern this engine? Asked after a change is in the node set. If not, SW_EV_NODE
 * may be left out: it would change nothing and bring no action. A node concerns an engine that
 * selects it (or did), or that has, or is to have, pods, labels or taints on it; one that is gone
 * concerns every engine. This matters with hundreds of engines. Pinned by
 * test/unit/operator/engine_concerns_test.c. */
bool sw_engine_concerns_node(struct sw_engine *engine, uint32_t node);

/** The .status document of now, for a live view: the caller's. States are under "states" as
 * docs/engine.md has them. */
struct json_object *sw_engine_status(struct sw_engine *engine, int64_t now_ms);
/** The condition of the resource that is True. */
enum sw_phase { SW_PHASE_PROGRESSING, SW_PHASE_READY, SW_PHASE_ERRORED };
/** That of the last status. */
enum sw_phase sw_engine_phase(const struct sw_engine *engine);

/** Call @each for every workload that exists and whose pods are watched, with the names of the
 * nodes that they are on, comma separated ("" for none). Both borrowed for the call. */
void sw_engine_each_workload(const struct sw_engine *engine,
                             void (*each)(const struct sw_key *key, const char *nodes, void *arg),
                             void *arg);

/** A state, for a caller who keeps the content of ready states to roll back to. */
struct sw_state_view {
    const char *name;
    bool ready;      /* with the content that was rendered last */
    bool failed;     /* with that content, and it is not run again */
    const char *why; /* it failed; "" otherwise */
};
/** Every state that is listed and not hidden; all borrowed for the call. */
void sw_engine_each_state(struct sw_engine *engine,
                          void (*each)(const struct sw_state_view *state, void *arg), void *arg);

/* ---- drivers that are upgraded node by node: see upgrade/upgrade.h -----------------------------
 */

/** A node on which DaemonSets with SW_ANN_UPGRADE have pods, or should have. */
struct sw_driver_node {
    uint32_t node;
    bool outdated; /* a pod of an older template is there */
    bool finished; /* all of them are there, new and ready, and their states' labels are set */
};

/** Has one of its states the label @key of nodes, by its plan, or by its status before there is
 * one?
 */
bool sw_engine_has_label(const struct sw_engine *engine, const char *key);

/** Are all states rendered, and the pods of all DaemonSets with SW_ANN_UPGRADE known? */
bool sw_engine_knows_drivers(struct sw_engine *engine);
/** Call @each for every node with such drivers, in the order of the nodes' numbers. */
void sw_engine_each_driver_node(const struct sw_engine *engine,
                                void (*each)(const struct sw_driver_node *node, void *arg),
                                void *arg);
/** Call @each for every driver pod of an older template on @node that is not being deleted. */
void sw_engine_each_old_pod(const struct sw_engine *engine, uint32_t node,
                            void (*each)(const char *ns, const char *name, void *arg), void *arg);

/** The table of transitions as a Mermaid state diagram, which docs/engine.md shows. Heap, the
 * caller's. Pinned by test/unit/operator/engine_print_test.c. */
char *sw_engine_diagram(void);

/** A phase of states. */
struct sw_state_phase {
    const char *name;
    const char *shown;   /* what the status shows */
    const char *doc;     /* what is done meanwhile, or what it means */
    const char *example; /* a message of a state in it, as the status has it; "": it has none */
};
/** All phases, in the order in which a state takes them; ends with a NULL name. Borrowed. */
const struct sw_state_phase *sw_engine_state_phases(void);
/** Call @each for every way from one phase to another. @event: the reason of the Kubernetes Event;
 * NULL: none. */
void sw_engine_each_move(void (*each)(const char *from, const char *to, const char *event,
                                      const char *why, void *arg),
                         void *arg);
