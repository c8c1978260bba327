#pragma once
/* webhook: admission webhooks. Their configurations are read from the store, and each webhook is
 * called over HTTPS. A client's write has a session: it starts the call and fails with SW_PENDING;
 * when the answer has come, the write is done again from the start, with all answers so far. A
 * write of the emulator's own controllers waits for the answer. A Service is called at the address
 * that is given for it (--webhook-address, or an annotation on the Service). Without an address,
 * its emulated pods admit everything while one of them is ready. Source: Kubernetes "Dynamic
 * Admission Control". Pinned by test/emulator/emulator/api_webhook_test.c. */
#include "emulator/store/change.h"

struct sw_session;

/** Set the address of a service's webhooks: "NAMESPACE/NAME=HOST:PORT". @text is copied.
 * @return 0 | SW_INVALID */
int sw_webhook_address(struct sw_store *store, const char *text, struct sw_err *err);

/** Whether there is any configuration: without one, a write needs no session. */
bool sw_webhooks_exist(struct sw_store *store);
/** A new session, which the caller frees. @ready is called when the answer that a write waits for
 * has come. */
struct sw_session *sw_session_new(struct sw_store *store, void (*ready)(void *arg), void *arg);
/** Cancel a call in progress and free the session. NULL is accepted. */
void sw_session_free(struct sw_session *session);
/** A try of the write begins: it generates the same names and uids as the tries before. NULL is
 * accepted. */
void sw_session_begin(struct sw_session *session);
/** The end of the try that sw_session_begin() began. NULL is accepted. */
void sw_session_end(struct sw_session *session);

/** Change w->doc by MutatingAdmissionPolicies (policies.h), then by the patches of the mutating
 * webhooks; those with the reinvocationPolicy IfNeeded come twice where needed. @return 0 |
 * SW_PENDING (in a session) | the code of a refusal by a webhook or its failurePolicy */
int sw_webhooks_mutate(struct sw_write *w);
/** Call the validating webhooks: about w->doc, for a DELETE about w->old. @return as
 * sw_webhooks_mutate() */
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

/** The result of a call (webhook_call.c). */
struct outcome {
    int code;              /* 0: an AdmissionReview */
    char *message;         /* of an error; owned */
    json_object *response; /* of the AdmissionReview; counted */
};
/** Free what it holds; harmless on a zeroed one. */
void sw_outcome_done(struct outcome *o);
/** Call @hook with @review. *@out is borrowed from the session, or is @own, which the caller frees.
 * @return 0 | SW_PENDING */
int sw_webhook_ask(struct sw_write *w, const struct hook *hook, json_object *review,
                   struct outcome *own, struct outcome **out);

/** Whether @rules, with the matchPolicy and the selectors of @match, select the write. @rules NULL:
 * any. @return 1, 0, or a negative code: a selector cannot be read */
int sw_admission_selects(struct sw_write *w, json_object *match, json_object *rules,
                         const char *operation, struct sw_err *err);
/** Whether the configuration @hook selects the write, whose review has @request (webhook_match.c).
 * @return 1, 0, or a negative code: a selector or a condition cannot be evaluated */
int sw_webhook_matches(struct sw_write *w, json_object *hook, json_object *request,
                       struct sw_err *err);
