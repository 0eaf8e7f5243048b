// Types and constants only: the library is loaded when it is first needed, and its functions are found by name.
#include <curl/curl.h>

// The functions that Swift can't call: with a variable number of arguments. Each of these takes the loaded function first. A C before
// the name of a constant stands for the macro of that name, which Swift doesn't import.

typedef CURLcode (*curl_easy_setopt_function)(CURL *, CURLoption, ...);
typedef CURLcode (*curl_easy_getinfo_function)(CURL *, CURLINFO, ...);
typedef CURLMcode (*curl_multi_setopt_function)(CURLM *, CURLMoption, ...);

static inline CURLcode curl_easy_set_long(void *set, CURL *easy, CURLoption option, long value) {
    return ((curl_easy_setopt_function)set)(easy, option, value);
}

static inline CURLcode curl_easy_set_offset(void *set, CURL *easy, CURLoption option, curl_off_t value) {
    return ((curl_easy_setopt_function)set)(easy, option, value);
}

static inline CURLcode curl_easy_set_pointer(void *set, CURL *easy, CURLoption option, const void *value) {
    return ((curl_easy_setopt_function)set)(easy, option, value);
}

static inline CURLcode curl_easy_set_write_callback(void *set, CURL *easy, CURLoption option, curl_write_callback value) {
    return ((curl_easy_setopt_function)set)(easy, option, value);
}

static inline CURLcode curl_easy_set_opensocket_callback(void *set, CURL *easy, curl_opensocket_callback value) {
    return ((curl_easy_setopt_function)set)(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode curl_easy_get_long(void *get, CURL *easy, CURLINFO info, long *value) {
    return ((curl_easy_getinfo_function)get)(easy, info, value);
}

// The struct's last member is the beginning of an address that may be longer.
static inline const void *curl_sockaddr_address(const struct curl_sockaddr *address) {
    return &address->addr;
}

static inline CURLMcode curl_multi_set_long(void *set, CURLM *multi, CURLMoption option, long value) {
    return ((curl_multi_setopt_function)set)(multi, option, value);
}

static inline CURLMcode curl_multi_set_pointer(void *set, CURLM *multi, CURLMoption option, void *value) {
    return ((curl_multi_setopt_function)set)(multi, option, value);
}

static inline CURLMcode curl_multi_set_socket_callback(void *set, CURLM *multi, curl_socket_callback value) {
    return ((curl_multi_setopt_function)set)(multi, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode curl_multi_set_timer_callback(void *set, CURLM *multi, curl_multi_timer_callback value) {
    return ((curl_multi_setopt_function)set)(multi, CURLMOPT_TIMERFUNCTION, value);
}

static const unsigned int CCURL_GLOBAL_DEFAULT = CURL_GLOBAL_DEFAULT;
static const curl_socket_t CCURL_SOCKET_BAD = CURL_SOCKET_BAD;
static const curl_socket_t CCURL_SOCKET_TIMEOUT = CURL_SOCKET_TIMEOUT;
static const int CCURL_POLL_IN = CURL_POLL_IN;
static const int CCURL_POLL_OUT = CURL_POLL_OUT;
static const int CCURL_POLL_INOUT = CURL_POLL_INOUT;
static const int CCURL_CSELECT_IN = CURL_CSELECT_IN;
static const int CCURL_CSELECT_OUT = CURL_CSELECT_OUT;
static const int CCURL_CSELECT_ERR = CURL_CSELECT_ERR;
static const long CCURL_HTTP_VERSION_2TLS = CURL_HTTP_VERSION_2TLS;
static const long CCURL_SSLVERSION_TLSv1_2 = CURL_SSLVERSION_TLSv1_2;
static const long CCURLPIPE_MULTIPLEX = CURLPIPE_MULTIPLEX;
static const CURLversion CCURLVERSION_NOW = CURLVERSION_NOW;
