#pragma once
/* private: what the files of the core share and capabilities do not see. */
#include "operator/controller/core.h"
#include "operator/engine/recording/recording.h"

/** The members of a controller that only the core uses. */
struct controller_private {
    struct stale *stale;             /* group versions to be discovered again (kinds.c) */
    struct fact_watch *fact_watches; /* one for each of sw_facts_sources, or NULL */
    struct sw_kube_request *discovery, *version;
    struct sw_kube_watch *node_watch, *resource_watch, *crd_watch;
    struct sw_timer *retry_timer, *facts_timer, *recheck_timer, *resumed_timer, *kinds_timer,
        *kinds_news;
    unsigned n_rediscover; /* times that all kinds are to be discovered after an upgrade */
    int64_t retry_ms, kinds_retry_ms;
    void (*on_kinds)(struct sw_controller *c); /* the server serves other kinds */
    bool nodes_synced;
    bool paused; /* it reads, and writes nothing */
    size_t apis_cap;
    int trouble;                   /* as last reported by on_trouble */
    uint64_t n_events;             /* Kubernetes Events so far, for their names */
    const char **words;            /* template_texts() */
    struct json_object *too_large; /* too_large.c: "KIND/NAME" -> the generation that was told */
    struct json_object *bytes;     /* the same -> what it takes */
    size_t small_bytes, large_bytes;
};

/** The watches of resources and modules are closed: what document_is_too_large() has counted. */
void documents_forget(struct sw_controller *c);

/** A render that a step of the engine asked for; it begins after that step. */
struct render_request {
    struct render_request *next;
    uint64_t serial;
    char *state, *variant;
    bool early; /* see sw_action */
};

/** In a template: it reads the cluster. */
#define LOOKUP_WORD "lookup "
/** In a template: it has the text of another one, which may read the cluster. */
#define INCLUDE_WORD "include "

/** What lower files of the core call in higher ones; there is one, in resource.c. */
struct resource_driver {
    void (*perform)(struct resource *r, const struct sw_action *a); /* an action of the engine */
    void (*render)(struct resource *r, const struct render_request *request);
    void (*refuse)(struct resource *r, int code, const char *message); /* no plan: set the status */
    void (*replan)(struct resource *r);                                /* resource_replan() */
    void (*resume)(struct resource *r);                                /* plan_go_on() */
};

/** The members of a resource that only the core uses. */
struct resource_private {
    const struct resource_driver *driver;
    uint64_t recording;     /* its number in c->opts.recording */
    struct sw_timer *timer; /* the engine's */
    struct json_object
        *doubtful_status;    /* fields of which the server's values are not known; NULL: none */
    bool status_is_whole;    /* it was on the server, after it was written */
    bool status_is_lost;     /* others have removed it since it was written last */
    bool inventory_is_plain; /* in the status on the server, as older versions wrote it */
    char *status_fault;      /* why the status could not be written, as it was told; NULL: it was */
    bool stepping, draining;
    struct render_request *queue, **queue_end;
    struct op *ops;                         /* requests under way */
    char *recipe_key;                       /* where the recipe came from */
    struct json_object *recipe_tolerations; /* sw_sharing_of_recipe() of it; NULL: none */
    char *recipe_content;                   /* digest of all that was fetched; NULL: not known */
    struct sw_renderer *spec_renderer; /* of the templates in the spec; NULL: there were none */
    struct sw_render_wait *spec_wait;  /* or NULL */
    bool is_unresolved;                /* it has changed, and the templates are not rendered yet */
    struct json_object *spec;          /* what they were rendered to, for @spec_request; or NULL */
    char *spec_request;
    struct json_object *spec_of;      /* the spec with the templates */
    bool recipe_is_old;               /* there may be another one by now */
    struct refresh *refresh;          /* NULL: no recipe was loaded */
    struct json_object *lacking;      /* the states whose charts could not be fetched; NULL: none */
    struct plan_work *plan_work;      /* a plan that waits for something */
    char planned_with[SW_SHA256_HEX]; /* digest of the values that the last plan was made with */
    bool is_label_taken;              /* its plan has a label of another resource's */
    struct render *renders;           /* renders that wait for something */
    struct json_object *scopes;  /* "<group>/<kind>" of the recipe's CRDs -> is it namespaced? */
    struct json_object *missing; /* API versions of rendered objects that were not served */
    const char **apis;           /* see apis_of() in plan.c; borrowed from the controller */
    size_t n_apis, apis_cap;
    struct prerequisite prerequisite;
    uint32_t some_node; /* a node that it selected last */
    char *account;      /* of resource_account_now() */
    char *acts_as;      /* of resource_acts_as() */
    bool legacy_told;   /* account_report() has told that it has none */
    struct json_object
        *warned;       /* what the API server has warned of: the Events' messages as keys */
    size_t finalizing; /* the row whose finalize() is due; above N_CAPABILITIES: none */
    bool in_finalize, finalized_inside;
    struct json_object *records;            /* status.records; NULL: it has none */
    enum record_home records_in;            /* status.recordsIn */
    bool records_are_open, records_are_old; /* the status was seen; see core.h */
    bool records_are_new;                   /* there was none, and nothing is adopted yet */
    char *record_doubt;                     /* for the status: a record is not used; or NULL */
    char *record_refused;                   /* said last; or NULL */
};

/* ---- dispatch of the events of capability.h -----------------------------------------------------
 */

/** Call @event of every row that has it: EACH_CAPABILITY(changed, r); */
#define EACH_CAPABILITY(event, ...)                                                                \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < N_CAPABILITIES; i_++)                                             \
            if (capabilities[i_]->event)                                                           \
                capabilities[i_]->event(__VA_ARGS__);                                              \
    } while (0)
/** The same, up to the first row whose answer is not 0: that answer, else 0. */
#define TRY_CAPABILITIES(event, ...)                                                               \
    ({                                                                                             \
        int rc_ = 0;                                                                               \
        for (size_t i_ = 0; rc_ == 0 && i_ < N_CAPABILITIES; i_++)                                 \
            if (capabilities[i_]->event)                                                           \
                rc_ = capabilities[i_]->event(__VA_ARGS__);                                        \
        rc_;                                                                                       \
    })

/** Make the slots of the controller, then open() of every row. */
void capabilities_open(struct sw_controller *c);
/** close() of every row, then free the slots of the controller. */
void capabilities_close(struct sw_controller *c);
/** Make the slots of a resource, then resource_open() of every row. */
void capabilities_open_resource(struct resource *r);
/** resource_close() of every row, then free the slots of the resource. */
void capabilities_close_resource(struct resource *r);
/** intent() of every row. @return whether the engine may have the change */
bool capabilities_intent(struct resource *r, enum resource_intent intent);
/** check() of every row; @out is the first answer. */
void capabilities_check(struct resource *r, struct prerequisite *out);
/** begin() of the rows, up to the first that answers. */
void capabilities_begin(struct resource *r, struct prerequisite *out);
/** facts_ready() of every row. @return whether all facts are known */
bool capabilities_facts_ready(struct resource *r, bool so_far);
/** plan_ready() of the rows, up to the first that is not. */
bool capabilities_plan_ready(struct resource *r);
/** release() of every row. @return { 1, false, false } where there is none */
struct release_view capabilities_release(struct resource *r, int state);
/** default_set() of the rows; borrowed. */
struct json_object *capabilities_default_set(struct resource *r);
/** extra_hooks() of every row. */
unsigned capabilities_extra_hooks(const struct resource *r);
/** Does a row still read or write what belongs to the walk? */
bool capabilities_are_busy(const struct resource *r);
/** rendered() of the rows, up to the first that puts other objects in place; borrowed. */
const char *capabilities_rendered(struct resource *r, struct render *w);

/* ---- resources (resource.c)
 * ----------------------------------------------------------------------
 */

void resource_free_all(struct sw_controller *c);
/** account.c: is what the spec says of the account a name? @return 0 | SW_INVALID: the message
 * names the field */
int account_check(const struct resource *r, struct sw_err *err);
/** Take from @doc, with its status, as whom @r acts. @return whether that has changed */
bool account_take(struct resource *r, struct json_object *doc);
/** Does @doc, with its status, which has come for @r, ask for another account? Its spec says so
 * before templates: these are rendered while @r is still what it was. */
bool account_differs(const struct resource *r, struct json_object *doc);
/** account.c: tell once, by a log line and an Event, that @r is walked with the operator's rights,
 * where SW_RIGHTS_LEGACY lets it. */
void account_report(struct resource *r);
/** Why @r is not walked: its annotation is not confirmed; heap. NULL: it is, or there is none. */
char *account_unconfirmed(const struct resource *r);
/** records.c: take what r->status says of kept objects out of it. */
void records_open(struct resource *r);
void records_close(struct resource *r);
/** Put what is known of the records into @status, as the server would have it. */
void records_put_known(const struct resource *r, struct json_object *status);
/** Fill records of @spec. */
void records_fill_spec(struct resource *r, struct sw_spec *spec);
/** document.c: does @doc, a SpecialResource, have slipway's finalizer? */
bool document_has_finalizer(struct json_object *doc);
/** The same, or that of an early SRO. */
bool document_is_held(struct json_object *doc);
/** Does @doc have a deletionTimestamp? */
bool document_is_deleting(struct json_object *doc);

/** values.c: may the templates of the @state of the plan look the cluster up, by those that they
 * include, too? */
bool state_has_lookups(const struct resource *r, size_t state);
/** step.c: a resource is gone, and with it what it has brought, unless that was handed over (a
 * shared release): who has found that there by a lookup may have to bring it now, and is rendered
 * again. */
void resources_render_again(struct sw_controller *c);
/** step.c: render, after this step, what SW_ACT_RENDER asks for. */
void render_queue_add(struct resource *r, const struct sw_action *a);
/** Drop the renders that wait in the queue. */
void render_queue_free(struct resource *r);

/** Does it have a finalizer of slipway's, or of an early SRO? */
bool resource_is_held(const struct resource *r);
/** Set the fault of recipe, values or a template; @code 0: none. */
void resource_set_fault(struct resource *r, int code, const char *message);
/** Check the prerequisites; step the engine if they have changed. */
void resource_recheck(struct resource *r);

/** prerequisites.c: set own->prerequisite. @return whether it has changed */
bool prerequisites_update(struct resource *r);

/* ---- templates in the resource (spec_templates.c)
 * ------------------------------------------------
 */

/** Make r->doc of r->seen with the facts of now. @wait NULL: with what the spec was rendered to
 * last.
 * @return 0 | SW_PENDING: ask again when @wait calls; r->doc stays as it was | SW_INVALID: the
 * message names the field; r->doc is r->seen then */
int resource_resolve(struct resource *r, struct sw_render_wait *wait, struct sw_err *err);
/** Does the spec of @doc hold a template? */
bool resolve_is_needed(struct json_object *doc);
/** r->seen with the templates of its spec rendered, a new document. @return as resource_resolve()
 */
int resolve_spec(struct resource *r, struct sw_render_wait *wait, struct json_object *values,
                 struct json_object **out, struct sw_err *err);
/** What belongs to the rendered spec ends. */
void spec_done(struct resource *r);

/** values.c: all words that templates are searched for, ended by NULL; free the list. */
const char **template_texts(void);

/* ---- recipes, plans, renders (source.c, plan.c, render.c)
 * ----------------------------------------
 */

/** Load the recipe if it is another one than before, make the plan, and say how that went: @done is
 * called once, perhaps before this returns, with 0 or a code and message. A new call ends the one
 * that still waits. */
typedef void plan_fn(struct resource *r, int code, const char *message);
void plan_start(struct resource *r, plan_fn *done);
/** What is called when the plan that is being made is there; NULL: none is being made. */
plan_fn *plan_pending(const struct resource *r);
/** Is the chart of @state, whose turn has come, one that could not be fetched? */
void plan_note_chart(struct resource *r, const char *state, bool is_lacking);
/** Continue the plan of @r, if it waits for facts. */
void plan_go_on(struct resource *r);
/** Cancel a plan under way. NULL is accepted. */
void plan_work_free(struct plan_work *w);
/** A hash that differs whenever a render may come out differently; heap. */
char *plan_revision(struct resource *r);

/** Render a state and step the engine with the outcome, perhaps before this returns. */
void render_start(struct resource *r, const struct render_request *request);
/** Cancel a render under way. */
void render_free(struct render *w);

/* ---- requests (requests.c) ----------------------------------------------------------------------
 */

/** Carry out SW_ACT_APPLY; the answer is SW_EV_APPLIED. */
void request_apply(struct resource *r, const struct sw_action *a);
/** An op about the resource itself. */
struct op *op_new_own(struct resource *r, uint64_t serial);
/** Free @op, and step the engine with its answer. */
void op_answer(struct op *op, int code, const char *message, struct json_object *object,
               const char *text);
/** The same where there was no request; as op->failed. */
void op_failed(struct op *op, int code, const char *message);
/** Answer the engine's action of @op with @a, and free @op. */
void op_answer_of(struct op *op, const struct sw_kube_answer *a);
/** needed.c: is @key a namespace or a definition, which others may need? */
bool may_be_needed(const struct sw_key *key);
/** Does another resource than @owner, @doc with @status, need @key for objects of its own? */
bool is_needed_by(const struct resource *owner, const struct sw_key *key, struct json_object *doc,
                  struct json_object *status);
/** The first of those that the controller knows, borrowed; NULL: none. */
struct json_object *find_needing(const struct resource *owner, const struct sw_key *key);
/** definition.c: delete a CustomResourceDefinition of the shared release op->shared, or keep it. */
void definition_begin_delete(struct op *op, const struct sw_kind *kind);
/** Carry out SW_ACT_DELETE; the answer is SW_EV_DELETED. */
void request_delete(struct resource *r, const struct sw_action *a);
/** Carry out SW_ACT_LABEL; the answer is SW_EV_LABELED. */
void request_label(struct resource *r, const struct sw_action *a);
/** Remove slipway's marks from an object. */
void request_release(struct resource *r, const struct sw_action *a);
/** Carry out SW_ACT_WARNINGS; the answer is SW_EV_WARNINGS. */
void request_warnings(struct resource *r, const struct sw_action *a);
/** Carry out SW_ACT_LOGS; the answer is SW_EV_LOGS. */
void request_logs(struct resource *r, const struct sw_action *a);
/** Add slipway's finalizer to the resource, or remove it. */
void request_finalizer(struct resource *r, bool add);

/* ---- the status (status.c)
 * ----------------------------------------------------------------------
 */

/** Carry out SW_ACT_STATUS; the answer is SW_EV_STATUS_WRITTEN. */
void request_status(struct resource *r, const struct sw_action *a);
/** The status may be another than is known: the next write sends every field. */
void status_doubt(struct resource *r);
/** r->status was read: unpack the inventory. The list of an older version is packed with the next
 * write. */
void status_take_inventory(struct resource *r);
/** Has somebody removed the status, or most of it, as @doc has it? Until it was on the server once,
 * what the watch tells may be older than what was written. */
bool status_is_removed(struct resource *r, struct json_object *doc);
/** It is: all of it is written again. */
void status_write_again(struct resource *r);

/* ---- the cluster (cluster.c, kinds.c, fact_watches.c)
 * ---------------------------------------------
 */

void cluster_open(struct sw_controller *c);
/** End all watches and timers of the cluster. */
void cluster_close(struct sw_controller *c);
/** Watch no SpecialResource any more, until the controller is resumed. */
void cluster_close_resources(struct sw_controller *c);
/** Discovery has found new kinds. */
void cluster_kinds_changed(struct sw_controller *c);
/** Does @r select any node at all? */
bool cluster_selects_any(struct resource *r);
/** Report that the controller cannot work (@code, @why), or can again (0, NULL); once each. */
void controller_trouble(struct sw_controller *c, int code, const char *why);

/** @on_changed is called when the server serves other kinds. */
void kinds_open(struct sw_controller *c, void (*on_changed)(struct sw_controller *c));
/** End discovery. */
void kinds_close(struct sw_controller *c);
/** Discover group versions again, after a pause, whose discovery failed. */
void kinds_recheck(struct sw_controller *c);
/** Are the kinds known of all group versions that @r's recipe mentions? Else plan_resume() will be
 * called. */
bool kinds_ready(struct resource *r);
/** Why it is not, once that lasts: heap; NULL: it is, or it may be any moment. */
char *kinds_trouble(const struct resource *r);
/** A CRD was added or changed, or is gone (then @crd is as it was last). */
void kinds_crd_changed(struct sw_controller *c, struct json_object *crd, bool gone);
/** Is a CRD established that the server does not serve yet, of a group version that the recipe
 * mentions? cluster_kinds_changed() follows. */
bool kinds_are_awaited(const struct resource *r);

/** Watch what the resource and (once it is loaded) r->recipe mention. @return false: not all of it
 * is known yet; plan_resume() will be called. */
bool fact_watches_ready(struct resource *r);
/** End the watches of facts. */
void fact_watches_close(struct sw_controller *c);
