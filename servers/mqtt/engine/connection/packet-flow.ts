import type { DisconnectPacket, Packet } from "../../codec/packet.ts";
import { PacketError, reasonCode, reasonName } from "../../codec/reason-code.ts";
import type { EngineCounters } from "../engine-counters.ts";
import { type EngineObserver, orderlyEnds } from "../engine-observer.ts";
import type { Session } from "../session/session.ts";
import { handleAck } from "./ack-flow.ts";
import { type ConnectParts, handleAuth, handleConnect, refuseConnect } from "./connect-flow.ts";
import type { Connection } from "./connection.ts";
import { handlePublish, type PublishParts } from "./publish-flow.ts";
import { handleSubscribe, handleUnsubscribe, type SubscribeParts } from "./subscribe-flow.ts";

export type PacketParts = ConnectParts &
  PublishParts &
  SubscribeParts & {
    readonly counters: EngineCounters;
    readonly observer: EngineObserver;
    setExpiry(session: Session, expirySeconds: number): void;
  };

/** Passes a packet to its handler. Throws PacketError if it violates the standard. */
export function handlePacket(parts: PacketParts, connection: Connection, packet: Packet): void {
  // The decoder checks [MQTT-3.1.0-1]; during authentication a client may send only AUTH (§4.12).
  if (connection.state === "authenticating" && packet.type !== "auth" && packet.type !== "disconnect") {
    throw new PacketError(reasonCode.protocolError, "Only AUTH is allowed before the CONNACK.");
  }
  switch (packet.type) {
    case "publish":
      handlePublish(parts, connection, packet);
      return;
    case "puback":
    case "pubrec":
    case "pubrel":
    case "pubcomp":
      handleAck(connection, packet);
      return;
    case "subscribe":
      handleSubscribe(parts, connection, packet);
      return;
    case "unsubscribe":
      handleUnsubscribe(parts, connection, packet);
      return;
    case "pingreq":
      connection.send({ type: "pingresp" });
      return;
    case "connect":
      // [MQTT-3.1.0-2]
      if (connection.state !== "opening") throw new PacketError(reasonCode.protocolError, "A second CONNECT.");
      handleConnect(parts, connection, packet);
      return;
    case "disconnect":
      handleDisconnect(parts, connection, packet);
      return;
    case "auth":
      handleAuth(parts, connection, packet);
      return;
    case "connack":
    case "suback":
    case "unsuback":
    case "pingresp":
      throw new PacketError(reasonCode.protocolError, `A client does not send ${packet.type.toUpperCase()}.`);
    default:
      packet satisfies never;
  }
}

/** The client violated the standard. */
export function refusePacket(parts: PacketParts, connection: Connection, error: PacketError): void {
  parts.counters.refused++;
  parts.observer.refused?.(connection, error);
  if (connection.state === "connected") connection.disconnect(error.reason, error.message);
  else refuseConnect(parts, connection, error);
}

/** The client ends the connection (MQTT §3.14). */
function handleDisconnect(parts: PacketParts, connection: Connection, packet: DisconnectPacket): void {
  const { reason, properties } = packet;
  const { session } = connection;
  const expirySeconds = properties?.sessionExpiryInterval;
  if (session && expirySeconds !== undefined) {
    // §3.14.2.2.2
    if (session.expirySeconds === 0 && expirySeconds > 0) {
      throw new PacketError(reasonCode.protocolError, "The session expiry was 0 in CONNECT and cannot be changed.");
    }
    parts.setExpiry(session, expirySeconds);
  }
  // [MQTT-3.14.4-3]: the will is discarded, unless the client requests it with 0x04 or reports an error.
  const withWill = reason !== reasonCode.success;
  if (session && !withWill) session.will = undefined;
  connection.goodbye = packet;
  connection.close(orderlyEnds.get(reason) ?? `disconnected: ${reasonName(reason)}`, true);
}
