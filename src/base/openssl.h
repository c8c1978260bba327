#pragma once
/* openssl: OpenSSL, loaded at first use. Mapping and relocating it takes longer than all that a
 * program does before main otherwise, and a recipe without hashes or certificates never asks.
 *
 * The names of its functions stand for pointers in the files that include this, so that a call
 * reads as in OpenSSL's manual, and the first one loads the library. A function that is not in the
 * lists below is linked as any other, and brings the library back to the program's start:
 * test/unit/base/base_openssl_test.c looks.
 */
#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_Init() and its like allocate nothing */
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/dsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* clang-format off */
#define SW_LIBCRYPTO_FUNCTIONS(ROW) \
    ROW(ASN1_IA5STRING_new) \
    ROW(ASN1_OCTET_STRING_new) \
    ROW(ASN1_STRING_set) \
    ROW(ASN1_TIME_adj) \
    ROW(ASN1_TIME_set) \
    ROW(ASN1_TIME_to_tm) \
    ROW(BIO_ctrl) \
    ROW(BIO_free) \
    ROW(BIO_new) \
    ROW(BIO_new_mem_buf) \
    ROW(BIO_number_read) \
    ROW(BIO_s_mem) \
    ROW(BN_CTX_free) \
    ROW(BN_CTX_new) \
    ROW(BN_add) \
    ROW(BN_add_word) \
    ROW(BN_bn2dec) \
    ROW(BN_cmp) \
    ROW(BN_copy) \
    ROW(BN_dec2bn) \
    ROW(BN_div) \
    ROW(BN_exp) \
    ROW(BN_free) \
    ROW(BN_is_negative) \
    ROW(BN_is_zero) \
    ROW(BN_lshift1) \
    ROW(BN_mul) \
    ROW(BN_new) \
    ROW(BN_rand) \
    ROW(BN_set_negative) \
    ROW(BN_set_word) \
    ROW(BN_sub) \
    ROW(BN_to_ASN1_INTEGER) \
    ROW(CRYPTO_free) \
    ROW(ERR_clear_error) \
    ROW(ERR_get_error) \
    ROW(ERR_peek_last_error) \
    ROW(ERR_reason_error_string) \
    ROW(EVP_CIPHER_CTX_free) \
    ROW(EVP_CIPHER_CTX_new) \
    ROW(EVP_CIPHER_CTX_set_padding) \
    ROW(EVP_CipherFinal_ex) \
    ROW(EVP_CipherInit_ex) \
    ROW(EVP_CipherUpdate) \
    ROW(EVP_DecodeBlock) \
    ROW(EVP_DecodeFinal) \
    ROW(EVP_DecodeInit) \
    ROW(EVP_DecodeUpdate) \
    ROW(EVP_DigestFinal_ex) \
    ROW(EVP_DigestInit_ex) \
    ROW(EVP_DigestUpdate) \
    ROW(EVP_ENCODE_CTX_free) \
    ROW(EVP_ENCODE_CTX_new) \
    ROW(EVP_EncodeBlock) \
    ROW(EVP_MD_CTX_free) \
    ROW(EVP_MD_CTX_new) \
    ROW(EVP_PBE_scrypt) \
    ROW(EVP_PKEY_CTX_free) \
    ROW(EVP_PKEY_CTX_new_from_name) \
    ROW(EVP_PKEY_CTX_new_from_pkey) \
    ROW(EVP_PKEY_CTX_set_dsa_paramgen_bits) \
    ROW(EVP_PKEY_Q_keygen) \
    ROW(EVP_PKEY_free) \
    ROW(EVP_PKEY_is_a) \
    ROW(EVP_PKEY_keygen) \
    ROW(EVP_PKEY_keygen_init) \
    ROW(EVP_PKEY_paramgen) \
    ROW(EVP_PKEY_paramgen_init) \
    ROW(EVP_aes_256_cbc) \
    ROW(EVP_sha256) \
    ROW(EVP_sha512) \
    ROW(GENERAL_NAMES_free) \
    ROW(GENERAL_NAMES_new) \
    ROW(GENERAL_NAME_new) \
    ROW(GENERAL_NAME_set0_value) \
    ROW(HMAC) \
    ROW(OPENSSL_cleanse) \
    ROW(OPENSSL_sk_new_null) \
    ROW(OPENSSL_sk_num) \
    ROW(OPENSSL_sk_pop_free) \
    ROW(OPENSSL_sk_push) \
    ROW(OPENSSL_sk_value) \
    ROW(PEM_read_bio_PrivateKey) \
    ROW(PEM_read_bio_X509) \
    ROW(PEM_write_bio_PKCS8PrivateKey) \
    ROW(PEM_write_bio_PrivateKey_traditional) \
    ROW(PEM_write_bio_X509) \
    ROW(RAND_bytes) \
    ROW(SHA1_Final) \
    ROW(SHA1_Init) \
    ROW(SHA1_Update) \
    ROW(SHA256_Final) \
    ROW(SHA256_Init) \
    ROW(SHA256_Update) \
    ROW(SHA512_Final) \
    ROW(SHA512_Init) \
    ROW(SHA512_Update) \
    ROW(X509V3_EXT_conf_nid) \
    ROW(X509V3_set_ctx) \
    ROW(X509_EXTENSION_free) \
    ROW(X509_NAME_add_entry_by_txt) \
    ROW(X509_STORE_CTX_free) \
    ROW(X509_STORE_CTX_get0_param) \
    ROW(X509_STORE_CTX_get_error) \
    ROW(X509_STORE_CTX_init) \
    ROW(X509_STORE_CTX_new) \
    ROW(X509_STORE_CTX_set_default) \
    ROW(X509_STORE_add_cert) \
    ROW(X509_STORE_free) \
    ROW(X509_STORE_load_file) \
    ROW(X509_STORE_load_path) \
    ROW(X509_STORE_new) \
    ROW(X509_STORE_set_default_paths) \
    ROW(X509_STORE_set_flags) \
    ROW(X509_VERIFY_PARAM_set1_ip_asc) \
    ROW(X509_add1_ext_i2d) \
    ROW(X509_add_ext) \
    ROW(X509_check_private_key) \
    ROW(X509_free) \
    ROW(X509_get0_notAfter) \
    ROW(X509_get_default_cert_dir) \
    ROW(X509_get_default_cert_file) \
    ROW(X509_get_serialNumber) \
    ROW(X509_get_subject_name) \
    ROW(X509_getm_notAfter) \
    ROW(X509_getm_notBefore) \
    ROW(X509_new) \
    ROW(X509_set_issuer_name) \
    ROW(X509_set_pubkey) \
    ROW(X509_set_version) \
    ROW(X509_sign) \
    ROW(X509_verify_cert) \
    ROW(X509_verify_cert_error_string) \
    ROW(d2i_X509)

#define SW_LIBSSL_FUNCTIONS(ROW) \
    ROW(OPENSSL_init_ssl) \
    ROW(SSL_CIPHER_get_name) \
    ROW(SSL_CIPHER_standard_name) \
    ROW(SSL_CTX_check_private_key) \
    ROW(SSL_CTX_ctrl) \
    ROW(SSL_CTX_free) \
    ROW(SSL_CTX_get0_certificate) \
    ROW(SSL_CTX_get_ciphers) \
    ROW(SSL_CTX_new) \
    ROW(SSL_CTX_set1_cert_store) \
    ROW(SSL_CTX_set_alpn_select_cb) \
    ROW(SSL_CTX_set_cipher_list) \
    ROW(SSL_CTX_set_ciphersuites) \
    ROW(SSL_CTX_set_default_passwd_cb) \
    ROW(SSL_CTX_set_msg_callback) \
    ROW(SSL_CTX_set_num_tickets) \
    ROW(SSL_CTX_set_options) \
    ROW(SSL_CTX_set_security_level) \
    ROW(SSL_CTX_use_PrivateKey) \
    ROW(SSL_CTX_use_PrivateKey_file) \
    ROW(SSL_CTX_use_certificate) \
    ROW(SSL_CTX_use_certificate_chain_file) \
    ROW(SSL_do_handshake) \
    ROW(SSL_free) \
    ROW(SSL_get_error) \
    ROW(SSL_get_ex_data) \
    ROW(SSL_get_rbio) \
    ROW(SSL_has_pending) \
    ROW(SSL_is_init_finished) \
    ROW(SSL_new) \
    ROW(SSL_read) \
    ROW(SSL_select_next_proto) \
    ROW(SSL_set_accept_state) \
    ROW(SSL_set_ex_data) \
    ROW(SSL_set_fd) \
    ROW(SSL_set_shutdown) \
    ROW(SSL_shutdown) \
    ROW(SSL_write) \
    ROW(TLS_server_method)

/* clang-format on */
#define SW_OPENSSL_FIELD(name) __typeof__(name) *name##_;
/** Pointers to libcrypto's functions. */
struct sw_libcrypto {
    SW_LIBCRYPTO_FUNCTIONS(SW_OPENSSL_FIELD)
};
/** Pointers to libssl's functions. */
struct sw_libssl {
    SW_LIBSSL_FUNCTIONS(SW_OPENSSL_FIELD)
};
#undef SW_OPENSSL_FIELD

/** libcrypto's functions; the first call loads the library. Thread-safe. If the library cannot be
 * loaded, the process ends with the message of the dynamic loader, as with a linked library. */
const struct sw_libcrypto *sw_libcrypto(void);
/** libssl's functions, as sw_libcrypto(). */
const struct sw_libssl *sw_libssl(void);

#ifndef SW_OPENSSL_PLAIN
/* clang-format off */
#define ASN1_IA5STRING_new (sw_libcrypto()->ASN1_IA5STRING_new_)
#define ASN1_OCTET_STRING_new (sw_libcrypto()->ASN1_OCTET_STRING_new_)
#define ASN1_STRING_set (sw_libcrypto()->ASN1_STRING_set_)
#define ASN1_TIME_adj (sw_libcrypto()->ASN1_TIME_adj_)
#define ASN1_TIME_set (sw_libcrypto()->ASN1_TIME_set_)
#define ASN1_TIME_to_tm (sw_libcrypto()->ASN1_TIME_to_tm_)
#define BIO_ctrl (sw_libcrypto()->BIO_ctrl_)
#define BIO_free (sw_libcrypto()->BIO_free_)
#define BIO_new (sw_libcrypto()->BIO_new_)
#define BIO_new_mem_buf (sw_libcrypto()->BIO_new_mem_buf_)
#define BIO_number_read (sw_libcrypto()->BIO_number_read_)
#define BIO_s_mem (sw_libcrypto()->BIO_s_mem_)
#define BN_CTX_free (sw_libcrypto()->BN_CTX_free_)
#define BN_CTX_new (sw_libcrypto()->BN_CTX_new_)
#define BN_add (sw_libcrypto()->BN_add_)
#define BN_add_word (sw_libcrypto()->BN_add_word_)
#define BN_bn2dec (sw_libcrypto()->BN_bn2dec_)
#define BN_cmp (sw_libcrypto()->BN_cmp_)
#define BN_copy (sw_libcrypto()->BN_copy_)
#define BN_dec2bn (sw_libcrypto()->BN_dec2bn_)
#define BN_div (sw_libcrypto()->BN_div_)
#define BN_exp (sw_libcrypto()->BN_exp_)
#define BN_free (sw_libcrypto()->BN_free_)
#define BN_is_negative (sw_libcrypto()->BN_is_negative_)
#define BN_is_zero (sw_libcrypto()->BN_is_zero_)
#define BN_lshift1 (sw_libcrypto()->BN_lshift1_)
#define BN_mul (sw_libcrypto()->BN_mul_)
#define BN_new (sw_libcrypto()->BN_new_)
#define BN_rand (sw_libcrypto()->BN_rand_)
#define BN_set_negative (sw_libcrypto()->BN_set_negative_)
#define BN_set_word (sw_libcrypto()->BN_set_word_)
#define BN_sub (sw_libcrypto()->BN_sub_)
#define BN_to_ASN1_INTEGER (sw_libcrypto()->BN_to_ASN1_INTEGER_)
#define CRYPTO_free (sw_libcrypto()->CRYPTO_free_)
#define ERR_clear_error (sw_libcrypto()->ERR_clear_error_)
#define ERR_get_error (sw_libcrypto()->ERR_get_error_)
#define ERR_peek_last_error (sw_libcrypto()->ERR_peek_last_error_)
#define ERR_reason_error_string (sw_libcrypto()->ERR_reason_error_string_)
#define EVP_CIPHER_CTX_free (sw_libcrypto()->EVP_CIPHER_CTX_free_)
#define EVP_CIPHER_CTX_new (sw_libcrypto()->EVP_CIPHER_CTX_new_)
#define EVP_CIPHER_CTX_set_padding (sw_libcrypto()->EVP_CIPHER_CTX_set_padding_)
#define EVP_CipherFinal_ex (sw_libcrypto()->EVP_CipherFinal_ex_)
#define EVP_CipherInit_ex (sw_libcrypto()->EVP_CipherInit_ex_)
#define EVP_CipherUpdate (sw_libcrypto()->EVP_CipherUpdate_)
#define EVP_DecodeBlock (sw_libcrypto()->EVP_DecodeBlock_)
#define EVP_DecodeFinal (sw_libcrypto()->EVP_DecodeFinal_)
#define EVP_DecodeInit (sw_libcrypto()->EVP_DecodeInit_)
#define EVP_DecodeUpdate (sw_libcrypto()->EVP_DecodeUpdate_)
#define EVP_DigestFinal_ex (sw_libcrypto()->EVP_DigestFinal_ex_)
#define EVP_DigestInit_ex (sw_libcrypto()->EVP_DigestInit_ex_)
#define EVP_DigestUpdate (sw_libcrypto()->EVP_DigestUpdate_)
#define EVP_ENCODE_CTX_free (sw_libcrypto()->EVP_ENCODE_CTX_free_)
#define EVP_ENCODE_CTX_new (sw_libcrypto()->EVP_ENCODE_CTX_new_)
#define EVP_EncodeBlock (sw_libcrypto()->EVP_EncodeBlock_)
#define EVP_MD_CTX_free (sw_libcrypto()->EVP_MD_CTX_free_)
#define EVP_MD_CTX_new (sw_libcrypto()->EVP_MD_CTX_new_)
#define EVP_PBE_scrypt (sw_libcrypto()->EVP_PBE_scrypt_)
#define EVP_PKEY_CTX_free (sw_libcrypto()->EVP_PKEY_CTX_free_)
#define EVP_PKEY_CTX_new_from_name (sw_libcrypto()->EVP_PKEY_CTX_new_from_name_)
#define EVP_PKEY_CTX_new_from_pkey (sw_libcrypto()->EVP_PKEY_CTX_new_from_pkey_)
#define EVP_PKEY_CTX_set_dsa_paramgen_bits (sw_libcrypto()->EVP_PKEY_CTX_set_dsa_paramgen_bits_)
#define EVP_PKEY_Q_keygen (sw_libcrypto()->EVP_PKEY_Q_keygen_)
#define EVP_PKEY_free (sw_libcrypto()->EVP_PKEY_free_)
#define EVP_PKEY_is_a (sw_libcrypto()->EVP_PKEY_is_a_)
#define EVP_PKEY_keygen (sw_libcrypto()->EVP_PKEY_keygen_)
#define EVP_PKEY_keygen_init (sw_libcrypto()->EVP_PKEY_keygen_init_)
#define EVP_PKEY_paramgen (sw_libcrypto()->EVP_PKEY_paramgen_)
#define EVP_PKEY_paramgen_init (sw_libcrypto()->EVP_PKEY_paramgen_init_)
#define EVP_aes_256_cbc (sw_libcrypto()->EVP_aes_256_cbc_)
#define EVP_sha256 (sw_libcrypto()->EVP_sha256_)
#define EVP_sha512 (sw_libcrypto()->EVP_sha512_)
#define GENERAL_NAMES_free (sw_libcrypto()->GENERAL_NAMES_free_)
#define GENERAL_NAMES_new (sw_libcrypto()->GENERAL_NAMES_new_)
#define GENERAL_NAME_new (sw_libcrypto()->GENERAL_NAME_new_)
#define GENERAL_NAME_set0_value (sw_libcrypto()->GENERAL_NAME_set0_value_)
#define HMAC (sw_libcrypto()->HMAC_)
#define OPENSSL_cleanse (sw_libcrypto()->OPENSSL_cleanse_)
#define OPENSSL_sk_new_null (sw_libcrypto()->OPENSSL_sk_new_null_)
#define OPENSSL_sk_num (sw_libcrypto()->OPENSSL_sk_num_)
#define OPENSSL_sk_pop_free (sw_libcrypto()->OPENSSL_sk_pop_free_)
#define OPENSSL_sk_push (sw_libcrypto()->OPENSSL_sk_push_)
#define OPENSSL_sk_value (sw_libcrypto()->OPENSSL_sk_value_)
#define PEM_read_bio_PrivateKey (sw_libcrypto()->PEM_read_bio_PrivateKey_)
#define PEM_read_bio_X509 (sw_libcrypto()->PEM_read_bio_X509_)
#define PEM_write_bio_PKCS8PrivateKey (sw_libcrypto()->PEM_write_bio_PKCS8PrivateKey_)
#define PEM_write_bio_PrivateKey_traditional (sw_libcrypto()->PEM_write_bio_PrivateKey_traditional_)
#define PEM_write_bio_X509 (sw_libcrypto()->PEM_write_bio_X509_)
#define RAND_bytes (sw_libcrypto()->RAND_bytes_)
#define SHA1_Final (sw_libcrypto()->SHA1_Final_)
#define SHA1_Init (sw_libcrypto()->SHA1_Init_)
#define SHA1_Update (sw_libcrypto()->SHA1_Update_)
#define SHA256_Final (sw_libcrypto()->SHA256_Final_)
#define SHA256_Init (sw_libcrypto()->SHA256_Init_)
#define SHA256_Update (sw_libcrypto()->SHA256_Update_)
#define SHA512_Final (sw_libcrypto()->SHA512_Final_)
#define SHA512_Init (sw_libcrypto()->SHA512_Init_)
#define SHA512_Update (sw_libcrypto()->SHA512_Update_)
#define X509V3_EXT_conf_nid (sw_libcrypto()->X509V3_EXT_conf_nid_)
#define X509V3_set_ctx (sw_libcrypto()->X509V3_set_ctx_)
#define X509_EXTENSION_free (sw_libcrypto()->X509_EXTENSION_free_)
#define X509_NAME_add_entry_by_txt (sw_libcrypto()->X509_NAME_add_entry_by_txt_)
#define X509_STORE_CTX_free (sw_libcrypto()->X509_STORE_CTX_free_)
#define X509_STORE_CTX_get0_param (sw_libcrypto()->X509_STORE_CTX_get0_param_)
#define X509_STORE_CTX_get_error (sw_libcrypto()->X509_STORE_CTX_get_error_)
#define X509_STORE_CTX_init (sw_libcrypto()->X509_STORE_CTX_init_)
#define X509_STORE_CTX_new (sw_libcrypto()->X509_STORE_CTX_new_)
#define X509_STORE_CTX_set_default (sw_libcrypto()->X509_STORE_CTX_set_default_)
#define X509_STORE_add_cert (sw_libcrypto()->X509_STORE_add_cert_)
#define X509_STORE_free (sw_libcrypto()->X509_STORE_free_)
#define X509_STORE_load_file (sw_libcrypto()->X509_STORE_load_file_)
#define X509_STORE_load_path (sw_libcrypto()->X509_STORE_load_path_)
#define X509_STORE_new (sw_libcrypto()->X509_STORE_new_)
#define X509_STORE_set_default_paths (sw_libcrypto()->X509_STORE_set_default_paths_)
#define X509_STORE_set_flags (sw_libcrypto()->X509_STORE_set_flags_)
#define X509_VERIFY_PARAM_set1_ip_asc (sw_libcrypto()->X509_VERIFY_PARAM_set1_ip_asc_)
#define X509_add1_ext_i2d (sw_libcrypto()->X509_add1_ext_i2d_)
#define X509_add_ext (sw_libcrypto()->X509_add_ext_)
#define X509_check_private_key (sw_libcrypto()->X509_check_private_key_)
#define X509_free (sw_libcrypto()->X509_free_)
#define X509_get0_notAfter (sw_libcrypto()->X509_get0_notAfter_)
#define X509_get_default_cert_dir (sw_libcrypto()->X509_get_default_cert_dir_)
#define X509_get_default_cert_file (sw_libcrypto()->X509_get_default_cert_file_)
#define X509_get_serialNumber (sw_libcrypto()->X509_get_serialNumber_)
#define X509_get_subject_name (sw_libcrypto()->X509_get_subject_name_)
#define X509_getm_notAfter (sw_libcrypto()->X509_getm_notAfter_)
#define X509_getm_notBefore (sw_libcrypto()->X509_getm_notBefore_)
#define X509_new (sw_libcrypto()->X509_new_)
#define X509_set_issuer_name (sw_libcrypto()->X509_set_issuer_name_)
#define X509_set_pubkey (sw_libcrypto()->X509_set_pubkey_)
#define X509_set_version (sw_libcrypto()->X509_set_version_)
#define X509_sign (sw_libcrypto()->X509_sign_)
#define X509_verify_cert (sw_libcrypto()->X509_verify_cert_)
#define X509_verify_cert_error_string (sw_libcrypto()->X509_verify_cert_error_string_)
#define d2i_X509 (sw_libcrypto()->d2i_X509_)
#define OPENSSL_init_ssl (sw_libssl()->OPENSSL_init_ssl_)
#define SSL_CIPHER_get_name (sw_libssl()->SSL_CIPHER_get_name_)
#define SSL_CIPHER_standard_name (sw_libssl()->SSL_CIPHER_standard_name_)
#define SSL_CTX_check_private_key (sw_libssl()->SSL_CTX_check_private_key_)
#define SSL_CTX_ctrl (sw_libssl()->SSL_CTX_ctrl_)
#define SSL_CTX_free (sw_libssl()->SSL_CTX_free_)
#define SSL_CTX_get0_certificate (sw_libssl()->SSL_CTX_get0_certificate_)
#define SSL_CTX_get_ciphers (sw_libssl()->SSL_CTX_get_ciphers_)
#define SSL_CTX_new (sw_libssl()->SSL_CTX_new_)
#define SSL_CTX_set1_cert_store (sw_libssl()->SSL_CTX_set1_cert_store_)
#define SSL_CTX_set_alpn_select_cb (sw_libssl()->SSL_CTX_set_alpn_select_cb_)
#define SSL_CTX_set_cipher_list (sw_libssl()->SSL_CTX_set_cipher_list_)
#define SSL_CTX_set_ciphersuites (sw_libssl()->SSL_CTX_set_ciphersuites_)
#define SSL_CTX_set_default_passwd_cb (sw_libssl()->SSL_CTX_set_default_passwd_cb_)
#define SSL_CTX_set_msg_callback (sw_libssl()->SSL_CTX_set_msg_callback_)
#define SSL_CTX_set_num_tickets (sw_libssl()->SSL_CTX_set_num_tickets_)
#define SSL_CTX_set_options (sw_libssl()->SSL_CTX_set_options_)
#define SSL_CTX_set_security_level (sw_libssl()->SSL_CTX_set_security_level_)
#define SSL_CTX_use_PrivateKey (sw_libssl()->SSL_CTX_use_PrivateKey_)
#define SSL_CTX_use_PrivateKey_file (sw_libssl()->SSL_CTX_use_PrivateKey_file_)
#define SSL_CTX_use_certificate (sw_libssl()->SSL_CTX_use_certificate_)
#define SSL_CTX_use_certificate_chain_file (sw_libssl()->SSL_CTX_use_certificate_chain_file_)
#define SSL_do_handshake (sw_libssl()->SSL_do_handshake_)
#define SSL_free (sw_libssl()->SSL_free_)
#define SSL_get_error (sw_libssl()->SSL_get_error_)
#define SSL_get_ex_data (sw_libssl()->SSL_get_ex_data_)
#define SSL_get_rbio (sw_libssl()->SSL_get_rbio_)
#define SSL_has_pending (sw_libssl()->SSL_has_pending_)
#define SSL_is_init_finished (sw_libssl()->SSL_is_init_finished_)
#define SSL_new (sw_libssl()->SSL_new_)
#define SSL_read (sw_libssl()->SSL_read_)
#define SSL_select_next_proto (sw_libssl()->SSL_select_next_proto_)
#define SSL_set_accept_state (sw_libssl()->SSL_set_accept_state_)
#define SSL_set_ex_data (sw_libssl()->SSL_set_ex_data_)
#define SSL_set_fd (sw_libssl()->SSL_set_fd_)
#define SSL_set_shutdown (sw_libssl()->SSL_set_shutdown_)
#define SSL_shutdown (sw_libssl()->SSL_shutdown_)
#define SSL_write (sw_libssl()->SSL_write_)
#define TLS_server_method (sw_libssl()->TLS_server_method_)
/* clang-format on */
#endif
