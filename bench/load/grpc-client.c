#define _GNU_SOURCE
#include "grpc-client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { WINDOW_BYTES = 8 << 20 };

static int epoll;
static const CallEvents *call_events;
static nghttp2_session_callbacks *callbacks;

double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* One message in a DATA frame of its own, as the usual clients send it. */
static ssize_t read_message(nghttp2_session *session, int32_t stream, uint8_t *into, size_t length, uint32_t *flags,
                            nghttp2_data_source *source, void *user) {
  (void)session, (void)stream, (void)user;
  Call *call = source->ptr;
  const Method *method = call->method;
  if (call->begun == 0 && method->window > 0 && call->sent - call->received >= method->window) {
    call->is_waiting = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  /* Where the server's window is nearly full there is room for the start of a message. */
  size_t left = method->message_length - call->begun;
  size_t taken = left < length ? left : length;
  memcpy(into, method->message + call->begun, taken);
  call->begun = taken == left ? 0 : call->begun + taken;
  if (call->begun > 0) return (ssize_t)taken;
  call->sent++;
  if (call->sent == method->messages) *flags |= NGHTTP2_DATA_FLAG_EOF;
  call_events->on_sent(call);
  return (ssize_t)taken;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t length, void *user) {
  (void)flags, (void)user;
  Call *call = nghttp2_session_get_stream_user_data(session, stream);
  if (!call) return 0;
  while (length > 0) {
    if (call->prefix_length < sizeof call->prefix) {
      call->prefix[call->prefix_length++] = *bytes++;
      length--;
      if (call->prefix_length < sizeof call->prefix) continue;
      uint32_t size;
      memcpy(&size, call->prefix + 1, sizeof size);
      call->left = ntohl(size);
    }
    size_t taken = call->left < length ? call->left : length;
    bytes += taken;
    length -= taken;
    call->left -= (uint32_t)taken;
    if (call->left > 0) continue;
    call->prefix_length = 0;
    call->received++;
    call_events->on_received(call);
    if (call->is_waiting) {
      call->is_waiting = false;
      nghttp2_session_resume_data(session, stream);
    }
  }
  return 0;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value,
                    size_t value_length, uint8_t flags, void *user) {
  (void)flags, (void)user;
  if (name_length != 11 || memcmp(name, "grpc-status", 11) != 0) return 0;
  Call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
  if (call && (value_length != 1 || *value != '0')) {
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, NULL);
    call_events->on_end(call, false);
  }
  return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user) {
  (void)user;
  Call *call = nghttp2_session_get_stream_user_data(session, stream);
  if (call) call_events->on_end(call, code == NGHTTP2_NO_ERROR);
  return 0;
}

void open_epoll(const CallEvents *events) {
  call_events = events;
  epoll = epoll_create1(0);
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
}

Connection *open_connection(int port) {
  Connection *connection = calloc(1, sizeof *connection);
  connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("The server takes no connection");
  int on = 1;
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket, &event);
  nghttp2_session_client_new(&connection->session, callbacks, connection);
  nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES}, {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2);
  nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0, WINDOW_BYTES);
  return connection;
}

#define FIELD(name, value) {(uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), NGHTTP2_NV_FLAG_NO_COPY_NAME}

void begin_call(Call *call) {
  call->sent = call->received = 0;
  call->is_waiting = false;
  call->begun = call->prefix_length = 0;
  nghttp2_nv fields[] = {
      FIELD(":method", "POST"), FIELD(":scheme", "http"),       FIELD(":path", call->method->path),
      FIELD(":authority", "127.0.0.1"), FIELD("te", "trailers"), FIELD("content-type", "application/grpc"),
      FIELD("user-agent", "backlot-bench/1.0"),
  };
  nghttp2_data_provider messages = {.source.ptr = call, .read_callback = read_message};
  int stream = nghttp2_submit_request(call->connection->session, NULL, fields, sizeof fields / sizeof *fields, &messages, call);
  if (stream < 0) fail("A call could not begin");
}

static void watch_writable(Connection *connection, bool wants_write) {
  if (connection->wants_write == wants_write) return;
  connection->wants_write = wants_write;
  struct epoll_event event = {.events = EPOLLIN | (wants_write ? EPOLLOUT : 0), .data.ptr = connection};
  epoll_ctl(epoll, EPOLL_CTL_MOD, connection->socket, &event);
}

/* Frames are gathered: a system call for each would cost more than all the rest. */
static void gather(Connection *connection) {
  connection->start = connection->end = 0;
  while (connection->end < sizeof connection->gathered) {
    if (connection->frame_length == 0) {
      ssize_t made = nghttp2_session_mem_send(connection->session, &connection->frame);
      if (made < 0) fail("Frames could not be made");
      if (made == 0) return;
      connection->frame_length = (size_t)made;
    }
    size_t room = sizeof connection->gathered - connection->end;
    size_t taken = connection->frame_length < room ? connection->frame_length : room;
    memcpy(connection->gathered + connection->end, connection->frame, taken);
    connection->end += taken;
    connection->frame += taken;
    connection->frame_length -= taken;
  }
}

void flush_connection(Connection *connection) {
  for (;;) {
    if (connection->start == connection->end) gather(connection);
    size_t length = connection->end - connection->start;
    if (length == 0) break;
    ssize_t wrote = send(connection->socket, connection->gathered + connection->start, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0) fail("The server closed a connection");
    connection->start += (size_t)wrote;
  }
  watch_writable(connection, connection->start < connection->end);
}

void serve_connections(int timeout_ms) {
  static uint8_t bytes[256 << 10];
  struct epoll_event events[64];
  int count = epoll_wait(epoll, events, 64, timeout_ms);
  for (int index = 0; index < count; index++) {
    Connection *connection = events[index].data.ptr;
    ssize_t length = recv(connection->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length == 0 || (length < 0 && errno != EAGAIN)) fail("The server closed a connection");
    if (length > 0 && nghttp2_session_mem_recv(connection->session, bytes, (size_t)length) < 0) fail("The server broke HTTP/2");
    flush_connection(connection);
  }
}
