#pragma once
/* preview: what applying a recipe would do on a cluster, for commands that write nothing: the
 * resource as `slipway run` would apply it, the values that templates would see, and each manifest
 * as the controller would apply it. */
#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/connect.h"
#include "cli/recipe/recipe_flags.h"

struct json_object;
struct sw_group;
struct sw_kind;
struct sw_manifest;

/** A recipe and a cluster. Zero-initialise. What is set before the recipe is opened stays as it is:
 * a resource that the objects belong to, the facts, and the values in @opened.facts. */
struct sw_preview {
    struct sw_connection conn;
    struct sw_opened_recipe opened; /* with its plan */
    struct json_object *resource; /* the SpecialResource that the objects would belong to; owned */
    struct json_object *given;    /* it, before the templates in its spec were rendered; owned */
    const char *ns;               /* of it, borrowed */
    const char *mirror;           /* of images, from the flags; or NULL. Borrowed */
    const char *account;          /* the user that manifests are applied as; NULL: who runs it.
                                     Borrowed; set before use */
    bool exists;                  /* it is on the cluster */
    bool is_told;                 /* that something may not be looked up */
    bool is_resolved;             /* the templates in the resource's spec are rendered */
    bool keep_selectors;          /* as the controller's --keep-node-selectors; set before use */
    struct json_object *shared;   /* of sw_shared_releases_read(); owned */
    struct json_object *scopes;   /* of sw_scopes_note(): of kinds that are not served; owned */
    unsigned sro_ran;             /* enum sw_hook_event: of an install, which SRO has run */
    char *version;                /* of the server */
    const char **apis;            /* what it serves; strings owned */
    size_t n_apis, cap_apis;
    struct sw_cluster_facts facts;
};

/** Read recipe and cluster. @flags and @connect are borrowed until sw_preview_done(), which is
 * called after a failure, too. @timeout_ms: for all requests; 0: none.
 * @return 0 | as opening a recipe, or asking the server does */
int sw_preview_init(struct sw_preview *preview, const char *command, struct sw_recipe_flags *flags,
                    const struct sw_connect_opts *connect, const char *source, int64_t timeout_ms,
                    struct sw_err *err) SW_CHECKED;
/** The first half of it: connect, and ask what the server serves. */
int sw_preview_connect(struct sw_preview *preview, const char *command,
                       const struct sw_connect_opts *connect, int64_t timeout_ms,
                       struct sw_err *err) SW_CHECKED;
/** The other half: open the recipe. After sw_preview_close() another one can be opened. */
int sw_preview_open(struct sw_preview *preview, struct sw_recipe_flags *flags,
                    const struct sw_connect_opts *connect, const char *source,
                    struct sw_err *err) SW_CHECKED;
/** Render the templates in the spec of the resource that is set, before its recipe is opened: its
 * chart may be one. @return 0 | as reading facts | as sw_renderer_resolve() */
int sw_preview_resolve(struct sw_preview *preview, struct sw_err *err) SW_CHECKED;
/** Free recipe and resource; the connection stays. */
void sw_preview_close(struct sw_preview *preview);
/** Close the connection and free what @preview holds. */
void sw_preview_done(struct sw_preview *preview);

/** Read who uses which shared releases, if that may be read. */
void sw_preview_read_shared(struct sw_preview *preview);
/** The shared releases of the recipe (or, without one, of the resource) that others use, too:
 * sw_shared_releases_report(). */
struct json_object *sw_preview_shared(const struct sw_preview *preview);

/** One rendering of the whole recipe, for the nodes of @group (NULL: no node's kernel is known) and
 * with @values. */
struct sw_preview_pass {
    const struct sw_group *group;
    struct json_object *values;   /* owned */
    struct sw_rendered *rendered; /* owned */
    bool first;
};
/** Called with each manifest that would be applied. @return 0 to go on | less than 0: end */
typedef int sw_preview_fn(struct sw_preview *preview, const struct sw_preview_pass *pass,
                          const struct sw_manifest *manifest, void *arg, struct sw_err *err);
/** Call @each with every manifest that would be applied, once for each group of nodes (at least
 * once); manifests that are the same for all kernels only in the first pass.
 * @return 0 | what @each returned | as sw_recipe_render() */
int sw_preview_each(struct sw_preview *preview, sw_preview_fn *each, void *arg,
                    struct sw_err *err) SW_CHECKED;

/** The manifest as it would be applied, the caller's; @*kind: NULL if it is not served yet.
 * @return 0 | SW_INVALID: a hook refuses it */
int sw_preview_object(struct sw_preview *preview, const struct sw_preview_pass *pass,
                      const struct sw_manifest *manifest, struct json_object **doc,
                      const struct sw_kind **kind, struct sw_err *err) SW_CHECKED;

/** What applying a manifest would do; sw_preview_change_done(). */
struct sw_preview_change {
    struct json_object *live;   /* NULL: it does not exist */
    struct json_object *wanted; /* as the server would store it; where it or its namespace does not
                                   exist yet, or the kind, as it would be sent */
    bool is_left;               /* the controller does not write it before it changes */
    bool is_served;             /* the server knows the kind */
    char *foreign;              /* why the controller does not write it: it is somebody else's; or
                                   NULL. Owned */
    bool is_remade;             /* it cannot be changed in place: it is deleted, and made anew */
    char *taken;  /* fields that other managers have set and lose: a line each; or NULL. Owned */
    bool has_run; /* a hook that was deleted after it had run: nothing is done */
};
void sw_preview_change_done(struct sw_preview_change *change);
/** Apply @manifest as a dry run, as the controller would apply it. @change, zeroed: on failure it
 * has no more than @live.
 * @return 0 | SW_INVALID: a hook or the server refuses it | as requests.h */
int sw_preview_apply(struct sw_preview *preview, const struct sw_preview_pass *pass,
                     const struct sw_manifest *manifest, struct sw_preview_change *change,
                     struct sw_err *err) SW_CHECKED;
/** Remove from @doc what the server sets, and the annotations by which the engine finds its
 * objects. */
void sw_preview_strip(struct json_object *doc);
