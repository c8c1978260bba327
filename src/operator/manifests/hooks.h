#pragma once
/* hooks: what is done to a rendered manifest before it is applied, and what is waited for after,
 * beyond what the manifest itself says. One const table: `slipway hooks` prints it, a manifest's
 * annotations choose from it. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_group;
struct sw_mirrors;

/** A certificate for a Service, and the CA that signed it: PEM, borrowed. */
struct sw_cert_text {
    const char *ca, *cert, *key;
};

/** Everything that a hook may need. Borrowed for the call. */
struct sw_hook_env {
    struct json_object *resource; /* the SpecialResource */
    const char *ns;               /* the resource's namespace */
    bool namespaced;              /* the manifest's kind has a namespace */
    bool keep_selectors;          /* nodeSelectors stay as the recipe has them */
    bool from_crds;               /* a file of the chart's crds/: not owned, as in Helm */
    const struct sw_group *group; /* the kernel it is rendered for; NULL: for all nodes */
    struct json_object *selector; /* labels of that group's nodes */
    struct json_object *values;   /* the run-time values: proxy, platform */
    struct json_object *needs;    /* labels that nodes have when what it needs is finished there */
    const char *mirror; /* SW_IMAGE_MIRROR of manifests and resources without one; NULL: none */
    const struct sw_mirrors *mirrors; /* of the cluster's registries; NULL: none are known */
    /** The certificate in Secret @ns/@secret, made for @service where there is none; @service NULL:
     * only if it is there. NULL: certificates are left alone.
     * @return 0 | SW_PENDING | SW_UNAVAILABLE */
    int (*serving)(void *arg, const char *ns, const char *secret, const char *service,
                   struct sw_cert_text *out, struct sw_err *err);
    void *serving_arg;
    uint64_t
        *overrides_used; /* one bit for each of spec.overrides that changed it; NULL: not asked */
};

enum sw_hook_phase {
    SW_HOOK_BEFORE_APPLY, /* changes the manifest */
    SW_HOOK_WAIT,         /* says when the applied object is finished */
};

struct sw_hook {
    /* the annotation that asks for it, by "true"; or, without a slash, one for all */
    const char *name;
    enum sw_hook_phase phase;
    const char *kinds; /* "DaemonSet Deployment"; "*" for all; where it has an effect */
    const char *doc;
    const char *example; /* the annotation's value; of one for all, YAML that it acts on or by */
    /** Change @doc. NULL: the engine (waiting) or the shell around it acts on the annotation. */
    int (*apply)(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
    enum {
        SW_HOOK_IF_TRUE, /* of annotations: only "true" asks for it */
        SW_HOOK_IF_SET,  /* any value, which says more */
        SW_HOOK_ALWAYS,  /* @apply looks itself */
    } when;
};

/** In the order of their work; ends with a NULL name. */
extern const struct sw_hook sw_hooks[];
/** The row of that name, borrowed; NULL: there is none. */
const struct sw_hook *sw_hook_find(const char *name);
/** The names that are annotations, ends with NULL. Borrowed. */
const char *const *sw_hook_annotations(void);

#define SW_SRO_PREFIX "specialresource.openshift.io/"
#define SW_OWNED_LABEL SW_SRO_PREFIX "owned"
/** Of what SpecialResourceModules make. */
#define SW_MODULE_OWNED_LABEL "specialresourcemodule.openshift.io/owned"
#define SW_FINALIZER "sro.openshift.io/finalizer"
/** What early versions of SRO used: removed with the other, never set. */
#define SW_OLD_FINALIZER "finalizer.sro.openshift.io"
#define SW_KERNEL_AFFINE SW_SRO_PREFIX "kernel-affine"
#define SW_STATE_AFFINITY "slipway.dev/state-affinity"
#define SW_IMAGE_MIRROR "slipway.dev/image-mirror"
/** Its value for: as the cluster's own settings have it (docs/registries.md). */
#define SW_MIRROR_CLUSTER "cluster"
#define SW_SERVING_CERT "slipway.dev/serving-cert"
#define SW_INJECT_CA "slipway.dev/inject-ca"
#define SW_OBSERVE "slipway.dev/observe"
#define SW_DRIVER "slipway.dev/driver"
#define SW_DRY_RUN "slipway.dev/dry-run"
#define SW_APPROVE_INSTALL_PLAN "slipway.dev/approve-install-plan"

/** Does an annotation of the manifest say "true"? */
bool sw_hook_asked(struct json_object *doc, const char *annotation);

/** Is the manifest never written, but of what others have (SW_OBSERVE)? */
bool sw_is_observed(struct json_object *doc);

/** Run every hook of the first phase on @doc that applies to it.
 * @return 0 | SW_INVALID: the message names kind, object, hook and field */
int sw_hooks_apply(struct json_object *doc, const struct sw_hook_env *env,
                   struct sw_err *err) SW_CHECKED;

/** The Namespace @name as slipway makes it for a resource, before the hooks; the caller's. A
 * recipe's own of that name adds its labels and annotations. */
struct json_object *sw_namespace_new(const char *name);

/** Check rules that were given as an option. NULL is accepted. @return 0 | SW_INVALID */
int sw_mirror_check(const char *rules, struct sw_err *err) SW_CHECKED;
/** The value of SW_IMAGE_MIRROR on the manifest @doc, else on @resource, else @common; NULL: there
 * is none. Borrowed. */
const char *sw_mirror_rules(struct json_object *doc, struct json_object *resource,
                            const char *common);
