#pragma once
/* The hooks of a recorded release: those that were deployed are run, though the recipe may have
 * others since. */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/* Annotations about the hooks of a deletion, for the operator and `slipway uninstall`: on the
 * resource, that none are run; on the record, which are done; on an object, the run it is of. */
#define SW_DELETION_NO_HOOKS "slipway.dev/no-hooks"
#define SW_DELETION_DONE_NOTE "slipway.dev/deletion-hooks"
#define SW_DELETION_RUN_MARK "slipway.dev/deletion"

/** Field of a recorded hook: the namespace that it has if its object names none. */
#define SW_RELEASE_HOOK_NAMESPACE "namespace"
/** Field of a recorded hook: the shared release that it is of. */
#define SW_RELEASE_HOOK_SHARED "sharedRelease"

struct sw_release_hook {
    struct json_object *doc; /* as the recipe renders it; owned */
    char *ns;                /* of an object that names none */
    char *key;               /* "pre-delete Job ns/name": what it is shown and recorded as */
    char *shared;            /* the shared release that it is of, or NULL */
    unsigned policies;       /* enum sw_hook_policy */
    int weight;
    size_t at; /* among all of the release's */
};

struct sw_release_hooks {
    struct sw_release_hook *items;
    size_t n, cap;
};

/** Those of @event ("pre-delete", "test"), by weight, then by name, as Helm runs them; what has no
 * namespace is in @ns. @return 0 | SW_INVALID: a manifest is none */
int sw_release_hooks_read(struct json_object *release, const char *event, const char *ns,
                          struct sw_release_hooks *out, struct sw_err *err) SW_CHECKED;
/** Free what one of them holds. */
void sw_release_hook_done(struct sw_release_hook *hook);
void sw_release_hooks_done(struct sw_release_hooks *hooks);

/** Is the log of the hook @doc to be shown when it has succeeded (helm.sh/hook-output-log-policy:
 * hook-succeeded)? That of one that has failed always is. Source: Helm 3.18. */
bool sw_release_hook_shows_log(struct json_object *doc);

/** A ConfigMap in the namespace of a resource by which SRO knows that it has run the hooks of an
 * event (enum sw_hook_event). Source: SRO, pkg/helmer, ExecHook(). */
struct sw_hook_marker {
    const char *name;
    unsigned event;
};
/** Ended by one without a name. */
extern const struct sw_hook_marker sw_hook_markers[];
/** Is @map such a mark of the resource of @uid? */
bool sw_hook_marker_is_of(struct json_object *map, const char *uid);

enum sw_hook_outcome { SW_HOOK_RUNS, SW_HOOK_SUCCEEDED, SW_HOOK_FAILED };
/** How far a hook's object is. Jobs and Pods are waited for, others are done when they are there
 * (Helm's rule). *@why, borrowed of @live or constant: of what failed or still runs. */
enum sw_hook_outcome sw_release_hook_outcome(struct json_object *live, const char **why);

/** "last_run" of a hook's entry, the caller's; texts "" for what is not known. */
struct json_object *sw_release_run(const char *started_at, const char *completed_at,
                                   const char *phase);
/** The same of an object that has ended. */
struct json_object *sw_release_run_of_object(struct json_object *live);

/** The hooks that have been run on @record for the deletion of the resource of @uid, key -> ""
 * (succeeded) or why it failed; the caller's. @removed: those of its removal count, too */
struct json_object *sw_release_hooks_past(struct json_object *record, const char *uid,
                                          bool removed);
/** A merge patch of the record that says so; the caller's. @removed: it is removed, not deleted */
struct json_object *sw_release_hooks_note(struct json_object *past, const char *uid, bool removed);
/** The mark of the objects of one run; heap. */
char *sw_release_hooks_mark(const char *event, const char *record_uid, bool removed);
