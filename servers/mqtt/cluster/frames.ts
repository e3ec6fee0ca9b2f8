import type { Qos } from "../codec/packet.ts";
import { Message } from "../engine/message.ts";
import type { StoredDelivery, StoredSession } from "../engine/session-store.ts";
import { parseWill, willText } from "../persistence/will-text.ts";

/** What brokers say to each other, as MessagePack, all over one channel: so what one broker says keeps its order. */
export type Frame =
  | { readonly type: "message"; readonly from: string; readonly id: string; readonly message: MessageFrame }
  /** To the broker that has the client's session: hand it over. */
  | {
      readonly type: "wanted";
      readonly from: string;
      readonly to: string;
      readonly id: string;
      readonly clientId: string;
      readonly cleanStart: boolean;
    }
  /** The answer; null where there is nothing to hand over. */
  | { readonly type: "session"; readonly from: string; readonly to: string; readonly id: string; readonly session: SessionFrame | null };

export interface MessageFrame {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly forwarded: Buffer;
  readonly expiresAt: number;
  readonly publisherId: string;
}

export interface SessionFrame extends Omit<StoredSession, "will" | "deliveries"> {
  readonly will: string;
  readonly deliveries: readonly (Omit<StoredDelivery, "message"> & { readonly message: MessageFrame })[];
}

export function messageFrame({ topic, payload, qos, retain, forwarded, expiresAt, publisherId }: Message): MessageFrame {
  return { topic, payload, qos, retain, forwarded, expiresAt, publisherId };
}

export const sessionFrame = (session: StoredSession): SessionFrame => ({
  ...session,
  will: session.will ? willText(session.will) : "",
  deliveries: session.deliveries.map((delivery) => ({ ...delivery, message: messageFrame(delivery.message) })),
});

export const sessionOf = ({ will, deliveries, ...rest }: SessionFrame): StoredSession => ({
  ...rest,
  will: will === "" ? undefined : parseWill(will),
  deliveries: deliveries.map((delivery) => ({ ...delivery, message: new Message(delivery.message) })),
});
