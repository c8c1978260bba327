/* sprig's passwords and encryption. */
#include <stdlib.h>

#include "base/openssl.h"
#include "chart/template/funcs/bcrypt.h"
#include "chart/template/funcs/encoding.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/value/value_text.h"

enum { AES_KEY = 32, AES_BLOCK = 16 };

/* ---- bcrypt ---- */

static int hash_password(struct call *c, struct sw_value password, const char **out)
{
    enum { COST = 10, LONGEST = 72, STEPS = 1000000 };
    unsigned char salt[16];
    if (password.len > LONGEST) {
        *out = "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes";
        return 0;
    }
    int rc = sw_call_charge(c, STEPS); /* before the work, not after it */
    if (rc < 0)
        return rc;
    if (RAND_bytes(salt, sizeof salt) != 1)
        return sw_call_fail(c, "no random bytes");
    char *hash = sw_arena_alloc(c->arena, SW_BCRYPT_LEN + 1);
    sw_bcrypt(password.as.s, password.len, COST, salt, hash);
    *out = hash;
    return 0;
}

static int fn_bcrypt(struct call *c)
{
    const char *hash = "";
    int rc = hash_password(c, c->args[0], &hash);
    return rc < 0 ? rc : sw_return(c, sw_value_cstr(hash));
}

static int fn_htpasswd(struct call *c)
{
    struct sw_value user = c->args[0];
    const char *hash = "";
    if (memchr(user.as.s, ':', user.len)) {
        sw_text_printf(c->text, "invalid username: %.*s", (int)user.len, user.as.s);
        return sw_return_text(c);
    }
    int rc = hash_password(c, c->args[1], &hash);
    sw_text_printf(c->text, "%.*s:%s", (int)user.len, user.as.s, hash);
    return rc < 0 ? rc : sw_return_text(c);
}

/* ---- the master password algorithm ---- */

static const struct {
    const char *type;
    const char *templates[22];
} password_types[] = {
    { "maximum", { "anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno" } },
    { "long",
      { "CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv", "CvccCvcvnoCvcv",
        "CvccCvcvCvcvno", "CvcvnoCvccCvcv", "CvcvCvccnoCvcv", "CvcvCvccCvcvno", "CvcvnoCvcvCvcc",
        "CvcvCvcvnoCvcc", "CvcvCvcvCvccno", "CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno",
        "CvcvnoCvccCvcc", "CvcvCvccnoCvcc", "CvcvCvccCvccno", "CvccnoCvcvCvcc", "CvccCvcvnoCvcc",
        "CvccCvcvCvccno" } },
    { "medium", { "CvcnoCvc", "CvcCvcno" } },
    { "short", { "Cvcn" } },
    { "basic", { "aaanaaan", "aannaaan", "aaannaaa" } },
    { "pin", { "nnnn" } },
};

/* By the letter of a template. */
static const char *const characters[128] = {
    ['V'] = "AEIOU",
    ['C'] = "BCDFGHJKLMNPQRSTVWXYZ",
    ['v'] = "aeiou",
    ['c'] = "bcdfghjklmnpqrstvwxyz",
    ['a'] = "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
    ['n'] = "0123456789",
    ['o'] = "@&%?,=[]_:-+*$#!'^~;()/.",
    ['x'] = "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
};

static void put_length(struct text *t, uint32_t n)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        sw_text_char(t, (char)(n >> shift));
}

/* "com.lyndir.masterpassword", a text's length and the text. */
static void put_scope(struct text *t, struct sw_value s)
{
    sw_text_puts(t, "com.lyndir.masterpassword");
    put_length(t, s.len);
    sw_text_put(t, s.as.s, s.len);
}

static bool derive_seed(struct call *c, unsigned char seed[static 32])
{
    enum { N = 32768, R = 8, P = 2, MEMORY = 64 << 20 };
    struct sw_value password = c->args[2], user = c->args[3], site = c->args[4];
    unsigned char key[64];
    unsigned n = 0;
    struct text t = { .limit = 1 << 26 };
    put_scope(&t, user);
    bool ok = EVP_PBE_scrypt(password.as.s, password.len, (unsigned char *)t.p, t.len, N, R, P,
                             MEMORY, key, sizeof key) == 1;
    t.len = 0;
    put_scope(&t, site);
    put_length(&t, (uint32_t)c->args[0].as.u);
    ok = ok && HMAC(EVP_sha256(), key, sizeof key, (unsigned char *)t.p, t.len, seed, &n) != NULL;
    free(t.p);
    return ok;
}

/* derivePassword COUNTER TYPE PASSWORD USER SITE */
static int fn_derive_password(struct call *c)
{
    enum { STEPS = 2000000 };
    struct sw_value type = c->args[1];
    unsigned char seed[32];
    char out[32];
    size_t i = 0, n = 1; /* each has one at least */
    while (i < SW_COUNT(password_types) && !sw_is_text(type.as.s, type.len, password_types[i].type))
        i++;
    if (i == SW_COUNT(password_types)) {
        sw_text_printf(c->text, "cannot find password template %.*s", (int)type.len, type.as.s);
        return sw_return_text(c);
    }
    int rc = sw_call_charge(c, STEPS); /* before the work, not after it */
    if (rc < 0)
        return rc;
    if (!derive_seed(c, seed))
        return sw_call_fail(c, "failed to derive password");
    while (n < SW_COUNT(password_types[i].templates) && password_types[i].templates[n])
        n++;
    const char *template = password_types[i].templates[seed[0] % n];
    size_t len = strlen(template);
    for (size_t k = 0; k < len; k++) {
        const char *set = characters[(unsigned char)template[k]];
        out[k] = set[seed[k + 1] % strlen(set)];
    }
    return sw_return_str(c, out, len);
}

/* ---- AES ---- */

static void key_of(struct sw_value password, unsigned char key[static AES_KEY])
{
    memset(key, 0, AES_KEY);
    memcpy(key, password.as.s, password.len < AES_KEY ? password.len : AES_KEY);
}

static bool cipher(bool encrypt, const unsigned char *key, const unsigned char *iv,
                   const unsigned char *in, size_t len, unsigned char *out, size_t *out_len)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, last = 0;
    bool ok = ctx && EVP_CipherInit_ex(ctx, EVP_aes_256_cbc(), NULL, key, iv, encrypt) == 1 &&
              EVP_CIPHER_CTX_set_padding(ctx, encrypt) == 1 &&
              EVP_CipherUpdate(ctx, out, &n, in, (int)len) == 1 &&
              EVP_CipherFinal_ex(ctx, out + n, &last) == 1;
    EVP_CIPHER_CTX_free(ctx);
    *out_len = (size_t)n + (size_t)last;
    return ok;
}

static int fn_encrypt_aes(struct call *c)
{
    struct sw_value plain = c->args[1];
    unsigned char key[AES_KEY];
    size_t n;
    if (plain.len == 0)
        return sw_return(c, plain);
    key_of(c->args[0], key);
    int rc = sw_call_room(c, (size_t)plain.len + 3 * AES_BLOCK);
    if (rc < 0)
        return rc;
    unsigned char *out = sw_arena_alloc(c->arena, (size_t)plain.len + 3 * AES_BLOCK);
    if (RAND_bytes(out, AES_BLOCK) != 1 ||
        !cipher(true, key, out, (const unsigned char *)plain.as.s, plain.len, out + AES_BLOCK, &n))
        return sw_call_fail(c, "cannot encrypt");
    sw_text_base64(c->text, (const char *)out, n + AES_BLOCK);
    return sw_return_text(c);
}

static int fn_decrypt_aes(struct call *c)
{
    struct sw_value crypt = c->args[1];
    unsigned char key[AES_KEY];
    size_t n;
    if (crypt.len == 0)
        return sw_return(c, crypt);
    int rc = sw_base64_bytes(c, crypt, &crypt);
    if (rc == 0)
        rc = sw_call_room(c, (size_t)crypt.len + AES_BLOCK);
    if (rc < 0)
        return rc;
    if (crypt.len < 2 * AES_BLOCK || crypt.len % AES_BLOCK != 0)
        return sw_call_fail(c, "crypto/cipher: input not full blocks");
    key_of(c->args[0], key);
    const unsigned char *iv = (const unsigned char *)crypt.as.s;
    unsigned char *out = sw_arena_alloc(c->arena, (size_t)crypt.len + AES_BLOCK);
    if (!cipher(false, key, iv, iv + AES_BLOCK, crypt.len - AES_BLOCK, out, &n))
        return sw_call_fail(c, "cannot decrypt");
    if (out[n - 1] > n)
        return sw_call_fail(c, "runtime error: slice bounds out of range [:%d]",
                            (int)n - out[n - 1]);
    return sw_return_str(c, (const char *)out, n - out[n - 1]);
}

const struct func sw_funcs_crypto[] = {
    { "bcrypt", fn_bcrypt, "s", "a password's bcrypt hash", 0, 0 },
    { "htpasswd", fn_htpasswd, "ss", "a line of an htpasswd file", 0, 0 },
    { "derivePassword", fn_derive_password, "ussss",
      "a password out of counter, type, master password, user and site", 0, 0 },
    { "encryptAES", fn_encrypt_aes, "ss", "a text encrypted by AES-256-CBC, in base64", 0, 0 },
    { "decryptAES", fn_decrypt_aes, "ss", "what encryptAES encrypted", 0, 0 },
    { 0 },
};
