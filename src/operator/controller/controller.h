#pragma once
/* controller: the imperative shell around the engine. It watches the cluster, feeds what it sees to
 * one engine a resource, and carries out what the engine wants: renders, requests, Events. It
 * decides nothing itself and remembers nothing that the cluster could not tell again.
 *
 * At rest it only watches. One thread, the caller's loop. What it leaves to others: where the
 * server is (kube), leader election and HTTP endpoints (the controller command), views (cli). */
#include <stdbool.h>
#include <stdint.h>

#include "operator/engine/engine.h"
#include "operator/release/record.h"

struct json_object;
struct sw_controller;
struct sw_err;
struct sw_kube;
struct sw_loop;
struct sw_registries_opts;
struct sw_recording;

/** Something that happened to a resource, as it goes into a Kubernetes Event. Borrowed. */
struct sw_controller_event {
    const char *resource;
    const char *state;  /* or NULL */
    const char *reason; /* one word */
    const char *message;
    bool warning;
};

/** The zero value is the default of each; strings are copied. */
struct sw_controller_opts {
    const char *only; /* look after the resource of this name, and what it depends on, alone; NULL:
                         all */
    const char *ns;   /* the operator's own: SRO's ConfigMaps are there; NULL: the context's */
    /** The process ends when the walk does: no finalizer is added, since nobody would be there to
     * remove it. */
    bool one_shot;
    enum sw_releases releases;
    const char *helper;    /* the program whose `fetch -` gets recipes; NULL: got in this process,
                              which waits for them */
    const char *cache_dir; /* what is downloaded is kept there; NULL: as sw_fetch_cache_dir() */
    int64_t refresh_ms;    /* recipes from elsewhere are asked for again after so long; 0: never */
    struct sw_engine_opts engine;
    struct sw_recording
        *recording; /* write down what engines are told and want; borrowed. NULL: do not */
    /** Ask registries (for driver containers' images and what driver toolkits are for), set up so;
     * NULL: never. */
    const struct sw_registries_opts *registries;
    /** Which release image a version of OpenShift is (for modules that watch versions); NULL:
     * $SLIPWAY_UPGRADE_GRAPH_URL, else the public service. Borrowed. */
    const char *graph_url;
    /** Anything about the resource may look different now: ask sw_controller_status(). */
    void (*on_change)(const char *resource, void *arg);
    void (*on_event)(const struct sw_controller_event *event, void *arg);
    /** The controller as a whole cannot do its work (@why for people), or can again (NULL). Told on
     * change. */
    void (*on_trouble)(int code, const char *why, void *arg);
    void *arg; /* of all three */
};

/** Begin. @kube is borrowed and must outlive it; nobody else closes its requests. */
struct sw_controller *sw_controller_open(struct sw_loop *loop, struct sw_kube *kube,
                                         const struct sw_controller_opts *opts);
/** Stop acting at once, as sw_controller_close(): requests under way are cancelled, resources are
 * let go. What was read of the cluster stays and is kept up to date (nodes, kinds, facts), so that
 * sw_controller_resume() begins where another process would still be reading. */
void sw_controller_pause(struct sw_controller *c);
/** Act again, on what the cluster says now. */
void sw_controller_resume(struct sw_controller *c);
/** Was it paused, and not resumed since? */
bool sw_controller_is_paused(const struct sw_controller *c);
/** Stop at once: nothing more is written, no callback runs. What was under way may have been done.
 * Not from a callback. NULL is accepted. */
void sw_controller_close(struct sw_controller *c);

/** The resource's status as it is now, which may be a little ahead of what was written: a new
 * document, the caller's; NULL where the resource is not known (yet). */
struct json_object *sw_controller_status(struct sw_controller *c, const char *resource);
/** SW_PHASE_PROGRESSING where the resource is not known. */
enum sw_phase sw_controller_phase(struct sw_controller *c, const char *resource);
/** What the recipe or its values are refused for: SW_INVALID and so on, with words; 0 for well. A
 * walk that stands at such a code goes on only when the input changes. @message is borrowed. */
int sw_controller_fault(struct sw_controller *c, const char *resource, const char **message);
/** Every node of the cluster with the labels that the resource's states set on it:
 * [{"name", "labels": {}}], sorted by name; the caller's. */
struct json_object *sw_controller_nodes(struct sw_controller *c, const char *resource);

/** Whether nothing is on its way for the resource: no request, no render. */
bool sw_controller_is_idle(struct sw_controller *c, const char *resource);

/** All metrics in Prometheus' text format; heap. Names and labels are SRO's. */
char *sw_controller_metrics(struct sw_controller *c);
/** Whether the first lists have been read: what /readyz says. */
bool sw_controller_is_synced(const struct sw_controller *c);
