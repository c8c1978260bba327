#pragma once
/* decide: where a pod's slices fit, how well, and who would have to go. Asks the picture, changes
 * nothing. Internal to scheduler. */
#include "scheduler/picture.h"

/** Whether all of @pod's slices fit on the node named @node now.
 * @return 0 | SW_PENDING (no room: somebody has to leave) | SW_UNAVAILABLE (not usable now:
 * nobody's leaving helps) | SW_NOTFOUND (no GPUs to cut) | SW_FORBIDDEN (not labelled) | SW_INVALID
 * (never). The words name no node, so that equal ones can be counted; of a pod with one slice those
 * of each code but SW_UNAVAILABLE are the same for all nodes. */
int decide_fit(const struct picture *p, const struct pod *pod, const char *node,
               struct sw_err *err) SW_CHECKED;

/** How much the policy likes the node for it: 0 to 100; 0 where it does not fit. */
unsigned decide_score(const struct picture *p, const struct pod *pod, const char *node);

/** Who has to go from @node so that @pod fits. @victims, an array of @*n with room for @cap: whom
 * the scheduler would send away for its own reasons; filled up with further pods of lower priority
 * whose slices are needed, the most important first.
 * @return false: sending pods away does not help there, or nobody needs to go */
bool decide_victims(const struct picture *p, const struct pod *pod, const char *node,
                    const struct pod **victims, size_t *n, size_t cap);
