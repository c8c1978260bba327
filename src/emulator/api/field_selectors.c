#include "emulator/api/field_selectors.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/store/kinds.h"

/* Source: the field label conversion functions of Kubernetes' API groups. */
static const struct {
    const char *group, *kind, *fields;
} rows[] = {
    { "", "Pod",
      "spec.nodeName,spec.restartPolicy,spec.schedulerName,spec.serviceAccountName,"
      "spec.hostNetwork,status.phase,status.podIP,status.nominatedNodeName" },
    { "", "Node", "spec.unschedulable" },
    { "", "Namespace", "status.phase" },
    { "", "Secret", "type" },
    { "", "ReplicationController", "status.replicas" },
    { "", "Service", "spec.clusterIP,spec.type" },
    { "", "Event",
      "involvedObject.kind,involvedObject.namespace,involvedObject.name,involvedObject.uid,"
      "involvedObject.apiVersion,involvedObject.resourceVersion,involvedObject.fieldPath,reason,"
      "reportingComponent,source,type" },
    { "events.k8s.io", "Event",
      "regarding.kind,regarding.namespace,regarding.name,regarding.uid,reason,"
      "reportingController,type" },
    { "apps", "ReplicaSet", "status.replicas" },
    { "batch", "Job", "status.successful" },
    { "resource.k8s.io", "ResourceSlice", "spec.nodeName,spec.driver" },
    { "certificates.k8s.io", "CertificateSigningRequest", "spec.signerName" },
};

bool sw_fields_selectable(const struct sw_emu_kind *kind, const char *version, const char *field)
{
    if (strcmp(field, "metadata.name") == 0 || strcmp(field, "metadata.namespace") == 0)
        return true;
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (strcmp(kind->group, rows[i].group) == 0 && strcmp(kind->kind, rows[i].kind) == 0)
            return sw_names_contain(rows[i].fields, field);
    json_object *declared = sw_json_get(sw_crd_version(kind, version), "selectableFields");
    for (size_t i = 0; i < sw_json_len(declared); i++) {
        const char *path = sw_json_str(sw_json_at(declared, i), "", "jsonPath", NULL);
        if (path[0] == '.' && strcmp(path + 1, field) == 0)
            return true;
    }
    return false;
}
