#pragma once
/* A node of the bench: an API server that is played, and slipway-device-plugin as a process of its
 * own with made up GPUs, in a folder that goes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "net/grpc/grpc.h"
#include "process.h"

static const char crd[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/"
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"
    "{\"name\":\"%s.inference.redhat.com\"},\"spec\":{\"group\":\"inference.redhat.com\",\"scope\":"
    "\"Namespaced\",\"names\":{\"kind\":\"%s\",\"plural\":\"%s\"},\"versions\":[{\"name\":"
    "\"v1alpha1\","
    "\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{"
    "\"openAPIV3Schema\":"
    "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

static struct sw_loop *loop;
static struct sw_emulator *emu;
static struct sw_kube *kube;
static char dir[] = "/tmp/slipway-bench-XXXXXX";
static char *answer; /* of the last request */
static int answer_code;
static bool answered;

static inline void die(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void on_answer(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    free(answer);
    answer = sw_strdup(a->text ? a->text : "");
    answer_code = a->code;
    answered = true;
}

/** @return what is answered, the caller's */
static struct json_object *ask(const char *method, const char *path, const char *body)
{
    answered = false;
    const bool patch = strcmp(method, "PATCH") == 0;
    (void)sw_kube_raw(
        kube, method, path,
        &(struct sw_request_opts){ .body = body,
                                   .content_type = patch ? "application/merge-patch+json" : NULL },
        on_answer, NULL);
    while (!answered)
        sw_loop_step(loop, 1000);
    struct json_object *doc = NULL;
    (void)!sw_json_parse(answer, strlen(answer), NULL, &doc, NULL);
    return doc;
}

/** Create an object; @body is taken. */
static void make(const char *path, char *body)
{
    SW_AUTO_JSON *doc = ask("POST", path, body);
    if (answer_code < 0)
        die(answer);
    free(body);
}

/** An API server alone, and the file DIR/kubeconfig. */
static void start_cluster(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    sw_log_set_level(SW_LOG_ERROR);
    if (!mkdtemp(dir))
        die(dir);
    loop = sw_loop_new(NULL);
    SW_ERR(err);
    if (sw_emulator_open(loop,
                         &(struct sw_emulator_opts){ .no_nodes = true, .no_controllers = true },
                         &emu, &err) < 0)
        die(sw_err_text(&err));
    struct sw_kube_config *config = sw_kube_config_new(sw_emulator_url(emu));
    SW_AUTO_CHARS *file = sw_printf("%s/kubeconfig", dir);
    SW_AUTO_CHARS *text = sw_kubeconfig_text(config, "bench");
    if (sw_file_write(file, text, strlen(text), &err) < 0 ||
        sw_kube_new(loop, config, NULL, &kube, &err) < 0)
        die(sw_err_text(&err));
    sw_kube_config_free(config);
    make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         sw_printf(crd, "allocationclaims", "AllocationClaim", "allocationclaims"));
    make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         sw_printf(crd, "nodeaccelerators", "NodeAccelerator", "nodeaccelerators"));
    make("/api/v1/namespaces", sw_strdup("{\"metadata\":{\"name\":\"das-operator\"}}"));
    make("/api/v1/nodes", sw_strdup("{\"metadata\":{\"name\":\"node\"}}"));
}

/** @face: "--api=dra" */
static pid_t start_plugin(const char *program, const char *face)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    SW_AUTO_CHARS *kubeconfig = sw_printf("--kubeconfig=%s/kubeconfig", dir);
    SW_AUTO_CHARS *kubelet = sw_printf("--kubelet-dir=%s/kubelet", dir);
    SW_AUTO_CHARS *cdi = sw_printf("--cdi-dir=%s/cdi", dir);
    SW_AUTO_CHARS *journal = sw_printf("--journal-dir=%s/journal", dir);
    (void)execl(program, program, "--node-name=node", "--emulated-mode", "--log-level=warn",
                "--health-probe-bind-address=127.0.0.1:0", face, kubeconfig, kubelet, cdi, journal,
                NULL);
    _exit(127);
}

static bool call_is_over;
static void on_call_done(int code, const char *words, void *arg SW_UNUSED)
{
    if (code != SW_GRPC_OK)
        die(words);
    call_is_over = true;
}

/** One call of gRPC. @socket: in the folder of kubelet; @on_message: NULL, or gets the answer.
 * @return the seconds it took */
static double call(const char *socket, const char *path, const void *message, size_t len_bytes,
                   void (*on_message)(const uint8_t *message, size_t len_bytes, void *arg))
{
    SW_AUTO_CHARS *file = sw_printf("%s/kubelet/%s", dir, socket);
    const double began = now_s();
    call_is_over = false;
    (void)sw_grpc_request_start(loop, &(struct sw_grpc_request_opts){ .socket = file,
                                                                      .path = path,
                                                                      .message = message,
                                                                      .len_bytes = len_bytes,
                                                                      .timeout_ms = 20000,
                                                                      .on_message = on_message,
                                                                      .on_done = on_call_done });
    while (!call_is_over)
        sw_loop_step(loop, 1000);
    return now_s() - began;
}

/** End all, and remove the folder. @return the program's exit status */
static int end_node(pid_t pid)
{
    SW_AUTO_CHARS *clean = sw_printf("rm -r %s", dir);
    end_process(pid, SIGTERM);
    sw_kube_free(kube);
    sw_emulator_close(emu);
    sw_loop_free(loop);
    free(answer);
    return system(clean) != 0;
}
