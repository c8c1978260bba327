#pragma once
/* das: the SpecialResource for a DASOperator. */
struct json_object;

#define DAS_NAMESPACE "das-operator"
/** The Deployment of the operator, where `make deploy-das DAS_COMPAT=1` has put it. */
#define DAS_OPERATOR "das-operator"

/** The SpecialResource nvidia-mig for the DASOperator @doc, as it is applied; the caller's: chart,
 * and the values that follow from the operator's environment (RELATED_IMAGE_*, EMULATED_MODE) and
 * from spec: nodeSelector, logLevel, and unsupportedConfigOverrides, which are values of the
 * recipe. Pinned by test/emulator/operator/run_das_test.c. */
struct json_object *das_resource(struct json_object *doc);
/** Set the operator's own log level to spec.operatorLogLevel, if that is given. */
void das_log_level(struct json_object *doc);
