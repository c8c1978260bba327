#!/usr/bin/env python3
"""Write src/cli/lint/fields.txt: the fields of Kubernetes' kinds, for `slipway lint`.

usage: hack/field-table.py MODELS >src/cli/lint/fields.txt

MODELS: the folder dist/gen/models of the npm package @kubernetes/client-node, whose classes are made
from the OpenAPI document of a release and say the name and type of each field. The file has a line a
type, "Type field:type ...", and a line a kind, "=Type group/version Kind ...". Types of fields: s
text, i integer, n number, b true or false, x anything, [ before it a list, { before it a map; else
the name of a type.
"""
import json
import os
import re
import sys

GROUPS = {  # group/version: kinds (each is of the class V1<Kind> where no other is named)
    "v1": "Binding ConfigMap Endpoints Event=CoreV1Event LimitRange Namespace Node PersistentVolume "
          "PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service "
          "ServiceAccount",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "batch/v1": "CronJob Job",
    "batch/v1beta1": "CronJob",
    "autoscaling/v1": "HorizontalPodAutoscaler",
    "autoscaling/v2": "HorizontalPodAutoscaler=V2HorizontalPodAutoscaler",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy",
    "policy/v1": "PodDisruptionBudget",
    "policy/v1beta1": "PodDisruptionBudget",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment",
    "node.k8s.io/v1": "RuntimeClass",
    "coordination.k8s.io/v1": "Lease",
    "discovery.k8s.io/v1": "EndpointSlice",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
    "apiregistration.k8s.io/v1": "APIService",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration ValidatingWebhookConfiguration "
                                       "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
    "resource.k8s.io/v1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
}
SCALARS = {"string": "s", "Date": "s", "V1MicroTime": "s", "boolean": "b", "any": "x",
           "IntOrString": "x", "object": "x"}
# quantities are text in the models, and numbers in many a manifest
QUANTITIES = {"limits", "requests", "capacity", "allocatable", "hard", "used", "min", "max", "default",
              "defaultRequest", "maxLimitRequestRatio", "overhead", "podFixed", "sizeLimit",
              "allocatedResources", "divisor", "averageValue", "maximumVolumeSize"}


def fields(models, cls):
    with open(os.path.join(models, cls + ".js"), encoding="utf-8") as f:
        text = f.read()
    found = re.search(r"attributeTypeMap = (\[.*?\n\]);", text, re.S)
    return json.loads(found.group(1)) if found else []


def type_of(name, t, fmt, todo):
    if t.startswith("Array<"):
        return "[" + type_of(name, t[6:-1], fmt, todo)
    if t.startswith("{ [key: string]: "):
        return "{" + type_of(name, t[len("{ [key: string]: "):-3], fmt, todo)
    if name in QUANTITIES and t == "string":
        return "x"
    if t == "number":
        return "n" if fmt == "double" else "i"
    if t in SCALARS:
        return SCALARS[t]
    todo.append(t)
    return t


def main():
    models, out, todo, done = sys.argv[1], [], ["V1ObjectMeta"], set()
    for gv, kinds in GROUPS.items():
        for kind in kinds.split():
            name, _, cls = kind.partition("=")
            cls = cls or "V1" + name
            todo.append(cls)
            out.append(f"={cls} {gv} {name}")
    while todo:
        cls = todo.pop(0)
        if cls in done:
            continue
        done.add(cls)
        row = [f"{a['baseName']}:{type_of(a['baseName'], a['type'], a['format'], todo)}" for a in fields(models, cls)]
        out.append(" ".join([cls] + row))
    release = re.search(r"version: (release-\S+)", open(os.path.join(models, "V1Pod.js"), encoding="utf-8").read())
    print(f"# Made by hack/field-table.py from Kubernetes' {release.group(1)}; do not edit.")
    for line in sorted(out):
        print(line)


main()
