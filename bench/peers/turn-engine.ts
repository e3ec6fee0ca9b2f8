/** The TURN engine of the WebRTC service alone, for the benchmark: `turn-engine.ts PORT USER PASSWORD`. */
import { loadDigestUsers } from "../../servers/core/credentials/digest-users.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { listenTurn } from "../../servers/webrtc/turn/turn-server.ts";

const realm = "backlot";
const [, , port, name, password] = process.argv;
const silent = () => {};
const releases: (() => void | Promise<void>)[] = [];

await listenTurn({
  requestsPerSecond: 1_000_000,
  turns: new WorkTurns(),
  ...{ port: Number(port), openToLan: false, realm, software: "Backlot" },
  users: loadDigestUsers([`${name}:${password}`], realm),
  secrets: [],
  passwordAlgorithms: ["SHA-256", "MD5"],
  relays: {
    addresses: { IPv4: { host: "127.0.0.1", advertised: "127.0.0.1" } },
    ports: { first: 49_152, last: 65_535 },
    receiveBufferBytes: 1 << 20,
  },
  allowedPeers: ["loopback"],
  lifetimes: {
    ...{ allocation: 600_000, longestAllocation: 3_600_000, permission: 300_000, channel: 600_000 },
    ...{ nonce: 3_600_000, reservation: 30_000 },
  },
  limits: {
    ...{ allocations: 5_000, allocationsPerUser: 5_000, permissions: 100, channels: 100, delayedBytes: 4 << 20 },
    ...{ transactions: 10_000, failures: 100, failureWindowMs: 60_000, challengesPerSecond: 1_000 },
  },
  streams: { connections: 5_000, connectionsPerAddress: 5_000, unsentBytes: 1 << 20, allUnsentBytes: 256 << 20, idleMs: 60_000 },
  receiveBufferBytes: 4 << 20,
  log: { debug: silent, info: silent, warning: silent, error: (text) => console.error(text), notable: silent, enabled: () => false },
  onStop: (release) => void releases.push(release),
});

process.once("SIGTERM", async () => {
  for (const release of releases.reverse()) await release();
  process.exit(0);
});
