#pragma once
/* admission: a validating webhook for SpecialResources and SpecialResourceModules: who writes one
 * needs the verb use on the account that it is walked as. It asks what the
 * ValidatingAdmissionPolicy of charts/slipway asks, for API servers that do not have these. */
#include <stdbool.h>

#include "base/base.h"

struct json_object;
struct sw_kube;
struct sw_loop;
struct sw_admission;

/** Everything is borrowed until sw_admission_close(). */
struct sw_admission_opts {
    const char *address;       /* "HOST:PORT"; NULL or "0": not served */
    const char *cert_dir;      /* with tls.crt and tls.key, read again when they change */
    const char *operator_user; /* what this user writes is not asked about; NULL: none */
    bool legacy;          /* SW_RIGHTS_LEGACY: of resources that name no account nothing is asked */
    struct sw_kube *kube; /* to ask with */
};

/** What has to be asked of an AdmissionReview's author. */
struct sw_admission_question {
    bool asks;                /* false: nothing, and the rest is NULL */
    char *ns;                 /* of the account; "": all namespaces */
    char *account;            /* its name */
    struct json_object *user; /* request.userInfo */
};
/** Free what it owns. */
void sw_admission_question_done(struct sw_admission_question *question);
/** Find out what @review asks, which sw_kube_review_check() accepts.
 * @return 0 | SW_INVALID: it is no resource with a name, or has no author
 * Pinned by test/unit/operator/admission_test.c. */
int sw_admission_read(const struct sw_admission_opts *opts, struct json_object *review,
                      struct sw_admission_question *out, struct sw_err *err) SW_CHECKED;

/** Serve POST /validate on @loop, by HTTPS, and log the port. *@out is NULL where nothing is to be
 * served. While the API server cannot be asked, the answer is 503, which refuses the write. So is
 * one, but the operator's, whose specs and annotations take more than 8 MiB of memory.
 * @return 0 | SW_INVALID (an option) | SW_UNAVAILABLE, SW_FORBIDDEN (the address) */
int sw_admission_open(struct sw_loop *loop, const struct sw_admission_opts *opts,
                      struct sw_admission **out, struct sw_err *err) SW_CHECKED;
/** The port that it listens on; 0 for NULL. */
int sw_admission_port(const struct sw_admission *admission);
/** At once; before the client that it asks with. NULL is accepted. */
void sw_admission_close(struct sw_admission *admission);
