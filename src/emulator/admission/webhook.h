#pragma once
/* webhook: admission webhooks, called for real: configurations are read from the store, and
 * each webhook is called over HTTPS. A client's write has a session: the call is begun, the write
 * fails with SW_PENDING, and is done again from the start when the answer is there, with all
 * answers so far. A write of the emulator's own controllers waits for the answer.
 * A service is found by an address given for it (--webhook-address, or an annotation on the
 * Service); one without is answered by emulated pods: they admit everything while one is ready.
 * Source: Kubernetes "Dynamic Admission Control". Pinned by
 * test/emulator/emulator/api_webhook_test.c. */
#include "emulator/store/change.h"

struct sw_session;

#define SW_WEBHOOK_ADDRESS "emulator.slipway.dev/webhook-address"

/** "NAMESPACE/NAME=HOST:PORT", checked. Copied.
 * @return 0 | SW_INVALID */
int sw_webhook_address(struct sw_store *store, const char *text, struct sw_err *err);

/** Is there any configuration? Most clusters have none, and most writes need no session. */
bool sw_webhooks_exist(struct sw_store *store);
/** @ready is called when the answer that a write waits for is there. */
struct sw_session *sw_session_new(struct sw_store *store, void (*ready)(void *arg), void *arg);
/** Cancels what is under way. NULL is accepted. */
void sw_session_free(struct sw_session *session);
/** Around each try of the write: generated names and uids are the same each time. NULL is accepted.
 */
void sw_session_begin(struct sw_session *session);
/** The end of the try that sw_session_begin() began. NULL is accepted. */
void sw_session_end(struct sw_session *session);

/** Ask the mutating webhooks about w->doc and take their patches. @return 0 | SW_PENDING (session)
 * | what a webhook, or its failurePolicy, refused it with */
int sw_webhooks_mutate(struct sw_write *w);
/** Ask the validating ones: CREATE and UPDATE about w->doc, DELETE about w->old. */
int sw_webhooks_validate(struct sw_write *w);

/* ---- inside -------------------------------------------------------------------------------------
 */

/** One entry of a configuration's `webhooks`; borrowed from the store. */
struct hook {
    json_object *doc;
    const char *name;
    bool mutating;
    char *where;         /* owned: the URL, for messages and for calling */
    const char *address; /* connect there instead; borrowed; NULL: as the URL says */
    int timeout_s;
};

/** webhook_call.c: what came back. */
struct outcome {
    int code; /* 0: an AdmissionReview */
    char *message;
    json_object *response;
};
/** Free what it holds; harmless on a zeroed one. */
void sw_outcome_done(struct outcome *o);
/** @return 0 and @out (borrowed from a session, or into @own) | SW_PENDING */
int sw_webhook_ask(struct sw_write *w, const struct hook *hook, json_object *review,
                   struct outcome *own, struct outcome **out);

/** webhook_match.c: @return 1, 0, or an error with @err's message (a condition that cannot be
 * evaluated) */
int sw_webhook_matches(struct sw_write *w, json_object *hook, json_object *request,
                       struct sw_err *err);
