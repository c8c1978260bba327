#pragma once
/* The inside of an engine: a resource's states, their objects, and what is known about them. No
 * file calls one above it in this list:
 *   engine.c          dispatches an event, brings all states up to date
 *   status.c          the status document
 *   hint.c            what a person can do about a failure
 *   transitions.c     the table of transitions
 *   spec.c            the resource, its states, their renders
 *   recorded.c        what an earlier run wrote into the status
 *   node_label.c      node labels
 *   taint.c           node taints
 *   drivers.c         nodes whose drivers are upgraded
 *   message.c         why a state is where it is
 *   release.c         the release that a state belongs to
 *   signal.c          the conditions of transitions
 *   deadline.c        timeouts, and what is run again
 *   apply.c           apply, retire, remove
 *   build.c           builds of driver images
 *   late_workers.c    pods of others, of what is late
 *   rendered.c        an object as rendered
 *   observed.c        an object as the cluster has it
 *   state.c           one state
 *   object.c          one object
 *   container_logs.c  the end of a failed container's log
 *   warnings.c        Warning Events of what says nothing itself
 *   worker_logs.c     logs of pods that are to match a pattern
 *   workers.c         pods and builds of an object
 *   members.c         the objects that an assertion speaks of
 *   resource_nodes.c  the resource's nodes
 *   drift.c           whether an object was changed
 *   actions.c         the actions of a step */
#include "operator/engine/engine.h"
#include "operator/engine/nodes/bitset.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/readiness/gate.h"

struct json_object;
struct lh_table;

/* ---- the table's phases and signals ------------------------------------------------------------
 */

/** Where a state is. */
enum phase {
    PH_RENDERING, /* its objects are being rendered for the first time, or again after a failure */
    PH_OBSERVING, /* each object is read, and listed in the status, before anything is done to it */
    PH_PENDING,   /* all is prepared; the states that it needs are not ready */
    PH_APPLYING,  /* objects are being applied, stage by stage */
    PH_WAITING,   /* all objects are applied, not all are ready */
    PH_READY,
    PH_HELD,     /* it was ready; what is not ready now is made ready by others */
    PH_RETRYING, /* something failed that may pass by itself */
    PH_FAILED,   /* something failed that will not pass by itself */
    PH_REMOVING,
    PH_REMOVED,
    PH_COUNT
};

/** The conditions of transitions: each is computed from what is known now (signal.c). */
enum signal {
    SG_REMOVE,      /* the resource or the recipe has it no more */
    SG_LISTED,      /* the recipe has it again */
    SG_GONE,        /* no object of it is left */
    SG_RENDERED,    /* its content is known */
    SG_UNOBSERVED,  /* an object has not been read, or is not listed in the status yet */
    SG_OBSERVED,    /* the opposite */
    SG_FAULT,       /* something failed and may pass by itself */
    SG_REFUSED,     /* something failed and will not pass by itself */
    SG_NEEDS_MET,   /* the states that it needs let it apply */
    SG_NEEDS_LOST,  /* they do not any more */
    SG_IN_PLACE,    /* begun before, and nothing is left to apply */
    SG_CHANGED,     /* its content differs from the one that was begun */
    SG_DRIFTED,     /* the cluster does not have what was applied */
    SG_APPLIED,     /* the cluster has all that was applied */
    SG_GATE_OPEN,   /* all awaited objects are ready */
    SG_GATE_SHUT,   /* not all are */
    SG_GATE_HELD,   /* not all are, but only those that others make ready, and it was ready */
    SG_GATE_FAILED, /* an awaited object has failed */
    SG_LATE,        /* it has not got ready within its timeout */
    SG_RENEWED,     /* it failed with other content than it has now */
    SG_RETRY,       /* the back-off is over, or the cause has changed */
    SG_COUNT
};

/* ---- objects -----------------------------------------------------------------------------------
 */

/** Why something failed. */
struct fault {
    int code;      /* an sw_code; 0: no fault */
    char *message; /* owned */
};

/** The request for an object that has not been answered yet. */
enum doing { DOING_NOTHING, DOING_APPLY, DOING_DELETE, DOING_RELEASE };

/** Order within a stage; see struct sw_rendered_object. */
enum rank {
    RANK_NAMESPACE,
    RANK_CRD,
    RANK_CONFIG, /* what workloads read: accounts, rights, configuration */
    RANK_WORKLOAD,
    RANK_OTHER,
    RANK_LAST, /* webhook configurations, APIServices, dry runs: when the rest is ready */
};

/** One object of a state. It is known by its key from the first render or status that names it
 * until it is gone. */
struct object {
    struct sw_key key; /* owned */
    struct state *state;

    /* as rendered */
    struct sw_kept *text;   /* compact JSON; NULL: not rendered any more, to be retired */
    uint64_t hash;          /* of @text */
    struct sw_kept *wanted; /* what was rendered, where @text keeps the template of the pods that
                               run (see sw_grace_period_keep()); else NULL */
    bool adapts;            /* what is applied depends on what is there: see keep_template() */
    struct sw_gate *gate;
    bool awaited;
    int stage;
    /* see sw_rendered_object */
    bool once, drop_ready, drop_failed, drop_before, tells_log;
    int first, again; /* stages of its runs, see sw_rendered_object; @stage is that of the run... */
    bool second;      /* ... which is the second one: @hash is another then */
    char *failed_why; /* a hook that is, or was, deleted because it failed so; NULL: none... */
    uint64_t failed_hash; /* ... with this content */
    uint64_t failed_in;   /* serial of the first status that has it; 0: none yet */
    bool failed_recorded; /* that status was written */
    uint64_t done_in;     /* the same of done_hash */
    bool done_recorded;
    enum rank rank;
    char *shared; /* see sw_rendered_object; of the inventory until it is rendered; NULL: none */
    struct variant **variants; /* that have rendered it */
    size_t n_variants, cap_variants;
    struct sw_placement *placement; /* with @text: which nodes are to have its pods */
    char *grace_label; /* key of the label by which its pods may stay (grace_period.h), or NULL */
    struct sw_placement *grace_placement; /* with @grace_label: @placement with what that allows */

    /* as recorded in the resource's status */
    uint64_t listed_in;        /* serial of the first status that lists it; 0: none yet */
    bool recorded;             /* that status was written */
    char *our_uid;             /* of the object that slipway created or took over, or NULL */
    char *wanted_by;           /* a later state renders it, too: its name; NULL: none does */
    struct json_object *added; /* Namespace: the labels and annotations of wanted_by's; or NULL */
    char *added_by;            /* with it: the variant of wanted_by that rendered them */
    bool adopted;              /* taken over from another owner: not deleted */
    bool keep;                 /* helm.sh/resource-policy: keep */
    uint64_t done_hash;        /* it ran to completion, or its dry run passed, with this content */
    uint64_t fingerprint, fingerprint_of; /* drift.c's, after applying content @fingerprint_of */

    /* as the cluster has it */
    bool observed, unserved, present, terminating, ours;
    bool deferred;            /* a BuildConfig that is not needed: see build.c */
    char *missing;            /* a driver container whose image does not exist: why; or NULL */
    bool inherited;           /* SRO or DAS wrote it, and slipway has not yet */
    bool borrowed;            /* another owner's Namespace or CRD: used as it is, never written */
    struct json_object *live; /* kept until its state is ready, for another render; with @adapts
                                 longer, a large one not at all */
    bool unread;              /* it was large, and there before @text: to be read again */
    char *uid;                /* NULL: not there */
    char *foreign;            /* why it is not ours, or NULL */
    char *writer;             /* who has changed what was applied: a field manager; or NULL */
    uint64_t version;         /* resourceVersion */
    uint64_t live_hash;       /* the content it was applied with, by its annotation; 0: none */
    uint64_t live_fingerprint;
    struct sw_readiness judged;    /* by its own document */
    struct sw_readiness readiness; /* with its workers, and all else that is known */
    int64_t n_desired;             /* DaemonSet: desiredNumberScheduled */
    int64_t template;              /* DaemonSet: its template's generation; -1: not known */
    struct workers *workers;
    struct members *members;       /* it is no object, but speaks of these; NULL: it is one */
    uint64_t watch, workers_watch; /* ids; 0: none */
    int64_t late_ms;               /* late_workers.c: when it is late; 0: it is not awaited */
    char *unserved_why;
    struct fault watch_fault; /* it, or its workers, cannot be watched */
    struct {
        char *pod, *container, *line; /* whose log was asked for, and its last line */
        uint64_t serial;              /* of the unanswered request; 0: none */
        int64_t asked_ms;
        int64_t again_ms; /* the log was not there: when it is asked for again; 0: it is not */
        unsigned n_again;
        int64_t until_ms; /* how long container_logs_awaited() waits; 0: it has not been asked */
        bool changed;     /* its workers have changed since */
        bool runs;        /* that container ran, and was not ready */
        bool due;         /* its last run succeeded, and the end of that log is to be told */
    } container_logs;
    struct {
        char *kind, *name, *line; /* whose Events were asked for, and what the newest says */
        char *secret;             /* what is said beside it of a missing pull secret; or NULL */
        uint64_t serial;          /* of the unanswered request; 0: none */
        int64_t next_ms;          /* when to ask (again) */
        int64_t after_ms;         /* the delay of that, which grows */
    } warnings;

    /* what is being done */
    enum doing doing;
    uint64_t serial; /* of @doing */
    uint64_t sent_hash;
    bool fresh; /* applied just now: the fingerprint of its next document is the right one */
    bool must_replace;
    bool redo;     /* it ran to completion and failed: to be deleted and applied again */
    bool released; /* its marks are off: it stays, and is not slipway's any more */
    unsigned n_redone;
    struct fault fault;
    unsigned n_tries; /* of a deletion */
    int64_t retry_ms;
    unsigned n_repairs; /* of drift, lately */
    int64_t repaired_ms;
};

/* ---- states ------------------------------------------------------------------------------------
 */

/** A render of a state: for one group of nodes, or for all. */
struct variant {
    char *name;      /* of the group; "": the state has no variants */
    bool needed;     /* there is a node of that group */
    bool known;      /* rendered at least once */
    bool stale;      /* to be rendered (again) */
    bool early;      /* its render was asked for before the needs were met */
    uint64_t serial; /* of the unanswered request; 0: none */
    uint64_t asked;  /* of the last request */
    struct fault fault;
    char *rolled_back; /* see sw_event.rolled_back; NULL: it is not rolled back */
};

/** One state of the resource, or one that an earlier recipe had. */
struct state {
    char *name, *label, *title;  /* @label: the whole key; NULL: none */
    char *shared, *shared_owner; /* sw_state_spec's; or NULL */
    char *ready_label;           /* as in sw_state_spec; NULL: none */
    struct json_object *release; /* likewise */
    struct state **needs;
    size_t n_needs;
    bool listed; /* in the recipe now */
    bool affine, hidden, looks_up;

    enum phase phase;
    struct variant **variants;
    size_t n_variants, cap_variants;
    struct object **objects; /* borrowed from the registry; by stage, rank, key */
    size_t n_objects, cap_objects;
    uint64_t digest, begun;                 /* of its content: now, and when it was last begun */
    int64_t started_ms, ready_ms, since_ms; /* 0: never */
    int64_t shut_ms;                        /* when its gate shut; 0: open, or never was */
    bool given_up;                          /* that was too long ago: its labels are taken off */
    int64_t timeout_ms;                     /* sw_state_spec's; 0: none */
    int64_t awaited_ms; /* since when it is to get ready; 0: it is, or has not begun */
    bool late;          /* its timeout has passed... */
    size_t late_ready;  /* ... with so many objects ready; SIZE_MAX: with all of them applied */
    unsigned n_redone;  /* how often what failed has been run again */
    unsigned n_tries;
    int64_t retry_ms, tried_ms;
    unsigned n_failures; /* since other content was begun: how often it is tried again */
    int64_t first_failure_ms, last_failure_ms;
    /* how it failed last: shown while the same is tried again */
    enum phase failed_as;
    char *failed_why, *failed_reason; /* NULL: it has not, or something went well since */
    uint64_t failed_digest;
    bool changed;      /* something has changed that may have been the cause of a failure */
    bool fresh;        /* what was begun last had not been begun before */
    bool builds_begun; /* a build of it has just become needed */
    bool node_by_node;
    struct bitset done;             /* node by node: where it is finished */
    struct bitset members, lacking; /* nodes that must have the gate's labels; those without */
    bool members_known;
    char *reported;                     /* text of the last Event about it */
    char *observes;                     /* of the status, until it is rendered; NULL: none */
    char *check_result, *check_message; /* of its check, see check.c; NULL: none */
    const char *told_hint; /* of the last Event that told that it is stuck; borrowed, constant */
    int64_t stuck_next_ms, stuck_after_ms; /* when that is looked at next; 0: it does not wait */
    char *shown;                           /* the phase in the status... */
    int64_t entered_ms; /* ... and since when the state is in the one of the next status */
};

/* ---- the engine --------------------------------------------------------------------------------
 */

/** A watch that the engine has asked for: one for all objects that need the same. */
struct watch {
    uint64_t id; /* 0: free */
    struct sw_key key;
    char *selector;
    enum sw_watch_use use;
    unsigned refs;
    bool delivered; /* an object under it has been observed */
    bool synced;    /* SW_EV_SYNCED has come */
};

/** A worker that was observed before its object was rendered. */
struct early_worker {
    struct sw_key key;
    struct json_object *live;
};

/** A node that carries a label of the resource and is deselected or not ready: see grace_ms. It is
 * in the status, so that a restart does not begin the grace period anew. */
struct lost_node {
    uint32_t node;
    int64_t since_ms;
    bool expired; /* the grace period is over, and the node has been updated since */
};

/** See engine.h. */
struct sw_engine {
    struct sw_node_set *nodes;
    struct sw_engine_opts opts;
    int64_t now_ms;
    uint64_t last_serial;

    /* actions of this step */
    struct sw_arena *arena;
    struct sw_action *acts;
    size_t n_acts, cap_acts;
    struct json_object **docs; /* that the actions have, freed at the next step */
    size_t n_docs, cap_docs;
    struct sw_actions out;

    /* the resource: see sw_spec */
    bool has_spec;    /* the first SW_EV_SPEC has come */
    bool has_builds;  /* one of its objects is a build: see build.c */
    uint64_t served;  /* serial when the cluster last got a new kind or version of one */
    bool preparing;   /* not every state has been rendered yet */
    int64_t asked_ms; /* when all was last asked to be rendered */
    char *name, *uid, *predecessor, *rights_of, *revision, *blocked;
    int64_t generation;
    enum sw_management management;
    bool deleting, finalized, orphan;
    enum sw_hold hold;
    char *hold_message;
    bool hold_failed, emptied; /* emptied: SW_ACT_EMPTIED was sent */
    int64_t timeout_ms;        /* of states that have none of their own */
    struct json_object *node_selector, *taints;
    struct json_object *tolerations;                 /* the resource's, and of its own @taints */
    struct json_object *heirs, *former;              /* see sw_spec; or NULL */
    char *overlap, *overlap_with, *reported_overlap; /* NULL: none */
    bool overlap_is_bad;
    char *records, *records_reason; /* NULL: none */
    char *reported_clash;           /* of taints: text of the last Event */
    struct fault spec_fault;
    char *spec_reason;

    struct state **states; /* those listed, in the recipe's order, then the rest */
    size_t n_states, cap_states;
    struct lh_table *objects; /* by key */
    struct watch *watches;
    size_t n_watches, cap_watches;
    struct early_worker *early_workers;
    size_t n_early_workers, cap_early_workers;

    uint64_t *groups; /* of each selected node, hashed; kept while a state is kernel-affine */
    size_t n_groups;
    bool groups_dirty;

    /* node labels */
    struct bitset dirty, busy; /* nodes to update; nodes with an unanswered patch */
    struct bitset tainting,
        untainted;         /* get the first taint by a patch under way; may get none for now */
    struct bitset later;   /* nodes to update after the next render */
    struct bitset counted; /* nodes that the status has ever counted */
    struct lost_node *lost;
    size_t n_lost, cap_lost;
    struct fault label_fault;
    unsigned n_label_tries;
    int64_t label_retry_ms;

    /* status */
    struct json_object *written; /* the last one acknowledged (or read); NULL: none */
    struct json_object *writing; /* the one that was sent and not answered yet */
    uint64_t status_serial;      /* of @writing; 0: none */
    bool status_dirty, settled;
    bool status_is_lost; /* others have removed it: it is written, though it is equal */
    int64_t status_ms;   /* when the last one was sent */
    unsigned
        n_status_tries; /* that failed: the server may have taken what they wrote all the same */
    int64_t status_retry_ms;
    enum sw_phase reported_phase;
    char *reported_reason;
    struct json_object *upgrade;    /* of SW_EV_UPGRADE, or NULL */
    struct json_object *conditions; /* of the last document made */
    bool was_ready;

    int64_t deadline_ms, armed_ms; /* next SW_EV_TIMER: needed, asked for; 0: none */
};

/* ---- actions.c ---------------------------------------------------------------------------------
 */

/** One more action of this step, zero but for its kind; borrowed until the next one is added. */
struct sw_action *act_add(struct sw_engine *e, enum sw_action_kind kind);
/** A number that no other action, answer or watch has. */
uint64_t act_serial(struct sw_engine *e);
/** Keep @doc (whose reference is taken) until the next step. @return @doc */
struct json_object *act_keep(struct sw_engine *e, struct json_object *doc);
/** A copy of @key for an action, in the step's arena. */
struct sw_key act_key(struct sw_engine *e, const struct sw_key *key);
/** A Kubernetes Event about the resource; @reason is a constant. */
struct sw_action *act_event(struct sw_engine *e, bool warning, const char *reason, const char *fmt,
                            ...) __attribute__((format(printf, 4, 5)));
/** Ask to be stepped at @at_ms at the latest. */
void act_wake(struct sw_engine *e, int64_t at_ms);
/** Watch @key, or all under @selector; the same watch serves all who ask for the same. @return id
 */
uint64_t act_watch(struct sw_engine *e, const struct sw_key *key, const char *selector,
                   enum sw_watch_use use);
/** One user of the watch less; the last one ends it. @id may be 0. */
void act_unwatch(struct sw_engine *e, uint64_t id);
/** Begin the watch anew where objects have been delivered already: a new user needs all of them. */
void act_watch_again(struct sw_engine *e, uint64_t id);
/** NULL: there is none with that @id. Borrowed until the next watch is added. */
struct watch *act_find_watch(struct sw_engine *e, uint64_t id);
/** Free all of them, without actions. */
void act_free_watches(struct sw_engine *e);
/** How long to wait after @n_tries failures; ten times as long where the fault @lasts. */
int64_t act_backoff(const struct sw_engine *e, unsigned n_tries, bool lasts);

/* ---- resource_nodes.c --------------------------------------------------------------------------
 */

/** Is the node one of the resource's? */
bool node_selected(const struct sw_engine *e, uint32_t node);
/** Or was it one, and only labels of Node Feature Discovery are missing now? */
bool node_kept(const struct sw_engine *e, uint32_t node);
/** The labels of the node are to be updated in this step; SW_NO_NODE is ignored. */
void nodes_mark(struct sw_engine *e, uint32_t node);
/** Those of all nodes are. */
void nodes_mark_all(struct sw_engine *e);

/** NULL: the node is not lost. Borrowed until the next change of the list. */
struct lost_node *lost_find(const struct sw_engine *e, uint32_t node);
/** The node is lost since @since_ms. */
void lost_add(struct sw_engine *e, uint32_t node, int64_t since_ms);
/** The node is not lost any more. */
void lost_forget(struct sw_engine *e, uint32_t node);
/** Mark the nodes whose grace period has ended. */
void lost_update(struct sw_engine *e);
/** For the status: [{since, nodes}], the caller's; NULL: no node is lost. */
struct json_object *lost_doc(const struct sw_engine *e);
/** Take that list of an earlier run. */
void lost_read(struct sw_engine *e, struct json_object *list);

/* ---- drift.c -----------------------------------------------------------------------------------
 */

/** A hash of what @live has in the fields that @ours has, .status aside; never 0. */
uint64_t drift_fingerprint(struct json_object *ours, struct json_object *live);

/* ---- workers.c ---------------------------------------------------------------------------------
 */

/** The workers of an object: the pods of a workload, the builds of a BuildConfig. */
struct workers;
/** None known yet. NULL: an object of that kind has none. */
struct workers *workers_new(struct json_object *manifest);
/** Pods that only say why an object is not ready: those of the workload @live, which is observed,
 * or (NULL) all in @ns that no recipe has made. NULL: @live selects none. */
struct workers *workers_new_informing(struct json_object *live, const char *ns);
/** Are they such pods? NULL is accepted. */
bool workers_inform(const struct workers *w);
/** Where they are; borrowed. */
const char *workers_namespace(const struct object *o);
void workers_free(struct workers *w); /* NULL is accepted */
/** Would both watch the same? */
bool workers_same(const struct workers *a, const struct workers *b);
/** Are they the pods of a DaemonSet? NULL is accepted. */
bool workers_are_node_by_node(const struct workers *w);
/** What to watch for them: borrowed from @o. */
void workers_key(const struct object *o, struct sw_key *key, const char **selector);
/** Take a worker as observed (@live NULL: it does not exist).
 * @return true: it is one of @o's workers (or was), and something that is read has changed */
bool workers_observe(struct sw_engine *e, struct object *o, const struct sw_key *key,
                     struct json_object *live);
/** Correct @o's readiness by what its workers say. */
void workers_judge(struct object *o);
/** The pod that says most about why @o is not ready, as a sentence in the step's arena, or NULL.
 * @reason is replaced where the pod's is better. */
const char *workers_message(struct sw_engine *e, const struct object *o, const char **reason);
/** Have all of them been observed? */
bool workers_are_known(struct sw_engine *e, const struct object *o);
/** Has @o a pod on the node? */
bool workers_has(const struct object *o, uint32_t node);
/** Has it, and are all of its pods there ready? */
bool workers_ready_on(const struct object *o, uint32_t node);
/** Ask for the logs that are due. */
void workers_ask_logs(struct sw_engine *e, struct object *o);
/** @return whether @event is the answer */
bool workers_take_logs(struct sw_engine *e, struct object *o, const struct sw_event *event);
/** Keep a worker that may be one of an object still to be rendered. */
void workers_keep_early(struct sw_engine *e, const struct sw_key *key, struct json_object *live);
/** Give @o those that were kept. */
void workers_take_early(struct sw_engine *e, struct object *o);
/** Free those that were kept. */
void workers_drop_early(struct sw_engine *e);
/** The names of the nodes with one of @o's pods, comma separated; heap. NULL: not watched. */
char *workers_nodes(const struct sw_engine *e, const struct object *o);
/** The node is gone: @o has no pods there. */
void workers_forget_node(struct object *o, uint32_t node);

/** Where the pods of a DaemonSet of drivers are; zero-initialise, bitset_done() each. */
struct driver_marks {
    struct bitset has, old, not_ready; /* any; of an older template; not all new and ready */
};
/** Add @o's to @m. */
void workers_mark_drivers(const struct object *o, struct driver_marks *m);
/** Call @each for each pod of an older template on the node that is not being deleted. */
void workers_each_old(const struct object *o, uint32_t node,
                      void (*each)(const char *ns, const char *name, void *arg), void *arg);

/** Is there a pod of @o's present template that cannot pull its image? */
bool workers_lack_image(const struct object *o);
/** Pods that run again count from now on, or the engine wakes then. @return whether any of @o does:
 * it is to be judged again */
bool workers_wake(struct sw_engine *e, struct object *o);
/** The pod of the last build of a BuildConfig, which has failed; borrowed, NULL: it has not. */
const char *workers_failed_build(const struct object *o);
/** The pod that says most about why @o is not ready, and its readiness; borrowed. @return false:
 * there is none */
bool workers_worst(const struct object *o, const char **pod, const struct sw_readiness **readiness);
/** Since when that pod runs without being ready; 0: it does not. */
int64_t workers_runs_unready(const struct object *o);
/** The pod that has succeeded, the newest of several, likewise. */
bool workers_succeeded(const struct object *o, const char **pod,
                       const struct sw_readiness **readiness);

/* ---- late_workers.c ----------------------------------------------------------------------------
 */

/** Watch the pods of others that may say why @o is not ready, where it is late; no longer, where it
 * is not. To be called in each step. */
void late_workers_watch(struct sw_engine *e, struct object *o);

/* ---- members.c ---------------------------------------------------------------------------------
 */

/** Objects of which an assertion says that it holds for one of them, or for none. */
struct members;
/** Begin anew to read what @o speaks of, where its gate is such an assertion; else it has none. */
void members_watch(struct sw_engine *e, struct object *o);
/** Take one of them as observed (@live NULL: it does not exist); @o->judged says what follows. */
void members_observe(struct object *o, const struct sw_key *key, struct json_object *live);
/** All of them have been observed; @o->judged says what follows. */
void members_synced(struct object *o);
void members_free(struct members *m); /* NULL is accepted */

/* ---- container_logs.c --------------------------------------------------------------------------
 */

/** Ask for the log of the container that keeps @o from being ready, or of the one that has
 * succeeded, where its end is to be told; once. */
void container_logs_ask(struct sw_engine *e, struct object *o);
/** May there be the log of a container that says why @o has failed? A Job may have failed before
 * its pod is observed. */
bool container_logs_may_come(const struct object *o);
/** @o failed and is about to be deleted: has the log to be awaited, so that it is not lost? It is
 * asked for; for a few seconds at most. */
bool container_logs_awaited(struct sw_engine *e, struct object *o);
/** @o has just succeeded: the end of its log is told, where it is to be. */
void container_logs_succeeded(struct object *o);
/** As container_logs_awaited(), for an object that has succeeded and is about to be deleted, run
 * again or counted as ready; false where nothing of its log is to be told. */
bool container_logs_untold(struct sw_engine *e, struct object *o);
/** @return whether @event is the answer, and has a log that says why @o is not ready */
bool container_logs_take(struct sw_engine *e, struct object *o, const struct sw_event *event);
/** The last line of that log, while the container is still the one; NULL: not known. Borrowed. */
const char *container_logs_line(const struct object *o);
/** Free what is known of its log. */
void container_logs_done(struct object *o);

/* ---- warnings.c --------------------------------------------------------------------------------
 */

/** Ask for the Warning Events of what keeps @o from being ready and says nothing itself. */
void warnings_ask(struct sw_engine *e, struct object *o);
/** @return whether @event is the answer, and says something new */
bool warnings_take(struct object *o, const struct sw_event *event);
/** Warning Events of states that wait for what somebody has to do: what the message of the status
 * says, once for each hint. To be called in each step. */
void stuck_report(struct sw_engine *e);
/** What the newest says, while it is about what keeps @o from being ready; NULL: not known.
 * @*secret: what is said beside it of a pull secret that is not there; NULL: nothing. Borrowed. */
const char *warnings_line(const struct object *o, const char **secret);
/** Free what is known of them. */
void warnings_done(struct object *o);

/* ---- object.c ----------------------------------------------------------------------------------
 */

/** @message NULL or "": the code's name. Copied. */
void fault_set(struct fault *fault, int code, const char *message);
/** There is no fault any more. */
void fault_done(struct fault *fault);
/** Will it stay until the input changes? */
bool fault_lasts(const struct fault *fault);

/** NULL: there is none. Borrowed until it is forgotten. */
struct object *object_find(struct sw_engine *e, const struct sw_key *key);
/** The object with that key, added to @s where there is none. */
struct object *object_need(struct sw_engine *e, const struct sw_key *key, struct state *s);
/** Free it, in its state and in the registry; its watches end. */
void object_forget(struct sw_engine *e, struct object *o);
/** Take it out of its state's list. */
void object_unlist(struct object *o);
/** A hook failed with the content @hash, so it is deleted, and not run again with that content.
 * @why NULL: that is over. */
void object_fail(struct object *o, const char *why, uint64_t hash);
/** Free all objects and the registry. */
void objects_free(struct sw_engine *e);
/** Forget its content as rendered. */
void object_drop_content(struct object *o);
/** Forget its last document. */
void object_drop_live(struct object *o);
/** The same when its state is ready, unless another render needs the document. */
void object_spare_live(struct object *o);
/** The rank by the kind; @dry_run: last. */
enum rank object_rank(const struct sw_key *key, bool dry_run);
/** Its kind is not served: @message says by which group, or is NULL. */
void object_take_unserved(struct object *o, const char *message);
/** Set its readiness from its own, its workers' and all else that is known. */
void object_judge(struct object *o);

/** A BuildConfig that may be deferred: see build.c. */
bool object_is_build(const struct object *o);
/** Its image does not exist, and the object does not run with that content already. */
bool object_lacks_image(const struct object *o);
/** Does slipway apply it now, as against observing it or leaving it alone? */
bool object_is_written(const struct object *o);
/** Observed, or SW_ANN_HOLD: that it is not ready is not slipway's failure. */
bool object_is_made_ready_by_others(const struct object *o);
/** The hash of its content in the run that is not, or is, the @second. */
uint64_t object_run_hash(const struct object *o, bool second);
/** Its first run is over with its content, and another is to come. */
bool object_waits_again(const struct object *o);
/** Begin its first run, or its @second: its stage and hash are those of that run. */
void object_set_run(struct object *o, bool second);
/** Does the cluster have this very content (or is it not written)? Of a hook that runs twice: that
 * of its present run. */
bool object_is_applied(const struct object *o);
/** Applied, and ready where it is awaited. */
bool object_is_ready(const struct object *o);
/** Have it and its workers been observed? */
bool object_is_known(struct sw_engine *e, const struct object *o);
/** Does it exist, and may slipway delete it? */
bool object_is_removable(const struct object *o);
/** "DaemonSet ns/name"; of the step's arena. */
const char *object_title(struct sw_engine *e, const struct object *o);
/** Is it ready, and does its state wait for what it brings to nodes? */
bool object_lacks_nodes(const struct object *o);
/** @text, which says why @o is not ready, with the pod that says more, and the end of its log; of
 * the step's arena. @reason: left as it is unless the pod says a better one. */
const char *object_with_pods(struct sw_engine *e, const struct object *o, const char *text,
                             const char **reason);
/** What it waits for, without the title. */
const char *object_detail(struct sw_engine *e, const struct object *o, const char **reason);
/** Why it is not ready: "DaemonSet ns/x 1 of 3 pods are ready; pod ..."; of the step's arena. */
const char *object_message(struct sw_engine *e, const struct object *o, const char **reason);

/* ---- state.c -----------------------------------------------------------------------------------
 */

/** "Rendering", "Waiting": as docs/engine.md has it. */
const char *phase_name(enum phase phase);
/** What the status shows: "Pending" for all phases before Applying, else phase_name(). */
const char *phase_shown(enum phase phase);

/** NULL: there is none. */
struct state *state_find(struct sw_engine *e, const char *name);
/** The state of that name, added where there is none. */
struct state *state_need(struct sw_engine *e, const char *name);
/** Free it; its objects stay. */
void state_free(struct state *s);
/** Something about @s has changed: what failed may go well now, and its message may be another. */
void state_note_change(struct sw_engine *e, struct state *s);
/** Put the state's objects in order and compute its digest. */
void state_sort(struct state *s);
/** Forget how it failed last. */
void state_forget_failure(struct state *s);
/** Ready with its present content? */
bool state_is_done(const struct state *s);
/** Was @v rendered before its turn, and may come out differently now: by kinds that are served
 * since, or by what its templates look up? */
bool variant_is_premature(const struct sw_engine *e, const struct state *s,
                          const struct variant *v);
/** Is a variant of it? */
bool state_is_premature(const struct sw_engine *e, const struct state *s);
/** Is a render of it asked for, or to be? */
bool state_is_rendering(const struct state *s);
/** Have all of its renders gone well? */
bool state_is_rendered(const struct state *s);
/** Are all of its objects applied? */
bool state_is_applied(const struct state *s);
/** Does an object of it wait for labels or resources of nodes? */
bool state_waits_for_nodes(const struct state *s);
/** How its new content failed, where it has the content that was ready before; NULL otherwise. */
const char *state_rolled_back(const struct state *s);
/** Is there a state that needs it, and is not removed yet? */
bool state_is_needed(const struct sw_engine *e, const struct state *s);
/** An iteration over the objects of all states. Zero-initialise. */
struct object_iter {
    size_t state, at;
};
/** The next one, or NULL. No object may be added or forgotten meanwhile. */
struct object *object_next(const struct sw_engine *e, struct object_iter *it);
/** Free it; no object may have it. */
void variant_free(struct variant *v);
/** Is the resource being deleted, or to be removed? */
bool engine_removes_all(const struct sw_engine *e);
/** Is @o a hook that has succeeded, is to be deleted for that, and is in no status yet? */
bool is_done_unrecorded(const struct object *o);
/** Does SW_HOLD_LAST keep @o: is it a namespace, in which hooks may be about to run? */
bool engine_keeps(const struct sw_engine *e, const struct object *o);
/** Are all states removed (but hidden ones and what is kept, which count only with @hidden)? */
bool engine_is_removed(const struct sw_engine *e, bool hidden);
/** Are all objects to stay, without slipway's marks? */
bool engine_orphans(const struct sw_engine *e);

/* ---- observed.c --------------------------------------------------------------------------------
 */

/** What is sent: the manifest with slipway's annotations; the caller's. */
struct json_object *object_document(struct sw_engine *e, const struct object *o);
/** Take what the cluster has (NULL: not there). @return whether anything has changed */
bool object_observe(struct sw_engine *e, struct object *o, struct json_object *live);
/** Read the last document again: what is rendered, or known of it, has changed. */
void object_assess(struct sw_engine *e, struct object *o);
/** @live is the object as just applied; NULL: its next document will be. */
void object_set_fingerprint(struct object *o, struct json_object *live);

/* ---- namespace.c -------------------------------------------------------------------------------
 */

/** @v of @s renders @doc of @o, which an earlier state has: the labels and annotations of a
 * Namespace are added there, and that state is rendered again where they are others than before. */
void namespace_add(struct sw_engine *e, struct object *o, const struct state *s,
                   const struct variant *v, struct json_object *doc);

/** Put what was added to @o into @doc, which its own state renders. */
void namespace_put_added(const struct object *o, struct json_object *doc);

/** @event is a render of @v of @s: it adds no more to Namespaces that are not in it. */
void namespace_forget_absent(struct sw_engine *e, const struct state *s, const struct variant *v,
                             const struct sw_event *event);

/** Tell of the labels and annotations that a namespace lacks which is not slipway's. */
void namespace_report(struct sw_engine *e, const struct state *s);

/** States that are not listed any more add nothing. */
void namespace_forget_unlisted(struct sw_engine *e);

/* ---- rendered.c --------------------------------------------------------------------------------
 */

/** Take the content of a manifest. @return 0 | SW_INVALID: an annotation is wrong */
int object_render(struct sw_engine *e, struct object *o, const struct sw_rendered_object *r,
                  struct json_object *doc, struct sw_err *err);
/** @doc is what is applied, from now on. */
void object_take_content(struct sw_engine *e, struct object *o, struct json_object *doc);
/** It is no object of its state's content any more. */
void object_unrender(struct sw_engine *e, struct object *o);
/** Watch it and its workers. */
void object_watch(struct sw_engine *e, struct object *o);
/** Its workers are @fresh from now on, which are taken, unless they are the same. NULL: none. */
void object_take_workers(struct sw_engine *e, struct object *o, struct workers *fresh);

/* ---- build.c -----------------------------------------------------------------------------------
 */

/** Find out which BuildConfigs are needed now. */
void builds_update(struct sw_engine *e);

/* ---- apply.c -----------------------------------------------------------------------------------
 */

/** So often what others have changed is applied again without a delay. */
enum { REPAIRS_AT_ONCE = 3 };

/** Apply what may be applied. Each of the three: @return whether an object is known to be gone. */
bool apply_next(struct sw_engine *e, struct state *s);
/** Remove the objects that the state does not render any more. */
bool apply_retire(struct sw_engine *e, struct state *s);
/** Remove all of its objects, the last applied first. */
bool apply_remove(struct sw_engine *e, struct state *s);
/** Delete hooks that are not to be kept. */
void apply_delete_hooks(struct sw_engine *e, struct state *s);
/** Take the answer to an apply, a deletion or a release. */
void apply_answered(struct sw_engine *e, struct object *o, const struct sw_event *event);

/* ---- deadline.c --------------------------------------------------------------------------------
 */

/** The state has entered a phase. */
void deadline_entered(struct sw_engine *e, struct state *s);
/** Its timeout has passed. */
void deadline_note_late(struct state *s);
/** Has the state got on, or lost an object, since deadline_note_late()? */
bool deadline_has_moved(const struct sw_engine *e, const struct state *s);
/** Has its timeout passed? */
bool deadline_is_over(struct sw_engine *e, const struct state *s);
/** 0: none. */
int64_t deadline_timeout(const struct sw_engine *e, const struct state *s);
/** Has an object of it run to completion and failed, that may be run again? */
bool deadline_can_redo(const struct state *s);
/** Have those run again. */
void deadline_redo(struct state *s);

/* ---- signal.c ----------------------------------------------------------------------------------
 */

/** Is the signal there for @s? May ask for a wake-up. */
bool signal_is(struct sw_engine *e, struct state *s, enum signal signal);
/** "needs met": as docs/engine.md has it. */
const char *signal_name(enum signal signal);
/** Do the states that @s needs, and the resource, let it begin? */
bool state_may_start(struct sw_engine *e, const struct state *s);
/** Does @need let @s begin? */
bool need_is_met(const struct state *s, const struct state *need);

/* ---- checks: check.c ---------------------------------------------------------------------------
 */

/** Has the check of @need failed, and is that of @s another one of the same phase? */
bool check_goes_on(const struct state *s, const struct state *need);
/** Note what the state's check, if it has one, has come to. */
void check_update(struct sw_engine *e, struct state *s);
/** {phase, result, message} for the status, the caller's; NULL: it has no check. */
struct json_object *check_doc(const struct state *s);
/** @note with what its check has come to before it. Heap; NULL: neither. */
char *check_note(const struct state *s, const char *note);
/** Take it from the status of before. */
void check_read(struct state *s, struct json_object *doc);
void check_done(struct state *s);
/** Are all awaited objects ready, and all nodes as they are waited for? */
bool state_gate_is_open(struct sw_engine *e, struct state *s);
/** A node has changed: count it again where the state waits for nodes. */
void state_node_changed(struct sw_engine *e, struct state *s, uint32_t node);
/** Is the node one for which an object of the state waits? */
bool state_waits_for_node(struct sw_engine *e, const struct state *s, uint32_t node);
/** Has the node all labels and resources for which objects of the state wait there? */
bool node_is_as_waited_for(struct sw_engine *e, const struct state *s, uint32_t node);

/* ---- message.c ---------------------------------------------------------------------------------
 */

/** Why the state is where it is; "" when ready. Of the step's arena. @reason: one word. */
const char *state_message(struct sw_engine *e, const struct state *s, const char **reason);
/** The phase to show: that of its failure while the same is tried again. */
enum phase state_shown(const struct state *s);
/** Remember how it failed. */
void state_note_failure(struct sw_engine *e, struct state *s);
/** The state that the resource's message is about, or NULL. */
const struct state *message_subject(struct sw_engine *e);

/* ---- release.c ---------------------------------------------------------------------------------
 */

/** Take sw_state_spec.release. */
void release_take(struct state *s, struct json_object *release);
/** "25.10.1 to 26.7.1, step 2 of 4 (pre-upgrade hooks): " while its release goes to another
 * version, else "". Of the step's arena. */
const char *release_step(struct sw_engine *e, const struct state *s);
/** The release as the status has it, with its "steps" while it is under way; the caller's. */
struct json_object *release_doc(const struct state *s);

/* ---- taint.c -----------------------------------------------------------------------------------
 */

/** New taints of a node. */
struct taint_patch {
    struct json_object *taints; /* all of them, the caller's */
    const char *record;         /* see SW_ACT_LABEL; of the step's arena */
};
/** Are there taints on the node that slipway has set for this resource? */
bool taint_is_set(struct sw_engine *e, uint32_t node);
/** What the node's taints should be: with the resource's (@set), or without those that were set for
 * it. @return false: they are as they should be */
bool taint_difference(struct sw_engine *e, uint32_t node, bool set, struct taint_patch *out);

/* ---- node_label.c ------------------------------------------------------------------------------
 */

/** A state has been rendered: nodes that waited for it are marked. */
void label_rendered(struct sw_engine *e);
/** Update the marked nodes. @return whether a node has finished or unfinished a state */
bool label_update(struct sw_engine *e);
/** The resource's selector or tolerations changed: nodes that it lost lose their labels at once. */
void label_selector_changed(struct sw_engine *e);
/** The node is gone. */
void label_forget_node(struct sw_engine *e, uint32_t node);
/** Before the engine is freed: no taint of its own is on its way any more. */
void label_done(struct sw_engine *e);
/** Take the answer to SW_ACT_LABEL. */
void label_answered(struct sw_engine *e, const struct sw_event *event);
/** Is nothing left to patch? */
bool label_is_settled(const struct sw_engine *e);
/** Does the status count this node, or did it? */
bool label_counts_node(struct sw_engine *e, uint32_t node);
/** How many nodes the state has, and how many of them are labelled. */
void label_count(struct sw_engine *e, const struct state *s, size_t *labelled, size_t *total);
/** The names of at most @most nodes that the state is not finished on; an array, the caller's. */
struct json_object *label_missing(struct sw_engine *e, const struct state *s, size_t most);

/* ---- recorded.c --------------------------------------------------------------------------------
 */

/** Take what an earlier run wrote into the status (may be NULL). */
void record_read(struct sw_engine *e, struct json_object *status);
/** Take the entries of @inventory (or NULL) that are not known: others have made those objects.
 * @again: all is rendered again, and what was observed of it is not known any more. */
void record_inherit(struct sw_engine *e, struct json_object *inventory, bool again);

/* ---- spec.c ------------------------------------------------------------------------------------
 */

/** Take a SW_EV_SPEC. */
void spec_take(struct sw_engine *e, const struct sw_spec *spec);
/** Bring variants in line with the nodes' groups, and ask for renders that are due. */
void spec_refresh(struct sw_engine *e);
/** Take a SW_EV_RENDERED or _RENDER_FAILED. */
void spec_take_render(struct sw_engine *e, const struct sw_event *event);
/** All variants of @s are rendered again. */
void state_render_anew(struct sw_engine *e, struct state *s);
/** Render all states again. */
void spec_facts_changed(struct sw_engine *e);
/** A node has changed: its group may have. */
void spec_node_changed(struct sw_engine *e, uint32_t node);

/* ---- transitions.c -----------------------------------------------------------------------------
 */

/** Move every state as far as it goes. */
void table_settle(struct sw_engine *e);

/* ---- status.c, hint.c --------------------------------------------------------------------------
 */

/** Write the status where it has changed and is due. */
void status_update(struct sw_engine *e);
/** Take the answer to SW_ACT_STATUS. */
void status_answered(struct sw_engine *e, const struct sw_event *event);
/** The status document of now; the caller's. */
struct json_object *status_make(struct sw_engine *e);
/** What a person can do about it; "" where there is nothing to say. Constants. */
const char *hint_for(const char *reason, const char *message, bool lasts);
/** The same, with whom a right is missing, and which; of the step's arena. */
const char *hint_of(struct sw_engine *e, const char *reason, const char *message, bool lasts);
/** The same for a recipe that cannot be loaded. */
const char *hint_for_recipe(int code, const char *message);
