#pragma once
/* feature_gates: which feature gates of the emulated release are on. Of Kubernetes' gates those are
 * known that decide what the emulator keeps of an object, or answers. Source:
 * pkg/features/kube_features.go. */
#include <stdbool.h>

struct sw_err;
struct sw_store;

enum sw_emu_gate {
    SW_EMU_DRA_ADMIN_ACCESS,
    SW_EMU_DRA_CONSUMABLE_CAPACITY,
    SW_EMU_DRA_DEVICE_BINDING_CONDITIONS,
    SW_EMU_DRA_DEVICE_TAINTS,
    SW_EMU_DRA_EXTENDED_RESOURCE,
    SW_EMU_DRA_PARTITIONABLE_DEVICES,
    SW_EMU_DRA_PRIORITIZED_LIST,
    SW_EMU_WATCH_LIST,
    SW_EMU_N_GATES
};

/** The gates that are said to be on or off, a bit each; the others are as in the release. */
struct sw_emu_gates {
    unsigned on, off;
};

/** Read "Gate=true,Gate=false", as kube-apiserver's flag --feature-gates has it; NULL: none.
 * @minor: of the release @return 0 | SW_INVALID: which gate, and why */
int sw_emu_gates_parse(const char *text, int minor, struct sw_emu_gates *out, struct sw_err *err);
/** Whether @gate is on: as it was said, else as it is by default in the store's release of now. */
bool sw_store_gate(const struct sw_store *store, enum sw_emu_gate gate);
/** What is said of the gates from now on. */
void sw_store_set_gates(struct sw_store *store, const struct sw_emu_gates *gates);
