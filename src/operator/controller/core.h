#pragma once
/* core: what capabilities may read of the controller and its resources, and what they may call.
 * Everything here is written by the core alone, except a row's own slot of @state. The core calls a
 * capability only through the table (capability.h). */
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/account/account.h"
#include "operator/controller/capability.h"
#include "operator/controller/controller.h"
#include "operator/controller/source/source.h"
#include "operator/engine/engine.h"
#include "operator/facts/facts.h"
#include "operator/informer/informer.h"
#include "operator/manifests/hooks.h"
#include "operator/manifests/policy.h"
#include "operator/renderer/renderer.h"

#define SW_GROUP_VERSION "sro.openshift.io/v1beta1"
/** Annotation of a resource that was made for a dependency: the account that its objects are
 * written as, which is its parent's. It counts only as far as status.actsAs confirms it. */
#define RESOURCE_ACTS_AS "slipway.dev/acts-as"

struct controller_private; /* private.h, for the core alone */
struct lookups;
struct resource_private;
struct sw_fetch_queue;
struct sw_registries;

/** The controller, as capabilities see it. */
struct sw_controller {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_controller_opts opts;
    char *only;                /* the one resource that is looked after; NULL: all */
    struct json_object *gone;  /* with @only: see sw_controller_opts */
    char *ns;                  /* the operator's own namespace */
    struct sw_node_set *nodes; /* of all engines */
    struct sw_facts *facts;
    struct informer *informer;        /* watches of objects, shared */
    struct sw_registries *registries; /* NULL: no requests to registries */
    struct sw_renderers *renderers;   /* of all recipes */
    struct sw_fetch_queue *fetches;   /* of recipes and images */
    struct sources *sources;          /* what loads of recipes share */
    struct resource *resources;       /* a list */
    bool resources_synced;            /* every SpecialResource of the cluster is known */
    char *kube_version;               /* "v1.29.0"; NULL while unknown */
    const char **apis;                /* what is served, sorted, for .Capabilities; owned */
    size_t n_apis;
    void *state[N_CAPABILITIES];
    struct controller_private *own;
};

/** A SpecialResource, as capabilities see it. */
struct resource {
    struct sw_controller *c;
    struct resource *next;
    char *name, *uid;
    struct json_object *seen;   /* as the server has it, without managedFields and status */
    struct json_object *doc;    /* @seen with the templates of its spec rendered */
    struct json_object *status; /* as the server has it, as far as it is known */
    struct sw_engine *engine;
    bool started;                        /* the engine has had its first SW_EV_SPEC */
    bool leaving;                        /* the last intent was INTENT_REMOVE or INTENT_DELETE */
    struct sw_renderer *renderer;        /* of its recipe; NULL: not loaded */
    const struct sw_recipe_view *recipe; /* what is known of it; NULL: not loaded */
    const struct sw_plan_view *plan;     /* NULL: none */
    char *revision;                      /* of the last SW_EV_SPEC */
    char *written_by; /* the field manager that wrote it last, its status aside; NULL: not known */
    int fault;        /* of recipe, values or a template, as in the last SW_EV_SPEC; 0: none */
    char *fault_message; /* NULL: none */
    void *state[N_CAPABILITIES];
    struct resource_private *own;
};

/* ---- the resource's document --------------------------------------------------------------------
 */

/** The resource of that name; NULL: not known. */
struct resource *resource_find(struct sw_controller *c, const char *name);
/** spec.namespace, else its name; borrowed. */
const char *resource_namespace(const struct resource *r);
/** The account that all is done as that is done for the resource (account.c): heap;
 * "system:serviceaccount:<namespace>:<name>". NULL: as whoever the controller is, which only
 * sw_controller_opts.rights allows. "": the spec names none that may be used, and kube refuses
 * requests by it. */
char *resource_account(const struct resource *r);
/** The same of another kind that has spec.serviceAccountName: of @doc, @name, whose objects are in
 * @ns. */
char *account_of(const struct sw_controller *c, struct json_object *doc, const char *ns,
                 const char *name);
/** resource_account(), borrowed until it changes. */
const char *resource_account_now(const struct resource *r);
/** As whose account @r acts instead of its own, by its annotation; borrowed. NULL: it has none; "":
 * the status does not confirm it. */
const char *resource_acts_as(const struct resource *r);
/** What of @doc, a SpecialResource, says what is done for it: {"spec", "annotations"}, the
 * caller's. Its digest is status.actsAs.digest. */
struct json_object *resource_asked(struct json_object *doc);
/** The options of a request, or watch, that is made for @r, as its account:
 * REQUEST_AS(r, .retries = 2). Good for the enclosing block. */
#define REQUEST_AS(r, ...) REQUEST_BY(resource_account_now(r), __VA_ARGS__)
#define WATCH_AS(r, ...) WATCH_BY(resource_account_now(r), __VA_ARGS__)
/** The message of a failed request that was made as the account of @r: what the server says, and,
 * where the account may not (SW_FORBIDDEN), how it gets the right. Heap. */
char *account_message(const struct resource *r, int code, const char *message);
/** The command that gives the rights which @r needs; heap. NULL: it has no account. */
char *account_rights_command(const struct resource *r);
/** Does it have a deletionTimestamp? */
bool resource_is_deleting(const struct resource *r);
/** Does its deletionPolicy leave everything behind? */
bool resource_is_orphaning(const struct resource *r);
/** Is its managementState Removed? */
bool resource_is_removed(const struct resource *r);
/** Is its managementState Unmanaged? */
bool resource_is_unmanaged(const struct resource *r);
/** The ownerReferences of an object that is deleted with @r: a list of one, the caller's. */
struct json_object *resource_as_owner(const struct resource *r);

/* ---- requests of a resource (requests.c, events.c)
 * -----------------------------------------------
 */

/** A request under way for a resource: freed, with the request cancelled, when the resource goes.
 */
struct op {
    struct resource *r;
    struct op *next, **prev;
    struct sw_kube_request *req;
    struct sw_timer *timer;
    uint64_t serial;           /* of the engine's action; 0: not one of the engine's */
    enum sw_event_kind answer; /* of an action of the engine: the event that answers it */
    struct sw_key key;         /* strings owned */
    struct json_object *doc;   /* owned */
    bool force, dry_run;
    char *uid, *propagation;
    char *shared;  /* deletion of a definition: the shared release that it is of; or NULL */
    char *dropped; /* apply: fields that the server did not know; NULL: none */
    bool is_held; /* it waits for its timer: it may become part of another request, or be dropped */
    uint32_t node;
    size_t n_bytes;
    unsigned n_tries;
    void (*begin)(struct op *op, const struct sw_kind *kind);
    void (*failed)(struct op *op, int code, const char *message);
    void (*apply)(struct op *op, const struct sw_kind *kind); /* apply: after begin is done */
    void *more; /* of the file that made it; freed by release() */
    void (*release)(void *more);
};
/** @key is copied; NULL: none. */
struct op *op_new(struct resource *r, const struct sw_key *key, uint64_t serial);
/** Free @op; its request is cancelled, its answer never comes. */
void op_free(struct op *op);
/** Find the kind of op->key, asking the server if need be, then call op->begin or op->failed. */
void op_with_kind(struct op *op);
/** The same after a second, for failures that may pass. */
void op_again(struct op *op);
/** The first request of @r whose begin is @begin, for the object @ns/@name (NULL: any); NULL: there
 * is none. */
struct op *op_find(const struct resource *r, void (*begin)(struct op *, const struct sw_kind *),
                   const char *ns, const char *name);

/* ---- what is kept about a resource in the cluster (records.c, adoption.c) -----------------------
 * Release records and kept contents are objects that others may be able to write. The resource's
 * status, which is the operator's, holds the digest of each; see operator/release/record.h. */

/** Where release records are. */
enum record_home {
    RECORDS_UNSETTLED, /* there are none yet: sw_controller_opts.releases */
    RECORDS_IN_CONFIG_MAPS,
    RECORDS_MOVING, /* Secrets hold all of them; there may be old ConfigMaps */
    RECORDS_IN_SECRETS,
};

/** Is it settled which records there are? Before, records_adopt() comes first. */
bool records_are_begun(const struct resource *r);
/** Does the status name records that slipway wrote? */
bool records_are_kept(const struct resource *r);
/** Did the status that was found first have none, though an older version (or SRO) had written it?
 */
bool records_are_old(const struct resource *r);
/** Is @name a record that can be trusted, if its content is right? */
bool record_is_known(const struct resource *r, const char *name);
/** sw_record_check() with the status of @r. */
enum sw_record_trust record_check(const struct resource *r, const char *name, const char *digest);
enum record_home records_home(const struct resource *r);
/** The kind of the release records of @r. NULL: none are kept, or the server does not serve it. */
const struct sw_kind *records_kind(const struct resource *r);

/** Set in @change, a change of the status, the digests of @name; NULL: none. */
void records_put(struct json_object *change, const char *name, const char *digests);
void records_put_home(struct json_object *change, enum record_home home);
/** The digests of @name, and @digest, which its object is about to have; heap. */
char *records_with(const struct resource *r, const char *name, const char *digest);

struct records_write;
typedef void records_fn(int code, const char *message, void *arg);
/** Change the status; @change is taken. @done is called once, never before this returns, and then
 * the handle is gone. Codes: those of sw_kube_patch(). */
struct records_write *records_write(struct resource *r, struct json_object *change,
                                    records_fn *done, void *arg) SW_CHECKED;
/** What a first status of a new resource has besides @status, a patch of it: a restarted controller
 * sees by it that the resource is none of an older version. */
void records_mark_new(struct resource *r, struct json_object *status);
/** Read the status: an older one may have been seen. */
struct records_write *records_read_again(struct resource *r, records_fn *done,
                                         void *arg) SW_CHECKED;
/** End one of these; @done is not called. NULL is accepted. */
void records_cancel(struct records_write *w);
/** The object @name is deleted: it has no digest any more. */
void records_forget(struct resource *r, const char *name);

struct adoption;
/** Give digests to release records that have none (SRO's, helm's, those of older versions) and
 * find out which kind they are, once in the life of a resource. @done as of records_write(). */
struct adoption *records_adopt(struct resource *r, records_fn *done, void *arg) SW_CHECKED;
/** End it; @done is not called. NULL is accepted. */
void adoption_cancel(struct adoption *a);

/** Say with an Event (and, if @lasting, a condition) that an object is not used. @digest: of its
 * content, or NULL. */
void record_refused(struct resource *r, enum sw_record_trust trust, const char *kind,
                    const char *name, const char *digest, bool lasting);
/** What was refused is not there any more. Not inside a step. */
void record_doubt_end(struct resource *r);

/** Write a Kubernetes Event about @r: reason, message and warning of @a. */
void event_record(struct resource *r, const struct sw_action *a);
/** The same, and call sw_controller_opts.on_event. */
void event_report(struct resource *r, const struct sw_action *a);

/* ---- the engine's steps, work that waits
 * ---------------------------------------------------------
 */

/** Step the engine with @event, and begin its actions. Not inside a step. */
void resource_step(struct resource *r, struct sw_event *event);
/** SW_EV_FACTS: render again. Not inside a step. */
void resource_render_again(struct resource *r);
/** Continue the plan of @r, if it waits for facts. */
void plan_resume(struct resource *r);
/** The same of every resource. */
void plan_resume_all(struct sw_controller *c);
/** Continue the renders of @r that called render_wait(). */
void render_resume(struct resource *r);
/** Facts may have changed for @r alone: plan again; render again only if the revision differs. */
void resource_replan(struct resource *r);

/** A plan is being made. */
bool resource_is_planning(const struct resource *r);
/** A render is under way or due. */
bool resource_is_rendering(const struct resource *r);
/** A prerequisite blocks it, or it cannot go on for one. */
bool resource_is_blocked(const struct resource *r);
/** Free what @p owns; it is all zero then. */
void prerequisite_done(struct prerequisite *p);
/** Call sw_controller_opts.on_change. */
void resource_report(struct resource *r);
/** A state of it is rolled back now. */
bool resource_is_rolled_back(const struct resource *r);

/* ---- the cluster --------------------------------------------------------------------------------
 */

/** Facts changed: plan every resource again, once this settles. */
void facts_changed(struct sw_controller *c);
/** @node has changed in the node set: pass that to capabilities and engines. */
void cluster_node_changed(struct sw_controller *c, uint32_t node);
/** Put labels and taints of @doc, a Node as the server answered it, into the node set. @return
 * whether its labels have changed */
bool cluster_put_node(struct sw_controller *c, uint32_t node, struct json_object *doc);
/** Does @w end the uncertainty about what is watched: was it listed, or can it not be? */
bool watch_is_final(const struct sw_watch_event *w);
/** Check the prerequisites of every resource, soon. */
void recheck_soon(struct sw_controller *c);
/** The same in @in_ms, instead of what was set. */
void recheck_in(struct sw_controller *c, int64_t in_ms);
/** Does the cluster serve config.openshift.io? */
bool cluster_is_openshift(const struct sw_controller *c);
/** Does the resource take @node, by selector, grace period and taints? */
bool resource_selects(struct resource *r, const char *node);
/** Of which taints nodes may be its: sw_sharing_node_tolerations(). An array, the caller's. */
struct json_object *resource_node_tolerations(const struct resource *r);
/** Groups of the nodes that it takes; sw_groups_done(). */
void resource_groups(struct resource *r, struct sw_groups *out);
/** The run-time values for nodes of @group (NULL: the first); the caller's. */
struct json_object *resource_values(struct resource *r, const struct sw_group *group);
/** Let the rows fill @ask for @r. */
void resource_ask_values(struct resource *r, struct sw_facts_ask *ask);
/** The annotation @key of the recipe's Chart.yaml, read as YAML, the caller's; NULL: it has none,
 * or it is no YAML, of which `slipway lint` tells. */
struct json_object *resource_recipe_annotation(const struct resource *r, const char *key);
/** Do the recipe or templates in the spec mention one of @words (NULL-ended), or all values? */
bool resource_mentions(const struct resource *r, const char *const *words);
/** Keep @message (NULL: it went well) in @*last, which is the caller's.
 * @return whether it is to be told: a failure, and not with the words that were told last */
bool fault_is_news(char **last, const char *message);
/** Does the object of @w, of that kind of slipway's, take too much memory? Then it is to be left as
 * it was. The status, whose @field says so, and an Event tell it once for each generation. */
bool document_is_too_large(struct sw_controller *c, const char *kind, const char *field,
                           const struct sw_watch_event *w);

/** Is the run-time value @word known? If not, it is being read: call this again later. */
bool fact_source_ready(struct sw_controller *c, const char *word);

/* ---- lookups of templates (template_lookup.c) ---------------------------------------------------
 */

/** What templates look up in the cluster, read once for a plan or a render. @answered is called
 * when all that was looked up is known. */
struct lookups *lookups_new(struct resource *r, void (*answered)(void *arg), void *arg);
/** Cancel what is being read. NULL is accepted. */
void lookups_free(struct lookups *l);
/** The wait of the plan or render, which calls @answered too; borrowed. */
struct sw_render_wait *lookups_wait(struct lookups *l);
/** A sw_recipe_lookup_fn; its arg is the struct lookups. @return SW_PENDING: @answered will be
 * called */
int lookups_find(void *lookups, const char *api_version, const char *kind, const char *ns,
                 const char *name, struct json_object **out, struct sw_err *err);

/** What templates of @r see besides values, the release included, which is that of the @state of
 * the plan (less than 0: the recipe's); @values is borrowed. @l NULL: no lookups. */
struct sw_render_env resource_render_env(struct resource *r, int state, struct json_object *values,
                                         struct lookups *l);
/** The release of the @state of the plan, where that is a subchart's own, with the revision that it
 * is rendered as, for the status; NULL: it is the recipe's. @others: SW_RELEASES_OF_OTHERS of the
 * values, or NULL. The caller's. */
struct json_object *own_revision_of(const struct resource *r, size_t state,
                                    struct json_object *others);
/** The same of no resource: release 1, no lookups. */
struct sw_render_env core_render_env(struct sw_controller *c, const char *name, const char *ns,
                                     struct json_object *values);

/* ---- a render (render.c) ------------------------------------------------------------------------
 */

/** "only" of an item of render_objects(): it belongs to no rollback; to a rollback alone. */
#define RENDER_ONLY_FORWARD "forward"
#define RENDER_ONLY_BACK "back"

/** How render_add() adds an object. */
enum render_add {
    RENDER_NAMESPACED = 1,    /* the kind has a namespace */
    RENDER_WITH_HOOK_ENV = 2, /* hook_env() of the rows is called */
};

/** The resource that is rendered. */
struct resource *render_resource(const struct render *w);
/** The group that the whole state is rendered for; NULL: for all nodes. */
const struct sw_group *render_group(const struct render *w);
/** Name of the state; borrowed. */
const char *render_state(const struct render *w);
/** The variant of the state (a group of nodes), borrowed; NULL: none. */
const char *render_variant(const struct render *w);
/** Does the state's text mention @word? */
bool render_mentions(const struct render *w, const char *word);
/** The lookups of the render; borrowed. */
struct lookups *render_lookups(const struct render *w);
/** Has the state's turn not come yet? What fails then is rendered again when it comes. */
bool render_is_early(const struct render *w);
/** The render waits for render_resume(). */
void render_wait(struct render *w);
/** Was an object of @kind and @name added? */
bool render_has(const struct render *w, const char *kind, const char *name);
/** Has it an object of the shared release @release so far? */
bool render_has_release(const struct render *w, const char *release);
/** Pass @doc through the manifest hooks and add it. @doc is taken. @flags: enum render_add.
 * @return 0 | SW_INVALID, or what hook_env() returned */
int render_add(struct render *w, struct json_object *doc, unsigned flags, struct sw_err *err);
/** Everything rendered so far, [{doc, stage, awaited, once, dropReady, dropFailed, only?}], with
 * the hooks of extra_hooks(); the caller's. */
struct json_object *render_objects(const struct render *w);
/** Replace the objects by those of @list, of that form. */
void render_replace(struct render *w, struct json_object *list);
/** Fill @env for @doc: hook_env() of the rows, up to the first that fails or waits. @w NULL: @doc
 * is a hook of a deletion. @return 0 | SW_PENDING */
int hook_env_fill(struct resource *r, struct render *w, struct json_object *doc,
                  struct sw_hook_env *env, struct sw_err *err);
/** Show a document to the rows' document_made(). */
void document_made(struct resource *r, const char *what, const char *state,
                   struct json_object *doc);

/* ---- life and removal (resource.c)
 * ---------------------------------------------------------------
 */

/** Send the engine the resource as it is now (SW_EV_SPEC). */
void resource_tell(struct resource *r);
/** The same, if it is walked, has a plan or a fault, and has had its first SW_EV_SPEC. */
void resource_tell_if_walked(struct resource *r);
/** An event of a watch of SpecialResources, for watches besides the core's own. @controller: the
 * struct sw_controller. */
void resource_on_watch(const struct sw_watch_event *w, void *controller);
/** Call hooks_over() of the rows: no hook of the deletion or removal runs any more. */
void resource_hooks_over(struct resource *r);
/** release_is_used() of the rows. */
int resource_release_is_used(const struct resource *r, const char *release);
/** Row @id is done with finalize(). Nothing happens unless that was called. */
void finalize_done(struct resource *r, enum capability_id id);
