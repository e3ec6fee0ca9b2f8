import { randomUUID } from "node:crypto";
import type { LoginClient } from "../../../core/credentials/login-queue.ts";
import { ClientLeft } from "../../../core/service/client-left.ts";
import { UnsupportedVersionError } from "../../codec/decode-connect.ts";
import { encodePacket } from "../../codec/encode-packet.ts";
import type { ConnectPacket, DisconnectPacket } from "../../codec/packet.ts";
import type { Properties } from "../../codec/properties.ts";
import { connectReturnCode, PacketError, type ReasonCode, reasonCode } from "../../codec/reason-code.ts";
import type { ClusterLink } from "../cluster-link.ts";
import { SentAliases } from "../delivery/sent-aliases.ts";
import { type EngineLimits, neverExpires } from "../engine-limits.ts";
import { type EngineObserver, faultText } from "../engine-observer.ts";
import { Message } from "../routing/message.ts";
import type { SharedHandover } from "../routing/shared-handover.ts";
import type { PendingWill } from "../session/pending-will.ts";
import { mustRecheck, type RecheckParts, recheckInSteps } from "../session/recheck-session.ts";
import type { Session } from "../session/session.ts";
import type { Access, AuthStep, Identity, Verdict } from "./access.ts";
import type { Connection } from "./connection.ts";
import type { Places } from "./places.ts";

/** An authentication method may have 65,535 bytes; reason strings and log lines contain its beginning. */
const shownMethod = 100;
const longestField = 65_535;
/** Memory of a user property beside its texts, estimated. */
const pairBytes = 150;

export interface ConnectParts extends RecheckParts {
  readonly limits: EngineLimits;
  readonly access: Pick<Access, "authenticate" | "exchange"> & RecheckParts["access"];
  readonly observer: EngineObserver;
  readonly cluster: Pick<ClusterLink, "bring" | "settled" | "memberChanged" | "isBehind" | "whenCaughtUp"> | undefined;
  /** Connections whose CONNECT was accepted, by client identifier. */
  readonly clients: ReadonlyMap<string, Connection>;
  readonly places: Pick<Places, "mayAccept">;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly handover: Pick<SharedHandover, "gather" | "ending">;
  makeRoom(identity: Identity, will: PendingWill | undefined): boolean;
  openSession(
    connection: Connection,
    cleanStart: boolean,
    expirySeconds: number,
    will: PendingWill | undefined,
  ): { session: Session; present: boolean };
}

/** From CONNECT to CONNACK, and the AUTH packets between and after. */
export function handleConnect(parts: ConnectParts, connection: Connection, packet: ConnectPacket): void {
  connection.asked = packet;
  connection.askedBytes = heldBytesOf(packet, connection.rawPacket().length);
  connection.v5 = packet.version === 5;
  connection.bridge = packet.bridge === true;
  connection.maximumPacketSize = packet.properties?.maximumPacketSize ?? 0;
  connection.problemInformation = packet.properties?.requestProblemInformation !== 0;
  // [MQTT-3.1.3-8]; MQTT 3.1 requires 1 to 23 characters, of which only the minimum is enforced.
  if (packet.clientId === "" && (packet.version === 3 || (packet.version === 4 && !packet.cleanStart))) {
    answerRefused(parts, connection, reasonCode.clientIdentifierNotValid, "A client identifier is needed.");
    return;
  }
  const clientId = packet.clientId === "" ? `auto-${randomUUID()}` : packet.clientId;
  connection.identity = { clientId, username: packet.username };
  const method = packet.properties?.authenticationMethod;
  if (method !== undefined) {
    beginExchange(parts, connection, packet, method);
    return;
  }
  const { username, password } = packet;
  const verdict = parts.access.authenticate({
    clientId,
    username,
    password,
    certificateName: connection.origin.certificateName,
    client: loginClient(connection),
  });
  if (!(verdict instanceof Promise)) {
    onVerdict(parts, connection, verdict);
    return;
  }
  // Logins may wait for long behind others; the packet of one whose client has left does not.
  wait(parts, connection, verdict, (settled) => onVerdict(parts, connection, settled));
}

/** Memory of a CONNECT that waits for its authentication, beside the bytes that were received. */
function heldBytesOf({ properties, will }: ConnectPacket, received: number): number {
  const pairs = (properties?.userProperties?.length ?? 0) + (will?.properties?.userProperties?.length ?? 0);
  return received + pairs * pairBytes;
}

/** True if the client was refused. */
function refuseAboveClients(parts: ConnectParts, connection: Connection, clientId: string): boolean {
  const { places, clients } = parts;
  if (clients.has(clientId) || (connection.place && places.mayAccept(connection.place))) return false;
  answerRefused(parts, connection, reasonCode.quotaExceeded, "The limit of clients is reached.");
  return true;
}

const loginClient = (connection: Connection): LoginClient => ({
  address: connection.address,
  connection,
  hasLeft: () => connection.state === "closed",
});

/** Reading pauses until the authentication has answered. */
function wait<Value>(parts: ConnectParts, connection: Connection, pending: Promise<Value>, then: (value: Value) => void): void {
  connection.hold();
  const answered = pending.then(
    (value) => {
      if (connection.state !== "closed") connection.run(() => then(value));
    },
    (error: unknown) => {
      if (error instanceof ClientLeft) return;
      parts.log.error(`Authentication failed to answer: ${faultText(error)}`);
      connection.run(() =>
        answerRefused(parts, connection, reasonCode.serverUnavailable, "The authentication failed because of an error in the broker."),
      );
    },
  );
  void answered.then(() => connection.release());
}

function onVerdict(parts: ConnectParts, connection: Connection, verdict: Verdict): void {
  if (!verdict.allowed) {
    const { reason, text } = refusals[verdict.why];
    answerRefused(parts, connection, reason, text);
    return;
  }
  connection.identity = { clientId: connection.identity.clientId, username: verdict.username };
  if (connection.asked) fetchAndAccept(parts, connection, connection.asked, {});
}

const refusals: Readonly<Record<(Verdict & { allowed: false })["why"], { readonly reason: ReasonCode; readonly text: string }>> = {
  "bad user name or password": { reason: reasonCode.badUserNameOrPassword, text: "The user name or the password is wrong." },
  "not authorized": { reason: reasonCode.notAuthorized, text: "Anonymous clients are not allowed: a user name is needed." },
  "too many failures": { reason: reasonCode.connectionRateExceeded, text: "Too many logins from this address have failed." },
};

const returnCodes: ReadonlyMap<number, number> = new Map([
  [reasonCode.unsupportedProtocolVersion, connectReturnCode.unacceptableProtocolVersion],
  [reasonCode.clientIdentifierNotValid, connectReturnCode.identifierRejected],
  [reasonCode.serverUnavailable, connectReturnCode.serverUnavailable],
  [reasonCode.quotaExceeded, connectReturnCode.serverUnavailable],
  // The reference brokers answer 5, whether the name is unknown or the password is wrong.
  [reasonCode.badUserNameOrPassword, connectReturnCode.notAuthorized],
  [reasonCode.notAuthorized, connectReturnCode.notAuthorized],
]);

function answerRefused(parts: ConnectParts, connection: Connection, reason: ReasonCode, text: string): void {
  if (connection.v5) {
    const properties = parts.limits.reasonStrings ? { reasonString: text } : undefined;
    connection.send({ type: "connack", sessionPresent: false, reason, properties });
  } else {
    const code = returnCodes.get(reason) ?? connectReturnCode.serverUnavailable;
    connection.send({ type: "connack", sessionPresent: false, reason: code });
  }
  parts.observer.connectRefused?.(connection, text);
  connection.close(text);
}

/** Answers a CONNECT that cannot be decoded, if its version has a reply for that. */
export function refuseConnect(parts: ConnectParts, connection: Connection, error: PacketError): void {
  if (error instanceof UnsupportedVersionError) {
    // 3.1.1 §3.1.2.2 for older levels, 5.0 §3.1.2.2 for newer ones.
    connection.v5 = error.level > 5;
    answerRefused(parts, connection, error.reason, error.message);
    return;
  }
  if (connection.state === "authenticating" || isVersion5Connect(connection.decoder.raw())) {
    connection.v5 = true;
    // [MQTT5-3.2.2-8]: 0x94, a possible fault of a PUBLISH before CONNECT, is not a reason code of CONNACK.
    const reason = error.reason === reasonCode.topicAliasInvalid ? reasonCode.protocolError : error.reason;
    answerRefused(parts, connection, reason, error.message);
    return;
  }
  connection.close(error.message);
}

/** Whether the bytes begin like a CONNECT of 5.0; the rest may be malformed. */
function isVersion5Connect(bytes: Buffer): boolean {
  const name = bytes.indexOf("\u0000\u0004MQTT\u0005", 0, "latin1");
  return bytes[0] === 0x10 && name >= 2 && name <= 5;
}

function beginExchange(parts: ConnectParts, connection: Connection, packet: ConnectPacket, method: string): void {
  const exchange = parts.access.exchange(method, loginClient(connection));
  if (!exchange) {
    answerRefused(
      parts,
      connection,
      reasonCode.badAuthenticationMethod,
      `The authentication method ${method.slice(0, shownMethod)} is not known.`,
    );
    return;
  }
  connection.state = "authenticating";
  connection.authenticationMethod = method;
  connection.exchange = { method, exchange, connect: packet };
  takeStep(parts, connection, packet.properties?.authenticationData ?? Buffer.alloc(0));
}

/** MQTT 5.0 §4.12. */
export function handleAuth(parts: ConnectParts, connection: Connection, packet: DisconnectPacket): void {
  const { authenticationMethod, state } = connection;
  const method = packet.properties?.authenticationMethod;
  if (authenticationMethod === undefined)
    throw new PacketError(reasonCode.protocolError, "AUTH without an authentication method in CONNECT.");
  // [MQTT5-4.12.0-5], [MQTT5-4.12.1-1]; a DISCONNECT has no 0x8C.
  if (method !== authenticationMethod) throw new PacketError(reasonCode.protocolError, "The AUTH has a different method than the CONNECT.");
  if (packet.reason === reasonCode.reAuthenticate && state === "connected") {
    const exchange = parts.access.exchange(method, loginClient(connection));
    if (exchange) connection.exchange = { method, exchange, connect: undefined };
  } else if (packet.reason !== reasonCode.continueAuthentication || !connection.exchange) {
    throw new PacketError(reasonCode.protocolError, "The AUTH is out of sequence.");
  }
  takeStep(parts, connection, packet.properties?.authenticationData ?? Buffer.alloc(0));
}

function takeStep(parts: ConnectParts, connection: Connection, data: Buffer): void {
  const step = connection.exchange?.exchange.step(data);
  if (step instanceof Promise) wait(parts, connection, step, (settled) => onStep(parts, connection, settled));
  else if (step) onStep(parts, connection, step);
}

function onStep(parts: ConnectParts, connection: Connection, step: AuthStep): void {
  const pending = connection.exchange;
  if (!pending) return;
  const properties = (data: Buffer | undefined): Properties => ({
    authenticationMethod: pending.method,
    ...(data && { authenticationData: data }),
  });
  switch (step.state) {
    case "continue":
      connection.send({ type: "auth", reason: reasonCode.continueAuthentication, properties: properties(step.data) });
      return;
    case "failed":
      connection.exchange = undefined;
      if (pending.connect) answerRefused(parts, connection, reasonCode.notAuthorized, "The authentication failed.");
      else connection.disconnect(reasonCode.notAuthorized, "The authentication failed.");
      return;
    case "done":
      connection.exchange = undefined;
      if (pending.connect) {
        connection.identity = { clientId: connection.identity.clientId, username: step.username };
        fetchAndAccept(parts, connection, pending.connect, properties(step.data));
        return;
      }
      // §4.12.1 renews a login. Subscriptions, messages and the will have the rights of the user who connected: another one connects anew.
      if (step.username !== connection.identity.username) {
        connection.disconnect(reasonCode.notAuthorized, "The client authenticated again as another user.");
        return;
      }
      connection.send({ type: "auth", reason: reasonCode.success, properties: properties(step.data) });
      return;
    default:
      step satisfies never;
  }
}

/** In a cluster, the session may have to be fetched from another broker. */
function fetchAndAccept(parts: ConnectParts, connection: Connection, packet: ConnectPacket, authentication: Properties): void {
  const { cluster } = parts;
  const acceptIt = () => connection.inTurn(() => connection.inSteps(acceptInSteps(parts, connection, packet, authentication)));
  if (!cluster) acceptIt();
  else {
    const { clientId } = connection;
    connection.onSettled = () => cluster.settled(clientId);
    wait(parts, connection, cluster.bring(clientId, packet.cleanStart, connection.turn.client), (brought) => {
      // The will of its earlier connection, if it is due, is published before it is accepted: it may be for thousands of sessions.
      if (brought && cluster.isBehind && parts.sessions.get(clientId)?.will) {
        const caughtUp = new Promise<void>((resolve) => cluster.whenCaughtUp(resolve, connection.turn.client));
        wait(parts, connection, caughtUp, acceptIt);
      } else if (brought) acceptIt();
      else answerRefused(parts, connection, reasonCode.serverUnavailable, "Another broker has the session and does not release it.");
    });
  }
}

/**
 * What waits in a session that is to end goes to other members of its shared subscriptions first, and one that goes on is compared with the rights of its
 * client: there may be thousands.
 */
function* acceptInSteps(parts: ConnectParts, connection: Connection, packet: ConnectPacket, authentication: Properties) {
  const { identity } = connection;
  const { clientId } = identity;
  const known = parts.sessions.get(clientId);
  if (known && (packet.cleanStart ? known.groups : known.expirySeconds > 0 && mustRecheck(parts, known, identity))) {
    if (refuseAboveClients(parts, connection, clientId)) return;
    // [MQTT-3.1.4-2]
    parts.clients.get(clientId)?.disconnect(reasonCode.sessionTakenOver, "Another connection took the session over.");
    yield* packet.cleanStart ? parts.handover.ending(known) : recheckInSteps(parts, known, identity);
  }
  accept(parts, connection, packet, authentication);
}

function accept(parts: ConnectParts, connection: Connection, packet: ConnectPacket, authentication: Properties): void {
  const { v5 } = connection;
  const { limits } = parts;
  const { clientId } = connection.identity;
  if (refuseAboveClients(parts, connection, clientId)) return;
  const will = willOf(packet, connection.identity);
  if (!parts.makeRoom(connection.identity, will)) {
    answerRefused(parts, connection, reasonCode.quotaExceeded, "The limit of sessions is reached.");
    return;
  }
  const given = packet.properties;
  const wantedExpiry = v5 ? (given?.sessionExpiryInterval ?? 0) : packet.cleanStart ? 0 : neverExpires;
  const expirySeconds = Math.min(wantedExpiry, limits.sessionExpirySeconds);
  connection.sendWindow = Math.min(given?.receiveMaximum ?? 0xffff, limits.inflightMessages);
  const aliasMaximum = Math.min(given?.topicAliasMaximum ?? 0, limits.topicAliasMaximum);
  if (aliasMaximum > 0) connection.sentAliases = new SentAliases(aliasMaximum, limits, parts.counters);
  const serverKeepAlive =
    v5 && limits.keepAliveSeconds > 0 && (packet.keepAliveSeconds === 0 || packet.keepAliveSeconds > limits.keepAliveSeconds);
  connection.keepAliveSeconds = serverKeepAlive ? limits.keepAliveSeconds : packet.keepAliveSeconds;
  const responseInformation = given?.requestResponseInformation === 1 ? responseTopicFor(limits.responseInformation, clientId) : undefined;
  const properties: Properties = {
    ...authentication,
    ...(expirySeconds !== wantedExpiry && { sessionExpiryInterval: expirySeconds }),
    ...(packet.clientId === "" && { assignedClientIdentifier: clientId }),
    ...(serverKeepAlive && { serverKeepAlive: limits.keepAliveSeconds }),
    ...(responseInformation !== undefined && { responseInformation }),
    receiveMaximum: limits.receiveMaximum,
    ...(limits.topicAliasMaximum > 0 && { topicAliasMaximum: limits.topicAliasMaximum }),
    maximumPacketSize: limits.maximumPacketSize,
  };
  if (v5 && connection.maximumPacketSize > 0) {
    const size = encodePacket({ type: "connack", sessionPresent: false, reason: 0, properties }, 5).length;
    // [MQTT5-3.1.2-24]: no larger packet may be sent, and a connection cannot be opened without a CONNACK.
    if (size > connection.maximumPacketSize) {
      connection.close("A CONNACK exceeds the client's maximum packet size.");
      return;
    }
  }
  const opened = parts.openSession(connection, packet.cleanStart, expirySeconds, will);
  connection.state = "connected";
  connection.send({ type: "connack", sessionPresent: opened.present && packet.version > 3, reason: 0, properties });
  parts.observer.connected?.(connection, packet);
  connection.asked = undefined;
  connection.askedBytes = 0;
  opened.session.resume(connection);
  parts.handover.gather(opened.session);
  connection.settle();
}

/** Undefined if it is switched off or does not fit into the CONNACK: a client identifier may have 65,535 bytes. */
function responseTopicFor(template: string, clientId: string): string | undefined {
  if (template === "") return undefined;
  const topic = template.replaceAll("%c", () => clientId);
  return Buffer.byteLength(topic) <= longestField ? topic : undefined;
}

function willOf(packet: ConnectPacket, { clientId, username }: Identity): PendingWill | undefined {
  const { will } = packet;
  if (!will) return undefined;
  const expiry = will.properties?.messageExpiryInterval;
  const message = new Message({
    topic: will.topic,
    payload: will.payload,
    qos: will.qos,
    retain: will.retain,
    forwarded: will.properties?.forwarded,
    publisherId: clientId,
  });
  message.compact();
  return {
    message,
    username,
    delaySeconds: will.properties?.willDelayInterval ?? 0,
    ...(expiry !== undefined && { expirySeconds: expiry }),
  };
}
