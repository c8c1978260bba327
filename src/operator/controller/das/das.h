#pragma once
/* What a DASOperator says, as the SpecialResource that does it. Internal to controller. */
struct json_object;

#define DAS_NAMESPACE "das-operator"

/** The SpecialResource nvidia-mig that the DASOperator @doc stands for, as it is applied: chart,
 * and the values that follow from the operator's environment (RELATED_IMAGE_*, EMULATED_MODE) and
 * from spec: nodeSelector, logLevel, and unsupportedConfigOverrides, which are values of the
 * recipe. Pinned by test/emulator/operator/run_das_test.c. */
struct json_object *das_resource(struct json_object *doc);
/** The operator's own log follows spec.operatorLogLevel where that is given. */
void das_log_level(struct json_object *doc);
