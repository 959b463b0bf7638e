// libmicrohttpd, for FormStreamReceiver.
//
// Swift can't call variadic functions of C. This header wraps the one that is needed, with its options as a struct.
#ifndef FORMSTREAM_CMICROHTTPD_H
#define FORMSTREAM_CMICROHTTPD_H

#include <linux/filter.h>
#include <microhttpd.h>

// glibc declares it only if _GNU_SOURCE is defined.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

struct formstream_daemon_options {
  void *context;
  unsigned int connection_limit;
  size_t connection_memory;
  size_t stack_size;
  // PEM text that must live as long as the daemon; both NULL without TLS.
  const char *certificate;
  const char *key;
  void (*log)(void *context, const char *format, va_list arguments);
  void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
  enum MHD_Result (*access)(
      void *context, struct MHD_Connection *connection, const char *url, const char *method,
      const char *version, const char *upload_data, size_t *upload_data_size, void **request);
  void (*completed)(
      void *context, struct MHD_Connection *connection, void **request,
      enum MHD_RequestTerminationCode reason);
  void (*connection)(
      void *context, struct MHD_Connection *connection, void **socket_context,
      enum MHD_ConnectionNotificationCode what);
};

static inline struct MHD_Daemon *formstream_start_daemon(
    const struct formstream_daemon_options *options) {
  // The receiver keeps the listening socket: a daemon that fails to start may or may not close it, and a daemon
  // closes connections above its limit instead of letting them wait.
  unsigned int flags = MHD_USE_NO_LISTEN_SOCKET | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION
      | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG;
  struct MHD_OptionItem tls[] = {
      {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL}};
  if (options->key != NULL) {
    flags |= MHD_USE_TLS;
    tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate};
    tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key};
    // RFC 8996: "TLS 1.0 … and TLS 1.1 … MUST NOT be used." RFC 9325 §4.1: without forward secrecy (RSA), whoever
    // gets the key later can read what was recorded before. RFC 7525 §4.2 recommends AEAD ciphers only: CBC was attacked
    // again and again. All ciphers that are left are strong; the server's order puts the strongest first.
    tls[2] = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_PRIORITIES, 0,
        (void *)"NORMAL:-VERS-TLS1.0:-VERS-TLS1.1:-RSA:-AES-256-CBC:-AES-128-CBC:%SERVER_PRECEDENCE"};
  }
  // 0.9.75 is stricter with 1 only in what the receiver refuses itself, with a record: a missing Host, and a blank in
  // the target. From 1.0 on, 0 would accept lines that end in LF alone.
  const char *version = MHD_get_version();
  int strictness = version != NULL && version[0] == '0' ? 0 : 1;
  // The logger comes first: it receives the messages about the other options.
  return MHD_start_daemon(
      flags, 0, NULL, NULL, options->access, options->context,
      MHD_OPTION_EXTERNAL_LOGGER, options->log, options->context,
      MHD_OPTION_CONNECTION_LIMIT, options->connection_limit,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
      MHD_OPTION_THREAD_STACK_SIZE, options->stack_size,
      MHD_OPTION_STRICT_FOR_CLIENT, strictness,
      MHD_OPTION_URI_LOG_CALLBACK, options->request_line, options->context,
      MHD_OPTION_NOTIFY_COMPLETED, options->completed, options->context,
      MHD_OPTION_NOTIFY_CONNECTION, options->connection, options->context,
      MHD_OPTION_ARRAY, tls,
      MHD_OPTION_END);
}

// Accepts a connection (non-blocking, not inherited). `address` has the size of a `struct sockaddr_storage`. No parameter
// is a `struct sockaddr`: Swift would then consider the type this module's instead of the C library's.
static inline int formstream_accept(int listening_socket, void *address) {
  socklen_t size = sizeof(struct sockaddr_storage);
  return accept4(
      listening_socket, (struct sockaddr *)address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Lets the system ignore the segments that begin a connection (SYN without ACK, in the 14th byte of the TCP header).
// Returns -1 if it can't.
static inline int formstream_ignore_new_clients(int listening_socket) {
  struct sock_filter code[] = {
      {BPF_LD | BPF_B | BPF_ABS, 0, 0, 13}, {BPF_ALU | BPF_AND | BPF_K, 0, 0, 0x12},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0x02}, {BPF_RET | BPF_K, 0, 0, 0},
      {BPF_RET | BPF_K, 0, 0, 0xFFFFFFFF}};
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  return setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

// Passes a connection to the daemon, which owns the descriptor from then on, even if adding it fails.
static inline enum MHD_Result formstream_add_connection(
    struct MHD_Daemon *daemon, int connection, const void *address, unsigned int size) {
  return MHD_add_connection(daemon, connection, (const struct sockaddr *)address, size);
}

// Each function returns one member of a union that libmicrohttpd returns.
static inline int formstream_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline void *formstream_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

static inline size_t formstream_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

// A `struct sockaddr`.
static inline const void *formstream_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

#endif
