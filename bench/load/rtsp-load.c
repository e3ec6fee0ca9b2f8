/*
 * Load of RTSP from one thread, light enough not to be what is measured. It prints a line when the measured period begins, its figures
 * as JSON at its end, and holds the players until stdin ends.
 *   rtsp-load PORT PATH tcp|udp PLAYERS BEGIN_EACH_MS SETTLE_SECONDS SECONDS
 */
#include "rtsp-client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 15 };

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static int compare(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static void serve_until(double end) {
  for (double now = now_seconds(); now < end; now = now_seconds()) serve_players((int)((end - now) * 1e3) + 1);
}

/* Players without a picture yet. */
static int without_picture(const Player *players, int count) {
  int waiting = 0;
  for (int index = 0; index < count; index++) waiting += players[index].state != FAILED && players[index].picture_at == 0;
  return waiting;
}

static void print_figures(const Player *players, int count, double seconds, double cpu) {
  double *first = calloc((size_t)count, sizeof *first), *pictures = calloc((size_t)count, sizeof *pictures);
  int playing = 0, shown = 0, silent = 0;
  long lost_before = 0;
  Counts sum = {0};
  for (int index = 0; index < count; index++) {
    const Player *player = &players[index];
    if (player->state != PLAYING) continue;
    pictures[playing++] = (double)(player->counts.pictures - player->before.pictures) / seconds;
    if (player->counts.packets == player->before.packets) silent++;
    if (player->picture_at > 0) first[shown++] = (player->picture_at - player->began_at) * 1e3;
    sum.packets += player->counts.packets - player->before.packets;
    sum.bytes += player->counts.bytes - player->before.bytes;
    sum.lost += player->counts.lost - player->before.lost;
    lost_before += player->before.lost;
  }
  qsort(first, (size_t)shown, sizeof *first, compare);
  qsort(pictures, (size_t)playing, sizeof *pictures, compare);
  printf("{\"playing\":%d,\"silent\":%d,\"lost\":%ld,\"lostBefore\":%ld,\"packets\":%ld,\"megabitsPerSecond\":%.2f,\"seconds\":%.3f,\"cpuSeconds\":%.3f,"
         "\"slowestPicturesPerSecond\":%.2f,\"firstPictureMs\":%.1f,\"firstPictureMs95\":%.1f}\n",
         playing, silent, sum.lost, lost_before, sum.packets, (double)sum.bytes * 8e-6 / seconds, seconds, cpu, playing ? pictures[0] : 0,
         shown ? first[shown / 2] : -1, shown ? first[shown * 95 / 100] : -1);
  fflush(stdout);
  free(first);
  free(pictures);
}

int main(int argc, char **argv) {
  if (argc != 8) fail("rtsp-load PORT PATH tcp|udp PLAYERS BEGIN_EACH_MS SETTLE_SECONDS SECONDS");
  int count = atoi(argv[4]);
  double each = atof(argv[5]) * 1e-3, settle = atof(argv[6]), seconds = atof(argv[7]);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  open_players(atoi(argv[1]), argv[2], strcmp(argv[3], "udp") == 0);
  Player *players = aligned_alloc(64, (sizeof *players * (size_t)count + 63) / 64 * 64);
  memset(players, 0, sizeof *players * (size_t)count);
  double due = now_seconds();
  for (int index = 0; index < count; index++, due += each) {
    serve_until(due);
    begin_player(&players[index]);
  }
  double deadline = now_seconds() + PATIENCE_SECONDS;
  while (without_picture(players, count) > 0 && now_seconds() < deadline) serve_players(50);
  serve_until(now_seconds() + settle);

  for (int index = 0; index < count; index++) players[index].before = players[index].counts;
  double from = now_seconds(), cpu = cpu_seconds();
  puts("measuring");
  fflush(stdout);
  serve_until(from + seconds);
  print_figures(players, count, now_seconds() - from, cpu_seconds() - cpu);

  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  while (poll(&input, 1, 0) == 0) serve_players(20);
  for (int index = 0; index < count; index++) end_player(&players[index]);
  return 0;
}
