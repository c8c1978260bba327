#pragma once
/* rules_client: the backend of rules for a real API server, by an ordinary client of it. Reads
 * return what watches have reported; writes are asynchronous, and their results are reported as
 * changes. */
#include "emulator/rules/rules.h"

struct sw_kube;
struct sw_rules_client;

/** A new backend, which the caller frees before @kube. The rules write with @kube's field manager.
 */
struct sw_rules_client *sw_rules_client_new(struct sw_loop *loop, struct sw_kube *kube);
/** Cancel all requests and free the backend. NULL is accepted. */
void sw_rules_client_free(struct sw_rules_client *self);
/** For sw_rules_open(). Valid as long as @self. */
struct sw_rules_backend sw_rules_client_backend(struct sw_rules_client *self);
/** Discover the server's kinds, then start @rules. Objects are reported to them when all kinds that
 * they watch have been read once. @failed is called when the server refuses (SW_FORBIDDEN,
 * SW_INVALID); while it is unreachable, discovery is repeated. */
void sw_rules_client_start(struct sw_rules_client *self, struct sw_rules *rules,
                           void (*failed)(const struct sw_err *err, void *arg), void *arg);
