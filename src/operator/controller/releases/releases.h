#pragma once
/* releases: Helm's records of what is deployed. releases.c reads and writes them, record.c makes
 * one, tidy.c sees to the older ones, move.c makes Secrets of them, hook_results.c keeps how hooks
 * of an install or an upgrade ended, sro_hooks.c knows which SRO has run, own_records.c records the
 * releases of subcharts, own_revision.c knows their revisions. */
#include "operator/controller/core.h"
#include "operator/release/record.h"

#define DIGEST_LABEL "slipway.dev/digest"
/* Annotation of a resource, "secret": its records that are ConfigMaps become Secrets. */
#define RELEASES_TO "slipway.dev/releases"

/* The release of a resource. */
struct releases {
    bool known;                    /* the records were read: the next members are valid */
    int64_t version;               /* Helm's revision */
    bool was_deployed, is_upgrade; /* as in struct release_view */
    char digest[SW_SHA256_HEX];    /* of the revision: digest_of() */
    bool is_used;                  /* templates or hooks of the recipe depend on the release */
    bool is_begun;                 /* an object of the resource is there... */
    bool is_in_namespace;          /* ... and one that has a namespace */
    char *recorded;                /* "digest status" that was recorded last */
    char *settled;                 /* r->revision that was last Ready or failed... */
    int settled_phase;             /* ... and which of both */
    struct json_object *hook_runs; /* hooks that have ended: key -> last_run; or NULL */
    struct sw_timer *timer;        /* to try again; or NULL */
    unsigned n_failed;             /* tries, one after another ... */
    char *why;                     /* ... and the last one's error; or NULL */
    struct own_records *own;       /* of subcharts' releases, under way; or NULL */
    struct release_work *work;     /* under way; or NULL */
    struct adoption *adoption;     /* the same, before a plan */
    bool not_adopted;              /* it failed: the walk goes on without */
    bool not_moved;                /* records stay ConfigMaps, for a lasting reason */
    unsigned sro_ran;              /* as in struct release_view */
    size_t n_markers;              /* of sw_hook_markers that were read */
    struct sw_kube_request *marker_req;
};

static inline struct releases *releases_of(const struct resource *r)
{
    return r->state[CAPABILITY_releases];
}

/** sro_hooks.c: is it known which hooks of an install SRO has run? If not, plan_resume() will be
 * called. */
bool sro_hooks_known(struct resource *r);

/* Reading the records, and writing or removing some. */
struct release_work {
    struct resource *r;
    struct lookups *lookups;
    const char *status;          /* to be recorded; NULL: none */
    bool removing;               /* all of them are deleted */
    bool elsewhere;              /* removing: @list has those that are not at home */
    int64_t version;             /* of the record that is written */
    struct json_object *release; /* what is known of it without the recipe; or NULL */
    struct json_object *list;    /* sw_release_list() */
    size_t next;                 /* in @list: the next to be updated or deleted */
    struct sw_kube_request *req;
    struct adoption *adoption;
    struct records_write *write; /* of digests */
    struct json_object *doc;     /* the record that is written; or NULL */
    struct json_object *change;  /* of digests, when the rest is done; or NULL */
};

/** What a record says of itself. Borrowed. */
struct release_head {
    const char *name, *namespace, *status;
    const char *digest; /* of the revision */
    int64_t version;
};

/** A label of a record, "" if it has none; borrowed. */
const char *release_label(struct json_object *record, const char *key);
/** Update or delete the other records of w->list, one after the other, from w->next on, then end
 * the work. */
void release_tidy(struct release_work *w);
/** Is @record, with its content, one that slipway wrote or took over for @r? Names alone say
 * nothing: its namespace may be another one by now. */
bool release_is_own(const struct resource *r, struct json_object *record);
/** Set the digests of the record @name (NULL: none) when all of that is done. */
void release_put_digests(struct release_work *w, const char *name, const char *digests);
/** Begin a work; @status: to be recorded, or NULL. */
struct release_work *release_work_new(struct resource *r, const char *status);
/** The work is over. */
void release_work_end(struct release_work *w);
/** What is due is tried again, ever later; @why: it failed, for people. */
void release_retry_later(struct resource *r, const char *why);
/** Make the records Secrets, if that is due. @return whether that has begun */
bool release_move(struct resource *r);
/** The release as Helm records it, packed, with w->version and w->status; the caller's. @content:
 * sw_release_content() of it.
 * @return 0 | SW_PENDING: write_record() is called again | SW_INVALID: cannot be rendered */
int release_make(struct release_work *w, char **packed, char content[static SW_SHA256_HEX],
                 struct sw_err *err) SW_CHECKED;
/** The head of the record that @w is about. */
struct release_head release_head(const struct release_work *w);
/** What is known of a release without its recipe: "name", "info", "version", "namespace"; the
 * caller's. */
struct json_object *release_begun(const struct resource *r, const struct release_head *head);
/** Whether an object can hold @packed. @return 0 | SW_INVALID */
int release_check_size(const char *packed, struct sw_err *err) SW_CHECKED;
/** The ConfigMap or Secret with @packed (sw_release_pack()), with a new salt; the caller's. */
struct json_object *release_object(const struct resource *r, const struct release_head *head,
                                   const char *packed);
/** Record the releases of subcharts (slipway.dev/releases) with @status, a constant: as the
 * resource's account, for Helm alone; slipway never reads what they hold. NULL: delete them. */
void own_records_begin(struct resource *r, const char *status);
/** Cancel it. NULL is accepted. */
void own_records_free(struct own_records *own);
/** Keep how a hook ended, for the record. */
void release_hook_observed(struct resource *r, struct json_object *object);
