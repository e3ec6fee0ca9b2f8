/* Connections and calls of the gRPC load generator, over libnghttp2. */
#pragma once
#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Connection {
  int socket;
  bool wants_write;
  nghttp2_session *session;
  /* Of nghttp2, what is not gathered yet. */
  const uint8_t *frame;
  size_t frame_length;
  uint8_t gathered[16 << 10];
  size_t start, end;
} Connection;

/* What a call sends, and how it is asked for. */
typedef struct {
  const char *path;
  uint8_t message[64]; /* behind its prefix */
  size_t message_length;
  long messages; /* of the client */
  long window;   /* replies that may be missing before the next message; 0: it waits for none */
} Method;

typedef struct Call {
  Connection *connection;
  const Method *method;
  long sent, received;
  size_t begun; /* bytes sent of the next message */
  bool is_waiting; /* for replies */
  uint8_t prefix[5];
  size_t prefix_length;
  uint32_t left; /* of the message that is being read */
} Call;

typedef struct {
  void (*on_sent)(Call *call);
  void (*on_received)(Call *call);
  /* `ok`: it ended with status 0. The call may be begun again. */
  void (*on_end)(Call *call, bool ok);
} CallEvents;

double now_seconds(void);
void fail(const char *what);

void open_epoll(const CallEvents *events);
Connection *open_connection(int port);
void begin_call(Call *call);
/* Sends what the socket takes; the rest follows when it can be written. */
void flush_connection(Connection *connection);
/* Waits at most so long for bytes, and hands out what came. */
void serve_connections(int timeout_ms);
