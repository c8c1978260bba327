#pragma once
/* The inside of the controller, shared by the files of this folder. */
#include "operator/controller/controller.h"

#include <json-c/json.h>
#include <stddef.h>

#include "base/base.h"
#include "base/loop.h"
#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/engine/engine.h"
#include "operator/engine/recording/recording.h"
#include "operator/facts/facts.h"
#include "operator/informer/informer.h"
#include "operator/manifests/hooks.h"
#include "operator/manifests/overrides.h"
#include "operator/manifests/policy.h"
#include "operator/manifests/sharing.h"

#define SW_GROUP_VERSION "sro.openshift.io/v1beta1"
struct lookups;

#define SW_STATE_NAMESPACE "(namespace)"

struct sw_mirrors;
struct sw_registries;

struct sw_controller {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_controller_opts opts;
    char *only;
    char *ns;                      /* the operator's own */
    char *helper, *cache_dir;      /* as in the options */
    struct fetch *fetches;         /* recipes being got (fetch.c) */
    struct sw_timer *depend_timer; /* dependencies are to be looked at */
    struct child_watch *children;  /* see dependencies.c */
    struct sw_node_set *roster;
    struct sw_facts *facts;
    struct informer *informer;
    struct resource *resources;
    struct sw_kube_request *discovery, *version;
    struct stale *stale; /* kinds.c: group versions to be asked for anew */
    struct sw_kube_watch *node_watch, *resource_watch, *crd_watch;
    struct json_object *related;  /* images of the states, by the operator's environment; or NULL */
    struct source_watch *sources; /* one for each of sw_facts_sources, or NULL */
    struct sw_registries *registries; /* NULL: they are not asked */
    struct images *images;            /* driver containers' images that were asked for, or NULL */
    struct toolkits *toolkits;        /* or NULL */
    struct preflights *preflights;
    struct modules *modules;
    struct das *das; /* NULL: its kind is not served */
    struct sw_timer *retry_timer, *facts_timer, *kinds_timer, *kinds_news;
    struct sw_timer *overlap_timer; /* NULL until two resources may share nodes */
    int64_t retry_ms, kinds_retry_ms;
    bool crds_synced, nodes_synced, resources_synced;
    bool paused; /* reads, and acts for nobody */

    char *kube_version;
    const char **apis; /* what is served, for .Capabilities; strings owned */
    size_t n_apis, apis_cap;
    int trouble; /* as last told */

    uint64_t n_events; /* Kubernetes Events so far, for their names */
};

/* ---- one resource ------------------------------------------------------------------------------
 */

/* A render that a step of the engine asked for: it must not be answered inside that step. */
struct todo {
    struct todo *next;
    uint64_t serial;
    char *state, *variant;
};

/* What a resource's dependencies keep it from; all zero: nothing. */
struct depend_outcome {
    char *blocked; /* it has to wait: words */
    int code;      /* or it cannot go on: SRO's reason, and words */
    const char *reason;
    char *words;
};

/* What Helm's records say about a resource (release.c). */
struct release_info {
    bool known; /* the rest is */
    bool asked; /* the recipe looks different for it */
    int64_t version;
    bool was_deployed, is_upgrade;
    char digest[SW_SHA256_HEX];
    char *done;             /* digest and status that were recorded last */
    struct sw_timer *timer; /* to try again */
    char *seen;             /* the engine's revision for which all was settled... */
    int seen_phase;         /* ... and how */
    struct release_work *work;
    bool begun; /* something is applied in its namespace */
    struct json_object
        *runs; /* hooks that were seen to end, and how; or NULL (release_hook_results.c) */
};

/* Resources that select nodes of this one, too (overlap.c). */
struct overlap_item {
    char *other;
    size_t n_nodes;
};
struct overlap {
    char *words, *with; /* NULL: none */
    bool is_bad;        /* one of them is of the same chart */
    struct overlap_item *items;
    size_t n, cap;
};

struct resource {
    struct sw_controller *c;
    struct resource *next;
    char *name, *uid;
    struct json_object *seen;   /* as last seen, without managedFields and status */
    struct json_object *doc;    /* the same with the templates of its spec rendered */
    struct json_object *status; /* as the server has it, as far as we know */
    struct sw_engine *engine;
    uint64_t taped;         /* its number on c->opts.tape */
    struct sw_timer *timer; /* the engine's */
    bool started;           /* has had its first SPEC */
    bool stepping, draining;
    struct todo *todo, **todo_end;
    struct op *ops; /* requests under way */

    struct sw_recipe *recipe;
    char *recipe_key;                  /* where it came from */
    char *recipe_content;              /* digest of all that was got; NULL: not known */
    bool recipe_is_old;                /* there may be another one by now */
    struct follow *follow;             /* see recipe_changes.c */
    char recipe_digest[SW_SHA256_HEX]; /* of its files */
    struct release_info release;
    struct sw_plan *plan;
    struct sw_kube_watch *secret_watch;
    struct sw_timer *puller_timer; /* to try again */
    char *puller_ns;
    int64_t puller_wait_ms;
    bool secrets_known;
    char *push_secret;
    struct plan_work *plan_work; /* a plan that waits for something */
    struct render_work *renders; /* renders that wait for something */
    char *revision;
    int fault; /* of recipe, values or a template: as told to the engine */
    char *fault_words;
    bool fault_of_render; /* the plan is well, a template is not */
    struct depend_outcome depends, making_fault;
    char *depend_told;       /* dependencies whose values others decide, as last told; NULL: none */
    bool lets_go;            /* of the children that it owns */
    struct making *making;   /* a child under way */
    struct serving *serving; /* certificates in use */
    struct sw_timer *serving_timer;
    unsigned serving_round;
    int64_t making_due_ms; /* not to be tried again before */
    uint64_t *claims;      /* one bit a node of the roster (overlap.c) */
    size_t n_claims;       /* in words */
    uint32_t some_node;    /* that it selected when it was last asked */
    struct overlap overlap;
    uint64_t overrides_used;   /* of spec.overrides, one bit each: it was for some object */
    char *overrides_told;      /* the revision for which it was said which are not used */
    struct rollback *rollback; /* what states were ready with (rollback.c), or NULL */
    struct upgrade *upgrade;   /* of drivers node by node (upgrade.c), or NULL */
    struct deletion *deletion; /* how it goes (deletion.c); NULL: it stays */
    struct sw_timer *emptied;  /* to tell that; or NULL */
};

struct resource *resource_find(struct sw_controller *c, const char *name);
/* What the watch of SpecialResources tells. */
void resource_on_watch(const struct sw_watch_event *w, void *arg);
void resource_free_all(struct sw_controller *c);
/* Facts or kinds may have changed: plan again, and tell the engine if anything is different. */
void resource_facts_changed(struct resource *r);
/* Step the engine and carry out what it wants. */
void resource_step(struct resource *r, struct sw_event *event);
/* Tell the engine the resource as it is now. */
void resource_tell(struct resource *r);
void resource_refuse(struct resource *r, int code, const char *words);
/* Does a finalizer of ours, an old one too, keep the resource from going? */
bool resource_is_held(const struct resource *r);
const char *resource_namespace(const struct resource *r);
/* Has it a deletionTimestamp; is its managementState Removed? */
/** The account that a resource's objects are written as, and what its templates look up is read as:
 * spec.serviceAccountName, or of one that was made for a dependency (RESOURCE_ACTS_AS) its
 * parent's. NULL: the operator's own. Heap. */
#define RESOURCE_ACTS_AS "slipway.dev/acts-as"
char *resource_account(const struct resource *r);
bool resource_is_deleting(const struct resource *r);
bool resource_is_removed(const struct resource *r);
/* A list of one ownerReference: whatever has it goes with @r. The caller's. */
struct json_object *resource_as_owner(const struct resource *r);
void plan_work_free(struct plan_work *w);
void render_work_free(struct render_work *w);
void resource_set_fault(struct resource *r, int code, const char *words);

/* What r->overlap says is another. */
void resource_overlap_changed(struct resource *r);

/* ---- resources that share nodes (overlap.c) ----------------------------------------------------
 */

/* The resource is new or another one. */
void overlap_resource(struct resource *r);
/* What the roster says of a node is new. */
void overlap_node(struct sw_controller *c, uint32_t node);
void overlap_drop(struct resource *r);
void overlap_close(struct sw_controller *c);

/* ---- templates in the resource (spec_templates.c)
 * -----------------------------------------------------
 */

/* Make r->doc of r->seen with the facts of now. @return 0 | SW_INVALID: the message names the
 * field; r->doc is r->seen then */
int resource_resolve(struct resource *r, struct sw_err *err);
bool resolve_is_needed(struct json_object *doc);
/* @doc with the templates of its spec rendered, a new document. */
int resolve_spec(struct json_object *doc, struct json_object *values, struct json_object **out,
                 struct sw_err *err);

/* ---- drivers replaced node by node (upgrade.c) --------------------------------------------------
 */

struct upgrade;
/* Look, soon, whether a node is next. */
void upgrade_soon(struct resource *r);
/* Everything is removed: the finalizer goes when no node is under way any more. */
void upgrade_finalize(struct resource *r);
void upgrade_close(struct resource *r);

/* ---- dependencies (dependencies.c)
 * -------------------------------------------------------------------
 */

void depend_open(struct sw_controller *c);
void depend_close(struct sw_controller *c);
/* Look at what @r depends on, make what is missing. @return whether r->depends is another. */
bool depend_update(struct resource *r);
/* Something about a resource is different: those that depend on it look again, soon. */
void depend_changed(struct resource *child);
void depend_soon(struct sw_controller *c);
/* Everything of @r is removed or left behind: where it is left, so are the children that were made
 * for its dependencies. @return false: not yet; upgrade_finalize() will be called. */
bool depend_let_go(struct resource *r);
/* @r goes: what is being made for it is given up. Its requests are gone already. */
void depend_drop(struct resource *r);
/* Tell the engine what dependencies keep it from, if that is another. */
void resource_depends_again(struct resource *r);

/* Let builds of the resource's namespace pull images, and see that it stays so (image_puller.c). */
void puller_want(struct resource *r);
void puller_close(struct resource *r);

/* Helm's records (release.c). Is what they say known, as far as the recipe asks? Else plan_resume()
 * is called. */
bool release_is_known(struct resource *r);
/* Record how it went, once for each revision of recipe and values. */
void release_settled(struct resource *r);
/* What was deployed is being removed, and the resource stays: so do no records. */
void release_remove(struct resource *r);
void release_work_free(struct release_work *w);
/* An object of the resource is seen: if it is a hook that has ended, its record will say how. */
void release_saw(struct resource *r, struct json_object *object);

/* spec.debug: @doc without what looks like a secret goes to the log (debug.c). */
void debug_log(struct resource *r, const char *what, const char *state, struct json_object *doc);
struct json_object *debug_redacted(struct json_object *doc);

/* ---- certificates of Services (serving_certificates.c)
 * ------------------------------------------------------
 */

/* The certificate of Secret @ns/@name: the cluster's, else made for @service (NULL: not made). @out
 * is borrowed until the next call. @return 0 | SW_PENDING, others of a lookup | SW_UNAVAILABLE: it
 * is not there */
int serving_find(struct resource *r, struct lookups *lookups, const char *ns, const char *name,
                 const char *service, struct sw_cert_text *out, struct sw_err *err);
void serving_close(struct resource *r);

/* ---- recipes, plans, renders (source.c, plan.c, render.c) --------------------------------------
 */

/* Load the recipe if it is another one than before, make the plan, and say how that went: @done is
 * called once, perhaps before this returns, with 0 or a code and words. A new call ends the one
 * that still waits. */
typedef void plan_fn(struct resource *r, int code, const char *words);
void plan_start(struct resource *r, plan_fn *done);
/* Go on with a plan that waited for facts. */
void plan_resume(struct resource *r);
/* Different whenever a render may come out differently. Heap. */
char *plan_revision(struct resource *r);

/* Load the recipe that the resource names. @done is called once, never before this returned, with
 * the recipe (its to keep) or a code and words. */
struct source;
typedef void source_fn(int code, struct sw_recipe *recipe, const char *words, void *arg);
void source_load(struct resource *r, struct source **out, source_fn *done, void *arg);
void source_free(struct source *s);
/* Of a load that has settled: the digest of all files, or NULL; the ConfigMaps that it is made of,
 * as they were read; whether it was asked of somebody who may have another one later. */
const char *source_content(const struct source *s);
struct json_object *source_maps(const struct source *s);
bool source_is_remote(const struct source *s);
/* Load again when what the load was made of has changed (recipe_changes.c). @code: how it went. */
void follow_update(struct resource *r, const struct source *s, int code);
void follow_close(struct resource *r);
/* What tells one recipe's place from another's. Heap. */
char *source_key(const struct resource *r);

/* Go on with renders that waited for an image. */
void render_resume(struct resource *r);
/* Render a state and step the engine with the outcome, perhaps before this returns. */
void render_start(struct resource *r, const char *state, const char *variant, uint64_t serial);

/* What templates look up in the cluster, fetched once for one piece of work (template_lookup.c). */
struct lookups;
struct lookups *lookups_new(struct resource *r, void (*answered)(void *arg), void *arg);
void lookups_free(struct lookups *l);
/* A sw_recipe_lookup_fn; its arg is the struct lookups. SW_PENDING: @answered will be called, when
 * all that was asked for is there. */
int lookups_find(void *arg, const char *api_version, const char *kind, const char *ns,
                 const char *name, struct json_object **out, struct sw_err *err);

/* What templates see besides the values; @facts is borrowed by it. */
struct sw_render_env render_env(struct resource *r, struct json_object *facts, struct lookups *l);

/* ---- requests (requests.c, events.c) -----------------------------------------------------------
 */

/* A request under way for a resource: freed, with the request cancelled, when the resource goes. */
struct op {
    struct resource *r;
    struct op *next, **prev;
    struct sw_kube_request *req;
    struct sw_timer *timer;
    uint64_t serial;
    struct sw_key key; /* strings owned */
    struct json_object *doc;
    bool force, dry_run;
    char *uid, *propagation;
    char *dropped; /* apply: fields that the server did not know; NULL: none */
    char *kernel;  /* of a node, that its label is to say besides; NULL: it does */
    bool is_held;  /* its timer runs: it may come to be part of another, or not be needed */
    uint32_t node;
    size_t n_bytes;
    unsigned n_tries;
    void (*begin)(struct op *op, const struct sw_kind *kind);
    void (*failed)(struct op *op, int code, const char *words);
    void *more; /* of the file that made it; released by release() */
    void (*release)(void *more);
};
struct op *op_new(struct resource *r, const struct sw_key *key, uint64_t serial);
void op_free(struct op *op);
/* Find the kind of op->key, asking the server if need be, then op->begin or op->failed. */
void op_with_kind(struct op *op);
/* The same after a pause, as the answer was one that will change by itself. */
void op_again(struct op *op);
/* Step the engine with the answer; the op is gone. */
void op_answer(struct op *op, enum sw_event_kind kind, int code, const char *words,
               struct json_object *object, const char *text);

/* Go on with an apply whose kind is known. */
void request_begin_apply(struct op *op, const struct sw_kind *kind);
/* The same after the fields that SRO wrote were taken over (field_ownership.c). */
void inherit_begin(struct op *op, const struct sw_kind *kind);
/* @live's managedFields with SRO's handed to @manager: a new list, the caller's; NULL: SRO has none
 * there. */
struct json_object *inherit_managed_fields(struct json_object *live, const char *manager);
/* unknown_fields.c: remove the fields from @doc that @message says the server does not declare;
 * their names are added to @names (heap). @return how many places were changed; 0: it says no such
 * thing
 */
size_t unknown_fields_drop(struct json_object *doc, const char *message, char **names);

/* quantity_text.c: where @message says that the server takes texts only, write quantities in @doc
 * that are numbers as texts. @return how many there were */
size_t quantity_write_out(struct json_object *doc, const char *message);

void request_apply(struct resource *r, const struct sw_action *a);
void request_delete(struct resource *r, const struct sw_action *a);
void request_label(struct resource *r, const struct sw_action *a);
/* Take slipway's marks off an object (orphan.c). */
void request_release(struct resource *r, const struct sw_action *a);
void request_status(struct resource *r, const struct sw_action *a);
void request_logs(struct resource *r, const struct sw_action *a);
void request_finalizer(struct resource *r, bool add);
void event_record(struct resource *r, const struct sw_action *a);

/* ---- the cluster (cluster.c) --------------------------------------------------------------------
 */

void cluster_open(struct sw_controller *c);
void cluster_close(struct sw_controller *c);
/* Look at no SpecialResource any more, until open_watches() may again. */
void cluster_close_resources(struct sw_controller *c);
/* Discovery has something new. */
void cluster_kinds_changed(struct sw_controller *c);
/* kinds.c */
void kinds_open(struct sw_controller *c);
void kinds_close(struct sw_controller *c);
/* Ask again, after a pause, for what nobody answered for. */
void kinds_look(struct sw_controller *c);
/* Is known what the server serves of all that @r's recipe speaks of? Else plan_resume() will be
 * called. */
bool kinds_ready(struct resource *r);
/* Why it is not, once that lasts: heap; NULL: it is, or it may be any moment. */
char *kinds_trouble(const struct resource *r);
/* A CRD was added or changed, or is gone (@crd: as it last was). */
void kinds_crd_changed(struct sw_controller *c, struct json_object *crd, bool gone);
/* Facts or kinds are different: every resource is to look at them, soon. */
void cluster_facts_changed(struct sw_controller *c);

/* related_images.c */
/* {part: image} as RELATED_IMAGES and RELATED_IMAGE_<PART>_IMAGE of the environment say; NULL: they
 * say nothing. */
struct json_object *related_images(void);
/** What the roster says of @node is new: every resource looks at it again. */
void cluster_node_changed(struct sw_controller *c, uint32_t node);
/* Watch what the resource and (once it is loaded) r->recipe speak of. @return false: not all of it
 * is known yet; plan_resume() will be called. */
bool wants_ready(struct resource *r);
/* Is it known what the sources say of the run-time value @word? Ask again later. */
bool wants_source_ready(struct sw_controller *c, const char *word);
/** Is it known which driver toolkits are for the kernels of @r (toolkits.c)? Else as above. */
bool toolkits_ready(struct resource *r);
void toolkits_close(struct sw_controller *c);
/** Is @image there, for the pull secrets of @ns (images.c)? @return 0: it is, or nobody can tell |
 * SW_NOTFOUND: @*words, borrowed, say what is missing | SW_PENDING: render_resume() will be called
 */
int images_find(struct sw_controller *c, const char *ns, const char *image, const char *arch,
                const char **words);
/** The mirrors of the cluster's settings, borrowed until the next render; NULL: none are known.
 * @return 0 | SW_PENDING: render_resume() will be called */
int images_mirrors(struct sw_controller *c, const struct sw_mirrors **out);
void images_close(struct sw_controller *c);

/** Look after PreflightValidations (preflights.c), SpecialResourceModules (modules.c) and the
 * DASOperator (das.c), as soon as their kinds are served. May be called again. */
void preflights_open(struct sw_controller *c);
void preflights_close(struct sw_controller *c);
void modules_open(struct sw_controller *c);
void modules_close(struct sw_controller *c);
void das_open(struct sw_controller *c);
void das_close(struct sw_controller *c);
/* More is known than before: go on with the plans that wait. */
void wants_resume(struct sw_controller *c);
void wants_close(struct sw_controller *c);
/* The values that templates of @r see for nodes of @group (NULL: the first). The caller's. */
struct json_object *cluster_values(struct sw_controller *c, struct resource *r,
                                   const struct sw_group *group);
/* Is the node one of the resource's? */
bool cluster_selects(struct sw_controller *c, struct resource *r, const char *node);
/** Does it select any node at all? */
bool cluster_selects_any(struct sw_controller *c, struct resource *r);
/* See that @group's nodes of @r carry the label of their kernel (kernels.c). */
void kernels_label(struct resource *r, const struct sw_group *group);
/* The same of one node. */
void kernels_label_node(struct resource *r, const struct sw_group *group, uint32_t node);
/* The kernel that waits to be written down for @node, with another patch of its; NULL: none. Heap;
 * who takes it writes it, or gives it back. */
char *kernels_take(struct resource *r, const char *node);
void kernels_give_back(struct resource *r, const char *node, const char *kernel);
/* Patch what the node's label has to say into @patch. */
void kernels_put(struct json_object *patch, const char *kernel);
/* Groups of the nodes that @r selects; sw_groups_done(). */
void cluster_groups(struct sw_controller *c, struct resource *r, struct sw_groups *out);
void controller_trouble(struct sw_controller *c, int code, const char *why);
