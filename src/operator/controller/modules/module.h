#pragma once
/* modules: SpecialResourceModules. module.c opens and closes them, module_watch.c finds versions,
 * module_namespace.c makes the namespace, module_version.c works on one version after another,
 * module_objects.c applies its objects, module_inventory.c knows which there are and deletes those
 * of versions that are gone. */
#include "net/http/http.h"
#include "operator/controller/core.h"
#include "operator/engine/readiness/gate.h"
#include "operator/registries/registries.h"
#include "operator/registries/release_image.h"
#include "operator/registries/upgrade_graph.h"

#define MODULE_KIND "SpecialResourceModule"

enum { SETTLE_MS = 200, AGAIN_MS = 30000 };

/* One of spec.watch. */
struct version_watch {
    struct module *m;
    struct version_watch *next;
    struct json_object *spec;
    struct sw_kube_watch *watch;
    struct sw_kube_request *req;
    struct json_object *found; /* name -> what was found in the object: of a watch without a name,
                                  several */
    int code;                  /* of @trouble */
    char *trouble;             /* the watch failed last; or NULL */
};

struct module {
    struct sw_controller *c;
    struct module *next;
    char *name;
    struct json_object *seen;        /* the SpecialResourceModule */
    char *account;                   /* that all is done as; see resource_account() */
    bool legacy_told;                /* an Event says that it has none */
    struct sw_renderer *recipe;      /* NULL: not loaded */
    struct sw_render_wait *wait;     /* for what its renderer does; or NULL */
    void (*go_on)(struct module *m); /* what comes after @wait, or the namespace */
    char *recipe_key;                /* where it came from */
    const struct sw_plan_view *plan; /* of the version that is worked on, or NULL */
    int64_t generation;
    struct version_watch *watches;
    struct sw_timer *timer;        /* to begin */
    struct json_object *known;     /* entry -> what its release image says */
    struct json_object *versions;  /* status.versions as it should be */
    struct json_object *inventory; /* status.inventory as it should be: what may be there */
    struct json_object *written;   /* {versions, inventory, message} as it was written */
    char *trouble;                 /* status.message; or NULL */
    char *status_fault;            /* why the status could not be written, as it was told */
    /* the round: one pass over all versions */
    struct json_object *entries; /* list of strings */
    struct json_object *made;    /* what this round has applied, as in @inventory */
    size_t gone;                 /* the entry of @inventory that is being deleted */
    size_t at_entry, at_state, at_manifest;
    struct source *source;
    struct sw_upgrade_graph *graph;
    struct sw_release_image_read *read;
    struct sw_facts *facts;
    struct json_object *values;
    struct sw_rendered *rendered;
    struct sw_kube_request *req, *status_req;
    struct sw_kube_watch *awaited; /* @doc, once it is applied */
    struct sw_kube_watch *build;   /* the last one of an awaited BuildConfig, of this number: */
    int64_t build_number;
    struct json_object *doc; /* that is being applied */
    struct sw_gate *gate;
};

struct modules {
    struct sw_kube_watch *watch;
    struct sw_http *http;
    struct module *first;
};

static inline struct modules *modules_of(const struct sw_controller *c)
{
    return c->state[CAPABILITY_modules];
}

/** module.c: spec.namespace, else its name. */
const char *module_namespace(const struct module *m);
/** module.c: the wait of a plan or render: @go_on is called when it is worth another try. */
struct sw_render_wait *module_wait(struct module *m, void (*go_on)(struct module *m));
/** module.c: cancel the round. */
void module_stop_round(struct module *m);
/** module.c: begin a new round in @in_ms. */
void module_begin_soon(struct module *m, int64_t in_ms);
/** module.c: write the status, if it has changed. */
void module_write_status(struct module *m);
/** module.c: report @message, cancel the round, begin a new one later. @message may not be
 * m->trouble. */
void module_fail(struct module *m, const char *message);

/** module.c: module_fail() of a request as its account, saying whose that was. */
void module_refused(struct module *m, int code, const char *message);

/** module_watch.c: watch the objects of spec.watch; earlier watches are closed. */
void module_open_watches(struct module *m);
void module_close_watches(struct module *m);
/** module_watch.c: add the entries (versions, release images) at the watched paths to m->entries.
 * @return 0 | SW_INVALID: a path of spec.watch | what a watch of it failed with */
int module_collect(struct module *m, struct sw_err *err) SW_CHECKED;

/** module_namespace.c: make the namespace where it is not there, then call @go_on. */
void module_need_namespace(struct module *m, void (*go_on)(struct module *m));

/** module_version.c: the present entry, "" after the last. */
const char *module_entry(const struct module *m);
/** module_version.c: the entry's part of status.versions. */
struct json_object *module_version(struct module *m);
/** module_version.c: continue with m->at_entry; after the last one the round is done. */
void module_next_entry(struct module *m);
/** module_version.c: all versions are complete: delete what is left of others, then stop. */
void module_end_round(struct module *m);

/** module_objects.c: continue with m->at_state; after the last one the version is complete. */
void module_next_state(struct module *m);
/** module_objects.c: close the watches of the object that is waited for. */
void module_stop_waiting(struct module *m);

/** module_inventory.c: @doc was applied in this round. */
void module_record(struct module *m, struct json_object *doc);
/** module_inventory.c: delete the next object that no version renders any more, and continue with
 * module_end_round(). @return false: there is none */
bool module_delete_gone(struct module *m);
