import { isReservedTopic, textBytes } from "../../codec/topic.ts";
import type { Access } from "../connection/access.ts";
import { Message } from "../routing/message.ts";
import { steadyNow } from "../steady-clock.ts";

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
  readonly address: string;
  will: PendingWill | undefined;
  willDueAt: number;
  save(): void;
}

/** Memory of a will in addition to the bytes of its message and its user name. */
const ownBytes = 500;

/** Memory that a will takes until it is published. */
export const willBytes = ({ message, username }: PendingWill): number => ownBytes + message.bytes + textBytes(username ?? "");

/** Publishes the will with the rights of its client, and removes it from the session. Returns the bytes of its deliveries. */
export function publishWill({ access, publishInternal }: WillParts, session: WillHolder): number {
  const { will, clientId } = session;
  session.will = undefined;
  session.willDueAt = 0;
  if (!will) return 0;
  // Otherwise it would be published again after a restart.
  session.save();
  const { topic, payload, qos, retain, forwarded, publisherId } = will.message;
  if (isReservedTopic(topic) || !access.mayPublish({ clientId, username: will.username }, topic)) return 0;
  const expiresAt = will.expirySeconds === undefined ? 0 : steadyNow() + will.expirySeconds * 1_000;
  const message = new Message({ topic, payload, qos, retain, forwarded, publisherId, expiresAt });
  message.publisherAddress = session.address;
  message.isWill = true;
  publishInternal(message);
  return message.matched * payload.length;
}
