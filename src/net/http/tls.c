#include "net/http/tls.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/openssl.h"
#include "net/http/http.h"

enum { MAX_PEM_BYTES = 4 << 20 };

struct sw_http_tls {
    X509_STORE *ca; /* NULL: the system's */
    X509 *cert;
    STACK_OF(X509) * chain; /* behind cert */
    EVP_PKEY *key;
    bool insecure;
    bool given;         /* the user named a CA */
    bool system_is_due; /* its CAs are to be read when the first connection is made */
    char *source;       /* of the configuration */
    char *hint;         /* or NULL */
};

/** PEM of one field: its data, or its file read. */
static int field_pem(const char *field, const char *data, const char *file, char **out,
                     struct sw_err *err)
{
    *out = NULL;
    if (data) {
        *out = sw_strdup(data);
        return 0;
    }
    if (!file)
        return 0;
    size_t len;
    int rc = sw_file_read(file, MAX_PEM_BYTES, out, &len, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", field) : 0;
}

static int no_pem(const char *field, const char *what, struct sw_err *err)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return sw_err_set(err, SW_INVALID, "%s holds no %s in PEM form (%s)", field, what,
                      reason ? reason : "not PEM");
}

static X509_STORE *need_store(struct sw_http_tls *tls)
{
    if (!tls->ca)
        tls->ca = X509_STORE_new();
    /* any certificate that the user lists is trusted, a root or not: as Go does */
    (void)X509_STORE_set_flags(tls->ca, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
    return tls->ca;
}

/** @return how many certificates were in it */
static int add_ca(struct sw_http_tls *tls, const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    int n = 0;
    ERR_clear_error();
    for (X509 *x; (x = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++) {
        (void)X509_STORE_add_cert(need_store(tls), x); /* one listed twice does no harm */
        X509_free(x);
    }
    (void)BIO_free(bio);
    return n;
}

/** A file that cannot be read is skipped: no setting names it. */
static void add_ca_file(struct sw_http_tls *tls, const char *path)
{
    SW_AUTO_CHARS *pem = NULL;
    size_t len;
    if (sw_file_read(path, MAX_PEM_BYTES, &pem, &len, NULL) == 0)
        (void)add_ca(tls, pem);
}

static void add_ca_dir(struct sw_http_tls *tls, const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char target[256];
        SW_AUTO_CHARS *file = sw_printf("%s/%s", path, e->d_name);
        ssize_t len = readlink(file, target, sizeof target);
        bool again = len > 0 && !memchr(target, '/', (size_t)len); /* OpenSSL's name of another */
        if (e->d_name[0] != '.' && !again)
            add_ca_file(tls, file);
    }
    if (dir)
        (void)closedir(dir);
}

/** Folders by colons; every file in them counts, whatever its name. */
static void add_ca_dirs(struct sw_http_tls *tls, const char *dirs)
{
    for (const char *at = dirs; *at;) {
        size_t len = strcspn(at, ":");
        SW_AUTO_CHARS *dir = sw_strndup(at, len);
        if (len)
            add_ca_dir(tls, dir);
        at += len + (at[len] == ':');
    }
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/** As crypto/x509 of Go does it, which the operators' deployments rely on: SSL_CERT_FILE instead of
 * the system's file, SSL_CERT_DIR's folders besides. */
static void read_system(struct sw_http_tls *tls)
{
    const char *file = X509_get_default_cert_file(), *dir = X509_get_default_cert_dir();
    bool own_file = is_set("SSL_CERT_FILE");
    if (own_file)
        add_ca_file(tls, getenv("SSL_CERT_FILE"));
    else if (access(file, R_OK) == 0)
        (void)X509_STORE_load_file(need_store(tls), file);
    if (!own_file && access(dir, R_OK) == 0) /* read when a certificate is looked for */
        (void)X509_STORE_load_path(need_store(tls), dir);
    if (is_set("SSL_CERT_DIR"))
        add_ca_dirs(tls, getenv("SSL_CERT_DIR"));
}

static int read_cert(struct sw_http_tls *tls, const char *pem, struct sw_err *err)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    ERR_clear_error();
    tls->cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    tls->chain = sk_X509_new_null();
    for (X509 *x; tls->cert && (x = PEM_read_bio_X509(bio, NULL, NULL, NULL));)
        (void)sk_X509_push(tls->chain, x);
    (void)BIO_free(bio);
    return tls->cert ? 0 : no_pem("client-certificate", "certificate", err);
}

/** Keys with a pass phrase are refused instead of asking on the terminal. */
static int no_password(char *buf SW_UNUSED, int size SW_UNUSED, int rw SW_UNUSED,
                       void *arg SW_UNUSED)
{
    return -1;
}

static int read_identity(struct sw_http_tls *tls, const struct sw_http_tls_opts *o,
                         struct sw_err *err)
{
    SW_AUTO_CHARS *cert = NULL;
    SW_AUTO_CHARS *key = NULL;
    int rc = field_pem("client-certificate", o->cert_data, o->cert_file, &cert, err);
    if (rc == 0)
        rc = field_pem("client-key", o->key_data, o->key_file, &key, err);
    if (rc < 0 || (!cert && !key))
        return rc;
    if (!cert || !key)
        return sw_err_set(err, SW_INVALID, "%s is set without %s",
                          cert ? "client-certificate" : "client-key",
                          cert ? "client-key" : "client-certificate");
    rc = read_cert(tls, cert, err);
    if (rc == 0) {
        BIO *bio = BIO_new_mem_buf(key, -1);
        ERR_clear_error();
        tls->key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
        (void)BIO_free(bio);
        rc = tls->key ? 0 : no_pem("client-key", "private key", err);
    }
    OPENSSL_cleanse(key, strlen(key));
    if (rc == 0 && X509_check_private_key(tls->cert, tls->key) != 1)
        rc = sw_err_set(err, SW_INVALID, "client-key does not belong to client-certificate");
    ERR_clear_error();
    return rc;
}

int sw_http_tls_new(const struct sw_http_tls_opts *o, struct sw_http_tls **out, struct sw_err *err)
{
    SW_AUTO(sw_http_tls) *tls = sw_zalloc(1, sizeof *tls);
    SW_AUTO_CHARS *ca = NULL;
    tls->insecure = o->insecure;
    tls->source = sw_strdup(o->source ? o->source : "the configuration");
    tls->hint = sw_strdup(o->hint);
    int rc = field_pem("certificate-authority", o->ca_data, o->ca_file, &ca, err);
    if (rc == 0 && ca && !o->insecure && add_ca(tls, ca) == 0)
        rc = no_pem("certificate-authority", "certificate", err);
    tls->given = ca;
    /* without these variables libcurl reads its own list */
    bool by_environment = is_set("SSL_CERT_FILE") || is_set("SSL_CERT_DIR");
    tls->system_is_due = !o->insecure && (ca ? o->with_system : by_environment);
    if (rc == 0)
        rc = read_identity(tls, o, err);
    ERR_clear_error();
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", tls->source);
    *out = SW_TAKE(tls);
    return 0;
}

void sw_http_tls_free(struct sw_http_tls *tls)
{
    if (!tls)
        return;
    X509_STORE_free(tls->ca);
    X509_free(tls->cert);
    sk_X509_pop_free(tls->chain, X509_free);
    EVP_PKEY_free(tls->key);
    free(tls->source);
    free(tls->hint);
    free(tls);
}

/** A new connection's context. The store is shared; certificate and key are counted references. */
static CURLcode on_ssl_ctx(CURL *easy SW_UNUSED, void *ssl_ctx, void *arg)
{
    struct sw_http_tls *tls = arg;
    if (tls->system_is_due)
        read_system(tls);
    tls->system_is_due = false;
    if (tls->ca)
        SSL_CTX_set1_cert_store(ssl_ctx, tls->ca);
    if (!tls->cert)
        return CURLE_OK;
    bool ok = SSL_CTX_use_certificate(ssl_ctx, tls->cert) == 1;
    for (int i = 0; ok && i < sk_X509_num(tls->chain); i++)
        ok = SSL_CTX_add1_chain_cert(ssl_ctx, sk_X509_value(tls->chain, i)) == 1;
    ok = ok && SSL_CTX_use_PrivateKey(ssl_ctx, tls->key) == 1;
    return ok ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
}

void sw_http_tls_setup(const struct sw_http_tls *tls, CURL *easy)
{
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, tls->insecure ? 0L : 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, tls->insecure ? 0L : 2L);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (tls->ca || tls->system_is_due) {
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (tls->ca || tls->cert || tls->system_is_due) {
        (void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_ssl_ctx);
        (void)curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, (void *)tls);
    }
}

void sw_http_tls_explain(const struct sw_http_tls *tls, const char *url, CURLcode rc,
                         const char *curl_text, struct sw_err *err)
{
    const char *text = curl_text[0] ? curl_text : curl_easy_strerror(rc);
    const char *hint = tls ? tls->hint : NULL;
    if (!tls) {
        (void)sw_err_set(err, SW_INVALID, "%s: %s", url, text);
    } else if (rc == CURLE_SSL_CERTPROBLEM) {
        (void)sw_err_set(err, SW_INVALID, "%s: the client certificate of %s cannot be used: %s",
                         url, tls->source, text);
    } else if (rc != CURLE_PEER_FAILED_VERIFICATION) {
        (void)sw_err_set(err, SW_UNAVAILABLE, "%s: no TLS connection: %s", url, text);
    } else if (hint) {
        (void)sw_err_set(err, SW_INVALID, "%s: the server's certificate is not trusted (%s); %s",
                         url, text, hint);
    } else if (strstr(text, "target")) { /* libcurl's words for a name that does not match */
        (void)sw_err_set(
            err, SW_INVALID,
            "%s: the server's certificate is for another name (%s); tls-server-name in "
            "%s says which to expect",
            url, text, tls->source);
    } else {
        (void)sw_err_set(
            err, SW_INVALID, "%s: the server's certificate is not trusted (%s); %s", url, text,
            tls->given ? "it is not signed by the certificate-authority given"
                       : "no certificate-authority is given, so the system's are asked");
        (void)sw_err_wrap(err, SW_INVALID, "%s", tls->source);
    }
}
