#pragma once
/* pod_security: the levels of Pod Security that a namespace enforces. */
#include "emulator/store/change.h"

/** Admission: refuse a new Pod that the namespace's level (the label
 * pod-security.kubernetes.io/enforce) does not allow. Of the standards' checks those are here that
 * recipes meet: privileged containers, the host's namespaces, paths and ports, added capabilities;
 * at `restricted` also escalation, dropped capabilities, root and seccomp.
 * Source: Kubernetes "Pod Security Standards", and the texts of k8s.io/pod-security-admission. */
int sw_pod_security(struct sw_write *w);
