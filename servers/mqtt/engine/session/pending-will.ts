import { isReservedTopic } from "../../codec/topic.ts";
import type { Access } from "../connection/access.ts";
import { Message } from "../routing/message.ts";
import type { Session } from "./session.ts";

export interface PendingWill {
  readonly message: Message;
  readonly delaySeconds: number;
  /** Counted from when it is published. */
  readonly expirySeconds?: number;
  /** Whose rights it is published with. */
  readonly username?: string | undefined;
}

export interface WillParts {
  readonly access: Pick<Access, "mayPublish">;
  publishInternal(message: Message): void;
}

/** With the rights of the client whose it was; the session has none afterwards. */
export function publishWill({ access, publishInternal }: WillParts, session: Session): void {
  const { will, clientId } = session;
  session.will = undefined;
  session.willDueAt = 0;
  if (!will) return;
  // Or it would come again after a restart.
  session.store?.saveSession(session);
  const { topic, payload, qos, retain, forwarded, publisherId } = will.message;
  if (isReservedTopic(topic) || !access.mayPublish({ clientId, username: will.username }, topic)) return;
  const expiresAt = will.expirySeconds === undefined ? 0 : Date.now() + will.expirySeconds * 1_000;
  const message = new Message({ topic, payload, qos, retain, forwarded, publisherId, expiresAt });
  message.isWill = true;
  publishInternal(message);
}
