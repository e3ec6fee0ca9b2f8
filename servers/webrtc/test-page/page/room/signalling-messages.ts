/** The messages of plain JSON at /ws; docs/webrtc-signalling.md has them with examples. */
export interface OtherPeer {
  readonly id: string;
  readonly name: string;
}

export interface ChatMessage {
  readonly from: string;
  readonly name?: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type ServerMessage =
  | { readonly type: "welcome"; readonly id: string; readonly iceServers: readonly RTCIceServer[] }
  | { readonly type: "joined"; readonly room: string; readonly peers: readonly OtherPeer[] }
  | ({ readonly type: "peer-joined"; readonly room: string } & OtherPeer)
  | { readonly type: "peer-left"; readonly room: string; readonly id: string }
  // As another peer has made them: anything may be in them.
  | { readonly type: "offer" | "answer"; readonly from: string; readonly sdp?: unknown }
  | { readonly type: "candidate"; readonly from: string; readonly candidate?: unknown }
  | ({ readonly type: "chat"; readonly room?: string; readonly to?: string; readonly history?: boolean } & ChatMessage)
  | { readonly type: "error"; readonly code: string; readonly message: string; readonly re: string | null };

export type ClientMessage =
  | { readonly type: "join"; readonly room: string; readonly name?: string; readonly password?: string }
  | { readonly type: "leave"; readonly room: string }
  | { readonly type: "offer" | "answer"; readonly to: string; readonly sdp: string }
  | { readonly type: "candidate"; readonly to: string; readonly candidate: RTCIceCandidateInit }
  | { readonly type: "chat"; readonly room?: string; readonly to?: string; readonly text: string };

/** Undefined for what is no message of the dialect. The server is this page's own: the type says what the rest is. */
export function parseServerMessage(text: unknown): ServerMessage | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && "type" in parsed ? (parsed as ServerMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** Some clients send a description with its type. Undefined for what is none. */
export function sdpOf(sdp: unknown): string | undefined {
  const text = typeof sdp === "object" && sdp !== null && "sdp" in sdp ? sdp.sdp : sdp;
  return typeof text === "string" ? text : undefined;
}

/** Undefined for what is none, and for null and an empty one, which end the candidates. */
export function candidateOf(candidate: unknown): RTCIceCandidateInit | undefined {
  const init = typeof candidate === "string" ? { candidate } : isCandidate(candidate) ? candidate : undefined;
  return init?.candidate === "" ? undefined : init;
}

/** The browser reads the rest of it. */
const isCandidate = (value: unknown): value is { readonly candidate: string } =>
  typeof value === "object" && value !== null && "candidate" in value && typeof value.candidate === "string";
