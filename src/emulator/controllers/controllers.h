#pragma once
/* ctl: what makes the embedded cluster live. Controllers that behave as kube-controller-manager's,
 * kube-scheduler and kubelet do, as far as their work can be seen in the API: workloads get pods,
 * pods get nodes, run and end; and the YAML rules (rules.h) that say what custom resources do.
 * They hear of changes from the store and write to it; they never wait and hold no socket. What
 * they leave to the API server's part (store.h): validation, admission, garbage collection, the end
 * of namespaces. */
#include "emulator/emulator.h"

struct sw_ctl;
struct sw_err;
struct sw_store;

/** Make the cluster that @opts asks for in an empty @store: reads the rules (built in, and those of
 * opts->rules_dir), creates the first objects (nodes, namespaces, the platform's CRDs and objects),
 * and starts the controllers unless opts->no_controllers. Of @opts it uses platform, n_nodes,
 * no_nodes, no_controllers, kube_version, rules_dir, troubles, delays and seed; strings are copied.
 * Rules run without the controllers, too. @return 0 | SW_INVALID (a rule: file:line and what is
 * wrong with it; too few nodes) | SW_NOTFOUND (opts->rules_dir) */
int sw_ctl_open(struct sw_store *store, const struct sw_emulator_opts *opts, struct sw_ctl **out,
                struct sw_err *err);
/** Stops everything; before the store is freed. NULL is accepted. */
void sw_ctl_close(struct sw_ctl *ctl);
/** The store is of another release now: start the controllers of kinds that it serves anew. */
void sw_ctl_upgrade(struct sw_ctl *ctl);
