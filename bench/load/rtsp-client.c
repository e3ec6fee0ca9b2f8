#define _GNU_SOURCE
#include "rtsp-client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, PACKETS_AT_ONCE = 32, PACKET_BYTES = 2048, FIRST_UDP_PORT = 20000, LAST_UDP_PORT = 60000 };
static const int receive_buffer_bytes = 1 << 20;

static int epoll;
static int server_port;
static const char *server_path;
static bool is_udp;
static int next_udp_port = FIRST_UDP_PORT;

double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

void open_players(int port, const char *path, bool over_udp) {
  server_port = port;
  server_path = path;
  is_udp = over_udp;
  epoll = epoll_create1(EPOLL_CLOEXEC);
}

/* What an event is about: the connection of a player, or one socket of a track. */
static uint64_t event_of(const Player *player, int part) { return (uint64_t)(uintptr_t)player | (uint64_t)part; }

static void watch(int socket, uint64_t what) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0) fail("A socket could not be watched");
}

static void request(Player *player, const char *method, const char *uri, const char *more) {
  char text[1200];
  int length = snprintf(text, sizeof text, "%s %s RTSP/1.0\r\nCSeq: %d\r\nUser-Agent: rtsp-load\r\n%s%s%s%s\r\n", method, uri,
                        ++player->cseq, player->session[0] ? "Session: " : "", player->session, player->session[0] ? "\r\n" : "", more);
  if (send(player->socket, text, (size_t)length, MSG_NOSIGNAL) != length) player->state = FAILED;
}

void begin_player(Player *player) {
  player->began_at = now_seconds();
  player->buffer = malloc(BUFFER_BYTES);
  player->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(player->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("The server takes no connection");
  int on = 1;
  setsockopt(player->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  watch(player->socket, event_of(player, 0));
  snprintf(player->base, sizeof player->base, "rtsp://127.0.0.1:%d/%s", server_port, server_path);
  request(player, "DESCRIBE", player->base, "Accept: application/sdp\r\n");
}

static int bound_udp(int port) {
  int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(handle, (struct sockaddr *)&address, sizeof address) != 0) {
    close(handle);
    return -1;
  }
  setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  return handle;
}

/* A pair of ports of which the first one is even. Returns it. */
static int open_udp(Player *player, Track *track) {
  for (; next_udp_port < LAST_UDP_PORT; next_udp_port += 2) {
    track->rtp = bound_udp(next_udp_port);
    if (track->rtp < 0) continue;
    track->rtcp = bound_udp(next_udp_port + 1);
    if (track->rtcp < 0) {
      close(track->rtp);
      continue;
    }
    int index = (int)(track - player->track);
    watch(track->rtp, event_of(player, 1 + 2 * index));
    watch(track->rtcp, event_of(player, 2 + 2 * index));
    int port = next_udp_port;
    next_udp_port += 2;
    return port;
  }
  fail("There are not enough ports of UDP");
  return 0;
}

static void set_up_next(Player *player) {
  Track *track = &player->track[player->set_up];
  char uri[420], transport[120];
  bool is_absolute = strncasecmp(track->control, "rtsp:", 5) == 0;
  size_t length = strlen(player->base);
  bool has_slash = length > 0 && player->base[length - 1] == '/';
  snprintf(uri, sizeof uri, "%s%s%s", is_absolute ? "" : player->base, is_absolute || has_slash ? "" : "/", track->control);
  if (is_udp) {
    int port = open_udp(player, track);
    snprintf(transport, sizeof transport, "Transport: RTP/AVP;unicast;client_port=%d-%d\r\n", port, port + 1);
  } else {
    snprintf(transport, sizeof transport, "Transport: RTP/AVP/TCP;unicast;interleaved=%d-%d\r\n", 2 * player->set_up, 2 * player->set_up + 1);
  }
  player->state = SETTING_UP;
  request(player, "SETUP", uri, transport);
}

static void read_description(Player *player, char *text) {
  char *rest = NULL;
  for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
    if (strncmp(line, "m=", 2) == 0 && player->tracks < TRACKS) {
      Track *track = &player->track[player->tracks++];
      track->is_video = strncmp(line, "m=video", 7) == 0;
      track->next_sequence = -1;
      track->rtp = track->rtcp = -1;
    } else if (strncmp(line, "a=control:", 10) == 0 && player->tracks > 0)
      snprintf(player->track[player->tracks - 1].control, sizeof player->track->control, "%s", line + 10);
  }
}

/* The value of a header field, which ends with the line. */
static const char *field_of(const char *head, const char *name) {
  const char *found = strcasestr(head, name);
  return found ? found + strlen(name) + strspn(found + strlen(name), " ") : NULL;
}

static void copy_until(char *into, size_t size, const char *from, const char *ends) {
  size_t length = strcspn(from, ends);
  snprintf(into, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

static void on_answer(Player *player, char *head, char *body) {
  if (strncmp(head, "RTSP/1.0 200", 12) != 0) {
    player->state = FAILED;
    return;
  }
  const char *session = field_of(head, "\nSession:");
  if (session) copy_until(player->session, sizeof player->session, session, ";\r\n");
  switch (player->state) {
    case DESCRIBING: {
      const char *base = field_of(head, "\nContent-Base:");
      if (base) copy_until(player->base, sizeof player->base, base, "\r\n");
      read_description(player, body);
      set_up_next(player);
      break;
    }
    case SETTING_UP:
      if (++player->set_up < player->tracks) set_up_next(player);
      else {
        player->state = STARTING;
        request(player, "PLAY", player->base, "Range: npt=0-\r\n");
      }
      break;
    case STARTING:
      player->state = PLAYING;
      break;
    default:
      break;
  }
}

/* RFC 6184: whether the payload has a part of a key picture. */
static bool is_of_key(const uint8_t *payload, size_t length) {
  if (length < 4) return false;
  int type = payload[0] & 31;
  if (type == 24) {
    for (size_t at = 1; at + 3 <= length; at += 2 + (size_t)(payload[at] << 8 | payload[at + 1]))
      if ((payload[at + 2] & 31) == 5) return true;
    return false;
  }
  return type == 5 || (type == 28 && (payload[1] & 31) == 5);
}

static void on_packet(Player *player, Track *track, const uint8_t *packet, size_t length) {
  if (length < 12) return;
  Counts *counts = &player->counts;
  counts->packets++;
  counts->bytes += (long)length;
  int sequence = packet[2] << 8 | packet[3];
  if (track->next_sequence >= 0) counts->lost += (uint16_t)(sequence - track->next_sequence);
  track->next_sequence = (sequence + 1) & 0xffff;
  if (!track->is_video) return;
  bool is_last = (packet[1] & 0x80) != 0;
  if (is_last) counts->pictures++;
  if (player->picture_at > 0) return;
  if (is_of_key(packet + 12, length - 12)) player->has_key = true;
  if (player->has_key && is_last) player->picture_at = now_seconds();
}

/* Returns how many bytes were taken. */
static size_t take(Player *player, uint8_t *bytes, size_t length) {
  if (bytes[0] == '$') {
    if (length < 4) return 0;
    size_t size = (size_t)(bytes[2] << 8 | bytes[3]);
    if (length < 4 + size) return 0;
    int channel = bytes[1];
    if (channel % 2 == 0 && channel / 2 < player->tracks) on_packet(player, &player->track[channel / 2], bytes + 4, size);
    return 4 + size;
  }
  uint8_t *end = memmem(bytes, length, "\r\n\r\n", 4);
  if (!end) return 0;
  size_t head_length = (size_t)(end - bytes) + 4;
  end[2] = 0;
  const char *size_field = field_of((char *)bytes, "\nContent-Length:");
  size_t size = size_field ? (size_t)atol(size_field) : 0;
  if (length < head_length + size) {
    end[2] = '\r';
    return 0;
  }
  char *body = strndup((char *)bytes + head_length, size);
  on_answer(player, (char *)bytes, body);
  free(body);
  return head_length + size;
}

static void receive_tcp(Player *player) {
  ssize_t count = recv(player->socket, player->buffer + player->filled, BUFFER_BYTES - player->filled, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    player->state = FAILED;
    epoll_ctl(epoll, EPOLL_CTL_DEL, player->socket, NULL);
    return;
  }
  player->filled += (size_t)count;
  size_t at = 0;
  while (at < player->filled) {
    size_t taken = take(player, player->buffer + at, player->filled - at);
    if (taken == 0) break;
    at += taken;
  }
  memmove(player->buffer, player->buffer + at, player->filled - at);
  player->filled -= at;
  if (player->filled == BUFFER_BYTES) fail("The server sends what is not RTSP");
}

static void receive_udp(Player *player, int part) {
  static uint8_t packets[PACKETS_AT_ONCE][PACKET_BYTES];
  static struct iovec places[PACKETS_AT_ONCE];
  static struct mmsghdr messages[PACKETS_AT_ONCE];
  Track *track = &player->track[(part - 1) / 2];
  bool is_rtp = part % 2 == 1;
  for (int index = 0; index < PACKETS_AT_ONCE; index++) {
    places[index] = (struct iovec){.iov_base = packets[index], .iov_len = PACKET_BYTES};
    messages[index].msg_hdr = (struct msghdr){.msg_iov = &places[index], .msg_iovlen = 1};
  }
  int count = recvmmsg(is_rtp ? track->rtp : track->rtcp, messages, PACKETS_AT_ONCE, MSG_DONTWAIT, NULL);
  for (int index = 0; is_rtp && index < count; index++) on_packet(player, track, packets[index], messages[index].msg_len);
}

void serve_players(int milliseconds) {
  struct epoll_event events[EVENTS];
  int count = epoll_wait(epoll, events, EVENTS, milliseconds);
  for (int index = 0; index < count; index++) {
    /* Players are aligned, so the lowest bits are free. */
    Player *player = (Player *)(uintptr_t)(events[index].data.u64 & ~(uint64_t)7);
    int part = (int)(events[index].data.u64 & 7);
    if (part == 0) receive_tcp(player);
    else receive_udp(player, part);
  }
}

void end_player(Player *player) {
  if (player->state == PLAYING) request(player, "TEARDOWN", player->base, "");
  close(player->socket);
  for (int index = 0; is_udp && index < player->tracks; index++) {
    close(player->track[index].rtp);
    close(player->track[index].rtcp);
  }
}
