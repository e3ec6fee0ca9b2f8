import { z } from "zod";
import { standardTestPageCalls } from "../../contract/services/webrtc-test-page.ts";
import {
  commonFields,
  type FieldMeta,
  failedLoginFields,
  field,
  limitField,
  portField,
  recordCredentialsField,
  recordedMessageField,
  recordedRateField,
  redisAddressField,
  tlsHandshakesField,
  usersField,
  wholeNumber,
} from "../core/config/common-fields.ts";
import { allRequestField, connectionFields, unansweredField } from "../core/http/messages/http-fields.ts";
import { allowedOriginsField } from "../core/net/allowed-origins.ts";
import { mediaFields, mediaLimitFields, mediaTimeFields } from "./media/media-fields.ts";
import { isPeerEntry } from "./turn/peer-policy.ts";

const turn = <Type extends z.ZodType>(type: Type, meta: Omit<FieldMeta, "group">) => field(type, { ...meta, group: "STUN and TURN" });
const time = (least: number, most: number, standard: number, meta: Omit<FieldMeta, "group" | "unit">) =>
  field(wholeNumber(least, most, standard), { ...meta, unit: "s", group: "Times" });

const peerEntry = z.string().max(100).refine(isPeerEntry, "Write 10.0.0.7, 10.0.0.0/8, loopback, linklocal, uniquelocal or *.");

export const webrtcConfig = z.strictObject({
  port: portField(8_443, {
    title: "Port",
    help: "Signalling over ws and wss, and pages over http and https, all on this port.",
    env: "WEBRTC_PORT",
  }),
  turn: field(z.boolean().default(true), {
    title: "STUN and TURN",
    help: "Serve STUN and TURN over UDP and TCP. The welcome of signalling has their addresses, with credentials.",
    env: "WEBRTC_TURN",
    group: "Listening",
  }),
  turnPort: portField(3_478, { title: "TURN port", help: "Of UDP and TCP.", env: "TURN_PORT" }),
  turns: field(z.boolean().default(true), {
    title: "TURN over TLS",
    help: "With a certificate of this installation's authority; Settings says how to trust it.",
    env: "WEBRTC_TURNS",
    group: "Listening",
  }),
  turnsPort: portField(5_349, { title: "TURN over TLS port", env: "TURNS_PORT" }),
  relayPort: portField(49_160, {
    title: "Relay ports: first",
    help: "UDP ports at which peers see the clients of TURN. Ports that are taken are skipped. 0: any from 49152 on.",
    env: "TURN_RELAY_PORT",
  }),
  relayLastPort: portField(49_959, { title: "Relay ports: last", env: "TURN_RELAY_LAST_PORT" }),
  ...mediaFields,
  ...commonFields("webrtc"),
  allowedOrigins: allowedOriginsField("WEBRTC_ALLOWED_ORIGINS", "signalling"),

  turnUsers: usersField({
    env: "TURN_USERS",
    group: "STUN and TURN",
    help: "Long-term credentials, in addition to those of the welcome. Saved as hashes for the realm. A variable or flag takes name:password, separated by commas.",
  }),
  turnSecret: turn(z.string().max(1_000).default(""), {
    title: "REST secret",
    help: "Shared with a program that issues time-limited credentials (time:user, with the HMAC of the name as password). Empty: one of our own, which is kept in the data folder.",
    env: "TURN_SECRET",
    secret: true,
  }),
  turnRealm: turn(z.string().min(1).max(120).default("backlot"), {
    title: "Realm",
    help: "After a change, the passwords of users have to be entered again: their hashes are made for one realm.",
    env: "TURN_REALM",
  }),
  relayAddress: turn(z.union([z.literal(""), z.ipv4()]).default(""), {
    title: "Public address",
    help: "The IPv4 address that clients of other computers get for STUN and TURN, for their relays, and first of those for WHEP and WHIP, while the service is open to the LAN: that of a NAT or a container's host whose ports lead here. Empty: those of this computer.",
    env: "TURN_RELAY_ADDRESS",
  }),
  allowedPeers: turn(z.array(peerEntry).max(1_000).default(["loopback"]), {
    title: "Allowed peers",
    help: "Where relays may send to: addresses, networks such as 10.0.0.0/8, loopback, linklocal, uniquelocal, or * for all. Loopback is for clients of this computer only. Relays can always reach one another.",
    env: "TURN_ALLOWED_PEERS",
  }),
  ...failedLoginFields({
    prefix: "WEBRTC",
    group: "STUN and TURN",
    failures: 100,
    windowSeconds: 60,
    help: "Of TURN, and of rooms with a password. Allowed for one address within the window; then all are refused.",
  }),

  cluster: redisAddressField({
    title: "Redis",
    help: "redis://user:password@host:6379/0: all instances that name the same database share rooms, presence, chat and signals. Empty: a single instance.",
    env: "WEBRTC_CLUSTER",
    group: "Cluster",
  }),
  clusterTimeoutMs: field(wholeNumber(500, 600_000, 6_000), {
    title: "Instance timeout",
    help: "The peers of an instance without a sign of life for this time leave their rooms.",
    unit: "ms",
    env: "WEBRTC_CLUSTER_TIMEOUT_MS",
    group: "Cluster",
  }),

  ...mediaLimitFields,
  ...connectionFields("WEBRTC"),
  tlsHandshakes: tlsHandshakesField("WEBRTC"),
  unansweredRequests: unansweredField("WEBRTC"),
  peers: limitField(1, 100_000, 10_000, {
    title: "Peers",
    help: "Clients of signalling. More are refused. Where there are so many, the address that has most loses one to another that has fewer.",
    env: "WEBRTC_PEERS",
  }),
  rooms: limitField(1, 1_000_000, 10_000, {
    title: "Rooms",
    help: "Joining one more is refused. Where there are so many, the address that has most loses one to another that has fewer.",
    env: "WEBRTC_ROOMS",
  }),
  roomPeers: limitField(1, 100_000, 1_000, {
    title: "Peers of a room",
    help: "One more is refused. The room of clients that name none has the limit of all peers.",
    env: "WEBRTC_ROOM_PEERS",
  }),
  peerRooms: limitField(1, 10_000, 100, { title: "Rooms of a peer", help: "Joining one more is refused.", env: "WEBRTC_PEER_ROOMS" }),
  testPageCalls: limitField(0, 200, standardTestPageCalls, {
    title: "Calls of the test page",
    help: "How many peers of a room the test page calls, and answers, by itself. The others are called by a press.",
    env: "WEBRTC_TEST_PAGE_CALLS",
  }),
  messageBytes: limitField(1 << 10, 16 << 20, 64 << 10, {
    title: "Message",
    help: "A client that sends a longer one is disconnected.",
    unit: "B",
    env: "WEBRTC_MESSAGE_BYTES",
  }),
  messageDepth: limitField(2, 100, 16, {
    title: "Depth of a message",
    help: "Lists and objects within one another. A deeper message is refused.",
    env: "WEBRTC_MESSAGE_DEPTH",
  }),
  messagesPerSecond: limitField(1, 1_000_000, 2_000, {
    title: "Messages of a client per second",
    help: "A client that sends more is read no faster.",
    env: "WEBRTC_MESSAGES_PER_SECOND",
  }),
  nameLength: limitField(1, 500, 200, {
    title: "Name",
    help: "Characters of the name of a room or a peer, and of a room's password.",
    env: "WEBRTC_NAME_LENGTH",
  }),
  chatLength: limitField(1, 1 << 20, 8 << 10, { title: "Chat message", help: "Characters.", env: "WEBRTC_CHAT_LENGTH" }),
  chatHistory: limitField(0, 10_000, 50, {
    title: "Chat history",
    help: "Messages of a room that a new peer gets.",
    env: "WEBRTC_CHAT_HISTORY",
  }),
  chatHistoryBytes: limitField(0, 1 << 30, 16 << 20, {
    title: "Chat history of all rooms",
    help: "Beyond it, the oldest messages of the address that has said most of them are removed.",
    unit: "B",
    env: "WEBRTC_CHAT_HISTORY_BYTES",
  }),
  unsentBytes: limitField(1 << 10, 1 << 30, 1 << 20, {
    title: "Unsent bytes",
    help: "A client that leaves more unread is disconnected. A client of TURN over TCP or TLS loses data instead. While more waits for the Redis of a cluster, clients that send are read no further.",
    unit: "B",
    env: "WEBRTC_UNSENT_BYTES",
  }),
  allUnsentBytes: limitField(1 << 20, 2 ** 40, 256 << 20, {
    title: "Unsent bytes of all clients",
    help: "Of signalling, and as much of TURN: over TCP and TLS, and what relays delay. Beyond it, the clients with the most waiting bytes are disconnected, or lose what is delayed for them.",
    unit: "B",
    env: "WEBRTC_ALL_UNSENT_BYTES",
  }),
  allRequestBytes: allRequestField("WEBRTC"),
  faultBytes: limitField(1 << 16, 1 << 30, 4 << 20, {
    title: "Held back by faults",
    help: "The most bytes of signals that faults hold back at the same time, and of data that is held back for one relay. What does not fit is left out.",
    unit: "B",
    env: "WEBRTC_FAULT_BYTES",
  }),
  offlineMessages: limitField(0, 1_000_000, 10_000, {
    title: "Waiting messages of PeerJS",
    help: "For clients that are not connected yet; one more expires at once.",
    env: "WEBRTC_OFFLINE_MESSAGES",
  }),
  offlineBytes: limitField(0, 1 << 30, 16 << 20, {
    title: "Waiting bytes of PeerJS",
    help: "Memory for the messages to clients that are not connected yet; one more expires at once.",
    unit: "B",
    env: "WEBRTC_OFFLINE_BYTES",
  }),
  bodyBytes: limitField(1 << 10, 16 << 20, 32 << 10, {
    title: "Largest body",
    help: "Over HTTP, such as an offer of WHEP or WHIP, of which browsers send some 10 kB. A larger body gets 413.",
    unit: "B",
    env: "WEBRTC_BODY_BYTES",
  }),
  headerBytes: limitField(1 << 10, 1 << 20, 16 << 10, {
    title: "Largest header",
    help: "Request line and header fields together; larger ones get 431.",
    unit: "B",
    env: "WEBRTC_HEADER_BYTES",
  }),
  allocations: limitField(1, 100_000, 800, {
    title: "Allocations",
    help: "More get 508. Where all of them, or all relay ports, are taken, the address that has most loses one to another that has fewer.",
    env: "TURN_ALLOCATIONS",
  }),
  allocationsPerUser: limitField(1, 100_000, 100, {
    title: "Allocations of a user",
    help: "More get 486.",
    env: "TURN_ALLOCATIONS_PER_USER",
  }),
  permissions: limitField(1, 100_000, 100, { title: "Permissions of an allocation", help: "More get 508.", env: "TURN_PERMISSIONS" }),
  channels: limitField(1, 16_384, 100, { title: "Channels of an allocation", help: "More get 508.", env: "TURN_CHANNELS" }),
  turnChallengesPerSecond: limitField(1, 20_000, 500, {
    title: "Challenges of TURN per second",
    help: "Answers over UDP to requests of one address without right credentials. Others get none, and clients repeat them. Clients of this computer have no limit.",
    env: "TURN_CHALLENGES_PER_SECOND",
  }),
  turnRequestsPerSecond: limitField(10, 1_000_000, 10_000, {
    title: "Requests of TURN per second",
    help: "Over UDP, of one socket with an allocation, and of all without one together. More are dropped before any work, and clients repeat them. Data has no such limit.",
    env: "TURN_REQUESTS_PER_SECOND",
  }),
  turnConnections: limitField(1, 100_000, 2_000, {
    title: "Connections of TURN",
    help: "Over TCP and TLS. More are closed at once.",
    env: "TURN_CONNECTIONS",
  }),
  turnConnectionsPerAddress: limitField(1, 100_000, 1_000, {
    title: "Connections of TURN of an address",
    help: "More are closed at once.",
    env: "TURN_CONNECTIONS_PER_ADDRESS",
  }),

  ...mediaTimeFields,
  heartbeatSeconds: time(1, 3_600, 30, {
    title: "Heartbeat",
    help: "A client of signalling that is silent for this time gets a ping; after the same time without an answer it is disconnected.",
    env: "WEBRTC_HEARTBEAT_SECONDS",
  }),
  offlineSeconds: time(0, 3_600, 5, {
    title: "Waiting messages of PeerJS",
    help: "How long they wait for a client that is not connected; then their sender is notified.",
    env: "WEBRTC_OFFLINE_SECONDS",
  }),
  requestSeconds: time(1, 3_600, 30, {
    title: "Request timeout",
    help: "For a whole request over HTTP to arrive; then 408.",
    env: "WEBRTC_REQUEST_SECONDS",
  }),
  keepAliveSeconds: time(0, 3_600, 5, {
    title: "Idle connections",
    help: "How long a connection of HTTP is kept open for its next request.",
    env: "WEBRTC_KEEP_ALIVE_SECONDS",
  }),
  unreadSeconds: time(1, 3_600, 60, {
    title: "Unread answers",
    help: "How long a client of HTTP may take nothing while an answer waits for it; then its connection is closed.",
    env: "WEBRTC_UNREAD_SECONDS",
  }),
  credentialSeconds: time(60, 604_800, 86_400, {
    title: "Credentials of the welcome",
    help: "How long they are valid.",
    env: "WEBRTC_CREDENTIAL_SECONDS",
  }),
  allocationSeconds: time(1, 3_600, 600, {
    title: "Allocation",
    help: "An allocation that is not refreshed ends after this time; a client may ask for up to an hour.",
    env: "TURN_ALLOCATION_SECONDS",
  }),
  permissionSeconds: time(1, 3_600, 300, {
    title: "Permission",
    help: "One that is not refreshed ends after this time.",
    env: "TURN_PERMISSION_SECONDS",
  }),
  channelSeconds: time(1, 3_600, 600, {
    title: "Channel",
    help: "One that is not refreshed ends after this time.",
    env: "TURN_CHANNEL_SECONDS",
  }),
  nonceSeconds: time(1, 86_400, 3_600, {
    title: "Nonce",
    help: "An older one is refused with 438 and a new one.",
    env: "TURN_NONCE_SECONDS",
  }),
  turnIdleSeconds: time(1, 3_600, 60, {
    title: "Idle connection of TURN",
    help: "A connection without an allocation and without a message is closed after this time.",
    env: "TURN_IDLE_SECONDS",
  }),

  recordedMessageBytes: recordedMessageField(
    "webrtc",
    "message, and of each body over HTTP,",
    "First bytes of each message, and of each body over HTTP, always kept for the inspector. “Recorded rest of messages” keeps more where there is room.",
  ),
  recordedMessageRate: recordedRateField("webrtc"),
  recordCredentials: recordCredentialsField("webrtc", "the passwords of rooms"),
});
export type WebrtcConfig = z.output<typeof webrtcConfig>;
