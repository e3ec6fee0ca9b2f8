import type { DisconnectPacket } from "../../codec/packet.ts";
import { PacketError } from "../../codec/packet-error.ts";
import { reasonCode } from "../../codec/reason-code.ts";
import type { Connection } from "./connection.ts";

/** The client ends the connection (MQTT §3.14). */
export function handleDisconnect(connection: Connection, { reason, properties }: DisconnectPacket): void {
  const { session, engine } = connection;
  const expirySeconds = properties?.sessionExpiryInterval;
  if (session && expirySeconds !== undefined) {
    // §3.14.2.2.2
    if (session.expirySeconds === 0 && expirySeconds > 0) {
      throw new PacketError(reasonCode.protocolError, "The session expiry was 0 and cannot be set now.");
    }
    engine.setExpiry(session, expirySeconds);
  }
  // [MQTT-3.14.4-3]: the will is gone, unless the client asks for it with 0x04 or reports an error.
  const withWill = reason !== reasonCode.success;
  if (session && !withWill) session.will = undefined;
  connection.close(reason === 0 ? "disconnected" : `disconnected, reason 0x${reason.toString(16)}`);
}
