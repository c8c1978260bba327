#pragma once
/* deletion: what precedes and follows the removal of a resource's objects, when the resource is
 * deleted or its managementState is Removed: Helm's hooks of a deletion, then the removal of Helm's
 * records, or with `deletionPolicy: orphan` of their ownerReferences.
 *
 * The hooks are those of the newest record of the release. A hook that has succeeded is noted on
 * the record first, so that a controller that is killed runs none of them twice. stages.c has the
 * stages, stages_hooks.c runs the hooks of one, stages_logs.c reads the log of one that ended,
 * stages_records.c removes the owner of records. */
#include "operator/controller/core.h"
#include "operator/release/hooks.h"

enum { DELETION_RETRIES = 4, DELETION_RETRY_MS = 5000 };

enum deletion_stage {
    DELETION_READING,  /* the records are read */
    DELETION_DOUBTING, /* the newest record is not what slipway wrote, or none may be read:
                        * somebody has to decide */
    DELETION_BEFORE,   /* pre-delete */
    DELETION_REMOVING, /* the engine removes the objects */
    DELETION_AFTER,    /* post-delete */
    DELETION_OVER,     /* no hook runs any more */
};

struct deletion {
    struct resource *r;
    enum deletion_stage stage;
    struct json_object *list; /* records, without their content */
    char *record;             /* name of the newest; NULL: none */
    char *record_uid;
    size_t next_record; /* in @list: the next whose owner is removed */
    struct sw_release_hooks before, after;
    struct json_object *done; /* key -> "" (succeeded), or why it failed */
    struct sw_kube_request *req;
    struct adoption *adoption;
    struct records_write *status; /* it is read again */
    bool status_is_new;           /* it was */
    char *forbidden;              /* why the records may not be listed, and what gives the right */
    struct sw_timer *timer;
    struct sw_timer *emptied; /* continues after the step in emptied(); or NULL */
    char *message;            /* reported last */
    bool failed;              /* it reports a failure */

    size_t at;    /* the hook that runs; what follows is about it */
    bool tidying; /* all of the stage have succeeded, and are deleted by their delete policy */
    struct json_object *doc, *live; /* as applied; as the server has it, NULL: not there */
    const struct sw_kind *kind;
    struct sw_kube_watch *watch;
    bool synced;
    bool succeeded; /* it has, and is to be noted on the record when its log is read */
    char *log_of;   /* uid of the hook's object whose log was read... */
    char *log;      /* ... and its last line; NULL: there is none, or it may not be read */
};

static inline struct deletion *deletion_of(const struct resource *r)
{
    return r->state[CAPABILITY_deletion];
}

/** Leave the present stage and begin @stage. */
void deletion_enter(struct deletion *f, enum deletion_stage stage);
/** Hooks cannot be run, for a lasting reason: report it, and continue without them. */
void deletion_give_up(struct deletion *f, const char *why);
/** Report @message in the status, once; @failed: as the failure of a hook, with an Event. */
void deletion_report(struct deletion *f, bool failed, const char *message);
/** Is it a stage of hooks? */
bool deletion_runs_hooks(const struct deletion *f);

/** Continue with the hooks of the stage; after the last one, leave it. */
void deletion_run_hooks(struct deletion *f);
/** The resource has changed: a failed hook whose object is gone may be run again. */
void deletion_retry_failed(struct deletion *f);
/** Cancel the requests and the watch of the hook that runs. */
void deletion_leave_hook(struct deletion *f);

/** Is the log of f->live, which has failed, read, or has it none? */
bool deletion_has_log(const struct deletion *f);
/** Read it, then continue with deletion_run_hooks(). */
void deletion_read_log(struct deletion *f);
/** Is f->doc a hook the end of whose log is told when it has succeeded? */
bool deletion_tells_log(const struct deletion *f);
/** An Event with the end of the log of f->doc, which has succeeded, where its policy says so. */
void deletion_tell_success(const struct deletion *f);
/** @why it failed, and the end of its log; heap. */
char *deletion_with_log(const struct deletion *f, const char *why);

/** Remove the resource from the owners of those in f->list, from f->next_record on, then finalize.
 */
void deletion_release_records(struct deletion *f);
