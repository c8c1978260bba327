#pragma once
/* follow: the SpecialResources of a cluster as they change, by one watch. */
#include "base/base.h"

struct json_object;
struct sw_connection;
struct sw_kube_watch;

/** Zero-initialise. Read @resources between calls. */
struct sw_follow {
    struct sw_connection *conn;
    struct sw_kube_watch *watch;
    struct json_object *resources; /* {name: document}; owned */
    bool synced;                   /* all that exist are in @resources */
    bool changed;                  /* since sw_follow_next() returned last */
    int code;                      /* why they cannot be read now; 0: they can */
    struct sw_err err;
};

/** Follow the resource @name (NULL: all) by @conn, which outlives @follow. A patient connection
 * waits until the server answers.
 * @return 0 | SW_NOTFOUND: the cluster has no such kind | as sw_cluster_kind(): SW_UNAVAILABLE of a
 * patient connection is a signal, or its deadline */
int sw_follow_open(struct sw_follow *follow, struct sw_connection *conn, const char *name,
                   struct sw_err *err) SW_CHECKED;
/** Run the loop until something has changed, or they cannot be read any more.
 * @return false: a signal, or the deadline of the connection (until_ms; 0: none) */
bool sw_follow_next(struct sw_follow *follow) SW_CHECKED;
/** Close the watch, free what is owned. Twice is harmless. */
void sw_follow_done(struct sw_follow *follow);
