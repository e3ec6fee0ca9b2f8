import { loadDigestUsers } from "../../core/credentials/digest-users.ts";
import type { TlsSource } from "../../core/net/tls-listener.ts";
import type { Log } from "../../core/service/log.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { TurnObserver } from "../turn/turn-observer.ts";
import { listenTurn, type TurnServer } from "../turn/turn-server.ts";
import type { WebrtcConfig } from "../webrtc-config.ts";
import { relayAddressing } from "./relay-addresses.ts";

export interface StartTurnOptions {
  readonly config: WebrtcConfig;
  readonly secret: string;
  readonly certificates: TlsSource;
  readonly observer: Partial<TurnObserver>;
  /** Of all clients. */
  readonly turns: WorkTurns;
  readonly log: Log;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

const longestAllocationMs = 3_600_000;
/** RFC 8656 §7.2 */
const reservationMs = 30_000;
const receiveBufferBytes = 4 << 20;
const relayBufferBytes = 512 << 10;
const transactions = 20_000;

/** Serves STUN and TURN as it is configured. */
export function startTurn({ config, secret, certificates, observer, turns, log, onStop }: StartTurnOptions): Promise<TurnServer> {
  const { openToLan } = config;
  const { addresses, isRelayAddress } = relayAddressing(openToLan, config.relayAddress);
  return listenTurn({
    port: config.turnPort,
    openToLan,
    observer,
    turns,
    log,
    onStop,
    receiveBufferBytes,
    requestsPerSecond: config.turnRequestsPerSecond,
    software: "Backlot",
    realm: config.turnRealm,
    users: loadDigestUsers(config.turnUsers, config.turnRealm),
    secrets: [secret],
    passwordAlgorithms: ["SHA-256", "MD5"],
    ...(config.turns && { tls: { port: config.turnsPort, certificates, tlsHandshakes: config.tlsHandshakes } }),
    relays: { addresses, ports: relayPorts(config), receiveBufferBytes: relayBufferBytes },
    allowedPeers: config.allowedPeers,
    isRelayAddress,
    lifetimes: {
      allocation: config.allocationSeconds * 1_000,
      longestAllocation: longestAllocationMs,
      permission: config.permissionSeconds * 1_000,
      channel: config.channelSeconds * 1_000,
      nonce: config.nonceSeconds * 1_000,
      reservation: reservationMs,
    },
    limits: {
      allocations: config.allocations,
      allocationsPerUser: config.allocationsPerUser,
      transactions,
      delayedBytes: config.faultBytes,
      permissions: config.permissions,
      channels: config.channels,
      challengesPerSecond: config.turnChallengesPerSecond,
      failures: config.loginFailures,
      failureWindowMs: config.loginWindowSeconds * 1_000,
    },
    streams: {
      connections: config.turnConnections,
      connectionsPerAddress: config.turnConnectionsPerAddress,
      unsentBytes: config.unsentBytes,
      allUnsentBytes: config.allUnsentBytes,
      idleMs: config.turnIdleSeconds * 1_000,
    },
  });
}

/** RFC 6335 §6: the dynamic ports begin at 49152. */
const relayPorts = ({ relayPort, relayLastPort }: WebrtcConfig) =>
  relayPort === 0 ? { first: 49_152, last: 65_535 } : { first: relayPort, last: Math.max(relayPort, relayLastPort) };
