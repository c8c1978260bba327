#pragma once
/* data: documents. A document is a json-c tree (`struct json_object *`, where JSON's null is the
 * NULL pointer); this module reads and writes them as JSON and YAML the way Kubernetes' own tools
 * do, finds and changes what is in them, patches, compares, hashes and selects them.
 *
 * It does not know the meaning of fields, except for the merge keys of strategic merge patches. It
 * does no I/O.
 *
 *   sink.h      the events that readers give and writers take; below json-c
 *   json.h      JSON text <-> documents, ownership, equality
 *   yaml.h      YAML text <-> documents, as sigs.k8s.io/yaml
 *   number.h    numbers as Go prints and reads them
 *   path.h      borrowed getters and setters by path; JSON pointers
 *   jsonpath.h  kubectl's JSONPath, and conditions such as `{.phase} == Running`
 *   merge.h     merge patch, JSON patch, strategic merge patch
 *   selector.h  label, field and node selectors
 *   quantity.h  Kubernetes' resource quantities
 *   stream.h    lists and watches read as they arrive, keeping only declared fields
 *   condition.h conditions in the status of Kubernetes objects
 *   hash.h      SHA-256 of a document
 *   diff.h      unified diff of two texts
 *   time.h      RFC 3339
 *   unicode.h   letters and digits */
#include "data/json/condition.h"
#include "data/json/hash.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/json/sink.h"
#include "data/json/stream.h"
#include "data/jsonpath/jsonpath.h"
#include "data/patch/merge.h"
#include "data/selector/selector.h"
#include "data/text/diff.h"
#include "data/text/number.h"
#include "data/text/quantity.h"
#include "data/text/time.h"
#include "data/text/unicode.h"
#include "data/yaml/yaml.h"
