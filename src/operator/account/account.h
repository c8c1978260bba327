#pragma once
/* account: whose a request to the API server is. The operator sends each as the account of a
 * resource (core.h, REQUEST_AS), or as itself, for one of the purposes in the table here. Requests
 * of src/operator are made with these macros alone. */
#include "kube/kube.h"

/** What the operator does as itself. */
enum sw_purpose {
    SW_OWN_DISCOVERY,
    SW_OWN_KINDS,
    SW_OWN_NODES,
    SW_OWN_OBJECTS,
    SW_OWN_FACTS,
    SW_OWN_RECORDS,
    SW_OWN_RECIPES,
    SW_OWN_EVENTS,
    SW_OWN_LEASE,
    SW_OWN_REVIEWS,
    SW_OWN_WALK,
    SW_N_PURPOSES
};

/** One purpose. Lists are separated by blanks; "*": any. */
struct sw_purpose_row {
    const char *name; /* sw_request_opts.purpose */
    const char *resources;
    const char *verbs;
    const char *why;
};

/** By enum sw_purpose. Pinned by test/emulator/operator/run_world.h, which holds each request of
 * all scenarios against it. */
extern const struct sw_purpose_row sw_purposes[SW_N_PURPOSES];

/** The options of a request that the operator makes as itself: REQUEST_OWN(NODES, .retries = 2).
 * Good for the enclosing block. */
#define REQUEST_OWN(own, ...)                                                                      \
    (&(const struct sw_request_opts){ .purpose = sw_purposes[SW_OWN_##own].name, __VA_ARGS__ })
/** The options of a request that is made as @account, borrowed for the call and evaluated twice.
 * NULL: as whoever the client is, where the controller's options allow it. */
#define REQUEST_BY(account, ...)                                                                   \
    (&(const struct sw_request_opts){                                                              \
        .as_user = (account), .purpose = sw_purpose_by(account), __VA_ARGS__ })
/** The same of watches. */
#define WATCH_OWN(own, ...)                                                                        \
    (&(const struct sw_watch_opts){ .purpose = sw_purposes[SW_OWN_##own].name, __VA_ARGS__ })
#define WATCH_BY(account, ...)                                                                     \
    (&(const struct sw_watch_opts){                                                                \
        .as_user = (account), .purpose = sw_purpose_by(account), __VA_ARGS__ })

/** NULL with an account, else the name of SW_OWN_WALK. */
static inline const char *sw_purpose_by(const char *account)
{
    return account ? NULL : sw_purposes[SW_OWN_WALK].name;
}
