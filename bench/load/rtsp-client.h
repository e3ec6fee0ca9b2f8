/* Players of RTSP on one thread: each sets up all tracks of a stream, plays it, and counts what comes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>

enum { TRACKS = 2, BUFFER_BYTES = 128 << 10 };

typedef enum { DESCRIBING, SETTING_UP, STARTING, PLAYING, FAILED } State;

typedef struct {
  char control[200];
  bool is_video;
  int rtp; /* UDP */
  int rtcp;
  int next_sequence; /* -1 before the first packet */
} Track;

typedef struct {
  long packets;
  long bytes;
  long lost;     /* sequence numbers that were left out */
  long pictures; /* packets that end a picture */
} Counts;

typedef struct Player {
  int socket;
  State state;
  int cseq;
  int tracks;
  int set_up;
  char base[200];
  char session[80];
  Track track[TRACKS];
  Counts counts;
  Counts before; /* when the measured period began */
  double began_at;
  double picture_at; /* the first key picture is complete; 0 before */
  bool has_key;      /* a packet of a key picture has come */
  size_t filled;
  uint8_t *buffer;
} Player;

double now_seconds(void);
void fail(const char *what);

void open_players(int port, const char *path, bool over_udp);
/* Connects and sends the first request; the others follow as answers come. */
void begin_player(Player *player);
/* Reads what has come, and waits for it at most so long. */
void serve_players(int milliseconds);
void end_player(Player *player);
