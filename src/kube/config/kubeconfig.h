#pragma once
/* kubeconfig: the API server's address and certificates, and the client's identity, from kubeconfig
 * files as kubectl reads them, or from the service account of the pod. It sends no request. */
#include <stdbool.h>
#include <stddef.h>

struct json_object;
struct sw_err;

/** One server and one identity. All strings are owned and NULL where not set; fill one by hand
 * (from sw_zalloc and sw_strdup) or get it from sw_kubeconfig_load(). Data wins over file, token
 * file over token, as in client-go. */
struct sw_kube_config {
    char *source;     /* for messages: "/root/.kube/config, context 'a'" */
    char *server;     /* "https://10.0.0.1:6443", perhaps with a path; no '/' at its end */
    char *ns;         /* the context's namespace; NULL: none */
    char *ca_data;    /* PEM */
    char *ca_file;    /* read when a client starts */
    char *cert_data;  /* PEM */
    char *cert_file;  /* read when a client starts */
    char *key_data;   /* PEM */
    char *key_file;   /* read when a client starts */
    char *token;      /* bearer token */
    char *token_file; /* read again when it has changed, at most once a second */
    char *username;   /* with password: basic authentication */
    char *password;
    char *as_user;            /* Impersonate-User */
    char **as_groups;         /* Impersonate-Group, ended by NULL; NULL: none */
    char *tls_server_name;    /* the name to request and to verify instead of the server's */
    char *proxy_url;          /* NULL: that of the environment (HTTPS_PROXY, NO_PROXY) */
    bool insecure;            /* the certificate is not verified */
    struct json_object *exec; /* a program gives token or certificate (exec.h); NULL: none. Owned */
};

/** Choices for loading; the zero value: as kubectl without flags. */
struct sw_kubeconfig_opts {
    const char *path;    /* one file (--kubeconfig); NULL: $KUBECONFIG (several, merged), else
                            in-cluster,    else ~/.kube/config */
    const char *context; /* NULL: current-context */
    const char *server;  /* instead of the cluster's */
    const char *cluster, *user; /* instead of the context's */
    const char *token;          /* instead of what the user has */
    const char *as_user;        /* instead of the user's "as"; then it has no groups but these: */
    const char *as_groups;      /* instead of its "as-groups"; separated by commas */
    const char *ns;             /* instead of the context's */
    const char *service_account_dir; /* NULL: where Kubernetes mounts it in every pod */
};

/** Load one identity. Files named relatively in a kubeconfig are relative to that kubeconfig's
 * folder. Of several files the first that sets a field wins, as kubectl merges them; ones in
 * $KUBECONFIG that do not exist are skipped. @opts may be NULL.
 * @return 0 | SW_NOTFOUND: there is no kubeconfig and this is not a pod | SW_FORBIDDEN: a file may
 * not be read | SW_INVALID: file, context and field are named; auth-provider, which Kubernetes has
 * dropped, is refused
 * Source: Kubernetes "Organizing Cluster Access Using kubeconfig Files"; client-go
 * rest.InClusterConfig. Pinned by test/unit/kube/kube_config_test.c. */
int sw_kubeconfig_load(const struct sw_kubeconfig_opts *opts, struct sw_kube_config **out,
                       struct sw_err *err);

/** The names in a list of the kubeconfigs: "contexts", "clusters" or "users"; each once, as a JSON
 * list that is the caller's. Empty where there is no kubeconfig, or none that can be read. */
struct json_object *sw_kubeconfig_names(const struct sw_kubeconfig_opts *opts, const char *list);

/** Read one kubeconfig's text as sw_kubeconfig_load() reads a file. @path: for messages and for
 * relative file names. */
int sw_kubeconfig_parse(const char *path, const char *text, size_t len_bytes, const char *context,
                        struct sw_kube_config **out, struct sw_err *err);

/** A configuration with only the server's address (no TLS data, no identity); the caller sets the
 * other fields. */
struct sw_kube_config *sw_kube_config_new(const char *server);
/** A deep copy, the caller's. */
struct sw_kube_config *sw_kube_config_copy(const struct sw_kube_config *config);
/** Secrets are wiped. NULL is accepted. */
void sw_kube_config_free(struct sw_kube_config *config);

/** A minimal kubeconfig (one cluster, user and context, all called @name) as YAML; heap, the
 * caller's. Data are written base64-encoded, files by name. */
char *sw_kubeconfig_text(const struct sw_kube_config *config, const char *name);
