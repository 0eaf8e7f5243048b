// Types and constants only: the library is loaded when it is first needed, and its functions are found by name.
#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>

// The function that Swift can't call: with a variable number of arguments. The loaded function comes first.

typedef amqp_rpc_reply_t (*amqp_login_function)(
    amqp_connection_state_t, char const *, int, int, int, const amqp_table_t *, amqp_sasl_method_enum, ...);

static inline amqp_rpc_reply_t amqp_login_plain(
    void *login, amqp_connection_state_t connection, char const *virtual_host, int channels, int frame_size,
    int heartbeat, const amqp_table_t *properties, char const *user, char const *password) {
    return ((amqp_login_function)login)(
        connection, virtual_host, channels, frame_size, heartbeat, properties, AMQP_SASL_METHOD_PLAIN, user, password);
}

// Macros with casts, which Swift doesn't import: a C before the name stands for the macro of that name.

static const amqp_method_number_t CAMQP_CONNECTION_CLOSE = AMQP_CONNECTION_CLOSE_METHOD;
static const amqp_method_number_t CAMQP_CONNECTION_BLOCKED = AMQP_CONNECTION_BLOCKED_METHOD;
static const amqp_method_number_t CAMQP_CONNECTION_UNBLOCKED = AMQP_CONNECTION_UNBLOCKED_METHOD;
static const amqp_method_number_t CAMQP_CHANNEL_CLOSE = AMQP_CHANNEL_CLOSE_METHOD;
static const amqp_method_number_t CAMQP_BASIC_CANCEL = AMQP_BASIC_CANCEL_METHOD;
static const amqp_method_number_t CAMQP_BASIC_DELIVER = AMQP_BASIC_DELIVER_METHOD;
static const amqp_method_number_t CAMQP_BASIC_ACK = AMQP_BASIC_ACK_METHOD;
static const amqp_method_number_t CAMQP_BASIC_NACK = AMQP_BASIC_NACK_METHOD;

static const amqp_flags_t CAMQP_HEADERS = AMQP_BASIC_HEADERS_FLAG;
static const amqp_flags_t CAMQP_CONTENT_TYPE = AMQP_BASIC_CONTENT_TYPE_FLAG;
static const amqp_flags_t CAMQP_DELIVERY_MODE = AMQP_BASIC_DELIVERY_MODE_FLAG;
static const amqp_flags_t CAMQP_MESSAGE_ID = AMQP_BASIC_MESSAGE_ID_FLAG;
static const amqp_flags_t CAMQP_APP_ID = AMQP_BASIC_APP_ID_FLAG;
