#pragma once
/* rules_client_impl: what rules_client.c (kinds, objects) and rules_client_write.c share. */
#include "base/base.h"
#include "base/loop.h"
#include "emulator/rules/rules.h"
#include "emulator/store/document.h"
#include "kube/kube.h"

/** One object, as it was reported last. */
struct entry {
    char *key;        /* "ns/name"; owned */
    json_object *doc; /* counted */
};

/** The state of a kind. */
enum row_state {
    ROW_ASKING,  /* it is being discovered */
    ROW_ABSENT,  /* it is not served; its CRD may be created later */
    ROW_LISTING, /* its objects are being read for the first time */
    ROW_READ,    /* all its objects have been read */
};

/** A kind that rules watch, in any version that is served. */
struct row {
    struct row *next;
    struct sw_rules_client *self;
    char *api_version, *kind_name; /* as the rules name it */
    char *key;                     /* "group/Kind" */
    enum row_state state;
    bool reported;              /* its objects have been reported to the rules */
    const struct sw_kind *kind; /* NULL: not served */
    struct sw_kube_request *asking;
    struct sw_kube_watch *watch;
    struct sw_timer *again; /* to discover it again; NULL: never needed */
    struct entry *entries;  /* in the order of their keys */
    size_t n_entries, cap_entries;
    uint64_t newest; /* the newest resourceVersion of the watch */
};

/** A write in progress, or one that failed and is tried again after a pause. */
struct write {
    struct write *next, **link;
    struct row *row;
    char *key; /* of the object, "ns/name" */
    const char *verb;
    json_object *doc; /* of a create, counted; else NULL */
    struct sw_kube_request *req;
    struct sw_timer *pause;
    bool again; /* rules have asked for another write of the object meanwhile */
    int n_failures;
};

/** The backend of one API server. */
struct sw_rules_client {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_rules *rules;
    struct row *rows;
    struct write *writes;
    struct sw_kube_request *discovering;
    struct sw_timer *settle; /* to repeat discovery; then, to report what has been read */
    bool started;
    void (*failed)(const struct sw_err *err, void *arg);
    void *arg;
};

/** The row of a kind; it is made, and its watch opened, where there is none yet. */
struct row *rules_row(struct sw_rules_client *self, const char *api_version, const char *kind);
/** The object of this key, borrowed; NULL: there is none. */
json_object *rules_row_find(const struct row *row, const char *key);
/** Keep @doc (counted), or with NULL remove the object, and report the change to the rules. */
void rules_row_put(struct row *row, const char *key, json_object *doc);
/** The resourceVersion of @doc (or NULL) as a number; 0: it has none. */
uint64_t rules_version_of(json_object *doc);

/** The backend's `create`: the request is sent; its result is reported later. @return 0 |
 * SW_NOTFOUND: the kind is not served */
int rules_client_create(void *self, json_object *doc, struct sw_err *err);
/** The backend's `patch`. @return as rules_client_create() */
int rules_client_patch(void *self, const struct sw_rules_ref *ref, bool status, json_object *patch,
                       struct sw_err *err);
/** The backend's `remove`. @return 0 */
int rules_client_remove(void *self, const struct sw_rules_ref *ref, enum sw_rules_removal how,
                        struct sw_err *err);
/** Cancel and free all writes. */
void rules_client_drop_writes(struct sw_rules_client *self);
