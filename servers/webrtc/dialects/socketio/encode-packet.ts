import type { PeerEvent } from "../../signalling/signalling-event.ts";
import type { JsonObject } from "../json-value.ts";
import { socketIoSignal } from "./socketio-signal.ts";

/** An event as a packet of Socket.IO. Undefined where there is no event for it. */
export type EncodePacket = (event: PeerEvent) => string | undefined;

/** EVENT in the namespace "/", in the protocol of Socket.IO. */
const eventPacket = "2";
/** ACK, with the number of the event. */
const ackPacket = "3";

/** What is sent to all in a room, one after the other, is written once. */
export function createPacketEncoder(): EncodePacket {
  let lastEvent: PeerEvent | undefined;
  let lastPacket: string | undefined;
  return (event) => {
    if (event === lastEvent) return lastPacket;
    const text = textOf(event);
    lastEvent = event;
    lastPacket = text && eventPacket + text;
    return lastPacket;
  };
}

function textOf(event: PeerEvent): string | undefined {
  if (event.type === "joined") return `${joinedStart}{"room":${JSON.stringify(event.room)},"peers":${event.peers.json}}]`;
  const emitted = emittedFor(event);
  return emitted && JSON.stringify(emitted);
}

function emittedFor(event: Exclude<PeerEvent, { type: "joined" }>): readonly [name: string, data: unknown] | undefined {
  switch (event.type) {
    case "welcome":
      return ["ice-servers", event.iceServers];
    case "peer-joined":
    case "peer-left": {
      const { type, ...data } = event;
      return [type, data];
    }
    case "signal": {
      const { from, signal } = event;
      const data = signal.dialect === "socketio" ? (signal.payload as JsonObject) : socketIoSignal(signal);
      return data && ["signal", { ...data, from }];
    }
    case "chat": {
      const { type, isHistory, ...data } = event;
      return [type, { ...data, ...(isHistory && { history: true }) }];
    }
    case "error": {
      const { type, code, message, re = null } = event;
      return [type, { code, message, re }];
    }
    default:
      return event satisfies never;
  }
}

const joinedStart = '["joined",';

/** The acknowledgement of a join has what the packet of `joined` has. */
export const acknowledgedJoin = (id: number, joined: string): string =>
  `${ackPacket}${id}[${joined.slice(eventPacket.length + joinedStart.length)}`;
