#pragma once
/* feature_gates: which feature gates of Dynamic Resource Allocation are on at an API server. A
 * server drops the fields of a gate that is off, so an object with the field is created by a dry
 * run, and the field is looked for in what comes back; the server's version does not tell, as a
 * gate may be switched. Source: Kubernetes' pkg/registry/resource (dropDisabledFields) and
 * pkg/apis/resource/validation. */
#include <stdbool.h>

struct sw_err;
struct sw_gates_question;
struct sw_kube;

enum sw_feature_gate {
    /** Devices take counters of a set that is in another ResourceSlice of the pool. (The first form
     * of the gate, up to 1.34, wants both in one slice: it counts as off.) */
    SW_GATE_PARTITIONABLE_DEVICES,
    /** DeviceClasses have an extendedResourceName. */
    SW_GATE_EXTENDED_RESOURCE,
    SW_N_FEATURE_GATES
};
/** As Kubernetes calls them: "DRAPartitionableDevices", "DRAExtendedResource". */
extern const char *const sw_feature_gate_names[SW_N_FEATURE_GATES];

enum sw_gate_state { SW_GATE_UNKNOWN, SW_GATE_OFF, SW_GATE_ON };

/** Borrowed for the call. */
struct sw_gates_answer {
    enum sw_gate_state gates[SW_N_FEATURE_GATES];
    /** Why the first gate that is not on is not, for people: the server's message, say, if it
     * refused the dry run. NULL if all are on. */
    const char *why;
};
/** @code: 0 | SW_UNAVAILABLE: no answer, @err says why. The question is over, and freed. */
typedef void sw_gates_fn(int code, const struct sw_gates_answer *answer, const struct sw_err *err,
                         void *arg);

/** Copied, but for the purpose. */
struct sw_gates_ask {
    const char *node;    /* the ResourceSlice would be of it, where only its own may be made; NULL:
                            of no node in particular */
    const char *as_user; /* as in sw_request_opts, as the next one */
    const char *purpose;
};
/** Ask. It takes the right to create ResourceSlices and DeviceClasses, as a dry run does: without
 * it a gate is SW_GATE_UNKNOWN. Until @cb is called the question is the caller's. */
struct sw_gates_question *sw_gates_ask(struct sw_kube *kube, const struct sw_gates_ask *ask,
                                       sw_gates_fn *cb, void *arg);
/** @cb is not called any more. NULL is accepted. */
void sw_gates_cancel(struct sw_gates_question *question);
