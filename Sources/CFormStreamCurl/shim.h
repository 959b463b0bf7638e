// libcurl, as the directory FormStreamHTTP/Libcurl uses it.
//
// Swift can't call variadic C functions: here is one function for each type of argument.
#ifndef FORMSTREAM_CCURL_H
#define FORMSTREAM_CCURL_H

#include <curl/curl.h>

static inline CURLcode formstream_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode formstream_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode formstream_easy_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode formstream_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode formstream_easy_set_list(
    CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

// For CURLOPT_READFUNCTION, CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, which have one type.
static inline CURLcode formstream_easy_set_transfer_function(
    CURL *easy, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
  return curl_easy_setopt(easy, option, function);
}

static inline CURLcode formstream_easy_set_seek_function(
    CURL *easy, int (*function)(void *, curl_off_t, int)) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode formstream_easy_set_progress_function(
    CURL *easy, int (*function)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode formstream_easy_set_debug_function(
    CURL *easy, int (*function)(CURL *, curl_infotype, char *, size_t, void *)) {
  return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode formstream_easy_set_before_request_function(
    CURL *easy, int (*function)(void *, char *, char *, int, int)) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode formstream_easy_set_close_function(
    CURL *easy, int (*function)(void *, curl_socket_t)) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

static inline CURLcode formstream_easy_set_socket_made_function(
    CURL *easy, int (*function)(void *, curl_socket_t, curlsocktype)) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, function);
}

static inline CURLcode formstream_easy_set_open_function(
    CURL *easy, curl_socket_t (*function)(void *, curlsocktype, struct curl_sockaddr *)) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode formstream_easy_set_tls_function(
    CURL *easy, CURLcode (*function)(CURL *, void *, void *)) {
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}

static inline CURLcode formstream_easy_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode formstream_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode formstream_easy_get_text(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode formstream_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// A macro with a cast, which Swift can't read.
static inline long formstream_basic_authentication(void) { return (long)CURLAUTH_BASIC; }

// The result of a finished transfer is a member of a union.
static inline CURLcode formstream_message_result(const CURLMsg *message) {
  return message->data.result;
}

#endif
