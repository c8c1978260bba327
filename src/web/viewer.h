#pragma once
/* viewer: what those may read who have the page of the controller open. The page is made with the
 * operator's rights; of each object a viewer is sent only what he could list himself, by
 * SubjectAccessReviews. What is not known yet is asked, and not shown until it is answered.
 * Internal to web. */
#include <stdbool.h>

struct json_object;
struct sw_kube;
struct sw_loop;
struct web_viewer;
struct web_viewers;

/** A verb on a kind. */
enum web_right {
    WEB_LIST_RESOURCES, /* SpecialResources */
    WEB_LIST_NODES,
    WEB_LIST_ACCELERATORS,
    WEB_LIST_DEVICES, /* ResourceSlices */
    WEB_LIST_EVENTS,  /* of a namespace, as those below */
    WEB_LIST_PODS,
    WEB_GET_LOGS,
    WEB_N_RIGHTS,
};

enum web_answer {
    WEB_UNKNOWN, /* it is being asked, or the API server did not answer */
    WEB_NO,
    WEB_YES,
};

/** All questions that were open for @viewer are answered; @changed: one of them otherwise than
 * before. */
typedef void web_settled_fn(struct web_viewer *viewer, bool changed, void *arg);

/** @loop and @kube are borrowed. */
struct web_viewers *web_viewers_new(struct sw_loop *loop, struct sw_kube *kube,
                                    web_settled_fn *settled, void *arg);
/** Cancels what is asked. NULL is accepted. */
void web_viewers_free(struct web_viewers *all);
/** Who @user ({"username", "groups", ...} of a TokenReview) is; held until web_viewer_release(). */
struct web_viewer *web_viewer_hold(struct web_viewers *all, struct json_object *user);
/** NULL is accepted. His answers are kept for who holds him soon again. */
void web_viewer_release(struct web_viewer *viewer);
/** Ask again what was answered some seconds ago, of those that are held. */
void web_viewers_refresh(struct web_viewers *all);

/** May he, in @ns ("": in all)? An answer counts for some seconds; an older one is given while it
 * is asked again. */
enum web_answer web_viewer_may(struct web_viewer *viewer, enum web_right right, const char *ns);
/** Whether no question is open. */
bool web_viewer_is_settled(const struct web_viewer *viewer);
/** What he sees of the object @key ("NAMESPACE/NAME") of @kind, @text in JSON ("null": it is gone):
 * @text, or *@own, heap and the caller's, without the names of pods that he may not list. NULL:
 * nothing. */
const char *web_viewer_see(struct web_viewer *viewer, const char *kind, const char *key,
                           const char *text, char **own);
/** What was asked for and is not his to read: {KIND: {NAMESPACE: "you may not ..."}}. The caller's.
 * Pinned by test/emulator/web/dashboard_service_test.sh. */
struct json_object *web_viewer_hidden(const struct web_viewer *viewer);
/** "you may not read logs in namespace X (needs: get pods/log)"; heap. */
char *web_right_text(enum web_right right, const char *ns);
