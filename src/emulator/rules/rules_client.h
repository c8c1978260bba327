#pragma once
/* rules_client: a real API server as what rules work on, by an ordinary client of it. What is there
 * is what watches have told; a write is begun, and what comes of it is heard of as a change. */
#include "emulator/rules/rules.h"

struct sw_kube;
struct sw_rules_client;

/** @kube must outlive it; its field manager is the rules'. */
struct sw_rules_client *sw_rules_client_new(struct sw_loop *loop, struct sw_kube *kube);
/** Cancels what is under way. NULL is accepted. */
void sw_rules_client_free(struct sw_rules_client *self);
/** For sw_rules_open(). Good as long as @self. */
struct sw_rules_backend sw_rules_client_backend(struct sw_rules_client *self);
/** Learn what the server serves, then start @rules: they see nothing before everything that they
 * look at has been read once. @failed: the server said no (SW_FORBIDDEN, SW_INVALID); asking goes
 * on while it is only unreachable. */
void sw_rules_client_start(struct sw_rules_client *self, struct sw_rules *rules,
                           void (*failed)(const struct sw_err *err, void *arg), void *arg);
