#pragma once
/* mig: slices of NVIDIA GPUs (Multi-Instance GPU): what their profiles are called, where on which
 * GPU they can lie, what lies there, and where to put the next one. Scheduler, device plugin and
 * webhook all use it, so that they cannot disagree.
 *
 * It includes no cluster, claim or NVML: the caller says which slices are occupied. It does no I/O.
 *
 * Words, as NVIDIA's MIG user guide has them: a *profile* ("1g.5gb+me") is a kind of GPU instance;
 * a *placement* is {start, size} in memory slices; a GPU's *geometry* is which profiles it can be
 * cut into and the placements of each. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"

/* ---- profiles ----------------------------------------------------------------------------------
 */

enum { SW_MIG_NAME_LEN = 40 }; /* of a profile's or resource's own part, with its NUL */

/** What follows "gb". */
enum sw_mig_attr {
    SW_MIG_ME = 1 << 0,     /* +me: media engines with the one optical flow engine */
    SW_MIG_ME_ALL = 1 << 1, /* +me.all: all media engines */
    SW_MIG_GFX = 1 << 2,    /* +gfx: graphics */
    SW_MIG_NO_ME = 1 << 3,  /* -me: none of the media engines */
};

/** A profile: "1c.2g.10gb+me". */
struct sw_mig_profile {
    uint8_t ci;    /* compute slices of the compute instance: "1c." in front; 0: all of them */
    uint8_t gi;    /* compute slices of the GPU instance: "2g" */
    uint16_t gb;   /* memory: "10gb" */
    uint8_t attrs; /* enum sw_mig_attr */
};

/** Read "1g.5gb", "1g.5gb+me", "1c.2g.10gb", "2g.48gb-me": nothing else, no leading zeros.
 * @return 0 | SW_INVALID
 * Source: NVIDIA MIG user guide, "MIG device names". Pinned by
 * test/unit/slicing/mig_profile_test.c. */
int sw_mig_profile_parse(const char *text, size_t len_bytes, struct sw_mig_profile *out,
                         struct sw_err *err) SW_CHECKED;
/** The name as sw_mig_profile_parse() reads it. @return @buf */
char *sw_mig_profile_text(const struct sw_mig_profile *p, char buf[static SW_MIG_NAME_LEN]);
/** Equal in all fields. */
bool sw_mig_profile_equal(const struct sw_mig_profile *a, const struct sw_mig_profile *b);
/** Equal but for the compute instance: slices of the same GPU instance profile. */
bool sw_mig_profile_same_gi(const struct sw_mig_profile *a, const struct sw_mig_profile *b);

/** Whose resource name it was. */
enum sw_mig_owner {
    SW_MIG_NVIDIA, /* nvidia.com/mig-1g.5gb.me: NVIDIA's device plugin (static slices) */
    SW_MIG_DAS,    /* mig.das.com/1g.5gb-plus-me: ours */
};
#define SW_MIG_NVIDIA_PREFIX "nvidia.com/mig-"
#define SW_MIG_DAS_PREFIX "mig.das.com/"

/** Read an extended resource's name. '+' may be written ".", "-plus-" or "+" in either form, and
 * "mig-" may stand before the profile in ours too.
 * @return 0 | SW_NOTFOUND (neither prefix: not about slices) | SW_INVALID (a prefix, but no
 * profile) Source: k8s-device-plugin's resource naming (mixed strategy); DAS's device plugin. */
int sw_mig_resource_parse(const char *name, size_t len_bytes, struct sw_mig_profile *out,
                          enum sw_mig_owner *owner, struct sw_err *err) SW_CHECKED;
/** An AllocationClaim's label that says its node, so that a node's device plugin watches its own
 * claims only: the node's name, or a hash where a label's value is too short for it.
 * @return @buf */
#define SW_MIG_NODE_LABEL "slipway.dev/node"
enum { SW_MIG_NODE_LABEL_LEN = 64 };
char *sw_mig_node_label(const char *node, char buf[static SW_MIG_NODE_LABEL_LEN]);
/** The part of our resource's name after the prefix: "1g.5gb-plus-me". @return @buf */
char *sw_mig_resource_text(const struct sw_mig_profile *p, char buf[static SW_MIG_NAME_LEN]);

/* ---- geometries --------------------------------------------------------------------------------
 */

enum { SW_MIG_MAX_KINDS = 24, SW_MIG_MAX_PLACES = 16, SW_MIG_MAX_SLICES = 16 };

/** Where a GPU instance lies on its GPU. */
struct sw_mig_place {
    uint8_t start, size; /* in memory slices */
};
/** Whether two places share a memory slice. */
static inline bool sw_mig_overlap(struct sw_mig_place a, struct sw_mig_place b)
{
    return a.start < b.start + b.size && b.start < a.start + a.size;
}

/** What an instance has, as NVML tells; all 0: not known. */
struct sw_mig_resources {
    uint32_t memory_mib;
    uint16_t multiprocessors;
    uint8_t copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
};

/** A profile on a kind of GPU. */
struct sw_mig_kind {
    struct sw_mig_profile profile; /* ci is 0 */
    uint8_t n_places;
    struct sw_mig_place places[SW_MIG_MAX_PLACES]; /* in NVML's order */
    uint8_t gi_id;          /* as `nvidia-smi mig -lgip` prints it; 0xff: not known */
    uint8_t gi_profile;     /* NVML_GPU_INSTANCE_PROFILE_*: NodeAccelerator's giProfileId */
    uint8_t ci_profile;     /* NVML_COMPUTE_INSTANCE_PROFILE_* for all its slices */
    uint8_t ci_engine;      /* NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_* */
    uint8_t n_media, n_ofa; /* engines it takes, where they can run out */
    struct sw_mig_resources has;
};

/** Shared and immutable: many GPUs point at one. */
struct sw_mig_geometry {
    size_t n_refs;
    uint8_t n_slices; /* memory slices */
    uint8_t n_media, n_ofa;
    uint8_t n_kinds;
    struct sw_mig_kind kinds[SW_MIG_MAX_KINDS];
    uint16_t *capability; /* by occupancy, see sw_mig_capability() */
};

/** A model of GPU from the tables. */
struct sw_mig_model {
    const char *name;    /* "A100-40GB" */
    const char *product; /* one full product name, for emulation: "NVIDIA A100-SXM4-40GB" */
    uint32_t memory_mib; /* as NVML reports it, roughly */
    const struct sw_mig_layout *shape; /* internal */
    const char *const *profiles;       /* names, in the order of the shape */
};

/** All models, for emulation, generated configuration and tests. */
const struct sw_mig_model *sw_mig_models(size_t *n);
/** By product name ("NVIDIA A100-SXM4-40GB", "NVIDIA-H100-NVL", "A100-40GB") and, where the name
 * leaves it open, memory (0: not known). NULL: not in the tables. */
const struct sw_mig_model *sw_mig_model_find(const char *product, uint32_t memory_mib);

/** A new reference, never NULL. */
struct sw_mig_geometry *sw_mig_geometry_of(const struct sw_mig_model *model);
/** From status.nodeResources.migPlacement of a NodeAccelerator:
 *     {"1g.5gb": {"placements": [{"size":1,"start":0}], "giProfileId": 0, ...}, ...}
 * @return 0 | SW_INVALID "1g.5gb.placements[3]: ..." */
int sw_mig_geometry_from_json(struct json_object *placement, struct sw_mig_geometry **out,
                              struct sw_err *err) SW_CHECKED;
/** The document that sw_mig_geometry_from_json() reads; the caller's. */
struct json_object *sw_mig_geometry_to_json(const struct sw_mig_geometry *g) SW_CHECKED;
/** From discovered kinds (copied): places, ids and profiles set, the rest is worked out.
 * @return 0 | SW_INVALID (none, too many, a place beyond SW_MIG_MAX_SLICES, a profile twice) */
int sw_mig_geometry_new(const struct sw_mig_kind *kinds, size_t n_kinds,
                        struct sw_mig_geometry **out, struct sw_err *err) SW_CHECKED;
/** Take one more reference. @return @g */
struct sw_mig_geometry *sw_mig_geometry_ref(struct sw_mig_geometry *g);
void sw_mig_geometry_unref(struct sw_mig_geometry *g); /* NULL is accepted */
SW_DEFINE_AUTO(sw_mig_geometry, sw_mig_geometry_unref)
/** Same kinds and places: GPUs may share one of the two. */
bool sw_mig_geometry_equal(const struct sw_mig_geometry *a, const struct sw_mig_geometry *b);
/** The kind of a profile (whatever its compute instance), borrowed; NULL: not on this GPU, or no
 * geometry. */
const struct sw_mig_kind *sw_mig_kind_find(const struct sw_mig_geometry *g,
                                           const struct sw_mig_profile *profile);

/* ---- occupancy ---------------------------------------------------------------------------------
 */

/** What is taken of one GPU. Zero: nothing. */
struct sw_mig_use {
    uint16_t slices; /* bit i: memory slice i */
    uint8_t media, ofa;
};

/** Whether a slice of @kind at @place fits beside what is there: no memory slice twice, and media
 * engines left (so one +me a GPU). */
bool sw_mig_fits(const struct sw_mig_geometry *g, const struct sw_mig_use *use,
                 const struct sw_mig_kind *kind, struct sw_mig_place place);
/** Mark a slice as taken, also where it does not fit: a claim may exist all the same. */
void sw_mig_take(struct sw_mig_use *use, const struct sw_mig_kind *kind, struct sw_mig_place place);
/** Give back what sw_mig_take() took. */
void sw_mig_give(struct sw_mig_use *use, const struct sw_mig_kind *kind, struct sw_mig_place place);
/** How many memory slices are free. */
unsigned sw_mig_free_slices(const struct sw_mig_geometry *g, const struct sw_mig_use *use);
/** How many more of @kind would fit, if nothing else came. */
unsigned sw_mig_room(const struct sw_mig_geometry *g, const struct sw_mig_use *use,
                     const struct sw_mig_kind *kind);
/** What can still be made of the GPU: the more and the larger the profiles, the more. Comparable
 * between occupancies of one geometry. Looked up in a table. */
unsigned sw_mig_capability(const struct sw_mig_geometry *g, const struct sw_mig_use *use);

/* ---- placing -----------------------------------------------------------------------------------
 */

/** Which place is preferred. */
enum sw_mig_policy {
    SW_MIG_PACKED,     /* lose the least capability: keeps the largest profiles possible */
    SW_MIG_SPREAD,     /* on the emptiest GPU, node */
    SW_MIG_DENSE_NODE, /* on the fullest GPU, node that has room: keeps others empty */
    SW_MIG_FIRST_FIT, /* as DAS: on the emptiest node, at the first free start of the first GPU, the
                         slices in the order of the requests. A GPU that is being cut for another
                         pod comes after those that are not */
};
/** "packed", "spread", "dense-node", "first-fit". @return 0 | SW_INVALID */
int sw_mig_policy_parse(const char *text, enum sw_mig_policy *out, struct sw_err *err) SW_CHECKED;

/** A GPU of a node that slices are placed on. */
struct sw_mig_gpu {
    const struct sw_mig_geometry *geometry; /* borrowed; NULL: no slices here */
    struct sw_mig_use use;
    bool barred; /* nothing new here: unhealthy, being drained */
    bool begun;  /* a slice is on its way to another pod; for SW_MIG_FIRST_FIT alone */
};

/** Where a slice is to lie. */
struct sw_mig_choice {
    size_t gpu;
    const struct sw_mig_kind *kind; /* borrowed from the GPU's geometry */
    struct sw_mig_place place;
};

enum { SW_MIG_MAX_REQUESTS = 256 };

/** Place all of @requests on one node's GPUs, or none. The GPUs are not changed: sw_mig_take() the
 * choices, @out[i] for @requests[i], to do that. If the policy's first choices do not work out
 * together, all others are tried: what fits is not refused. (The search is bounded; requests that
 * reach the bound mix several profiles over many half-full GPUs and are refused as SW_PENDING.)
 * @return 0 | SW_PENDING (no room now; the message names a profile and what is missing)
 *         | SW_INVALID (more than SW_MIG_MAX_REQUESTS, or no GPU here can ever hold one of them)
 * Pinned by test/unit/slicing/mig_place_test.c. */
int sw_mig_place(const struct sw_mig_gpu *gpus, size_t n_gpus,
                 const struct sw_mig_profile *requests, size_t n_requests,
                 enum sw_mig_policy policy, struct sw_mig_choice *out,
                 struct sw_err *err) SW_CHECKED;

/** How much @policy likes a node for choices that sw_mig_place() made there: 0..100. */
unsigned sw_mig_node_score(const struct sw_mig_gpu *gpus, size_t n_gpus,
                           const struct sw_mig_choice *choices, size_t n_choices,
                           enum sw_mig_policy policy);
