#pragma once
/* rules_client_impl: what rules_client.c (kinds, objects) and rules_client_write.c share. */
#include "base/base.h"
#include "base/loop.h"
#include "emulator/rules/rules.h"
#include "emulator/store/document.h"
#include "kube/kube.h"

/** One object, as it was last told of. */
struct entry {
    char *key; /* "ns/name" */
    json_object *doc;
};

enum row_state {
    ROW_ASKING,  /* is it served? */
    ROW_ABSENT,  /* no; its CRD may come */
    ROW_LISTING, /* being read for the first time */
    ROW_READ,    /* everything there is was told */
};

/** One kind that somebody looks at, in whatever version it is served. */
struct row {
    struct row *next;
    struct sw_rules_client *self;
    char *api_version, *kind_name; /* as it was asked for */
    char *key;                     /* "group/Kind" */
    enum row_state state;
    bool told;                  /* rules have heard of the objects */
    const struct sw_kind *kind; /* NULL: not served */
    struct sw_kube_request *asking;
    struct sw_kube_watch *watch;
    struct sw_timer *again; /* ask once more; NULL: never needed */
    struct entry *entries;  /* in the order of their keys */
    size_t n_entries, cap_entries;
    uint64_t seen; /* the newest resourceVersion that the watch told */
};

/** A write under way, or one that failed and is not tried again just yet. */
struct write {
    struct write *next, **link;
    struct row *row;
    char *key;
    const char *verb;
    json_object *doc; /* what was to be created; NULL for others */
    struct sw_kube_request *req;
    struct sw_timer *pause;
    bool again; /* somebody else wanted to write it meanwhile */
    int n_failures;
};

struct sw_rules_client {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_rules *rules;
    struct row *rows;
    struct write *writes;
    struct sw_kube_request *discovering;
    struct sw_timer *settle;
    bool started;
    void (*failed)(const struct sw_err *err, void *arg);
    void *arg;
};

/** The row of a kind, made (and asked for) where there is none yet. */
struct row *rules_row(struct sw_rules_client *self, const char *api_version, const char *kind);
json_object *rules_row_find(const struct row *row, const char *key);
/** Keep @doc (counted here), or with NULL forget the object, and tell the rules. */
void rules_row_put(struct row *row, const char *key, json_object *doc);

int rules_client_create(void *self, json_object *doc, struct sw_err *err);
int rules_client_patch(void *self, const struct sw_rules_ref *ref, bool status, json_object *patch,
                       struct sw_err *err);
int rules_client_remove(void *self, const struct sw_rules_ref *ref, bool now, struct sw_err *err);
void rules_client_drop_writes(struct sw_rules_client *self);
