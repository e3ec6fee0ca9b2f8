/* One MQTT client of the load generator: a non-blocking socket with its buffers, and the few packets that it sends. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint8_t *bytes;
  size_t start, end, capacity;
} Buffer;

typedef struct Client {
  int socket;
  int version; /* 4 or 5 */
  bool wants_write, frozen;
  Buffer in, out;
  uint16_t packet_id;
  double last_message_at, longest_gap;
} Client;

typedef enum { CONNACK = 2, PUBLISH = 3, PUBACK = 4, SUBACK = 9, DISCONNECT = 14 } PacketType;

/* Ready-made but for the packet identifier, whose place is 0 with QoS 0. */
typedef struct {
  uint8_t *bytes;
  size_t length, packet_id_at;
  int qos;
} PublishTemplate;

/* Told of each whole packet: `body` begins behind the fixed header. */
typedef void (*OnPacket)(Client *client, uint8_t first_byte, const uint8_t *body, size_t length);

double now_seconds(void);
void fail(const char *what);

void open_epoll(void);
Client *connect_client(int port, int version, const char *client_id);
void put_subscribe(Client *client, const char *filter, int qos);
void put_puback(Client *client, uint16_t packet_id);
void put_publish(Client *client, const PublishTemplate *template);
PublishTemplate make_publish(int version, int qos, const char *topic, size_t payload_bytes);
/* Sends what the socket takes; the rest follows when it can be written. */
void flush_client(Client *client);
/* Reads no more, so that the broker's bytes pile up. */
void freeze_client(Client *client);
void close_client(Client *client);
/* Waits at most so long for bytes, and hands out the packets that came. */
void serve_clients(int timeout_ms, OnPacket on_packet);
