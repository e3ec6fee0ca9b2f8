/*
 * gRPC load from one thread, light enough not to be what is measured: messages are ready-made, replies are counted by their prefixes.
 * It prints a line when a measured period begins, and its figures as JSON at the end.
 *   grpc-load flow PORT unary|server|client|bidi CONNECTIONS CALLS MESSAGES WINDOW WARM_UP_MESSAGES SECONDS
 *   grpc-load idle PORT CONNECTIONS CALLS      opens streams of example.StreamService that are quiet, and holds them until stdin ends
 * CALLS are those of a connection at any time, MESSAGES those of a stream, WINDOW the messages under way in a bidi stream.
 */
#include "grpc-client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 30 };

static long messages, calls, errors, answered;
static bool is_counting_sent, is_over;

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void on_sent(Call *call) {
  (void)call;
  if (is_counting_sent) messages++;
}

static void on_received(Call *call) {
  if (call->received == 1) answered++;
  if (!is_counting_sent) messages++;
}

static void on_end(Call *call, bool ok) {
  if (ok) calls++;
  else errors++;
  if (!is_over) begin_call(call);
}

static const CallEvents events = {on_sent, on_received, on_end};

static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

static int number(char **arguments, int index) { return (int)strtol(arguments[index], NULL, 10); }

static void put_prefix(Method *method, size_t length) {
  memset(method->message, 0, 5);
  method->message[4] = (uint8_t)length;
  method->message_length = 5 + length;
}

/* Field 1 of HelloRequest, and of ClientMessage with field 2 and 3. */
static const char hello[] = "\x0a\x09" "benchmark";
static const char said[] = "\x0a\x04" "load" "\x12\x05" "hello" "\x18\x01";

static void put_text(Method *method, const char *text, size_t length) {
  put_prefix(method, length);
  memcpy(method->message + 5, text, length);
}

/* StreamRequest with count and rate. */
static void put_stream_request(Method *method, long count, double rate) {
  uint8_t *at = method->message + 5;
  if (count > 0) {
    *at++ = 0x10;
    for (; count >= 0x80; count >>= 7) *at++ = (uint8_t)(count & 0x7f) | 0x80;
    *at++ = (uint8_t)count;
  }
  *at++ = 0x19;
  memcpy(at, &rate, sizeof rate);
  put_prefix(method, (size_t)(at + sizeof rate - method->message - 5));
}

static Method make_method(const char *pattern, long per_call, long window) {
  Method method = {.messages = 1};
  if (strcmp(pattern, "unary") == 0) {
    method.path = "/example.Greeter/SayHello";
    put_text(&method, hello, sizeof hello - 1);
  } else if (strcmp(pattern, "server") == 0) {
    method.path = "/example.StreamService/Subscribe";
    put_stream_request(&method, per_call, 100000);
  } else {
    bool is_bidi = strcmp(pattern, "bidi") == 0;
    method.path = is_bidi ? "/example.Greeter/BidirectionalStream" : "/example.Greeter/ClientStream";
    method.messages = per_call;
    method.window = is_bidi ? window : 0;
    put_text(&method, said, sizeof said - 1);
    is_counting_sent = !is_bidi;
  }
  return method;
}

static void open_calls(int port, const Method *method, int connections, int each) {
  double deadline = now_seconds() + PATIENCE_SECONDS;
  for (int index = 0; index < connections; index++) {
    Connection *connection = open_connection(port);
    for (int place = 0; place < each; place++) {
      Call *call = calloc(1, sizeof *call);
      call->connection = connection;
      call->method = method;
      begin_call(call);
    }
    flush_connection(connection);
    if (index % 8 == 7) serve_connections(0);
    if (now_seconds() > deadline) fail("The server did not take the connections in time");
  }
}

static void serve_until(double time) {
  while (now_seconds() < time) serve_connections(100);
}

static void flow(char **arguments) {
  Method method = make_method(arguments[3], number(arguments, 6), number(arguments, 7));
  long warm_up = number(arguments, 8);
  double seconds = strtod(arguments[9], NULL), patience = now_seconds() + PATIENCE_SECONDS;
  open_calls(number(arguments, 2), &method, number(arguments, 4), number(arguments, 5));
  while (messages < warm_up && now_seconds() < patience) serve_connections(100);
  say("begun");
  messages = calls = errors = 0;
  double begun = now_seconds(), cpu = cpu_seconds();
  serve_until(begun + seconds);
  printf("{\"messages\":%ld,\"calls\":%ld,\"errors\":%ld,\"seconds\":%.4f,\"cpuSeconds\":%.4f}\n", messages, calls, errors,
         now_seconds() - begun, cpu_seconds() - cpu);
  fflush(stdout);
}

static void await_end_of_stdin(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  while (poll(&input, 1, 0) == 0) serve_connections(100);
}

static void idle(char **arguments) {
  int connections = number(arguments, 3), each = number(arguments, 4);
  Method method = {.path = "/example.StreamService/Subscribe", .messages = 1};
  /* The second item is due in a day. */
  put_stream_request(&method, 0, 1e-5);
  say("begun");
  open_calls(number(arguments, 2), &method, connections, each);
  double deadline = now_seconds() + PATIENCE_SECONDS;
  while (answered < (long)connections * each) {
    serve_connections(100);
    if (errors > 0 || now_seconds() > deadline) fail("A stream did not begin");
  }
  printf("{\"streams\":%ld}\n", answered);
  fflush(stdout);
}

int main(int count, char **arguments) {
  open_epoll(&events);
  if (count == 10 && strcmp(arguments[1], "flow") == 0) flow(arguments);
  else if (count == 5 && strcmp(arguments[1], "idle") == 0) idle(arguments);
  else fail("grpc-load: wrong arguments");
  is_over = true;
  await_end_of_stdin();
  return 0;
}
