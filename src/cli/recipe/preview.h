#pragma once
/* preview: what applying a recipe would do on a cluster, for commands that write nothing: the
 * resource as `slipway run` would make it (over an existing one), the values that templates would
 * see, and each manifest as the controller would apply it. */
#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/connect.h"
#include "cli/recipe/recipe_flags.h"

struct json_object;
struct sw_group;
struct sw_kind;
struct sw_manifest;

/** A recipe and a cluster. Zero-initialise. */
struct sw_preview {
    struct sw_connection conn;
    struct sw_opened_recipe opened; /* with its plan */
    struct json_object *resource;   /* the SpecialResource that the objects would belong to */
    const char *ns;                 /* of it, borrowed */
    char *version;                  /* of the server */
    const char **apis;              /* what it serves; strings owned */
    size_t n_apis, cap_apis;
    struct sw_cluster_facts facts;
};

/** Read recipe and cluster. @flags, @connect are borrowed for the preview's life; @timeout_ms: give
 * up after so long, 0: never. sw_preview_done() in any case.
 * @return 0 | as opening a recipe, or asking the server does */
int sw_preview_init(struct sw_preview *preview, const char *command, struct sw_recipe_flags *flags,
                    const struct sw_connect_opts *connect, const char *source, int64_t timeout_ms,
                    struct sw_err *err) SW_CHECKED;
/** Close the connection and free what @preview holds. */
void sw_preview_done(struct sw_preview *preview);

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
/** For each group of nodes once, at least once: call @each with every manifest that would be
 * applied; what is the same for all kernels is in the first pass only.
 * @return 0 | what @each returned | as sw_recipe_render() */
int sw_preview_each(struct sw_preview *preview, sw_preview_fn *each, void *arg,
                    struct sw_err *err) SW_CHECKED;

/** The manifest as it would be applied, the caller's; @*kind NULL where it is not served yet.
 * @return 0 | SW_INVALID: a hook refuses it */
int sw_preview_object(struct sw_preview *preview, const struct sw_preview_pass *pass,
                      const struct sw_manifest *manifest, struct json_object **doc,
                      const struct sw_kind **kind, struct sw_err *err) SW_CHECKED;
