#pragma once
/* controller: carries out what engines decide. It watches the cluster, passes what it sees to one
 * engine for each resource, and carries out their actions: renders, requests, Events. It decides
 * nothing itself, and keeps nothing that cannot be read from the cluster again.
 *
 * At rest it only watches. One thread, the caller's loop. What it leaves to others: where the
 * server is (kube), leader election and HTTP endpoints (the controller command), views (cli). */
#include <stdbool.h>
#include <stdint.h>

#include "operator/engine/engine.h"
#include "operator/engine/nodes/node_policy.h"
#include "operator/release/record.h"
#include "operator/renderer/renderer.h"

struct json_object;
struct sw_controller;
struct sw_err;
struct sw_folders;
struct sw_kube;
struct sw_loop;
struct sw_registries_opts;
struct sw_recording;

/** The state that makes the namespace: not in status.states; a condition's message names it where
 * the namespace cannot be made. */
#define SW_STATE_NAMESPACE "(namespace)"

/** Something that happened to a resource, as it goes into a Kubernetes Event. Borrowed. */
struct sw_controller_event {
    const char *resource;
    const char *state;  /* or NULL */
    const char *reason; /* one word */
    const char *message;
    bool warning;
};

/** What a resource that names no account (spec.serviceAccountName) is walked as. */
enum sw_rights {
    SW_RIGHTS_ACCOUNT, /* its default account, which can do nothing until an admin lets it */
    SW_RIGHTS_LEGACY,  /* the operator: who may write a resource has all rights that the operator
                          has. Reported: log, metric, Events */
    SW_RIGHTS_CALLER,  /* the caller, whose own process this is: he gains no right by it */
};

/** The zero value is the default of each; strings are copied. */
struct sw_controller_opts {
    enum sw_rights rights;
    /** With @only: uids of resources that are gone and have left a shared release to nobody;
     * copied, or NULL. */
    struct json_object *gone;
    const char *only; /* look after the resource of this name, and what it depends on, alone; NULL:
                         all */
    const char *ns;   /* the operator's own: SRO's ConfigMaps are there; NULL: the context's */
    /** The process ends when the walk does: no finalizer is added, since no process would remove
     * it.
     */
    bool one_shot;
    bool keep_selectors; /* of drivers' pods, as SRO does: no grace period for lost features */
    enum sw_releases releases;
    const char *helper; /* the program whose `fetch -` fetches recipes; NULL: they are fetched in
                           this process, which blocks */
    /** The children that read and render recipes; without a program that is done in this process.
     */
    struct sw_renderers_opts renderers;
    const char *allowed_sources; /* what the helpers may reach (chart/fetch/reach/reach.h), "" for
                                    what is allowed without a list; NULL: everything */
    const char *cache_dir;       /* for downloads; NULL: sw_fetch_cache_dir() */
    const char *charts_dir;      /* sw_fetch_opts.charts_dir; NULL: none */
    const struct sw_embedded *stand_ins; /* sw_fetch_opts.stand_ins; the helper takes its own */
    const char *mirror; /* SOURCE=MIRROR rules for charts and images, for the life of the
                         * controller; NULL: none */
    const struct sw_folders *folders; /* in which resources may name files; NULL: in all, since who
                                         runs it wrote them. Borrowed */
    int64_t refresh_ms; /* recipes from elsewhere are loaded again after so long; 0: never */
    struct sw_engine_opts engine;
    /** What resources may do to nodes; NULL: the default, all zero; with @one_shot, which acts with
     * its user's rights, anything. Borrowed. */
    const struct sw_node_policy *node_policy;
    struct sw_recording *recording; /* of the engines' events and actions; borrowed. NULL: none */
    /** For requests to registries (images of driver containers, driver toolkits); NULL: none. */
    const struct sw_registries_opts *registries;
    /** Which release image a version of OpenShift is (for modules that watch versions); NULL:
     * $SLIPWAY_UPGRADE_GRAPH_URL, else the public service. Borrowed. */
    const char *graph_url;
    /** The resource may have changed: see sw_controller_status(). */
    void (*on_change)(const char *resource, void *arg);
    void (*on_event)(const struct sw_controller_event *event, void *arg);
    /** The controller as a whole cannot work (@why, for people), or can again (NULL). Called on
     * change. */
    void (*on_trouble)(int code, const char *why, void *arg);
    void *arg; /* of all three */
};

/** Start. @kube is borrowed and must outlive the controller. */
struct sw_controller *sw_controller_open(struct sw_loop *loop, struct sw_kube *kube,
                                         const struct sw_controller_opts *opts);
/** Stop acting at once, as sw_controller_close(): requests are cancelled, resources are freed.
 * Nodes, kinds and facts are kept up to date, so that sw_controller_resume() need not read them
 * first. */
void sw_controller_pause(struct sw_controller *c);
/** Act again, on the present state of the cluster. */
void sw_controller_resume(struct sw_controller *c);
/** Was it paused, and not resumed since? */
bool sw_controller_is_paused(const struct sw_controller *c);
/** Stop at once: nothing more is written, no callback runs. Requests under way may have been
 * carried out. Not from a callback. NULL is accepted. */
void sw_controller_close(struct sw_controller *c);

/** The resource's status as it is now, which may be a little ahead of what was written: a new
 * document, the caller's; NULL where the resource is not known (yet). */
struct json_object *sw_controller_status(struct sw_controller *c, const char *resource);
/** SW_PHASE_PROGRESSING where the resource is not known. */
enum sw_phase sw_controller_phase(struct sw_controller *c, const char *resource);
/** Why the recipe or its values are refused: SW_INVALID and so on, with @message, borrowed; 0: they
 * are not. Such a walk goes on only when the input changes. */
int sw_controller_fault(struct sw_controller *c, const char *resource, const char **message);
/** Every node of the cluster with the labels that the resource's states set on it:
 * [{"name", "labels": {}}], sorted by name; the caller's. */
struct json_object *sw_controller_nodes(struct sw_controller *c, const char *resource);

/** Write the status of the resource as it is known now: the process is about to end. It is written
 * when the resource is idle. */
void sw_controller_leave(struct sw_controller *c, const char *resource);
/** Whether no request, no render and no record of the release is under way for the resource. */
bool sw_controller_is_idle(struct sw_controller *c, const char *resource);

/** All metrics in Prometheus' text format; heap. Names and labels are SRO's. */
char *sw_controller_metrics(struct sw_controller *c);
/** What /readyz says: NULL, the nodes and resources are known and followed; else why not, borrowed.
 */
const char *sw_controller_unready(const struct sw_controller *c);
