#include "net/serve/tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/sslerr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/certificates.h"
#include "base/openssl.h"

enum {
    OWN_DAYS = 365,
    OWN_PAST_S = 3600, /* for clients whose clock is late */
    OWN_REST_S = 30 * 24 * 3600,
    /* Of a handshake that has not ended: OpenSSL itself takes 128 KiB. Post-quantum keys and a
     * ticket make some 3 KiB. */
    MAX_HELLO_BYTES = 8 * 1024,
    MAX_UPDATES = 8, /* messages of TLS itself, of one connection; a client needs none in hours */
};

/* ---- options -----------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    int version;
} versions[] = {
    /* Go's constants, as OpenShift's tlsSecurityProfile and Kubernetes' flags spell them */
    { "VersionTLS10", TLS1_VERSION },
    { "VersionTLS11", TLS1_1_VERSION },
    { "VersionTLS12", TLS1_2_VERSION },
    { "VersionTLS13", TLS1_3_VERSION },
};

static int parse_version(const char *text, int *out, struct sw_err *err)
{
    for (size_t i = 0; i < SW_COUNT(versions); i++)
        if (strcmp(versions[i].name, text) == 0) {
            *out = versions[i].version;
            return 0;
        }
    return sw_err_set(err, SW_INVALID,
                      "TLS version '%s': expected VersionTLS10, VersionTLS11, VersionTLS12 or "
                      "VersionTLS13",
                      text);
}

/* Cipher suites that have names in Go, IANA and Mozilla, but are not in OpenSSL 3. OpenShift's
 * profile "Old" names some. */
static bool is_retired(const char *name, size_t len)
{
    static const char *const parts[] = { "3DES", "DES-CBC3", "RC4" };
    for (size_t i = 0; i < SW_COUNT(parts); i++)
        if (memmem(name, len, parts[i], strlen(parts[i])))
            return true;
    return false;
}

/* Go leaves the hash off two of IANA's names. */
static bool same_suite(const SSL_CIPHER *c, const char *name, size_t len)
{
    const char *iana = SSL_CIPHER_standard_name(c), *openssl = SSL_CIPHER_get_name(c);
    if (openssl && strlen(openssl) == len && strncmp(openssl, name, len) == 0)
        return true;
    return iana && strncmp(iana, name, len) == 0 &&
           (strlen(iana) == len ||
            (strstr(iana, "CHACHA20") && strcmp(iana + len, "_SHA256") == 0));
}

static int parse_suites(struct sw_serve_tls *t, const char *text, struct sw_err *err)
{
    size_t n_left_out = 0;
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int rc = ctx ? 0 : sw_err_set(err, SW_UNAVAILABLE, "OpenSSL does not start");
    if (ctx)
        (void)SSL_CTX_set_cipher_list(ctx, "ALL:@SECLEVEL=0");
    const STACK_OF(SSL_CIPHER) *all = ctx ? SSL_CTX_get_ciphers(ctx) : NULL;
    while (rc == 0 && *text) {
        const size_t len = strcspn(text, ",:");
        const SSL_CIPHER *c = NULL;
        for (int i = 0; len && !c && i < sk_SSL_CIPHER_num(all); i++)
            if (same_suite(sk_SSL_CIPHER_value(all, i), text, len))
                c = sk_SSL_CIPHER_value(all, i);
        if (c) {
            const char *name = SSL_CIPHER_get_name(c);
            /* those of TLS 1.3 have IANA's names only */
            char **list = sw_starts_with(name, "TLS_") ? &t->ciphers_13 : &t->ciphers_12;
            char *longer = *list ? sw_printf("%s:%s", *list, name) : sw_strdup(name);
            free(*list);
            *list = longer;
        } else if (len && !is_retired(text, len)) {
            rc = sw_err_set(err, SW_INVALID, "cipher suite '%.*s' is not known", (int)len, text);
        }
        n_left_out += len && !c;
        text += len + (text[len] != '\0');
    }
    if (rc == 0 && n_left_out && !t->ciphers_12 && !t->ciphers_13)
        rc = sw_err_set(err, SW_INVALID, "none of the cipher suites is to be had any more");
    SSL_CTX_free(ctx);
    return rc;
}

static int init(struct sw_serve_tls *t, const char *min_version, const char *suites,
                struct sw_err *err)
{
    int rc = parse_version(min_version && *min_version ? min_version : "VersionTLS12",
                           &t->min_version, err);
    if (rc == 0 && suites)
        rc = parse_suites(t, suites, err);
    if (rc == 0 && t->ciphers_13 && !t->ciphers_12)
        t->min_version = TLS1_3_VERSION; /* with 1.2 none of those asked for could be chosen */
    return rc;
}

static void done(struct sw_serve_tls *t)
{
    SSL_CTX_free(t->ctx);
    free(t->ciphers_12);
    free(t->ciphers_13);
    free(t->trouble);
    *t = (struct sw_serve_tls){ 0 };
}

/* ---- loading -----------------------------------------------------------------------------------
 */

/* Texts for the likely errors: OpenSSL's own table takes a hundred KiB of memory and is not loaded.
 */
static const struct {
    int lib, reason;
    const char *text;
} reasons[] = {
    { ERR_LIB_PEM, PEM_R_NO_START_LINE, "there is no PEM block in it" },
    { ERR_LIB_PEM, PEM_R_BAD_BASE64_DECODE, "its PEM block is damaged" },
    { ERR_LIB_PEM, PEM_R_BAD_END_LINE, "its PEM block is cut off" },
    { ERR_LIB_OSSL_DECODER, ERR_R_UNSUPPORTED, "there is no key in it" },
    { ERR_LIB_PEM, PEM_R_BAD_PASSWORD_READ, "it is encrypted" },
    { ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH, "key and certificate do not belong together" },
    { ERR_LIB_X509, X509_R_KEY_TYPE_MISMATCH, "key and certificate do not belong together" },
    { ERR_LIB_SSL, SSL_R_EE_KEY_TOO_SMALL, "its key is too small" },
    { ERR_LIB_SSL, SSL_R_CA_MD_TOO_WEAK, "its signature is too weak" },
    { ERR_LIB_SSL, SSL_R_NO_CIPHER_MATCH, "none of them is available" },
};

static int openssl_error(struct sw_err *err, const char *what, const char *text)
{
    unsigned long last = ERR_peek_last_error(), code;
    const char *why = NULL; /* of the first known error: later ones often only say where it was */
    while (!why && (code = ERR_get_error()))
        for (size_t i = 0; !why && i < SW_COUNT(reasons); i++)
            if (ERR_GET_LIB(code) == reasons[i].lib && ERR_GET_REASON(code) == reasons[i].reason)
                why = reasons[i].text;
    ERR_clear_error();
    return why ? sw_err_set(err, SW_INVALID, "%s '%s': %s", what, text, why)
               : sw_err_set(err, SW_INVALID,
                            "%s '%s': OpenSSL error %08lX (`openssl errstr` says it)", what, text,
                            last);
}

static int file_error(struct sw_err *err, const char *what, const char *path)
{
    if (access(path, R_OK) == 0)
        return openssl_error(err, what, path);
    ERR_clear_error();
    return sw_err_set(err, SW_NOTFOUND, "%s '%s': %s", what, path, strerror(errno));
}

/* Only HTTP/1.1 is served. A client that offers only other protocols is not refused here. */
static int choose_protocol(SSL *ssl SW_UNUSED, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned in_len, void *arg SW_UNUSED)
{
    static const unsigned char http11[] = "\x08http/1.1";
    return SSL_select_next_proto((unsigned char **)out, out_len, http11, sizeof http11 - 1, in,
                                 in_len) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

/* An encrypted key is an error: there is no terminal to ask at. */
static int no_password(char *buf SW_UNUSED, int size SW_UNUSED, int writing SW_UNUSED,
                       void *arg SW_UNUSED)
{
    return -1;
}

/* New keys that a client asks for (TLS 1.3), and new handshakes that it is refused (TLS 1.2), are
 * work and an answer each, and all that have come are one call of SSL_read(). */
static void on_message(int is_ours, int version SW_UNUSED, int type, const void *message,
                       size_t len_bytes, SSL *ssl, void *arg SW_UNUSED)
{
    const unsigned char *bytes = message;
    const bool is_update = type == SSL3_RT_HANDSHAKE && !is_ours && len_bytes > 0 &&
                           bytes[0] == SSL3_MT_KEY_UPDATE;
    const bool is_refused = type == SSL3_RT_ALERT && is_ours && len_bytes > 1 &&
                            bytes[1] == SSL_AD_NO_RENEGOTIATION;
    if (!is_update && !is_refused)
        return;
    const uintptr_t n = (uintptr_t)SSL_get_ex_data(ssl, 0) + 1;
    (void)SSL_set_ex_data(ssl, 0, (void *)n);
    if (n > MAX_UPDATES)
        SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN); /* nothing more is read */
}

static int set_up(const struct sw_serve_tls *t, SSL_CTX *ctx, struct sw_err *err)
{
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_CIPHER_SERVER_PREFERENCE |
                                       SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_max_send_fragment(ctx, 4096); /* answers are small, so are the buffers */
    SSL_CTX_set_read_ahead(ctx, 1);                 /* a record's header and body in one read */
    (void)SSL_CTX_set_num_tickets(ctx, 0);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(ctx, no_password);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    SSL_CTX_set_msg_callback(ctx, on_message);
    if (SSL_CTX_set_min_proto_version(ctx, t->min_version) != 1)
        return openssl_error(err, "minimum version", "TLS");
    if (t->min_version < TLS1_2_VERSION)
        SSL_CTX_set_security_level(ctx, 0); /* OpenSSL 3 has switched them off otherwise */
    if (t->ciphers_12 && SSL_CTX_set_cipher_list(ctx, t->ciphers_12) != 1)
        return openssl_error(err, "cipher suites", t->ciphers_12);
    if (t->ciphers_13 && SSL_CTX_set_ciphersuites(ctx, t->ciphers_13) != 1)
        return openssl_error(err, "cipher suites", t->ciphers_13);
    return 0;
}

static int verify_against(SSL_CTX *ctx, const char *ca_file, struct sw_err *err)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    STACK_OF(X509) *chain = NULL;
    (void)SSL_CTX_get0_chain_certs(ctx, &chain);
    int rc = 0;
    if (X509_STORE_load_file(store, ca_file) != 1)
        rc = file_error(err, "CA", ca_file);
    else if (X509_STORE_CTX_init(check, store, SSL_CTX_get0_certificate(ctx), chain) != 1 ||
             X509_verify_cert(check) != 1)
        rc = sw_err_set(err, SW_INVALID, "the certificate is not signed by '%s': %s", ca_file,
                        X509_verify_cert_error_string(X509_STORE_CTX_get_error(check)));
    X509_STORE_CTX_free(check);
    X509_STORE_free(store);
    return rc;
}

static int load_files(const struct sw_serve_tls *t, SSL_CTX *ctx, struct sw_err *err)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, t->cert_file) != 1)
        return file_error(err, "certificate", t->cert_file);
    if (SSL_CTX_use_PrivateKey_file(ctx, t->key_file, SSL_FILETYPE_PEM) != 1)
        return file_error(err, "key", t->key_file);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return file_error(err, "key of another certificate", t->key_file);
    return t->ca_file ? verify_against(ctx, t->ca_file, err) : 0;
}

static int use(SSL_CTX *ctx, X509 *cert, EVP_PKEY *key, const char *what, struct sw_err *err)
{
    if (SSL_CTX_use_certificate(ctx, cert) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1)
        return 0;
    return openssl_error(err, "certificate", what);
}

static int load_texts(const struct sw_serve_tls *t, SSL_CTX *ctx, struct sw_err *err)
{
    X509 *cert = NULL;
    EVP_PKEY *key = NULL;
    int rc = sw_cert_read(t->cert_pem, strlen(t->cert_pem), &cert, err);
    if (rc == 0)
        rc = sw_key_read(t->key_pem, strlen(t->key_pem), &key, err);
    if (rc == 0)
        rc = use(ctx, cert, key, "given", err);
    X509_free(cert);
    EVP_PKEY_free(key);
    return rc;
}

/* A certificate that signs itself, as controller-runtime makes one for metrics: a client can see
 * that the bytes are not changed, not who sends them. */
static int make_own(const struct sw_serve_tls *t, SSL_CTX *ctx, struct sw_err *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    (void)gethostname(host, sizeof host - 1);
    const char *const dns[] = { "localhost", host }, *const ips[] = { "127.0.0.1", "::1" };
    const struct sw_cert_request request = {
        .common_name = t->own_name,
        .dns = dns,
        .n_dns = *host ? 2 : 1,
        .ips = ips,
        .n_ips = SW_COUNT(ips),
        .days = OWN_DAYS,
        .now_sec = time(NULL) - OWN_PAST_S,
    };
    EVP_PKEY *key = sw_key_generate("ecdsa", 0);
    X509 *cert = NULL;
    int rc = sw_cert_make(&request, key, NULL, NULL, &cert, err);
    if (rc == 0)
        rc = use(ctx, cert, key, t->own_name, err);
    X509_free(cert);
    EVP_PKEY_free(key);
    return rc;
}

static int load(struct sw_serve_tls *t, struct sw_err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx)
        return openssl_error(err, "OpenSSL", "TLS_server_method");
    int rc = set_up(t, ctx, err);
    if (rc == 0)
        rc = t->own_name   ? make_own(t, ctx, err)
             : t->cert_pem ? load_texts(t, ctx, err)
                           : load_files(t, ctx, err);
    if (rc < 0) {
        SSL_CTX_free(ctx);
        return rc;
    }
    struct tm tm = { 0 };
    if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(ctx)), &tm) == 1)
        t->not_after = timegm(&tm);
    SSL_CTX_free(t->ctx); /* connections keep their own reference */
    t->ctx = ctx;
    t->n_loads++;
    return 0;
}

/* Mounted Secrets are links that change as a whole: following them, the file is another one. */
static uint64_t stamp(const char *path, uint64_t sum)
{
    struct stat st;
    if (!path)
        return sum;
    if (stat(path, &st) != 0)
        return sum * 31 + 1;
    const uint64_t parts[] = { sum, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                               (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec };
    return sw_fnv64a(parts, sizeof parts);
}

static bool is_due(struct sw_serve_tls *t, bool needed)
{
    if (t->own_name)
        return needed && (!t->ctx || t->not_after - time(NULL) < OWN_REST_S);
    if (t->cert_pem)
        return !t->ctx && !t->trouble;
    const uint64_t now = stamp(t->ca_file, stamp(t->key_file, stamp(t->cert_file, 1)));
    if (now == t->seen && !t->trouble)
        return false;
    t->seen = now;
    return true;
}

static bool refresh(struct sw_serve_tls *t, bool needed)
{
    SW_ERR(err);
    if (!is_due(t, needed))
        return false;
    const int rc = load(t, &err);
    if (rc == 0) {
        free(t->trouble);
        t->trouble = NULL;
        return true;
    }
    if (!sw_streq(t->trouble, sw_err_text(&err))) { /* said once, tried on */
        sw_text_set(&t->trouble, sw_err_text(&err));
        sw_log(SW_LOG_WARN, "certificate not usable", "error", t->trouble, "serving",
               t->ctx ? "the one before" : "nobody", NULL);
    }
    return false;
}

/* ---- connections -------------------------------------------------------------------------------
 */

static void *session_new(struct sw_serve_tls *t, int fd)
{
    SSL *ssl = SSL_new(t->ctx);
    if (!ssl || SSL_set_fd(ssl, fd) != 1)
        abort(); /* no memory */
    SSL_set_accept_state(ssl);
    return ssl;
}

static void session_free(void *session)
{
    if (SSL_is_init_finished(session))
        (void)SSL_shutdown(session);
    ERR_clear_error();
    SSL_free(session);
}

static enum sw_conn_result result(SSL *ssl, int n)
{
    const int why = SSL_get_error(ssl, n);
    ERR_clear_error();
    return why == SSL_ERROR_WANT_READ    ? SW_CONN_WANT_READ
           : why == SSL_ERROR_WANT_WRITE ? SW_CONN_WANT_WRITE
                                         : SW_CONN_CLOSED;
}

static enum sw_conn_result session_handshake(void *session)
{
    const int n = SSL_do_handshake(session);
    const enum sw_conn_result rc = n == 1 ? SW_CONN_OK : result(session, n);
    return rc == SW_CONN_WANT_READ && BIO_number_read(SSL_get_rbio(session)) > MAX_HELLO_BYTES
               ? SW_CONN_CLOSED
               : rc;
}

static ssize_t session_read(void *session, char *to, size_t len_bytes, enum sw_conn_result *why)
{
    const int n = SSL_read(session, to, (int)len_bytes);
    if (n <= 0)
        *why = result(session, n);
    return n;
}

static ssize_t session_write(void *session, const char *from, size_t len_bytes,
                             enum sw_conn_result *why)
{
    const int n = SSL_write(session, from, (int)len_bytes);
    if (n <= 0)
        *why = result(session, n);
    return n;
}

static bool session_has_more(const void *session)
{
    return SSL_has_pending(session);
}

static const struct sw_conn_tls sessions = {
    .handshake = session_handshake,
    .read = session_read,
    .write = session_write,
    .has_more = session_has_more,
    .free = session_free,
};

const struct sw_serve_tls_ops sw_serve_openssl = {
    .init = init,
    .done = done,
    .refresh = refresh,
    .session_new = session_new,
    .conn = &sessions,
};
