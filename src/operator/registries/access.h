#pragma once
/* access: reading what the cluster and the machine say about registries. */
#include "operator/registries/registries.h"

struct sw_access;

/** @code: 0 | what makes asking useless: registries.conf. @lookup: all that a lookup depends on
 * (chart/registry/lookup.h), without its question: a new document, the callee's; NULL on failure.
 */
typedef void access_fn(int code, const char *message, struct json_object *lookup, void *arg);
/** Answers once, never before it returned; sw_access_close(). @ns may be NULL. */
struct sw_access *access_open(struct sw_registries *r, const char *ns, enum sw_access_scope scope,
                              access_fn *fn, void *arg);

/** Layers that earlier lookups for @ns have told; borrowed, NULL: none. */
struct json_object *access_layers(const struct sw_registries *r, const char *ns);
/** A lookup has answered: keep its layers, and log its warnings. */
void access_learn(struct sw_registries *r, const char *ns, struct json_object *answer);
struct group;
/** The questions that more may join (question.c): the first of a list. */
struct group **access_groups(struct sw_registries *r);
/** Where questions are asked; NULL: in this process. */
struct sw_fetch_queue *access_fetches(const struct sw_registries *r);
struct sw_loop *access_loop(const struct sw_registries *r);
