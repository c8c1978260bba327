#pragma once
/* rules_store: the backend of rules for the emulator's store. */
#include "emulator/rules/rules.h"
#include "emulator/store/store.h"

struct sw_rules_store;

/** A new backend, which the caller frees before @store. @pods_of calls @cb for each pod of a node,
 * by the controllers' index; NULL: all pods are searched. */
struct sw_rules_store *sw_rules_store_new(struct sw_store *store,
                                          void (*pods_of)(void *arg, const char *node,
                                                          int (*cb)(json_object *doc, void *arg),
                                                          void *cb_arg),
                                          void *arg);
/** Free the backend. NULL is accepted. */
void sw_rules_store_free(struct sw_rules_store *self);
/** For sw_rules_open(). Valid as long as @self. */
struct sw_rules_backend sw_rules_store_backend(struct sw_rules_store *self);
/** From now on, report the store's changes to @rules. */
void sw_rules_store_attach(struct sw_rules_store *self, struct sw_rules *rules);
