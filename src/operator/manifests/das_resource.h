#pragma once
/* das_resource: the SpecialResource for a DASOperator. */
struct json_object;

/** The DASOperator that is carried out. */
#define DAS_NAME "cluster"
#define DAS_NAMESPACE "das-operator"
/** On the SpecialResource nvidia-mig: the uid of the namespaced DASOperator that it is for, and
 * goes with. */
#define DAS_OWNER_ANNOTATION "slipway.dev/das-owner"
/** The Deployment of the operator, where `make deploy-das DAS_COMPAT=1` has put it. */
#define DAS_OPERATOR "das-operator"

/** The SpecialResource nvidia-mig for the DASOperator @doc, as it is applied; the caller's: chart,
 * and the values that follow from the operator's environment (RELATED_IMAGE_*, EMULATED_MODE) and
 * from spec: nodeSelector, logLevel, and unsupportedConfigOverrides, which are values of the
 * recipe. Pinned by test/emulator/operator/run_das_test.c. */
struct json_object *sw_das_resource(struct json_object *doc);
/** Set the operator's own log level to spec.operatorLogLevel, if that is given. */
void sw_das_log_level(struct json_object *doc);
