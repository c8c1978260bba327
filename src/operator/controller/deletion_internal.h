#pragma once
/* What the files of a farewell share: deletion.c knows its stages, deletion_hooks.c runs the hooks
 * of one, deletion_records.c lets Helm's records go on without the resource. */
#include "operator/controller/deletion.h"
#include "operator/controller/release_internal.h"
#include "operator/release/hooks.h"

enum { FAREWELL_RETRIES = 4, FAREWELL_RETRY_MS = 5000 };

enum deletion_stage {
    FAREWELL_LOOKING,  /* which hooks there are is being found out */
    FAREWELL_BEFORE,   /* pre-delete */
    FAREWELL_REMOVING, /* the engine is at it */
    FAREWELL_AFTER,    /* post-delete */
    FAREWELL_OVER,     /* no hook is to run any more */
};

struct deletion {
    struct resource *r;
    enum deletion_stage stage;
    struct json_object *list; /* records, without their content */
    char *record;             /* name of the newest; NULL: none */
    char *record_uid;
    size_t next_record; /* that is let go */
    struct sw_release_hooks before, after;
    struct json_object *done; /* key -> "" (succeeded), or why it failed */
    struct sw_kube_request *req;
    struct sw_timer *timer;
    char *words; /* said last */
    bool failed;

    /* the hook that runs */
    size_t at;
    bool tidying; /* all of the stage have succeeded: those that are not kept go */
    struct json_object *doc, *live;
    const struct sw_kind *kind;
    struct sw_kube_watch *watch;
    bool synced;
};

/** The stage is over, the next one begins. */
void deletion_enter(struct deletion *f, enum deletion_stage stage);
/** No hook can be run, for a reason that stays: without them. */
void deletion_give_up(struct deletion *f, const char *why);
/** What the status says of the deletion. */
void deletion_say(struct deletion *f, bool failed, const char *words);
/** Is it a stage of hooks? */
bool deletion_runs_hooks(const struct deletion *f);

/** Go on with the hooks of the stage, from wherever they are; at their end it is left. */
void deletion_run_hooks(struct deletion *f);
/** The user has changed something: a hook that failed, and is gone, may be run again. */
void deletion_forgive(struct deletion *f);
/** Forget the hook that runs. */
void deletion_leave_hook(struct deletion *f);

/** What keeps the records; NULL: none are kept. */
const struct sw_kind *deletion_record_kind(const struct deletion *f);
/** Let those of f->list go on without the resource, from f->next_record on, then finalize. */
void deletion_release_records(struct deletion *f);
