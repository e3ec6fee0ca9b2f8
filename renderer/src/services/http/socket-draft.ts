import { z } from "zod";
import { fitsCloseReason, maySendCloseCode } from "../../../../contract/services/websocket-try.ts";
import type { HeaderList } from "../../../../contract/traffic/http.ts";
import type { WebSocketConnection } from "../../../../contract/traffic/websocket.ts";
import { namesIn, ownHeaders, protocolsOf, type WebSocketReplay } from "../../inspectors/websocket/websocket-copies.ts";
import { createHandover } from "../../pages/service/handover.ts";
import { targetWithoutCredentials, withoutCredentialText } from "../../ui/credentials.ts";
import { fromHex, toBase64 } from "../../viewer/decode/bytes.ts";
import { headersWithoutCredentials, sentFields, sentTarget, withoutHidden } from "../try/try-request.ts";

const messageTypes = ["text", "binary"] as const;
export type MessageType = (typeof messageTypes)[number];

/** The form of a WebSocket, as typed. */
export interface SocketDraft {
  readonly target: string;
  /** Rows of the editor: a row without a name is not sent. */
  readonly headers: HeaderList;
  /** Separated by commas. */
  readonly protocols: string;
  readonly type: MessageType;
  /** Text, or bytes in hex. */
  readonly message: string;
  readonly closeCode: string;
  readonly closeReason: string;
}

export const socketDraftSchema: z.ZodType<SocketDraft> = z.object({
  target: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  protocols: z.string(),
  type: z.enum(messageTypes),
  message: z.string(),
  closeCode: z.string(),
  closeReason: z.string(),
});

export const firstSocket: SocketDraft = {
  target: "/ws/echo",
  headers: [],
  protocols: "",
  type: "text",
  message: '{"hello":"world"}',
  closeCode: "1000",
  closeReason: "",
};

/** The draft without what may be a credential: this is never stored. */
export const socketWithoutCredentials = (draft: SocketDraft): SocketDraft => ({
  ...draft,
  target: targetWithoutCredentials(draft.target),
  headers: headersWithoutCredentials(draft.headers),
  protocols: withoutCredentialText(draft.protocols),
  message: withoutCredentialText(draft.message),
  closeReason: withoutCredentialText(draft.closeReason),
});

/** Recorded WebSockets that were opened in Try. */
export const recordedSockets = createHandover<Pick<SocketDraft, "target" | "headers" | "protocols">>();

/** A recorded WebSocket as the form takes it; what the recording hides is empty. */
export const draftOfConnection = ({ request: { target, headers } }: WebSocketConnection) => ({
  target,
  headers: withoutHidden(headers.filter(([name]) => !ownHeaders.test(name))),
  protocols: protocolsOf({ headers }).join(", "),
});

/** Parameters of `socket.open`. */
export const openParams = (draft: SocketDraft) => ({
  target: sentTarget(draft.target),
  headers: sentFields(draft.headers),
  protocols: namesIn(draft.protocols),
});

/** The message as bytes; undefined if it is not valid hex. */
export const messageBytes = ({ type, message }: SocketDraft): Uint8Array | undefined =>
  type === "text" ? new TextEncoder().encode(message) : fromHex(message);

/** Parameters of `socket.send`. */
export const sendParams = (draft: SocketDraft, bytes: Uint8Array) => ({
  type: draft.type,
  content: draft.type === "text" ? draft.message : toBase64(bytes),
});

export interface ParsedClose {
  readonly params: { readonly code?: number; readonly reason: string };
  readonly codeProblem?: string;
  readonly reasonProblem?: string;
}

/** Without a code the close frame is empty, so it has no reason either. */
export function parseClose({ closeCode, closeReason: reason }: SocketDraft): ParsedClose {
  const text = closeCode.trim();
  const code = text === "" ? undefined : Number(text);
  return {
    params: { ...(code !== undefined && { code }), reason },
    ...(code !== undefined &&
      !(Number.isInteger(code) && maySendCloseCode(code)) && { codeProblem: "1000 to 1014 without 1004 to 1006, or 3000 to 4999" }),
    ...(!fitsCloseReason(reason) && { reasonProblem: "At most 123 bytes" }),
    ...(code === undefined && reason !== "" && { reasonProblem: "A reason needs a code" }),
  };
}

/** The same as lines to copy. */
export function replayOfDraft(draft: SocketDraft, origin: string): WebSocketReplay {
  const { target, headers, protocols } = openParams(draft);
  const bytes = messageBytes(draft);
  return {
    origin,
    target,
    headers: protocols.length > 0 ? [["Sec-WebSocket-Protocol", protocols.join(", ")], ...headers] : headers,
    ...(bytes && { message: { type: draft.type, body: { bytes: bytes.length, base64: toBase64(bytes) } } }),
  };
}
