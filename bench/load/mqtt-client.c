#define _GNU_SOURCE
#include "mqtt-client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 512, READ_AT_LEAST = 16384, READ_MORE = 262144, FROZEN_RECEIVE_BYTES = 4096 };

static int epoll = -1;
/* Clients read one after another, and few are left with half a packet: one buffer to read into serves all. */
static uint8_t *scratch;

double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void fail(const char *what) {
  fprintf(stderr, "%s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

void open_epoll(void) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) fail("epoll_create1");
  scratch = malloc(READ_MORE);
}

static uint8_t *room_for(Buffer *buffer, size_t count) {
  if (buffer->end + count > buffer->capacity) {
    size_t length = buffer->end - buffer->start;
    if (buffer->start > 0) memmove(buffer->bytes, buffer->bytes + buffer->start, length);
    buffer->start = 0;
    buffer->end = length;
    if (length + count > buffer->capacity) {
      buffer->capacity = (length + count) * 2;
      buffer->bytes = realloc(buffer->bytes, buffer->capacity);
      if (!buffer->bytes) fail("realloc");
    }
  }
  return buffer->bytes + buffer->end;
}

static void put(Client *client, const void *bytes, size_t count) {
  memcpy(room_for(&client->out, count), bytes, count);
  client->out.end += count;
}

static void put_byte(Client *client, int value) {
  uint8_t byte = (uint8_t)value;
  put(client, &byte, 1);
}

static void put_string(Client *client, const char *text) {
  size_t length = strlen(text);
  put_byte(client, (int)(length >> 8));
  put_byte(client, (int)(length & 0xff));
  put(client, text, length);
}

static void watch(Client *client, bool write) {
  if (client->wants_write == write) return;
  client->wants_write = write;
  struct epoll_event event = {.events = (client->frozen ? 0 : EPOLLIN) | (write ? EPOLLOUT : 0), .data.ptr = client};
  epoll_ctl(epoll, EPOLL_CTL_MOD, client->socket, &event);
}

Client *connect_client(int port, int version, const char *client_id) {
  Client *client = calloc(1, sizeof *client);
  client->version = version;
  client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (client->socket < 0) fail("socket");
  int on = 1;
  setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(client->socket, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) fail("connect");
  errno = 0;

  bool v5 = version == 5;
  put_byte(client, 0x10);
  put_byte(client, (int)(12 + (v5 ? 1 : 0) + strlen(client_id)));
  put_string(client, "MQTT");
  put_byte(client, version);
  put_byte(client, 2); /* clean start */
  put(client, "\0\0", 2); /* no keep alive */
  if (v5) put_byte(client, 0);
  put_string(client, client_id);

  client->wants_write = true;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = client};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->socket, &event) < 0) fail("epoll_ctl");
  return client;
}

void put_subscribe(Client *client, const char *filter, int qos) {
  bool v5 = client->version == 5;
  put_byte(client, 0x82);
  put_byte(client, (int)(5 + (v5 ? 1 : 0) + strlen(filter)));
  put(client, "\0\1", 2);
  if (v5) put_byte(client, 0);
  put_string(client, filter);
  put_byte(client, qos);
}

void put_puback(Client *client, uint16_t packet_id) {
  uint8_t bytes[] = {0x40, 2, (uint8_t)(packet_id >> 8), (uint8_t)packet_id};
  put(client, bytes, sizeof bytes);
}

PublishTemplate make_publish(int version, int qos, const char *topic, size_t payload_bytes) {
  size_t topic_length = strlen(topic);
  size_t remaining = 2 + topic_length + (qos > 0 ? 2 : 0) + (version == 5 ? 1 : 0) + payload_bytes;
  PublishTemplate template = {.bytes = malloc(remaining + 5), .qos = qos};
  uint8_t *at = template.bytes;
  *at++ = (uint8_t)(0x30 | qos << 1);
  for (size_t rest = remaining; ; rest >>= 7) {
    *at++ = (uint8_t)((rest & 127) | (rest > 127 ? 128 : 0));
    if (rest <= 127) break;
  }
  *at++ = (uint8_t)(topic_length >> 8);
  *at++ = (uint8_t)topic_length;
  memcpy(at, topic, topic_length);
  at += topic_length;
  if (qos > 0) {
    template.packet_id_at = (size_t)(at - template.bytes);
    at += 2;
  }
  if (version == 5) *at++ = 0;
  memset(at, 'x', payload_bytes);
  template.length = (size_t)(at - template.bytes) + payload_bytes;
  return template;
}

void put_publish(Client *client, const PublishTemplate *template) {
  uint8_t *at = room_for(&client->out, template->length);
  memcpy(at, template->bytes, template->length);
  if (template->qos > 0) {
    if (++client->packet_id == 0) client->packet_id = 1;
    at[template->packet_id_at] = (uint8_t)(client->packet_id >> 8);
    at[template->packet_id_at + 1] = (uint8_t)client->packet_id;
  }
  client->out.end += template->length;
}

void flush_client(Client *client) {
  Buffer *out = &client->out;
  while (out->start < out->end) {
    ssize_t sent = send(client->socket, out->bytes + out->start, out->end - out->start, MSG_NOSIGNAL);
    if (sent < 0) {
      /* Still connecting, or the system's buffer is full. */
      if (errno != EAGAIN && errno != ENOTCONN) fail("send");
      errno = 0;
      watch(client, true);
      return;
    }
    out->start += (size_t)sent;
  }
  out->start = out->end = 0;
  watch(client, false);
}

void freeze_client(Client *client) {
  int bytes = FROZEN_RECEIVE_BYTES;
  setsockopt(client->socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  client->frozen = true;
  /* EPOLLHUP and EPOLLERR come all the same: a broker may drop such a client. */
  epoll_ctl(epoll, EPOLL_CTL_DEL, client->socket, NULL);
}

void close_client(Client *client) {
  close(client->socket);
  free(client->in.bytes);
  free(client->out.bytes);
  free(client);
}

/* Gives what was not a whole packet. */
static size_t hand_out(Client *client, const uint8_t *bytes, size_t length, OnPacket on_packet) {
  size_t at = 0;
  while (length - at >= 2) {
    size_t remaining = 0;
    size_t header = 1;
    bool whole = false;
    for (int shift = 0; header < 5 && at + header < length && !whole; shift += 7) {
      uint8_t byte = bytes[at + header++];
      remaining |= (size_t)(byte & 127) << shift;
      whole = byte < 128;
    }
    if (!whole || length - at - header < remaining) break;
    on_packet(client, bytes[at], bytes + at + header, remaining);
    at += header + remaining;
  }
  return length - at;
}

static void read_client(Client *client, OnPacket on_packet) {
  Buffer *in = &client->in;
  for (;;) {
    bool carried = in->end > in->start;
    uint8_t *target = carried ? room_for(in, READ_AT_LEAST) : scratch;
    size_t room = carried ? in->capacity - in->end : READ_MORE;
    ssize_t count = recv(client->socket, target, room, 0);
    if (count < 0) {
      if (errno != EAGAIN) fail("recv");
      errno = 0;
      break;
    }
    if (count == 0) fail("The broker closed a connection");
    if (carried) {
      in->end += (size_t)count;
      in->start = in->end - hand_out(client, in->bytes + in->start, in->end - in->start, on_packet);
    } else {
      size_t left = hand_out(client, scratch, (size_t)count, on_packet);
      in->start = in->end = 0;
      memcpy(room_for(in, left), scratch + (size_t)count - left, left);
      in->end = left;
    }
    if ((size_t)count < room) break;
  }
  if (client->out.end > client->out.start) flush_client(client);
}

void serve_clients(int timeout_ms, OnPacket on_packet) {
  struct epoll_event events[EVENTS_AT_ONCE];
  int count = epoll_wait(epoll, events, EVENTS_AT_ONCE, timeout_ms);
  for (int index = 0; index < count; index++) {
    Client *client = events[index].data.ptr;
    if (events[index].events & EPOLLERR) {
      socklen_t length = sizeof errno;
      getsockopt(client->socket, SOL_SOCKET, SO_ERROR, &errno, &length);
      fail("A connection failed");
    }
    if (events[index].events & EPOLLOUT) flush_client(client);
    if (events[index].events & (EPOLLIN | EPOLLHUP)) read_client(client, on_packet);
  }
}
