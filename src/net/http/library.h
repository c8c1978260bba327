#pragma once
/* library: libcurl, loaded at first use. It depends on two dozen libraries: linking it would make
 * the start of a program that only renders a directory five times as long.
 *
 * The names of libcurl's functions stand for pointers in the files that include this, so that a
 * call reads as in libcurl's manual. A function that is not in the list below does not link. */
#include <curl/curl.h>

#define SW_CURL_FUNCTIONS(ROW)                                                                     \
    ROW(curl_easy_cleanup)                                                                         \
    ROW(curl_easy_getinfo)                                                                         \
    ROW(curl_easy_init)                                                                            \
    ROW(curl_easy_pause)                                                                           \
    ROW(curl_easy_reset)                                                                           \
    ROW(curl_easy_setopt)                                                                          \
    ROW(curl_easy_strerror)                                                                        \
    ROW(curl_free)                                                                                 \
    ROW(curl_global_init)                                                                          \
    ROW(curl_multi_add_handle)                                                                     \
    ROW(curl_multi_assign)                                                                         \
    ROW(curl_multi_cleanup)                                                                        \
    ROW(curl_multi_info_read)                                                                      \
    ROW(curl_multi_init)                                                                           \
    ROW(curl_multi_remove_handle)                                                                  \
    ROW(curl_multi_setopt)                                                                         \
    ROW(curl_multi_socket_action)                                                                  \
    ROW(curl_slist_append)                                                                         \
    ROW(curl_slist_free_all)                                                                       \
    ROW(curl_url)                                                                                  \
    ROW(curl_url_cleanup)                                                                          \
    ROW(curl_url_get)                                                                              \
    ROW(curl_url_set)

/** Pointers to libcurl's functions. */
struct sw_curl {
#define SW_CURL_FIELD(name) __typeof__(name) *name##_;
    SW_CURL_FUNCTIONS(SW_CURL_FIELD)
#undef SW_CURL_FIELD
};

/** Filled by sw_curl_load(). */
extern struct sw_curl sw_curl;

/** Load and initialise libcurl, once. If it cannot be loaded, the process ends with the message of
 * the dynamic loader, as with a linked library. */
void sw_curl_load(void);

#ifndef SW_CURL_PLAIN
#undef curl_easy_getinfo /* macros that check types, and call the function */
#undef curl_easy_setopt
#undef curl_multi_setopt
#define curl_easy_cleanup (sw_curl.curl_easy_cleanup_)
#define curl_easy_getinfo (sw_curl.curl_easy_getinfo_)
#define curl_easy_init (sw_curl.curl_easy_init_)
#define curl_easy_pause (sw_curl.curl_easy_pause_)
#define curl_easy_reset (sw_curl.curl_easy_reset_)
#define curl_easy_setopt (sw_curl.curl_easy_setopt_)
#define curl_easy_strerror (sw_curl.curl_easy_strerror_)
#define curl_free (sw_curl.curl_free_)
#define curl_global_init (sw_curl.curl_global_init_)
#define curl_multi_add_handle (sw_curl.curl_multi_add_handle_)
#define curl_multi_assign (sw_curl.curl_multi_assign_)
#define curl_multi_cleanup (sw_curl.curl_multi_cleanup_)
#define curl_multi_info_read (sw_curl.curl_multi_info_read_)
#define curl_multi_init (sw_curl.curl_multi_init_)
#define curl_multi_remove_handle (sw_curl.curl_multi_remove_handle_)
#define curl_multi_setopt (sw_curl.curl_multi_setopt_)
#define curl_multi_socket_action (sw_curl.curl_multi_socket_action_)
#define curl_slist_append (sw_curl.curl_slist_append_)
#define curl_slist_free_all (sw_curl.curl_slist_free_all_)
#define curl_url (sw_curl.curl_url_)
#define curl_url_cleanup (sw_curl.curl_url_cleanup_)
#define curl_url_get (sw_curl.curl_url_get_)
#define curl_url_set (sw_curl.curl_url_set_)
#endif
