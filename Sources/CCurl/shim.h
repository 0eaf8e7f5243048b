// Types and constants only: the library is loaded when it is first needed, and its functions are found by name.
#include <curl/curl.h>

// The functions that Swift can't call: with a variable number of arguments. Each of these takes the loaded function first.

typedef CURLcode (*letsswitch_curl_easy_setopt)(CURL *, CURLoption, ...);
typedef CURLcode (*letsswitch_curl_easy_getinfo)(CURL *, CURLINFO, ...);
typedef CURLMcode (*letsswitch_curl_multi_setopt)(CURLM *, CURLMoption, ...);

static inline CURLcode letsswitch_easy_long(void *set, CURL *easy, CURLoption option, long value) {
    return ((letsswitch_curl_easy_setopt)set)(easy, option, value);
}

static inline CURLcode letsswitch_easy_offset(void *set, CURL *easy, CURLoption option, curl_off_t value) {
    return ((letsswitch_curl_easy_setopt)set)(easy, option, value);
}

static inline CURLcode letsswitch_easy_pointer(void *set, CURL *easy, CURLoption option, const void *value) {
    return ((letsswitch_curl_easy_setopt)set)(easy, option, value);
}

static inline CURLcode letsswitch_easy_write(void *set, CURL *easy, CURLoption option, curl_write_callback value) {
    return ((letsswitch_curl_easy_setopt)set)(easy, option, value);
}

static inline CURLcode letsswitch_easy_opensocket(void *set, CURL *easy, curl_opensocket_callback value) {
    return ((letsswitch_curl_easy_setopt)set)(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode letsswitch_easy_info_long(void *get, CURL *easy, CURLINFO info, long *value) {
    return ((letsswitch_curl_easy_getinfo)get)(easy, info, value);
}

// The struct's last member is the beginning of an address that may be longer.
static inline const void *letsswitch_address(const struct curl_sockaddr *address) {
    return &address->addr;
}

static inline CURLMcode letsswitch_multi_long(void *set, CURLM *multi, CURLMoption option, long value) {
    return ((letsswitch_curl_multi_setopt)set)(multi, option, value);
}

static inline CURLMcode letsswitch_multi_pointer(void *set, CURLM *multi, CURLMoption option, void *value) {
    return ((letsswitch_curl_multi_setopt)set)(multi, option, value);
}

static inline CURLMcode letsswitch_multi_socket(void *set, CURLM *multi, curl_socket_callback value) {
    return ((letsswitch_curl_multi_setopt)set)(multi, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode letsswitch_multi_timer(void *set, CURLM *multi, curl_multi_timer_callback value) {
    return ((letsswitch_curl_multi_setopt)set)(multi, CURLMOPT_TIMERFUNCTION, value);
}

static const unsigned int letsswitch_CURL_GLOBAL_DEFAULT = CURL_GLOBAL_DEFAULT;
static const curl_socket_t letsswitch_CURL_SOCKET_BAD = CURL_SOCKET_BAD;
static const curl_socket_t letsswitch_CURL_SOCKET_TIMEOUT = CURL_SOCKET_TIMEOUT;
static const int letsswitch_CURL_POLL_IN = CURL_POLL_IN;
static const int letsswitch_CURL_POLL_OUT = CURL_POLL_OUT;
static const int letsswitch_CURL_POLL_INOUT = CURL_POLL_INOUT;
static const int letsswitch_CURL_POLL_REMOVE = CURL_POLL_REMOVE;
static const int letsswitch_CURL_CSELECT_IN = CURL_CSELECT_IN;
static const int letsswitch_CURL_CSELECT_OUT = CURL_CSELECT_OUT;
static const int letsswitch_CURL_CSELECT_ERR = CURL_CSELECT_ERR;
static const long letsswitch_CURL_HTTP_VERSION_2TLS = CURL_HTTP_VERSION_2TLS;
static const long letsswitch_CURL_HTTP_VERSION_1_1 = CURL_HTTP_VERSION_1_1;
static const long letsswitch_CURL_SSLVERSION_TLSv1_2 = CURL_SSLVERSION_TLSv1_2;
static const long letsswitch_CURLPIPE_MULTIPLEX = CURLPIPE_MULTIPLEX;
static const CURLversion letsswitch_CURLVERSION_NOW = CURLVERSION_NOW;
