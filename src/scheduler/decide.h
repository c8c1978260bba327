#pragma once
/* decide: where a pod's slices fit, how well, and who would have to go. Asks the picture, changes
 * nothing. Internal to scheduler. */
#include "scheduler/picture.h"

/** What is the same for many nodes of one question about one pod. Zero: nothing is known yet. */
struct decide_look {
    const struct sw_mig_geometry *geometry;
    int kind; /* of the pod's profile there; -1: none */
};

/** Whether all of @pod's slices fit on @node now. @node: NULL where nothing is known of it. @look:
 * NULL, or one for all nodes of a question.
 * @return 0 | SW_PENDING (no room: somebody has to leave) | SW_UNAVAILABLE (not usable now:
 * nobody's leaving helps) | SW_NOTFOUND (no GPUs to cut) | SW_FORBIDDEN (not labelled) | SW_INVALID
 * (never). The words name no node, so that equal ones can be counted; of a pod with one slice those
 * of each code but SW_UNAVAILABLE are the same for all nodes. */
int decide_fit(const struct picture *p, const struct pod *pod, struct node *node,
               struct decide_look *look, struct sw_err *err) SW_CHECKED;

/** How much the policy likes the node for it: 0 to 100; 0 where it does not fit. */
unsigned decide_score(const struct picture *p, const struct pod *pod, const struct node *node);

/** Who has to go from @node so that @pod fits. @victims, an array of @*n with room for @cap: whom
 * the scheduler would send away for its own reasons; filled up with further pods of lower priority
 * whose slices are needed, the most important first.
 * @return false: sending pods away does not help there, or nobody needs to go */
bool decide_victims(const struct picture *p, const struct pod *pod, const struct node *node,
                    const struct pod **victims, size_t *n, size_t cap);
