import { z } from "zod";
import {
  commonFields,
  type FieldMeta,
  failedLoginFields,
  field,
  portField,
  portPairField,
  recordedMessageField,
  recordedRateField,
  tlsHandshakesField,
  usersField,
  wholeNumber,
} from "../core/config/common-fields.ts";
import { allowedOriginsField } from "../core/net/allowed-origins.ts";
import { parsePull, pullRows } from "./client/pull-line.ts";
import { authenticationMethods, parsePathRule, pathRuleRows } from "./sessions/path-rules.ts";

const limit = (least: number, most: number, standard: number, meta: Omit<FieldMeta, "group">) =>
  field(wholeNumber(least, most, standard), { ...meta, group: "Limits" });
const time = (least: number, most: number, standard: number, meta: Omit<FieldMeta, "group" | "unit">) =>
  field(wholeNumber(least, most, standard), { ...meta, unit: "s", group: "Times" });

/** Its password may have anything, also the comma that ends an entry. */
function withoutAddress(line: string): string {
  const words = line.split(/(?<=\s)/);
  const withAddress = words.findIndex((word) => word.includes("@") || word.includes("//"));
  if (withAddress < 0) return line;
  const word = words[withAddress] ?? "";
  return `${words.slice(0, withAddress).join("")}${word.includes("@") ? "" : word.slice(0, word.indexOf("//"))}…`;
}

export const rtspConfig = z.strictObject({
  port: portField(8_554, { title: "RTSP port", env: "RTSP_PORT" }),
  udp: field(z.boolean().default(true), {
    title: "UDP",
    help: "Clients may play and publish over UDP; TCP is always possible.",
    env: "RTSP_UDP",
    group: "Listening",
  }),
  httpPort: portField(8_888, {
    title: "HTTP port",
    help: "Streams as HLS at /{path}/index.m3u8 and as MPEG-TS at /{path}.ts; management: paths, sessions, statistics, Prometheus metrics.",
    env: "HTTP_PORT",
  }),
  allowedOrigins: allowedOriginsField("RTSP_ALLOWED_ORIGINS", "the HTTP port, also to play"),
  rtpPort: portPairField(8_000, { title: "RTP port", help: "An even UDP port. RTCP uses the next port.", env: "RTP_PORT" }),
  multicast: field(z.boolean().default(false), {
    title: "Multicast",
    help: "Clients may ask for multicast: the packets of a stream are sent once for all of them. Open to the LAN, by the system's interface for multicast; otherwise by loopback, where only a player that can be told to join groups on that interface gets packets.",
    env: "RTSP_MULTICAST",
    group: "Listening",
  }),
  multicastAddress: field(
    z
      .ipv4()
      .regex(/^2(?:2[4-9]|3\d)\./, "An address from 224.0.0.0 to 239.255.255.255 is needed.")
      .default("239.255.42.1"),
    {
      title: "Multicast address",
      help: "The address of the first stream. Each further stream has the next address.",
      env: "RTSP_MULTICAST_ADDRESS",
      group: "Listening",
    },
  ),
  multicastPort: field(z.int().min(1_024).max(60_000).multipleOf(2).default(8_002), {
    title: "Multicast ports",
    help: "The first UDP port to which multicast packets are sent: an even number. Each track uses two ports.",
    env: "RTSP_MULTICAST_PORT",
    group: "Listening",
  }),
  multicastTtl: field(wholeNumber(0, 255, 1), {
    title: "Multicast hops",
    help: "The time to live (TTL) of the packets. With 1 they stay in the local network.",
    env: "RTSP_MULTICAST_TTL",
    group: "Listening",
  }),
  tls: field(z.boolean().default(false), {
    title: "RTSPS",
    help: "Also serve over TLS, with a certificate of this installation's authority; Settings says how to trust it.",
    env: "RTSP_TLS",
    group: "Listening",
  }),
  tlsPort: portField(8_322, { title: "RTSPS port", env: "RTSPS_PORT" }),
  rtmp: field(z.boolean().default(false), {
    title: "RTMP",
    help: "OBS and ffmpeg may publish by RTMP: rtmp://host/live/name becomes the path live/name. User and password follow the name: name?user=anna&pass=secret.",
    env: "RTSP_RTMP",
    group: "Listening",
  }),
  rtmpPort: portField(1_935, { title: "RTMP port", env: "RTMP_PORT" }),
  ...commonFields("rtsp"),

  users: usersField({
    env: "RTSP_USERS",
    group: "Access",
    help: "Saved as hashes for Digest and Basic. Without users everybody may play and publish. A variable or flag takes name:password, separated by commas.",
  }),
  authentication: field(
    z
      .array(z.enum(authenticationMethods))
      .min(1)
      .default([...authenticationMethods]),
    {
      title: "Authentication",
      help: "The methods that are offered: any of digest-sha256, digest-md5 and basic.",
      env: "RTSP_AUTHENTICATION",
      group: "Access",
    },
  ),
  pathRules: field(
    z
      .array(
        z.string().refine((text) => parsePathRule(text) !== undefined, {
          error: ({ input }) => `"${String(input)}" is not a valid rule; a rule is: user read|publish|both path`,
        }),
      )
      .default([]),
    {
      title: "Path rules",
      help: "No rules: every user may play and publish. With rules: only what is allowed. A variable or flag takes user read|publish|both path, with commas between rules; * is everyone, - is clients without a user name; a path may end with *. Over HTTP, who may publish a path may start its faults and end its sessions.",
      env: "RTSP_PATH_RULES",
      group: "Access",
      rows: pathRuleRows,
    },
  ),
  ...failedLoginFields({
    prefix: "RTSP",
    group: "Access",
    failures: 100,
    windowSeconds: 60,
    help: "So many are allowed for one address within the window. After that its logins are refused with 403.",
  }),

  replacePublishers: field(z.boolean().default(true), {
    title: "Replace publishers",
    help: "A new publisher takes a path from the one before it. Otherwise it is refused with 403.",
    env: "RTSP_REPLACE_PUBLISHERS",
    group: "Streams",
  }),
  pulls: field(
    z
      .array(
        z.string().refine((text) => parsePull(text) !== undefined, {
          error: ({ input }) => `"${withoutAddress(String(input))}" is not a path, a space and an address of RTSP`,
        }),
      )
      .max(1_000)
      .default([]),
    {
      title: "Pulled streams",
      help: "Streams of other servers under a path of this one: fetched when somebody plays the path, and again when they drop. A variable or flag takes path rtsp://user:password@host/stream, with commas between several.",
      env: "RTSP_PULLS",
      group: "Streams",
      address: true,
      rows: pullRows,
    },
  ),
  fileBytes: field(wholeNumber(1, 2 ** 40, 4 * 2 ** 30), {
    title: "Largest dropped file",
    help: "An MP4 file that is dropped on the page is kept in the data folder and becomes a stream.",
    unit: "B",
    env: "RTSP_FILE_BYTES",
    group: "Streams",
  }),
  packetBytes: field(wholeNumber(256, 65_000, 1_400), {
    title: "Largest RTP packet",
    unit: "B",
    env: "RTSP_PACKET_BYTES",
    group: "Streams",
  }),
  keptBytes: field(wholeNumber(0, 1 << 28, 8 << 20), {
    title: "Kept since the key frame",
    help: "The packets of a stream since its last key frame are kept, so that a player starts at once. Each frame counts 1 KiB beside its bytes. Packets of a longer group of pictures are not kept, and a player waits for the next key frame.",
    unit: "B",
    env: "RTSP_KEPT_BYTES",
    group: "Streams",
  }),

  sessions: limit(1, 100_000, 5_000, {
    title: "Sessions",
    help: "Open at the same time. A further one is refused with 503.",
    env: "RTSP_SESSIONS",
  }),
  sessionsPerAddress: limit(1, 100_000, 2_000, {
    title: "Sessions of an address",
    help: "Open at the same time for clients of one address. A further one is refused with 503.",
    env: "RTSP_SESSIONS_PER_ADDRESS",
  }),
  connections: limit(1, 100_000, 6_000, {
    title: "Connections",
    help: "Open at the same time, of RTSP, and as many of HTTP and of RTMP. A further one is closed at once.",
    env: "RTSP_CONNECTIONS",
  }),
  connectionsPerAddress: limit(1, 100_000, 3_000, {
    title: "Connections of an address",
    help: "Open at the same time from one address, of RTSP, and as many of HTTP and of RTMP. A further one is closed at once.",
    env: "RTSP_CONNECTIONS_PER_ADDRESS",
  }),
  tlsHandshakes: tlsHandshakesField("RTSP"),
  paths: limit(1, 100_000, 500, {
    title: "Paths",
    help: "A publisher of a further path is refused with 503. Where all are taken, the address that publishes most of them loses one to another that has fewer.",
    env: "RTSP_PATHS",
  }),
  tracks: limit(1, 64, 8, {
    title: "Tracks of a publisher",
    help: "A publisher that announces more is refused with 400.",
    env: "RTSP_TRACKS",
  }),
  headBytes: limit(1 << 10, 1 << 20, 16 << 10, {
    title: "Head of a request",
    help: "The request line and the header fields. A request with a longer head is refused with 400.",
    unit: "B",
    env: "RTSP_HEAD_BYTES",
  }),
  headerFields: limit(1, 10_000, 100, {
    title: "Header fields of a request",
    help: "A request with more is refused with 400.",
    env: "RTSP_HEADER_FIELDS",
  }),
  uriBytes: limit(16, 1 << 16, 2_048, {
    title: "URI of a request",
    help: "A request with a longer URI is refused with 414.",
    unit: "B",
    env: "RTSP_URI_BYTES",
  }),
  bodyBytes: limit(1 << 10, 1 << 24, 16 << 10, {
    title: "Body of a request",
    help: "A request with a longer body is refused with 413.",
    unit: "B",
    env: "RTSP_BODY_BYTES",
  }),
  allRequestBytes: limit(1 << 16, 2 ** 40, 128 << 20, {
    title: "Request bytes of all clients",
    help: "Of requests and packets by RTSP that are received in part, or wait for their turn. Beyond it, the clients that have the most are disconnected.",
    unit: "B",
    env: "RTSP_ALL_REQUEST_BYTES",
  }),
  rtmpMessageBytes: limit(1 << 10, 16 << 20, 8 << 20, {
    title: "Message of RTMP",
    help: "A picture is one message. A client that sends a longer message is disconnected.",
    unit: "B",
    env: "RTMP_MESSAGE_BYTES",
  }),
  rtmpAllMessageBytes: limit(1 << 20, 2 ** 40, 128 << 20, {
    title: "Messages of RTMP of all clients",
    help: "The most bytes of messages that are received in part, or wait. Beyond it, the clients that have the most are disconnected.",
    unit: "B",
    env: "RTMP_ALL_MESSAGE_BYTES",
  }),
  unsentBytes: limit(1 << 10, 1 << 30, 2 << 20, {
    title: "Unsent bytes",
    help: "A client over TCP that leaves more unread is skipped to the next key frame.",
    unit: "B",
    env: "RTSP_UNSENT_BYTES",
  }),
  allUnsentBytes: limit(1 << 20, 2 ** 40, 128 << 20, {
    title: "Unsent bytes of all clients",
    help: "Over HTTP, and as many over RTSP that have waited for more than a second. Beyond it, the clients with the most waiting bytes are disconnected.",
    unit: "B",
    env: "RTSP_ALL_UNSENT_BYTES",
  }),
  allMediaBytes: limit(1 << 20, 2 ** 40, 256 << 20, {
    title: "Media of all streams",
    help: "The most bytes of frames since the key frames, of pictures that are received in part, of what faults hold back, of segments of HLS, and of publishers' descriptions. Beyond it, the streams that keep the most lose it: their players wait for the next key frame.",
    unit: "B",
    env: "RTSP_ALL_MEDIA_BYTES",
  }),

  faultBytes: limit(1 << 16, 1 << 30, 4 << 20, {
    title: "Held back by faults",
    help: "The most bytes that are held back for one session while a fault delays its packets. Further packets are left out.",
    unit: "B",
    env: "RTSP_FAULT_BYTES",
  }),
  hlsSegments: limit(2, 100, 7, {
    title: "HLS segments",
    help: "How many segments the playlist of a stream lists.",
    env: "RTSP_HLS_SEGMENTS",
  }),
  hlsBytes: limit(1 << 20, 1 << 30, 64 << 20, {
    title: "HLS memory",
    help: "The most bytes of segments that are kept for one stream. The oldest segments are removed first.",
    unit: "B",
    env: "RTSP_HLS_BYTES",
  }),

  timeoutSeconds: time(1, 86_400, 60, {
    title: "Session timeout",
    help: "A session without a request or a report ends after this time. A session that plays over TCP ends with its connection.",
    env: "RTSP_TIMEOUT_SECONDS",
  }),
  stallSeconds: time(1, 3_600, 10, {
    title: "Stalled client",
    help: "A client that has had too many unsent bytes for this time, or over HTTP has taken nothing of an answer, is disconnected.",
    env: "RTSP_STALL_SECONDS",
  }),
  pullWaitSeconds: time(1, 600, 10, {
    title: "Wait for a pulled stream",
    help: "A player gets 503 if the stream has not begun after this time.",
    env: "RTSP_PULL_WAIT_SECONDS",
  }),
  pullIdleSeconds: time(0, 86_400, 10, {
    title: "Idle pulled stream",
    help: "The stream is no longer fetched once it has had no reader for this time.",
    env: "RTSP_PULL_IDLE_SECONDS",
  }),
  hlsSegmentSeconds: time(1, 60, 1, {
    title: "HLS segment",
    help: "A segment ends at the first key frame after this time.",
    env: "RTSP_HLS_SEGMENT_SECONDS",
  }),
  hlsIdleSeconds: time(5, 3_600, 30, {
    title: "Idle HLS stream",
    help: "Segments are no longer made once there has been no request for this time.",
    env: "RTSP_HLS_IDLE_SECONDS",
  }),
  silenceSeconds: time(1, 3_600, 10, {
    title: "Silent publisher",
    help: "A publisher that sends no packet for this time is disconnected.",
    env: "RTSP_SILENCE_SECONDS",
  }),

  recordedMessageBytes: recordedMessageField(
    "rtsp",
    "request and answer",
    "First bytes of each request and answer, always kept for the inspector. “Recorded rest of messages” keeps more where there is room.",
  ),
  recordedMessageRate: recordedRateField("rtsp"),
});
export type RtspConfig = z.output<typeof rtspConfig>;
