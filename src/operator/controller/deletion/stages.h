#pragma once
/* deletion: what comes before and after a resource's objects are removed, as the resource is
 * deleted or its managementState is Removed: Helm's hooks of a deletion, then the end of Helm's
 * records, or with `deletionPolicy: orphan` the end of the resource's ownership of them.
 *
 * The hooks are those of the newest record of the release. Which have succeeded is noted on the
 * record before anything follows from it, so a controller that is killed in between runs none of
 * them twice. stages.c has the stages, stages_hooks.c runs the hooks of one, stages_records.c
 * removes the owner from Helm's records. */
#include "operator/controller/core.h"
#include "operator/release/hooks.h"

enum { DELETION_RETRIES = 4, DELETION_RETRY_MS = 5000 };

enum deletion_stage {
    DELETION_READING,  /* which hooks there are is being found out */
    DELETION_BEFORE,   /* pre-delete */
    DELETION_REMOVING, /* the engine is at it */
    DELETION_AFTER,    /* post-delete */
    DELETION_OVER,     /* no hook is to run any more */
};

struct deletion {
    struct resource *r;
    enum deletion_stage stage;
    struct json_object *list; /* records, without their content */
    char *record;             /* name of the newest; NULL: none */
    char *record_uid;
    size_t next_record; /* whose owner is removed */
    struct sw_release_hooks before, after;
    struct json_object *done; /* key -> "" (succeeded), or why it failed */
    struct sw_kube_request *req;
    struct sw_timer *timer;
    struct sw_timer *emptied; /* to go on after the step that emptied it; or NULL */
    char *message;            /* reported last */
    bool failed;

    /* the hook that runs */
    size_t at;
    bool tidying; /* all of the stage have succeeded: those that are not kept go */
    struct json_object *doc, *live;
    const struct sw_kind *kind;
    struct sw_kube_watch *watch;
    bool synced;
};

static inline struct deletion *deletion_of(const struct resource *r)
{
    return r->state[CAPABILITY_deletion];
}

/** The stage is over, the next one begins. */
void deletion_enter(struct deletion *f, enum deletion_stage stage);
/** No hook can be run, for a reason that stays: without them. */
void deletion_give_up(struct deletion *f, const char *why);
/** Report @message in the status; @failed: a hook has failed, which is an Event as well. */
void deletion_report(struct deletion *f, bool failed, const char *message);
/** Is it a stage of hooks? */
bool deletion_runs_hooks(const struct deletion *f);

/** Go on with the hooks of the stage, from wherever they are; at their end it is left. */
void deletion_run_hooks(struct deletion *f);
/** The user has changed the resource: a hook that failed, and whose object is gone, may be run
 * again. */
void deletion_retry_failed(struct deletion *f);
/** Forget the hook that runs. */
void deletion_leave_hook(struct deletion *f);

/** What keeps the records; NULL: none are kept. */
const struct sw_kind *deletion_record_kind(const struct deletion *f);
/** Remove the resource from the owners of those in f->list, from f->next_record on, then finalize.
 */
void deletion_release_records(struct deletion *f);
