#include "emulator/emulator.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "data/text/base64.h"
#include "emulator/admission/webhook.h"
#include "emulator/api/rest.h"
#include "emulator/authorization/authorization.h"
#include "emulator/controllers/controllers.h"
#include "emulator/faults/faults.h"
#include "emulator/store/feature_gates.h"
#include "emulator/store/objects.h"
#include "emulator/tls.h"
#include "emulator/write/crds.h"
#include "emulator/write/gc.h"
#include "emulator/write/seed.h"

struct sw_emulator {
    struct sw_store *store;
    struct sw_crds *crds;
    struct sw_gc *gc;
    struct sw_rbac *rbac; /* or NULL */
    struct sw_ctl *ctl;
    struct sw_rest *rest;
    struct sw_faults *faults;     /* or NULL */
    struct sw_emulator_opts opts; /* with faults: the caller's hooks */
    struct sw_emulator_tls tls;   /* zero: plain HTTP */
    char *url;
};

/* "1.29", "v1.29.3" -> 29. */
static int parse_version(const char *text, int *minor, struct sw_err *err)
{
    const char *at = text + (text[0] == 'v');
    char *end = NULL;
    if (strncmp(at, "1.", 2) == 0 && isdigit((unsigned char)at[2])) {
        long n = strtol(at + 2, &end, 10);
        if ((*end == '\0' || *end == '.') && n >= SW_EMULATOR_OLDEST_MINOR &&
            n <= SW_EMULATOR_NEWEST_MINOR) {
            *minor = (int)n;
            return 0;
        }
    }
    return sw_err_set(err, SW_INVALID,
                      "'%s' is not a Kubernetes version that can be emulated: expected 1.%d to "
                      "1.%d",
                      text, SW_EMULATOR_OLDEST_MINOR, SW_EMULATOR_NEWEST_MINOR);
}

/* Faults by the plan, then the caller's hook, which may change them. */
static void plan_fault(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg)
{
    struct sw_emulator *emu = arg;
    sw_faults_on_request(req, fault, emu->faults);
    if (emu->opts.on_request)
        emu->opts.on_request(req, fault, emu->opts.arg);
}

static void on_answer(const struct sw_emu_request *req, int code, void *arg)
{
    struct sw_emulator *emu = arg;
    if (emu->opts.on_answer)
        emu->opts.on_answer(req, code, emu->opts.arg);
}

void sw_emulator_set_platform(struct sw_emulator_opts *opts, const char *name)
{
    const bool openshift = !name || sw_streq(name, "openshift");
    opts->platform = openshift ? SW_EMU_OPENSHIFT : SW_EMU_KUBERNETES;
    opts->cloud = openshift || sw_streq(name, "kubernetes") ? NULL : name;
}

static int set_feature_gates(struct sw_emulator *emu, const char *text, struct sw_err *err)
{
    struct sw_emu_gates gates;
    int rc = sw_emu_gates_parse(text, sw_store_minor(emu->store), &gates, err);
    if (rc == 0)
        sw_store_set_gates(emu->store, &gates);
    return rc;
}

static int open_modules(struct sw_emulator *emu, struct sw_loop *loop,
                        const struct sw_emulator_opts *opts, struct sw_err *err)
{
    int minor = 0;
    const char *version = opts->kube_version ? opts->kube_version : SW_EMULATOR_KUBE_VERSION;
    int rc = parse_version(version, &minor, err);
    if (rc < 0)
        return rc;
    emu->store = sw_store_new(loop, minor, opts->seed);
    rc = sw_kinds_configure(sw_store_kinds(emu->store), opts->runtime_config, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "--runtime-config");
    rc = set_feature_gates(emu, opts->feature_gates, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "--feature-gates");
    for (const char *at = opts->webhook_addresses; at && *at; at += *at == ',') {
        SW_AUTO_CHARS *one = sw_strndup(at, strcspn(at, ","));
        rc = sw_webhook_address(emu->store, one, err);
        if (rc < 0)
            return rc;
        at += strlen(one);
    }
    emu->crds = sw_crds_new(emu->store);
    emu->gc = sw_gc_new(emu->store);
    sw_seed(emu->store);
    if (opts->rbac)
        emu->rbac = sw_rbac_new(emu->store);
    rc = sw_ctl_open(emu->store, opts, &emu->ctl, err);
    if (rc < 0)
        return rc;
    sw_store_set_first_version(emu->store);
    if (opts->tls)
        rc = sw_emulator_tls_init(&emu->tls, opts->listen, err);
    if (rc < 0)
        return rc;
    return sw_rest_open(&(struct sw_rest_config){ .loop = loop,
                                                  .store = emu->store,
                                                  .listen = opts->listen,
                                                  .cert_pem = emu->tls.cert,
                                                  .key_pem = emu->tls.key,
                                                  .admin_token = emu->tls.admin_token,
                                                  .rbac = opts->rbac,
                                                  .on_request = opts->on_request,
                                                  .on_answer = opts->on_answer,
                                                  .arg = opts->arg },
                        &emu->rest, err);
}

static void set_url(struct sw_emulator *emu)
{
    free(emu->url);
    emu->url = sw_printf("http%s://%s", emu->tls.cert ? "s" : "", sw_rest_address(emu->rest));
}

int sw_emulator_open(struct sw_loop *loop, const struct sw_emulator_opts *opts,
                     struct sw_emulator **out, struct sw_err *err)
{
    struct sw_emulator *emu = sw_zalloc(1, sizeof *emu);
    struct sw_emulator_opts inner = *opts;
    int rc = opts->faults ? sw_faults_load(opts->faults, &emu->faults, err) : 0;
    if (emu->faults) {
        emu->opts = *opts;
        inner.on_request = plan_fault;
        inner.on_answer = on_answer;
        inner.arg = emu;
    }
    if (rc == 0)
        rc = open_modules(emu, loop, &inner, err);
    if (rc < 0) {
        sw_emulator_close(emu);
        return rc;
    }
    set_url(emu);
    if (emu->faults)
        sw_emulator_start_faults(emu, emu->faults);
    *out = emu;
    return 0;
}

void sw_emulator_close(struct sw_emulator *emu)
{
    if (!emu)
        return;
    sw_faults_free(emu->faults);
    sw_rest_close(emu->rest);
    sw_ctl_close(emu->ctl);
    sw_rbac_free(emu->rbac);
    sw_gc_free(emu->gc);
    sw_crds_free(emu->crds);
    sw_store_free(emu->store);
    sw_emulator_tls_done(&emu->tls);
    free(emu->url);
    free(emu);
}

const char *sw_emulator_url(const struct sw_emulator *emu)
{
    return emu->url;
}

struct sw_store *sw_emulator_store(struct sw_emulator *emu)
{
    return emu->store;
}

char *sw_emulator_token(const struct sw_emulator *emu, const char *ns, const char *account)
{
    return sw_rest_account_token(emu->store, ns, account);
}

void sw_emulator_drop(struct sw_emulator *emu)
{
    sw_rest_drop(emu->rest);
}

int sw_emulator_upgrade(struct sw_emulator *emu, const char *version, struct sw_err *err)
{
    int minor;
    int rc = parse_version(version, &minor, err);
    if (rc < 0)
        return rc;
    sw_store_upgrade(emu->store, minor);
    sw_ctl_upgrade(emu->ctl);
    sw_emulator_drop(emu);
    return 0;
}

int sw_emulator_set_feature_gates(struct sw_emulator *emu, const char *gates, struct sw_err *err)
{
    int rc = set_feature_gates(emu, gates, err);
    if (rc == 0)
        sw_emulator_drop(emu);
    return rc;
}

static void drop(void *arg)
{
    sw_emulator_drop(arg);
}

void sw_emulator_start_faults(struct sw_emulator *emu, struct sw_faults *faults)
{
    sw_faults_start(faults, emu->store, drop, emu);
}

void sw_emulator_accept(struct sw_emulator *emu)
{
    sw_rest_accept(emu->rest);
}

/* The parent waits until the child has its own sockets: they share those that the parent reads. */
pid_t sw_emulator_fork(struct sw_emulator *emu)
{
    int done[2];
    sw_emulator_accept(emu);
    if (pipe2(done, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        sw_rest_after_fork(emu->rest);
        sw_loop_after_fork(sw_store_loop(emu->store));
        set_url(emu);
    }
    (void)close(done[1]);
    while (pid > 0 && read(done[0], &(char){ 0 }, 1) < 0 && errno == EINTR)
        ;
    (void)close(done[0]);
    return pid;
}

uint64_t sw_emulator_n_requests(const struct sw_emulator *emu)
{
    return sw_rest_n_requests(emu->rest);
}

char *sw_emulator_kubeconfig(const struct sw_emulator *emu)
{
    const struct sw_emulator_tls *tls = &emu->tls;
    size_t len;
    SW_AUTO_CHARS *ca = tls->ca ? sw_base64_encode(tls->ca, strlen(tls->ca), &len) : NULL;
    SW_AUTO_CHARS *trusted = ca ? sw_printf("    certificate-authority-data: %s\n", ca) : NULL;
    SW_AUTO_CHARS *user = tls->admin_token ? sw_printf("{token: %s}", tls->admin_token) : NULL;
    return sw_printf("apiVersion: v1\n"
                     "kind: Config\n"
                     "clusters:\n"
                     "- name: emulator\n"
                     "  cluster:\n"
                     "    server: %s\n"
                     "%s"
                     "users:\n"
                     "- name: admin\n"
                     "  user: %s\n"
                     "contexts:\n"
                     "- name: emulator\n"
                     "  context:\n"
                     "    cluster: emulator\n"
                     "    user: admin\n"
                     "current-context: emulator\n",
                     emu->url, trusted ? trusted : "", user ? user : "{}");
}
