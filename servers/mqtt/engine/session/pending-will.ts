import { isReservedTopic } from "../../codec/topic.ts";
import type { Access } from "../connection/access.ts";
import { Message } from "../routing/message.ts";

export interface PendingWill {
  readonly message: Message;
  readonly delaySeconds: number;
  /** Counted from the publishing. */
  readonly expirySeconds?: number;
  /** The identity whose rights apply. */
  readonly username?: string | undefined;
}

export interface WillParts {
  readonly access: Pick<Access, "mayPublish">;
  publishInternal(message: Message): void;
}

/** A session that may have a will. */
export interface WillHolder {
  readonly clientId: string;
  will: PendingWill | undefined;
  willDueAt: number;
  save(): void;
}

/** Publishes the will with the rights of its client, and removes it from the session. */
export function publishWill({ access, publishInternal }: WillParts, session: WillHolder): void {
  const { will, clientId } = session;
  session.will = undefined;
  session.willDueAt = 0;
  if (!will) return;
  // Otherwise it would be published again after a restart.
  session.save();
  const { topic, payload, qos, retain, forwarded, publisherId } = will.message;
  if (isReservedTopic(topic) || !access.mayPublish({ clientId, username: will.username }, topic)) return;
  const expiresAt = will.expirySeconds === undefined ? 0 : Date.now() + will.expirySeconds * 1_000;
  const message = new Message({ topic, payload, qos, retain, forwarded, publisherId, expiresAt });
  message.isWill = true;
  publishInternal(message);
}
