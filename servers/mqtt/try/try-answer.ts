import type { MqttTryAnswer } from "../../../contract/services/mqtt-try.ts";
import type { Packet } from "../codec/packet.ts";
import { reasonName } from "../codec/reason-code.ts";

/** MQTT 3.1.1 §3.2.2.3. */
const returnNames = [
  "accepted",
  "unacceptable protocol version",
  "identifier rejected",
  "server unavailable",
  "bad user name or password",
  "not authorized",
];

/** A packet of the broker's in a person's words. */
export function tryAnswer(packet: Packet, version: 4 | 5, tookMs: number): MqttTryAnswer {
  const name = packet.type.toUpperCase();
  const reason = reasonOf(packet);
  const text = "properties" in packet ? packet.properties?.reasonString : undefined;
  const more = { tookMs, ...(text !== undefined && { text }) };
  if (reason === undefined) return { ok: true, packet: name, meaning: "acknowledged", ...more };
  const isReturnCode = packet.type === "connack" && version === 4;
  const ok = isReturnCode ? reason === 0 : reason < 0x80 && packet.type !== "disconnect";
  const meaning = isReturnCode ? (returnNames[reason] ?? "refused") : meaningOf(packet, reason, version);
  return { ok, packet: name, reason, meaning, ...more };
}

function reasonOf(packet: Packet): number | undefined {
  switch (packet.type) {
    case "suback":
    case "unsuback":
      return packet.reasons[0];
    case "connack":
    case "disconnect":
    case "auth":
    case "puback":
    case "pubrec":
    case "pubrel":
    case "pubcomp":
      return packet.reason;
    default:
      return undefined;
  }
}

function meaningOf(packet: Packet, reason: number, version: 4 | 5): string {
  if (packet.type === "suback" && reason < 3) return `QoS ${reason} granted`;
  if (packet.type === "suback" && version === 4) return "refused";
  if (packet.type === "disconnect" && reason === 0) return "disconnected by the broker";
  return reasonName(reason);
}
