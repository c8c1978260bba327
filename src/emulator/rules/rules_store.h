#pragma once
/* rules_store: the emulator's own store as what rules work on. */
#include "emulator/rules/rules.h"
#include "emulator/store/store.h"

struct sw_ctl;
struct sw_rules_store;

/** @pods_of: each pod of a node, by the controllers' index; NULL: all pods are looked through. */
struct sw_rules_store *sw_rules_store_new(struct sw_store *store,
                                          void (*pods_of)(void *arg, const char *node,
                                                          int (*cb)(json_object *doc, void *arg),
                                                          void *cb_arg),
                                          void *arg);
void sw_rules_store_free(struct sw_rules_store *self);
/** For sw_rules_open(). Good as long as @self. */
struct sw_rules_backend sw_rules_store_backend(struct sw_rules_store *self);
/** Whom to tell of changes. */
void sw_rules_store_tell(struct sw_rules_store *self, struct sw_rules *rules);
