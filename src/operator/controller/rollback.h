#pragma once
/* spec.rollback: the content with which each state was ready last, kept in a Secret of the
 * resource, and rendered again where what came after it failed.
 *
 * The Secret is written when a state is ready with new content, and when one is rolled back, before
 * that is begun: a controller that dies between the two decides the same again. It is read once,
 * when the controller meets the resource. */
#include "operator/controller/internal.h"

#define ROLLBACK_FORWARD "forward"
#define ROLLBACK_BACK "back"

/** Is what was kept known, as far as the resource asks for it? Else plan_resume() is called. */
bool rollback_is_known(struct resource *r);
/** A state was rendered to @fresh, an array of {doc, only, ...}, borrowed. What is only to go
 * forward (hooks of an upgrade) is left out of a rollback, what is only to go back (its own hooks)
 * is for it alone, once for each.
 * @return what to take instead, the caller's, with *@words, borrowed until the next call: what had
 * failed; or NULL: take what came */
struct json_object *rollback_take(struct resource *r, const char *state, const char *variant,
                                  struct json_object *fresh, const char **words);
/** The engine has made a step: keep what is ready, roll back what failed. */
void rollback_update(struct resource *r);
/** Is a state rolled back now? */
bool rollback_is_active(const struct resource *r);
/** Nothing is applied any more: nothing is kept. */
void rollback_remove(struct resource *r);
void rollback_close(struct resource *r);
