import type { PeerEvent, Signal } from "../../signalling/signalling-event.ts";

/** An event as it is sent to a client. Undefined where plain JSON has no message for it. */
export type EncodeJsonEvent = (event: PeerEvent) => Buffer | undefined;

/** What is sent to all in a room, one after the other, is written once. */
export function createJsonEncoder(): EncodeJsonEvent {
  let lastEvent: PeerEvent | undefined;
  let lastBytes: Buffer | undefined;
  return (event) => {
    if (event === lastEvent) return lastBytes;
    const text = textOf(event);
    lastEvent = event;
    lastBytes = text === undefined ? undefined : Buffer.from(text);
    return lastBytes;
  };
}

function textOf(event: PeerEvent): string | undefined {
  if (event.type === "joined") return `{"type":"joined","room":${JSON.stringify(event.room)},"peers":${event.peers.json}}`;
  const message = messageOf(event);
  return message && JSON.stringify(message);
}

function messageOf(event: Exclude<PeerEvent, { type: "joined" }>): object | undefined {
  switch (event.type) {
    case "welcome":
    case "peer-joined":
    case "peer-left":
      return event;
    case "signal":
      return signalMessage(event.from, event.signal);
    case "chat": {
      const { type, room, text, from, name, at, isHistory } = event;
      return {
        type,
        ...(room !== undefined && { room }),
        text,
        from,
        ...(name !== "" && { name }),
        at,
        ...(isHistory && { history: true }),
      };
    }
    case "error": {
      const { type, code, message, re } = event;
      return { type, code, message, re: re ?? null };
    }
    default:
      return event satisfies never;
  }
}

function signalMessage(from: string, { kind, sdp, candidate, dialect, payload }: Signal): object | undefined {
  const isOurs = dialect === "json";
  switch (kind) {
    case "offer":
    case "answer":
      return { type: kind, from, sdp: isOurs ? payload : sdp };
    case "candidate":
      return { type: kind, from, candidate: isOurs ? payload : candidate };
    case "other":
      return undefined;
    default:
      return kind satisfies never;
  }
}
