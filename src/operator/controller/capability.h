#pragma once
/* capability: what a resource can do beyond walking its recipe. Each capability is one folder
 * beside this file and one line in capabilities.def. The core calls capabilities only through the
 * table `capabilities`; a capability calls the core through core.h. No capability includes a header
 * of another one.
 *
 * A row is one `const struct capability capability_<name>`, defined in <name>/<name>.c. A callback
 * that is NULL does nothing. Every event reaches the rows in the order of capabilities.def.
 *
 * State. Each row has one slot per resource (r->state[CAPABILITY_<name>]) and one per controller
 * (c->state[CAPABILITY_<name>]). Where the row names a size, the core allocates that many zeroed
 * bytes before the open callback and frees them after the close callback. Where it names none, the
 * slot is NULL at first and belongs to the row, which allocates and frees it itself.
 *
 * Re-entrance. A callback may call anything in core.h, resource_step() included, unless its comment
 * says "inside a step". No callback may free the resource. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct render;
struct resource;
struct sw_action;
struct sw_controller;
struct sw_err;
struct sw_facts_ask;
struct sw_group;
struct sw_hook_env;
struct sw_metrics;
struct sw_rendered_object;
struct sw_spec;

/** What the user wants to become of a resource. */
enum resource_intent {
    INTENT_WALK,      /* managementState Managed or Force */
    INTENT_UNMANAGED, /* nothing is changed */
    INTENT_REMOVE,    /* managementState Removed: its objects are deleted, the resource stays */
    INTENT_DELETE,    /* deletionTimestamp is set */
};

/** What keeps a resource from starting anything new. All zero: nothing does. */
struct prerequisite {
    char *blocked;      /* it waits for something: message; heap, owned */
    int code;           /* or it cannot go on: SW_..., with @reason and @message */
    const char *reason; /* of the Errored condition; constant */
    char *message;      /* heap, owned */
};

/** What is known of the Helm release that a render is part of: that of the recipe, or of a subchart
 * that has one of its own. */
struct release_view {
    int64_t revision;  /* from 1 on */
    bool was_deployed; /* some revision was deployed before */
    bool is_upgrade;   /* was_deployed, and this is not the first revision */
    unsigned sro_ran;  /* enum sw_hook_event: events of an install whose hooks SRO has run */
};

/** One object of a state, after the manifest hooks, in the list that the engine gets. */
struct render_item {
    struct sw_rendered_object *object; /* object->missing may be set: heap, freed by the render */
    const struct sw_group *group;      /* the kernel that this pass renders for, or NULL */
    bool kernel_affine;                /* the manifest is rendered once for each kernel */
};

/** One row of the table: what a capability is called for. NULL: it does nothing then. */
struct capability {
    const char *name;    /* of the folder */
    const char *summary; /* one line: what is missing without it */
    size_t resource_size, controller_size;
    const char *const *words; /* that it searches templates for, ended by NULL; NULL: none */

    /* ---- life of the controller ------------------------------------------------------------- */

    /** The controller is being opened: nothing is known of the cluster, no request may be sent. */
    void (*open)(struct sw_controller *c);
    /** What the server serves and the facts are settled, and the controller is not paused. Called
     * again after each change of either; opens what can be opened by now, and keeps the rest. */
    void (*start)(struct sw_controller *c);
    /** The API server answers again, and is ready, after connections to it broke off: it may have
     * been restarted as another version, or with other settings. */
    void (*server_ready)(struct sw_controller *c);
    /** The controller pauses or closes: whatever writes ends here. All resources are gone. start()
     * may follow. */
    void (*stop)(struct sw_controller *c);
    /** The controller closes, after stop(). */
    void (*close)(struct sw_controller *c);

    /* ---- life of a resource ----------------------------------------------------------------- */

    /** The resource was created in memory; it has neither document nor engine state yet. */
    void (*resource_open)(struct resource *r);
    /** The resource is being freed. Its requests (struct op) are cancelled already, its document
     * is still there. */
    void (*resource_close)(struct resource *r);
    /** Spec, labels, annotations, finalizers or deletionTimestamp changed, or it is new. */
    void (*changed)(struct resource *r);
    /** Follows changed(), for every row. @return false: the engine must not get the change yet; the
     * row calls resource_tell() later. With INTENT_WALK the answer is ignored. */
    bool (*intent)(struct resource *r, enum resource_intent intent);
    /** What spec.set is where the resource has no values of its own, borrowed until the next
     * change; NULL: the row says nothing. The first answer counts. */
    struct json_object *(*default_set)(struct resource *r);
    /** Check the row's fields of spec. @return 0 | SW_INVALID: the message begins with the field */
    int (*validate)(struct resource *r, struct sw_err *err);
    /** Fill the row's fields of the engine's spec. Strings and documents must stay valid until the
     * next fill_spec() or resource_close(). */
    void (*fill_spec)(struct resource *r, struct sw_spec *spec);
    /** Fill @out with what the resource has to wait for; leave it zero for nothing. Called after
     * each plan and after recheck_soon(), for all rows; the first answer counts. */
    void (*check)(struct resource *r, struct prerequisite *out);

    /** Nothing keeps the resource from being walked, as check() of all rows says. Fill @out with
     * what has to be done before it begins; the first answer counts. Called after each check(). */
    void (*begin)(struct resource *r, struct prerequisite *out);

    /* ---- plan ------------------------------------------------------------------------------- */

    /** Are the row's facts known, as far as recipe or spec mention them? Called before the recipe
     * is loaded (r->recipe may be NULL) and again with it. @so_far: the facts of all rows before
     * are known. @return false: the row calls plan_resume() or plan_resume_all() later */
    bool (*facts_ready)(struct resource *r, bool so_far);
    /** Is everything else known that a plan of r->recipe needs? Called once the facts are ready, up
     * to the first row that says false. @return false: the row calls plan_resume() later */
    bool (*plan_ready)(struct resource *r);
    /** A plan was made (0) or failed; then everything is rendered again, or nothing. */
    void (*planned)(struct resource *r, int code);
    /** Before the run-time values are computed. */
    void (*ask_values)(struct resource *r, struct sw_facts_ask *ask);
    /** After that: add the row's own values. */
    void (*add_values)(struct resource *r, struct json_object *values);
    /** Add what makes a render come out differently to the document that the revision is a hash of.
     * The keys must stay as they are: the hash is in statuses and Secrets of earlier versions. */
    void (*add_revision)(struct resource *r, struct json_object *all);
    /** Set what is known of the release that the @state of the plan belongs to; less than 0: of the
     * recipe's. @out holds { 1, false, false }. */
    void (*release)(struct resource *r, int state, struct release_view *out);

    /* ---- render ----------------------------------------------------------------------------- */

    /** Add objects to the hidden state that makes the namespace (render_add()).
     * @return 0 | SW_INVALID */
    int (*namespace_objects)(struct resource *r, struct render *w, struct sw_err *err);
    /** Fill what manifest hooks need for @doc. @w NULL: @doc is a hook of a deletion, which no
     * render waits for. @return 0 | SW_PENDING: with @w, render_wait(@w) was called */
    int (*hook_env)(struct resource *r, struct render *w, struct json_object *doc,
                    struct sw_hook_env *env, struct sw_err *err);
    /** Helm hook events (enum sw_hook_event) whose manifests are rendered besides those that are
     * due; they are in render_objects() only, marked RENDER_ONLY_BACK. */
    unsigned (*extra_hooks)(const struct resource *r);
    /** @doc passed the hooks of @item's pass, and is about to be added. */
    void (*manifest_hooked)(struct resource *r, const struct render_item *item);
    /** The object was added. @return 0 | SW_PENDING: render_wait(@w) was called */
    int (*object_rendered)(struct resource *r, struct render *w, struct render_item *item,
                           struct sw_err *err);
    /** All objects of the @state of the plan are rendered: may it have them?
     * @return 0 | SW_PENDING: render_wait(@w) was called | SW_UNAVAILABLE: not before its turn, see
     * render_is_early() */
    int (*state_rendered)(struct resource *r, struct render *w, int state, struct sw_err *err);
    /** All objects of a state are rendered; render_replace() puts others in their place.
     * @return why, for people: borrowed until the next call; NULL: the objects stay as they are */
    const char *(*rendered)(struct resource *r, struct render *w);
    /** Values were merged, or a manifest was rendered, for debugging. @state "" for no state. */
    void (*document_made)(struct resource *r, const char *what, const char *state,
                          struct json_object *doc);

    /* ---- walk ------------------------------------------------------------------------------- */

    /** An object that the engine watches was seen (NULL: gone), just before the engine's event. */
    void (*object_observed)(struct resource *r, struct json_object *object);
    /** The engine made a step and its actions are begun. */
    void (*stepped)(struct resource *r);
    /** Is a state rolled back now? The core ORs the answers. */
    bool (*is_rolled_back)(const struct resource *r);
    /** Does the row still read or write what belongs to the walk? Unlike an op, it may go on after
     * the status is written. The row calls resource_report() when that ends. */
    bool (*is_busy)(const struct resource *r);

    /* ---- removal ---------------------------------------------------------------------------- */

    /** No hook of the deletion or removal runs any more (resource_hooks_over()). */
    void (*hooks_over)(struct resource *r);
    /** Do others use the shared release, so that no hook of its deletion runs? @return 1 | 0 |
     * SW_PENDING: that is not known yet */
    int (*release_is_used)(const struct resource *r, const char *release);
    /** All but the namespace is removed, and sw_spec.hold keeps that. Inside a step. */
    void (*emptied)(struct resource *r);
    /** All objects are removed or left behind; do what precedes the removal of the finalizer.
     * Called for one row after another, inside a step or by finalize_done(). @return true: done |
     * false: the row calls finalize_done() later, and the next row follows then */
    bool (*finalize)(struct resource *r);

    /* ---- nodes ------------------------------------------------------------------------------ */

    /** The node changed or is gone. The engines get the event after this. */
    void (*node_changed)(struct sw_controller *c, uint32_t node);
    /** The watch of nodes reported a change, and the engines have had it. @group is never NULL. */
    void (*node_observed)(struct sw_controller *c, uint32_t node, const struct sw_group *group);
    /** The engine labels @node: add what is to be written with it to the merge patch. */
    void (*node_patch)(struct resource *r, const char *node, struct json_object *patch);
    /** That patch was answered. */
    void (*node_patched)(struct resource *r, const char *node, int code);

    /* ---- metrics ---------------------------------------------------------------------------- */

    /** Write the row's metrics, with their heads (metrics.h). */
    void (*metrics)(struct sw_controller *c, struct sw_metrics *out);
};

#define CAPABILITY(name) extern const struct capability capability_##name;
#include "operator/controller/capabilities.def"
#undef CAPABILITY

/** Index of a row in the table and of its slots. */
enum capability_id {
#define CAPABILITY(name) CAPABILITY_##name,
#include "operator/controller/capabilities.def"
#undef CAPABILITY
    N_CAPABILITIES
};

/** In the order of capabilities.def. */
extern const struct capability *const capabilities[];
