import type { HttpBody } from "../../../contract/traffic/http.ts";
import type { WebSocketConnection, WebSocketMessagePart } from "../../../contract/traffic/websocket.ts";
import type { ExportedRow } from "../../core/traffic/detail-decoder.ts";
import { mostPartText, partPages } from "./exported-parts.ts";
import type { TrafficStore } from "./traffic-store.ts";

export interface HarMessages {
  readonly _resourceType: "websocket";
  /** As Chrome's HAR has them: `time` in seconds, `data` in base64 where `opcode` is 2 (RFC 6455 §5.2). */
  readonly _webSocketMessages: readonly HarMessage[];
  readonly comment?: string;
}

interface HarMessage {
  /** As seen by the client. */
  readonly type: "send" | "receive";
  readonly time: number;
  readonly opcode: 1 | 2;
  readonly data: string;
  readonly comment?: string;
}

interface MessageSource {
  readonly store: Pick<TrafficStore, "parts" | "detail">;
  /** What may be shown of a message. */
  readonly shown: (row: ExportedRow) => Promise<ExportedRow>;
  /** Called between messages; resolves in a later turn of the event loop when it is time. */
  readonly pause: () => Promise<void>;
}

/** The messages of a WebSocket's connection, for its entry. An echo is the message that was received. */
export async function harMessages(
  { id, parts: { total } }: Pick<WebSocketConnection, "id" | "parts">,
  { store, shown, pause }: MessageSource,
): Promise<HarMessages> {
  const messages: HarMessage[] = [];
  const received = new Map<number, HttpBody | undefined>();
  let text = 0;
  for await (const page of partPages(store, id)) {
    const parts = page.parts.filter((part) => part.kind === "websocket-message");
    for (const part of parts) {
      const body = part.echoOf === undefined ? await bodyOf(part) : received.get(part.echoOf);
      if (part.direction === "received") received.set(part.index, body);
      if (!body) continue;
      messages.push(harMessage(part, body));
      text += body.base64.length;
      await pause();
      if (text > mostPartText) break;
    }
    if (text > mostPartText) break;
  }
  const missing = total - messages.length;
  return {
    _resourceType: "websocket",
    _webSocketMessages: messages,
    ...(missing > 0 && { comment: `${missing} of ${total} messages are not in this file` }),
  };

  async function bodyOf({ row }: WebSocketMessagePart): Promise<HttpBody | undefined> {
    const read = row === undefined ? null : await store.detail(row);
    const { detail } = read ? await shown(read) : { detail: null };
    return detail?.kind === "websocket-message" ? detail.body : undefined;
  }
}

function harMessage({ direction, type, at }: WebSocketMessagePart, { base64, bytes, hiddenIn }: HttpBody): HarMessage {
  const kept = Buffer.from(base64, "base64");
  return {
    type: direction === "received" ? "send" : "receive",
    time: at / 1_000,
    opcode: type === "text" ? 1 : 2,
    data: type === "text" ? kept.toString("utf8") : base64,
    ...(hiddenIn === undefined && kept.length < bytes && { comment: `the first ${kept.length} of ${bytes} bytes` }),
  };
}
