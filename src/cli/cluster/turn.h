#pragma once
/* turn: one process at a time walks a resource from the command line. A Lease in the namespace
 * "default" says which; it is deleted at the end. */
#include "base/base.h"

struct sw_connection;
struct sw_turn;

/** How to wait for the turn; borrowed, but for the text. */
struct sw_turn_opts {
    struct sw_connection *conn; /* its loop runs meanwhile */
    const char *resource;
    void (*go)(void *arg); /* it may begin, once: nobody else walks it, or that cannot be known,
                              since Leases may not be written */
    /** Another process has begun, or goes on: @why says which. */
    void (*taken)(const char *why, void *arg);
    void *arg;
};

/** Wait for the turn. No callback comes before this has returned. A Lease that is not renewed for
 * six seconds is taken over. */
struct sw_turn *sw_turn_open(const struct sw_turn_opts *opts);
/** Who holds the turn while it is not known whether they are still at work, borrowed; NULL: nobody,
 * or this process walks. @turn may be NULL. */
const char *sw_turn_other(const struct sw_turn *turn);
/** Give it up, and delete the Lease where it was held. NULL is accepted. */
void sw_turn_close(struct sw_turn *turn);
