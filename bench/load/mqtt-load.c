/*
 * MQTT load from one thread, light enough not to be what is measured. It prints a line when a measured period begins or a
 * state is reached, and its figures as JSON at the end.
 *   mqtt-load flow PORT VERSION QOS PUBLISHERS SUBSCRIBERS WINDOW PAYLOAD_BYTES WARM_UP_SECONDS SECONDS
 *   mqtt-load connect PORT VERSION COUNT AT_ONCE      holds the connections until stdin ends
 *   mqtt-load frozen PORT VERSION SUBSCRIBERS PER_SECOND PAYLOAD_BYTES SECONDS      the first subscriber stops reading
 */
#include "mqtt-client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char topic[] = "bench/topic";
enum { PATIENCE_SECONDS = 10, CONNECT_PATIENCE_SECONDS = 120, DRAIN_SECONDS = 2 };

static long answered; /* CONNACK and SUBACK */
static long delivered;
static long acknowledged;
static bool watch_gaps; /* a look at the clock for each message costs the generator as much as the message */

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void note_gap(Client *client, double now) {
  double gap = now - client->last_message_at;
  if (gap > client->longest_gap) client->longest_gap = gap;
  client->last_message_at = now;
}

static void on_packet(Client *client, uint8_t first_byte, const uint8_t *body, size_t length) {
  switch ((PacketType)(first_byte >> 4)) {
    case CONNACK:
      if (length < 2 || body[1] != 0) fail("The broker refused a CONNECT");
      answered++;
      break;
    case SUBACK:
      if (body[length - 1] > 2) fail("The broker refused a SUBSCRIBE");
      answered++;
      break;
    case PUBLISH:
      delivered++;
      if ((first_byte & 6) == 2) {
        size_t at = 2 + (size_t)(body[0] << 8 | body[1]);
        put_puback(client, (uint16_t)(body[at] << 8 | body[at + 1]));
      }
      if (watch_gaps) note_gap(client, now_seconds());
      break;
    case PUBACK:
      acknowledged++;
      break;
    case DISCONNECT:
      fail("The broker disconnected a client");
  }
}

static void await_answers(long count) {
  double deadline = now_seconds() + CONNECT_PATIENCE_SECONDS;
  while (answered < count) {
    serve_clients(100, on_packet);
    if (now_seconds() > deadline) fail("The broker did not answer in time");
  }
  answered = 0;
}

static Client *open_client(int port, int version, const char *role, int number) {
  char client_id[48];
  snprintf(client_id, sizeof client_id, "%s-%d-%d", role, (int)getpid() % 100000, number);
  return connect_client(port, version, client_id);
}

static Client **open_clients(int port, int version, const char *role, int count) {
  Client **clients = calloc((size_t)count, sizeof *clients);
  for (int index = 0; index < count; index++) clients[index] = open_client(port, version, role, index);
  await_answers(count);
  return clients;
}

static Client **open_subscribers(int port, int version, int qos, int count) {
  Client **subscribers = open_clients(port, version, "sub", count);
  for (int index = 0; index < count; index++) {
    put_subscribe(subscribers[index], topic, qos);
    flush_client(subscribers[index]);
  }
  await_answers(count);
  return subscribers;
}

static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

static int number(char **arguments, int index) { return (int)strtol(arguments[index], NULL, 10); }

/* Keeps a window of messages under way: a new one for each that is delivered to all and, with QoS 1, acknowledged. */
static void flow(char **arguments) {
  int port = number(arguments, 0), version = number(arguments, 1), qos = number(arguments, 2);
  int publishers = number(arguments, 3), subscribers = number(arguments, 4), window = number(arguments, 5);
  PublishTemplate template = make_publish(version, qos, topic, (size_t)number(arguments, 6));
  open_subscribers(port, version, qos, subscribers);
  Client **senders = open_clients(port, version, "pub", publishers);

  double begins = now_seconds() + strtod(arguments[7], NULL);
  double ends = begins + strtod(arguments[8], NULL);
  double begun_at = 0, cpu_before = 0, last_progress_at = now_seconds();
  long sent = 0, delivered_before = 0, last_delivered = 0;
  unsigned next = 0;
  for (;;) {
    double now = now_seconds();
    if (begun_at == 0 && now >= begins) {
      say("begin");
      begun_at = now;
      cpu_before = cpu_seconds();
      delivered_before = delivered;
    }
    if (now >= ends) break;
    if (delivered != last_delivered) {
      last_delivered = delivered;
      last_progress_at = now;
    } else if (now - last_progress_at > PATIENCE_SECONDS) {
      fprintf(stderr, "%ld sent, %ld delivered, %ld acknowledged; then ", sent, delivered, acknowledged);
      fail("nothing came any more");
    }
    long done = delivered / subscribers;
    if (qos > 0 && acknowledged < done) done = acknowledged;
    long missing = window - (sent - done);
    for (long index = 0; index < missing; index++) put_publish(senders[next++ % (unsigned)publishers], &template);
    sent += missing > 0 ? missing : 0;
    for (int index = 0; missing > 0 && index < publishers; index++) {
      if (senders[index]->out.end > senders[index]->out.start && !senders[index]->wants_write) flush_client(senders[index]);
    }
    serve_clients(100, on_packet);
  }
  printf("{\"delivered\":%ld,\"seconds\":%.3f,\"cpuSeconds\":%.3f}\n", delivered - delivered_before, now_seconds() - begun_at, cpu_seconds() - cpu_before);
}

static void connect_many(char **arguments) {
  int port = number(arguments, 0), version = number(arguments, 1), count = number(arguments, 2), at_once = number(arguments, 3);
  say("begin");
  double begun_at = now_seconds();
  for (int opened = 0; answered < count;) {
    while (opened < count && opened - answered < at_once) open_client(port, version, "idle", opened++);
    serve_clients(100, on_packet);
    if (now_seconds() - begun_at > CONNECT_PATIENCE_SECONDS) fail("The connections were not answered in time");
  }
  printf("{\"seconds\":%.3f}\n", now_seconds() - begun_at);
  fflush(stdout);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  while (poll(&input, 1, 0) == 0) serve_clients(100, on_packet);
}

static void frozen(char **arguments) {
  int port = number(arguments, 0), version = number(arguments, 1), count = number(arguments, 2);
  double per_second = strtod(arguments[3], NULL);
  PublishTemplate template = make_publish(version, 0, topic, (size_t)number(arguments, 4));
  Client **subscribers = open_subscribers(port, version, 0, count);
  freeze_client(subscribers[0]);
  Client *sender = open_clients(port, version, "pub", 1)[0];
  say("begin");
  double begun_at = now_seconds(), ends = begun_at + strtod(arguments[5], NULL), last_turn_at = begun_at, longest_turn = 0;
  for (int index = 1; index < count; index++) subscribers[index]->last_message_at = begun_at;
  watch_gaps = true;
  long sent = 0;
  for (double now = begun_at; now < ends; now = now_seconds()) {
    if (now - last_turn_at > longest_turn) longest_turn = now - last_turn_at;
    last_turn_at = now;
    bool more = false;
    for (; (double)sent < (now - begun_at) * per_second; sent++, more = true) put_publish(sender, &template);
    if (more && !sender->wants_write) flush_client(sender);
    serve_clients(1, on_packet);
  }
  long expected = sent * (count - 1);
  double longest = 0;
  for (int index = 1; index < count; index++) note_gap(subscribers[index], now_seconds());
  for (double end = now_seconds() + DRAIN_SECONDS; delivered < expected && now_seconds() < end;) serve_clients(10, on_packet);
  for (int index = 1; index < count; index++) {
    if (subscribers[index]->longest_gap > longest) longest = subscribers[index]->longest_gap;
  }
  printf("{\"longestGapMs\":%.1f,\"longestTurnMs\":%.1f,\"delivered\":%ld,\"expected\":%ld}\n", longest * 1000, longest_turn * 1000, delivered, expected);
}

int main(int count, char **arguments) {
  open_epoll();
  if (count == 11 && strcmp(arguments[1], "flow") == 0) flow(arguments + 2);
  else if (count == 6 && strcmp(arguments[1], "connect") == 0) connect_many(arguments + 2);
  else if (count == 8 && strcmp(arguments[1], "frozen") == 0) frozen(arguments + 2);
  else {
    errno = 0;
    fail("mqtt-load flow|connect|frozen ...; see mqtt-load.c");
  }
  return 0;
}
