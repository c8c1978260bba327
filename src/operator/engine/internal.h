#pragma once
/* The inside of an engine: a resource's states, their objects, and what is known about them. One
 * file an idea:
 *   engine.c   takes events apart                 actions.c      puts actions together
 *   spec.c     the resource and its states        recorded.c   what an earlier run wrote down
 *   object.c   one object: what it should be      observed.c     ... and what it is
 *   drift.c  how drift is seen
 *   workers.c  pods and builds of an object       apply.c    applying, retiring, removing
 *   transitions.c    the transitions                    signal.c   what makes one happen
 *   node_label.c    node labels                        status.c   the status document
 *   lost_nodes.c     nodes not heard of                 deadline.c deadlines, and what is run again
 *   taint.c    node taints                        message.c    messages
 *   drivers.c  nodes whose drivers are replaced
 *   container_logs.c    the end of a failed container's log */
#include "operator/engine/engine.h"
#include "operator/engine/nodes/bitset.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/readiness/gate.h"

struct json_object;
struct lh_table;

/* ---- words of the table ------------------------------------------------------------------------
 */

enum phase {
    PH_ASKING,   /* its objects are being rendered for the first time, or again after a failure */
    PH_LOOKING,  /* each object is looked at, and written down, before anything is done to it */
    PH_PENDING,  /* all is prepared: the states it needs are not ready */
    PH_APPLYING, /* objects are being applied, stage by stage */
    PH_GATED,    /* all is applied, not all is ready */
    PH_READY,
    PH_HELD,     /* was ready; what shut its gate is not slipway's */
    PH_RETRYING, /* something failed that may pass by itself */
    PH_FAILED,   /* something failed that will not */
    PH_REMOVING,
    PH_REMOVED,
    PH_COUNT
};

enum signal {
    SG_REMOVE,      /* no longer wanted */
    SG_WANTED,      /* wanted again */
    SG_GONE,        /* nothing of it is left */
    SG_RENDERED,    /* content is known */
    SG_UNLOOKED,    /* an object has not been looked at, or not been written down */
    SG_LOOKED,      /* the opposite */
    SG_FAULT,       /* something failed and may pass by itself */
    SG_REFUSED,     /* something failed and will not pass by itself */
    SG_NEEDS_MET,   /* it may apply */
    SG_NEEDS_LOST,  /* it may not any more */
    SG_IN_PLACE,    /* begun before, and nothing is left to apply */
    SG_CHANGED,     /* its content is another than the one that was begun */
    SG_DRIFTED,     /* the cluster does not have what was applied */
    SG_APPLIED,     /* it does now */
    SG_GATE_OPEN,   /* all that is awaited is ready */
    SG_GATE_SHUT,   /* not all */
    SG_GATE_HELD,   /* not all, only foreign objects stand open, and it was ready before */
    SG_GATE_FAILED, /* an awaited object says that it failed */
    SG_LATE,        /* it has not been ready for longer than it may */
    SG_RENEWED,     /* it failed with other content than it has now */
    SG_RETRY,       /* the back-off is over, or its cause has changed */
    SG_COUNT
};

/* ---- objects -----------------------------------------------------------------------------------
 */

struct fault {
    int code; /* 0: none */
    char *message;
};

enum doing { DOING_NOTHING, DOING_APPLY, DOING_DELETE, DOING_RELEASE };

/* Order within a stage; see struct sw_rendered_object. */
enum rank {
    RANK_NAMESPACE,
    RANK_CRD,
    RANK_CONFIG, /* what the workloads read: accounts, rights, configuration */
    RANK_WORKLOAD,
    RANK_OTHER,
    RANK_LAST, /* published, or tried, when the rest is ready */
};

struct object {
    struct sw_key key; /* owned, in one block with key.api_version */
    struct state *state;

    /* as rendered */
    char *text; /* compact JSON; NULL: not rendered any more, to be retired */
    size_t len;
    uint64_t hash;
    struct sw_gate *gate;
    bool awaited;
    int stage;
    bool once, drop_ready, drop_failed; /* see sw_rendered_object */
    char *failed_why;     /* it was deleted, or is about to be, because it had failed so... */
    uint64_t failed_hash; /* ... with this content */
    uint64_t failed_in;   /* serial of the status that says so first; 0: none yet */
    bool failed_recorded; /* that status was written */
    enum rank rank;
    struct variant **variants; /* that have rendered it */
    size_t n_variants, cap_variants;
    struct json_object *placement; /* of a workload: what of its pod spec says where pods belong */
    char *stay_key; /* of the label by which its pods stay: grace_period.h; NULL: they do not */
    struct json_object *staying; /* with @stay_key: what of its pod spec says where they may */

    /* as written down in the resource's status */
    uint64_t listed_in; /* serial of the status that lists it first; 0: none yet */
    bool recorded;      /* that status was written */
    char *our_uid;      /* of the object that slipway made or took over, or NULL */
    bool adopted;       /* taken over from somebody else: not deleted */
    bool keep;          /* helm.sh/resource-policy: keep */
    uint64_t done_hash; /* it ran to completion, or its dry run passed, with this content */
    uint64_t fingerprint,
        fingerprint_of; /* how it looked after applying content @_of; 0: unknown */

    /* as the cluster has it */
    bool looked, unserved, present, dying, ours;
    bool asleep;    /* a BuildConfig that nobody needs yet */
    char *missing;  /* a driver container whose image is not there: why; or NULL */
    bool inherited; /* SRO wrote it, and slipway has not yet */
    bool borrowed;  /* a Namespace or CRD of somebody else's: used as it is, never written */
    struct json_object *live; /* kept until its state is ready, should it be rendered anew */
    char *uid;                /* NULL: not there */
    char *foreign;            /* why it is not ours, or NULL */
    uint64_t version;
    uint64_t live_hash; /* the content it was applied with, as its annotation says; 0: none */
    uint64_t live_fingerprint;
    struct sw_readiness judged;    /* by its own document */
    struct sw_readiness readiness; /* with its workers */
    int64_t n_wanted;              /* DaemonSet: desiredNumberScheduled */
    int64_t template;              /* DaemonSet: its template's generation; -1: not told */
    struct workers *workers;
    uint64_t watch, workers_watch; /* 0: none */
    char *unserved_why;
    struct fault unseen; /* it, or its workers, cannot be looked at */
    struct {
        char *pod, *container, *line; /* whose log was asked for, and its end */
        uint64_t serial;              /* 0: not being asked for */
        int64_t asked_ms;
        bool changed; /* something of its workers is different since */
    } container_logs;

    /* what is being done */
    enum doing doing;
    uint64_t serial;
    uint64_t sent_hash;
    bool fresh; /* it was applied just now: how it looks next is how it should look */
    bool must_replace;
    bool redo;     /* it ran to its end and failed: to be deleted and applied again */
    bool released; /* it stays, and is not slipway's any more */
    unsigned n_redone;
    struct fault fault;
    unsigned n_tries; /* of a deletion */
    int64_t retry_ms;
    unsigned n_repairs; /* lately, of drift */
    int64_t repaired_ms;
};

/* ---- states ------------------------------------------------------------------------------------
 */

struct variant {
    char *name; /* "": the state has no variants */
    bool wanted;
    bool known;      /* rendered at least once */
    bool stale;      /* to be rendered (again) */
    bool early;      /* it was asked before the needs were met */
    uint64_t serial; /* being rendered; 0: not */
    struct fault fault;
    char *rolled_back; /* it is what was ready before, as what would be new failed: how; or NULL */
};

struct state {
    char *name, *label, *title; /* @label: the whole key; NULL: none */
    struct state **needs;
    size_t n_needs;
    bool listed; /* in the resource now */
    bool affine, hidden;

    enum phase phase;
    struct variant **variants;
    size_t n_variants, cap_variants;
    struct object **objects; /* borrowed from the registry; by stage, rank, key */
    size_t n_objects, cap_objects;
    uint64_t digest, begun;                 /* of its content: now, and that which was last begun */
    int64_t started_ms, ready_ms, since_ms; /* 0: never */
    int64_t shut_ms;                        /* when its gate shut; 0: open, or never was */
    bool given_up;                          /* that was too long ago: its labels are taken off */
    int64_t timeout_ms;                     /* as the resource has it for this state; 0: none */
    int64_t awaited_ms; /* since when it is to get ready; 0: it is, or has not begun */
    bool late;          /* that was too long ago... */
    size_t late_ready;  /* ... and so much of it was ready then; SIZE_MAX: all was applied */
    unsigned n_redone;  /* how often what failed has been run again */
    unsigned n_tries;
    int64_t retry_ms, tried_ms;
    /* how it failed last: shown while the same is tried again */
    enum phase failed_as;
    char *failed_why, *failed_reason; /* NULL: it has not, or something went well since */
    uint64_t failed_digest;
    bool nudged; /* something changed that may have been the cause of a failure */
    bool fresh;  /* what was begun last had not been begun before */
    bool woke;   /* a build of it has just become needed */
    bool node_by_node;
    struct bitset done;             /* node by node: where it is finished */
    struct bitset members, lacking; /* nodes that must have gate labels; those that have not */
    bool members_known;
    char *told;         /* the last Event's words */
    char *shown;        /* the phase that the status has... */
    int64_t entered_ms; /* ... and when that which it will have began */
};

/* ---- the engine --------------------------------------------------------------------------------
 */

struct watch {
    uint64_t id; /* 0: free */
    struct sw_key key;
    char *selector;
    enum sw_watch_use use;
    unsigned refs;
    bool told; /* something of what there is has been told already */
    bool synced;
};

struct stray {
    struct sw_key key;
    struct json_object *live;
};

/* A node that carries a label of the resource and is deselected or not heard of: see grace_ms. It
 * is written down, so that the grace does not begin anew with a restart. */
struct lost_node {
    uint32_t node;
    int64_t since_ms;
    bool expired; /* the grace is over, and the node has been looked at since */
};

struct sw_engine {
    const struct sw_node_set *roster;
    struct sw_engine_opts opts;
    int64_t now_ms;
    uint64_t last_serial;

    /* actions of this step */
    struct sw_arena *arena;
    struct sw_action *acts;
    size_t n_acts, cap_acts;
    struct json_object **docs; /* to be put at the next step */
    size_t n_docs, cap_docs;
    struct sw_actions out;

    /* the resource */
    bool told;        /* a SW_EV_SPEC has come */
    bool has_builds;  /* one of its objects may sleep: see build.c */
    bool preparing;   /* not every state has been rendered yet */
    int64_t asked_ms; /* when all was last asked to be rendered */
    char *name, *uid, *revision, *blocked;
    int64_t generation;
    enum sw_management management;
    bool deleting, finalized, orphan;
    enum sw_hold hold;
    char *hold_words;
    bool hold_failed, emptied; /* emptied: that was told */
    int64_t timeout_ms;        /* of states that have none of their own */
    struct json_object *node_selector, *taints;
    struct json_object *tolerations;             /* of what does not exclude a node: @taints too */
    char *overlap, *overlap_with, *told_overlap; /* NULL: none */
    bool overlap_is_bad;
    char *told_clash; /* of taints, by the last Event */
    struct fault spec_fault;
    char *spec_reason;

    struct state **states; /* those listed in the resource's order, then the rest */
    size_t n_states, cap_states;
    struct lh_table *objects; /* by key */
    struct watch *watches;
    size_t n_watches, cap_watches;
    struct stray *strays; /* workers whose object has not been rendered yet */
    size_t n_strays, cap_strays;

    uint64_t *groups; /* of each selected node, hashed; kept while a state is kernel-affine */
    size_t n_groups;
    bool groups_dirty;

    /* node labels */
    struct bitset dirty, busy; /* nodes to look at; nodes being patched */
    struct bitset later;       /* nodes to look at when a render has come */
    struct bitset counted;     /* nodes that the status has ever counted */
    struct lost_node *lost;
    size_t n_lost, cap_lost;
    struct fault label_fault;
    unsigned n_label_tries;
    int64_t label_retry_ms;

    /* status */
    struct json_object *written; /* as last acknowledged (or read); NULL: none */
    struct json_object *writing; /* on its way */
    uint64_t status_serial;      /* of @writing; 0: none on its way */
    bool status_dirty, settled;
    int64_t status_ms; /* when it was last sent */
    unsigned n_status_tries;
    int64_t status_retry_ms;
    enum sw_phase told_phase;
    char *told_reason;
    struct json_object *upgrade;    /* how the upgrade of drivers goes, or NULL */
    struct json_object *conditions; /* as in the last document made */
    bool was_ready;

    int64_t deadline_ms, armed_ms; /* 0: none */
};

/* ---- actions.c
 * -------------------------------------------------------------------------------------
 */

struct sw_action *act_add(struct sw_engine *e, enum sw_action_kind kind);
uint64_t act_serial(struct sw_engine *e);
/** Keep @doc (a reference is taken over) until the next step. */
struct json_object *act_keep(struct sw_engine *e, struct json_object *doc);
void act_event(struct sw_engine *e, bool warning, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** Ask to be stepped at @at_ms at the latest. */
void act_wake(struct sw_engine *e, int64_t at_ms);
uint64_t act_watch(struct sw_engine *e, const struct sw_key *key, const char *selector,
                   enum sw_watch_use use);
void act_unwatch(struct sw_engine *e, uint64_t id);
/** Have all of it told again, for somebody who came later. */
void act_watch_again(struct sw_engine *e, uint64_t id);
struct watch *act_find_watch(struct sw_engine *e, uint64_t id);
void act_free_watches(struct sw_engine *e);
int64_t act_backoff(const struct sw_engine *e, unsigned n_tries, bool lasting);

/* ---- object.c ----------------------------------------------------------------------------------
 */

void fault_set(struct fault *fault, int code, const char *message);
void fault_done(struct fault *fault);
/** Nothing changes until the input does. */
bool fault_lasts(const struct fault *fault);

struct object *object_find(struct sw_engine *e, const struct sw_key *key);
struct object *object_need(struct sw_engine *e, const struct sw_key *key, struct state *s);
void object_forget(struct sw_engine *e, struct object *o);
/** It failed with the content @hash, so it is to be deleted, and not to be run again before it has
 * another. @why NULL: that is over. */
void object_fail(struct object *o, const char *why, uint64_t hash);
void objects_free(struct sw_engine *e);
/** Take the content of a manifest. @return 0 | SW_INVALID: an annotation is bad */
int object_render(struct sw_engine *e, struct object *o, const struct sw_rendered_object *r,
                  struct sw_err *err);
/** It is not part of its state's content any more. */
void object_unrender(struct sw_engine *e, struct object *o);
/** Take what the cluster has (NULL: not there). @return whether anything is different. */
bool object_observe(struct sw_engine *e, struct object *o, struct json_object *live);
/** Look at the last document again: what is rendered, or known of it, is another. */
void object_assess(struct sw_engine *e, struct object *o);
/** Combine what it says itself with what its workers say. */
void object_judge(struct object *o);
void object_watch(struct sw_engine *e, struct object *o);
/** This is how it looks when nobody has touched it. @live NULL: as it will be seen next. */
void object_set_look(struct object *o, struct json_object *live);
/** The last document is not needed any more. */
void object_drop_live(struct object *o);
/** What is sent: the manifest with slipway's marks; the caller's. */
struct json_object *object_document(struct sw_engine *e, const struct object *o);

bool object_lacks_image(const struct object *o);
bool object_is_written(const struct object *o); /* slipway applies it, as against observing it */
/** Observed, or marked as in somebody else's hands: not being ready is no fault of slipway's. */
bool object_is_brought_ready_by_others(const struct object *o);
bool object_is_applied(const struct object *o); /* the cluster has this very content */
bool object_is_ready(const struct object *o);   /* applied, and ready if it is awaited */
bool object_is_known(struct sw_engine *e, const struct object *o); /* looked at, workers too */
bool object_is_removable(const struct object *o);
/** Do its pods run only on nodes that have this label? */
bool object_is_bound_to(const struct object *o, const char *label);
/** "DaemonSet ns/name"; of the step's arena. */
const char *object_words(struct sw_engine *e, const struct object *o);
/** Why it is not ready: "DaemonSet ns/x 1 of 3 pods are ready; pod ...". */
const char *object_why(struct sw_engine *e, const struct object *o, const char **reason);

/* ---- drift.c ---------------------------------------------------------------------------------
 */

/** What @live has at the places where @ours says something, as one number. */
uint64_t project(struct json_object *ours, struct json_object *live);

/* ---- workers.c ---------------------------------------------------------------------------------
 */

struct workers;
struct workers *workers_new(struct json_object *manifest); /* NULL: a kind that has none */
void workers_free(struct workers *w);
/** Do both watch the same? */
bool workers_same(const struct workers *a, const struct workers *b);
bool workers_are_node_by_node(const struct workers *w);
/** What to watch for them. @return false: nothing to watch yet. */
bool workers_key(const struct object *o, struct sw_key *key, const char **selector);
/** @return true: it is one of @o's workers (or was) and something is different. */
bool workers_observe(struct sw_engine *e, struct object *o, const struct sw_key *key,
                     struct json_object *live);
void workers_judge(struct object *o);
/** The pod that says most about why @o is not ready: words of the step's arena, or NULL. @reason is
 * replaced where the pod's is the better one. */
const char *workers_why(struct sw_engine *e, const struct object *o, const char **reason);
bool workers_are_known(struct sw_engine *e, const struct object *o);
/** Has @o a pod on the node, and are all of them there ready? */
bool workers_has(const struct object *o, uint32_t node);
bool workers_ready_on(const struct object *o, uint32_t node);
/** Ask for logs that are due. */
void workers_logs(struct sw_engine *e, struct object *o);
bool workers_take_logs(struct sw_engine *e, struct object *o, const struct sw_event *event);
/** A worker of nobody's may be that of an object still to be rendered. */
void workers_keep_stray(struct sw_engine *e, const struct sw_key *key, struct json_object *live);
void workers_take_strays(struct sw_engine *e, struct object *o);
void workers_drop_strays(struct sw_engine *e);
/** The names of the nodes that have one of @o's pods, comma separated; heap. NULL: not looked at.
 */
char *workers_nodes(const struct sw_engine *e, const struct object *o);
void workers_forget_node(struct object *o, uint32_t node);

/* Where the pods of drivers are: any; of an older template; not (all) new and ready. */
struct driver_marks {
    struct bitset has, old, unfit;
};
void workers_mark_drivers(const struct object *o, struct driver_marks *m);
/** Each pod of an older template on the node that is not being deleted. */
void workers_each_old(const struct object *o, uint32_t node,
                      void (*each)(const char *ns, const char *name, void *arg), void *arg);

/** Can a pod of @o, of its present template, not pull its image? */
bool workers_lack_image(const struct object *o);

/** The pod that says most about why @o is not ready, and what. @return false: none does */
bool workers_culprit(const struct object *o, const char **pod,
                     const struct sw_readiness **readiness);

/* ---- container_logs.c
 * -----------------------------------------------------------------------------------
 */

/** Ask for the log of the container that is to blame, if there is one and it was not asked yet. */
void container_logs_ask(struct sw_engine *e, struct object *o);
/** @return whether it was the answer, and says something */
bool container_logs_take(struct object *o, const struct sw_event *event);
/** The last line of that log, while it is to blame; NULL: not known. */
const char *container_logs_line(const struct object *o);
void container_logs_done(struct object *o);

/* ---- build.c -----------------------------------------------------------------------------------
 */

/** See which BuildConfigs are needed now. */
void builds_update(struct sw_engine *e);
bool build_may_sleep(const struct object *o);

/* ---- spec.c ------------------------------------------------------------------------------------
 */

void spec_take(struct sw_engine *e, const struct sw_spec *spec);
/** Bring variants in line with the nodes' groups, and ask for renders that are due. */
void spec_refresh(struct sw_engine *e);
void spec_take_render(struct sw_engine *e, const struct sw_event *event);
void spec_facts_changed(struct sw_engine *e);
void spec_node_changed(struct sw_engine *e, uint32_t node);
struct state *state_find(struct sw_engine *e, const char *name);
struct state *state_need(struct sw_engine *e, const char *name);
void state_free(struct state *s);
/** Is the node one of the resource's? */
bool node_selected(const struct sw_engine *e, uint32_t node);
/* Or it was, and only labels of features are missing: its pods are still there. */
bool node_kept(const struct sw_engine *e, uint32_t node);
/** Something about @s is different: failures may be over, words may be others. */
void state_nudge(struct sw_engine *e, struct state *s);
bool engine_removes_all(const struct sw_engine *e);
/** Is all to be left as it is, without slipway's marks? */
bool engine_orphans(const struct sw_engine *e);
/** Is there a state that needs it, and is not removed yet? */
bool state_is_needed(const struct sw_engine *e, const struct state *s);
/** Put the state's objects in order and count them anew. */
void state_sort(struct state *s);

/* ---- recorded.c
 * ----------------------------------------------------------------------------------
 */

void record_read(struct sw_engine *e, struct json_object *status);

/* ---- apply.c -----------------------------------------------------------------------------------
 */

/* Each: @return whether something is known now that was not (an object is gone). */
bool apply_next(struct sw_engine *e, struct state *s);
bool apply_retire(struct sw_engine *e, struct state *s);
bool apply_remove(struct sw_engine *e, struct state *s);
/** Delete hooks that are not to be kept. */
void apply_tidy(struct sw_engine *e, struct state *s);
void apply_answered(struct sw_engine *e, struct object *o, const struct sw_event *event);

/* ---- signal.c, transitions.c
 * -------------------------------------------------------------------------
 */

bool signal_is(struct sw_engine *e, struct state *s, enum signal signal);
const char *signal_name(enum signal signal);
const char *signal_words(enum signal signal);
/** May a state begin, as far as what it needs goes? */
bool state_may_start(struct sw_engine *e, const struct state *s);
bool need_is_met(struct sw_engine *e, const struct state *s, const struct state *need);
bool state_gate_is_open(struct sw_engine *e, struct state *s);
/** What SW_ANN_NODE_LABELS asks of nodes. */
void state_node_changed(struct sw_engine *e, struct state *s, uint32_t node);
bool node_has_gate_labels(struct sw_engine *e, const struct state *s, uint32_t node);
bool state_has_node_labels(const struct state *s);

const char *phase_name(enum phase phase);
/** What users see of a phase: "Pending", "Applying", "Waiting"... */
const char *phase_shown(enum phase phase);
/** Move every state as far as it goes. */
void table_settle(struct sw_engine *e);

/* ---- node_label.c
 * -----------------------------------------------------------------------------------
 */

void label_node_changed(struct sw_engine *e, uint32_t node);
void label_all_changed(struct sw_engine *e);
void label_rendered(struct sw_engine *e);
/** @return whether a node has finished or unfinished a state. */
bool label_update(struct sw_engine *e);
/** Nodes that are not selected any more lose their labels at once. */
void label_selector_changed(struct sw_engine *e);
void label_forget_node(struct sw_engine *e, uint32_t node);
void label_answered(struct sw_engine *e, const struct sw_event *event);
bool label_is_settled(const struct sw_engine *e);
/* Does the status speak of this node, or did it? */
bool label_concerns(struct sw_engine *e, uint32_t node);
void label_count(struct sw_engine *e, const struct state *s, size_t *labelled, size_t *total);
/** The names of nodes that the state is not finished on, @most of them; an array, the caller's. */
struct json_object *label_missing(struct sw_engine *e, const struct state *s, size_t most);

/* ---- lost_nodes.c
 * ------------------------------------------------------------------------------------
 */

struct lost_node *lost_find(struct sw_engine *e, uint32_t node);
void lost_add(struct sw_engine *e, uint32_t node, int64_t since_ms);
void lost_forget(struct sw_engine *e, uint32_t node);
/** Look again at those whose grace is over. */
void lost_update(struct sw_engine *e);
/** [{since, nodes}], NULL: none is lost. */
struct json_object *lost_doc(const struct sw_engine *e);
void lost_read(struct sw_engine *e, struct json_object *list);

/* ---- deadline.c --------------------------------------------------------------------------------
 */

/** It has entered a phase. */
void deadline_entered(struct sw_engine *e, struct state *s);
/** It is too late. */
void deadline_note_late(struct state *s);
/** Has what was late come apart, or got on, since? */
bool deadline_has_moved(const struct state *s);
/** Has it not been ready for longer than it may? */
bool deadline_is_over(struct sw_engine *e, const struct state *s);
int64_t deadline_timeout(const struct sw_engine *e, const struct state *s);
/** Is there something in it that ran to its end and failed, and may be run again? */
bool deadline_can_redo(const struct state *s);
/** Have it run again. */
void deadline_redo(struct state *s);

/* ---- taint.c -----------------------------------------------------------------------------------
 */

struct taint_patch {
    struct json_object *taints; /* all of them, the caller's */
    const char *record;         /* of the step's arena; NULL: nothing to write down */
};
/** Are there taints on the node that slipway has set for this resource? */
bool taint_is_set(struct sw_engine *e, uint32_t node);
/** What the node's taints should be: with the resource's, or (!@wanted) without those that were set
 * for it. @return false: they are */
bool taint_difference(struct sw_engine *e, uint32_t node, bool wanted, struct taint_patch *out);

/* ---- status.c, message.c
 * -------------------------------------------------------------------------
 */

void status_update(struct sw_engine *e);
void status_answered(struct sw_engine *e, const struct sw_event *event);
struct json_object *status_make(struct sw_engine *e);
/** Why the state is where it is; "" when ready. Of the step's arena. @reason: one word. */
const char *words_state(struct sw_engine *e, const struct state *s, const char **reason);
/** The phase to show: that of its failure while the same is tried again. */
enum phase state_shown(const struct state *s);
void state_note_failure(struct sw_engine *e, struct state *s);
void state_forget_failure(struct state *s);
/** What can be done about it; "" where there is nothing to say. */
const char *hint_for(const char *reason, const char *message, bool lasting);
const char *hint_for_recipe(int code, const char *message);
/** The state that the resource's message speaks of, or NULL. */
const struct state *words_subject(struct sw_engine *e);
bool state_is_done(const struct state *s);
bool state_is_rendering(const struct state *s);
/** What failed, where its content is what was ready before; NULL: it is what is asked for. */
const char *state_rolled_back(const struct state *s);
bool state_is_rendered(const struct state *s); /* all of it, and it worked */
