import { z } from "zod";
import { ServiceError } from "../../core/service-error.ts";
import { encodeForwarded } from "../codec/encode-properties.ts";
import { isTopicName } from "../codec/topic.ts";
import { Message } from "../engine/message.ts";
import type { MessageRecord } from "../inspector/message-record.ts";

const line = z.object({
  at: z.number(),
  topic: z.string().refine(isTopicName, "This is no topic name."),
  qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  retain: z.boolean().default(false),
  /** Base64. */
  payload: z.string(),
  properties: z
    .object({
      payloadFormatIndicator: z.int().min(0).max(1).optional(),
      contentType: z.string().optional(),
      responseTopic: z.string().optional(),
      correlationData: z.string().optional(),
      userProperties: z.array(z.tuple([z.string(), z.string()])).optional(),
    })
    .default({}),
});
type Line = z.output<typeof line>;

/** A recorded message as one line of JSONL. */
export function exportLine(record: MessageRecord): string {
  const { at, topic, qos, retain } = record;
  return JSON.stringify({ at, topic, qos, retain, payload: record.payload().toString("base64"), properties: record.properties() });
}

/** Throws CALL_INVALID, naming the line. */
export function parseLines(lines: readonly string[]): Line[] {
  return lines.map((text, index) => {
    try {
      return line.parse(JSON.parse(text));
    } catch (cause) {
      throw new ServiceError("CALL_INVALID", `Line ${index + 1} is no exported message`, "Choose a file that Backlot exported.", { cause });
    }
  });
}

const batch = 500;

export interface Replay {
  readonly state: { readonly running: boolean; readonly sent: number; readonly total: number };
  start(lines: readonly Line[], speed: number): void;
  stop(): void;
}

/** Publishes exported messages again with the pauses they had. */
export function createReplay(publish: (message: Message) => void): Replay {
  let timer: NodeJS.Timeout | undefined;
  let sent = 0;
  let total = 0;

  function stop() {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    get state() {
      return { running: timer !== undefined, sent, total };
    },
    start(lines, speed) {
      stop();
      sent = 0;
      total = lines.length;
      const firstAt = lines[0]?.at ?? 0;
      const startedAt = performance.now();
      const step = () => {
        const elapsed = (performance.now() - startedAt) * speed;
        for (let count = 0; count < batch; count++) {
          const next = lines[sent];
          if (!next) {
            stop();
            return;
          }
          if (speed > 0 && next.at - firstAt > elapsed) break;
          publish(toMessage(next));
          sent++;
        }
        timer = setTimeout(step, speed === 0 ? 0 : 10);
      };
      timer = setTimeout(step, 0);
    },
    stop,
  };
}

function toMessage({ topic, qos, retain, payload, properties }: Line): Message {
  const { correlationData, ...rest } = properties;
  return new Message({
    topic,
    payload: Buffer.from(payload, "base64"),
    qos,
    retain,
    forwarded: encodeForwarded({
      ...rest,
      ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData, "base64") }),
    }),
  });
}
