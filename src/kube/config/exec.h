#pragma once
/* exec: the client's identity from a program that the kubeconfig names (users' exec), as the
 * command line tools of EKS, GKE, AKS and OpenID Connect are called. Source: Kubernetes
 * "Authenticating", client-go credential plugins; client.authentication.k8s.io/v1 and v1beta1.
 * Pinned by test/unit/kube/kube_exec_test.c. */
#include <stdint.h>

#include "base/base.h"
#include "kube/config/kubeconfig.h"

struct json_object;

/** What the program has answered. Owned; sw_exec_answer_done() wipes it. */
struct sw_exec_answer {
    char *token;      /* NULL: certificates alone */
    char *cert, *key; /* PEM; NULL: the token alone */
    int64_t
        until_ms; /* since 1970: then it is asked again; INT64_MAX: when the server rejects it */
};

/** Check the user's @exec, and keep what is needed to call it in the configuration. @dir: of the
 * kubeconfig, for a command that is a relative path; NULL: the working directory. @extension: the
 * cluster's extension client.authentication.k8s.io/exec, or NULL.
 * @return NULL, or what is wrong with it: "command: missing", heap */
char *sw_exec_check(struct json_object *exec, const char *dir, struct json_object *extension,
                    struct sw_kube_config *config);

/** Call the program of @config (which has one), and wait for it: a minute at most, or where it may
 * ask on the terminal, as long as it takes. Its stderr is this process's.
 * @return 0 | SW_NOTFOUND: there is no such program | SW_UNAVAILABLE: it failed, or took too long |
 * SW_INVALID: its answer is none */
int sw_exec_ask(const struct sw_kube_config *config, struct sw_exec_answer *out,
                struct sw_err *err) SW_CHECKED;
/** As sw_exec_ask(), but the answer that this process had last time from the same program for the
 * same cluster, where that is still valid. */
int sw_exec_get(const struct sw_kube_config *config, struct sw_exec_answer *out,
                struct sw_err *err) SW_CHECKED;
/** Free what it holds; all zero is accepted. */
void sw_exec_answer_done(struct sw_exec_answer *answer);
