import { isReservedTopic } from "../../codec/topic.ts";
import type { Engine } from "../engine.ts";
import { Message } from "../routing/message.ts";
import type { Session } from "./session.ts";

/** With the rights of the client whose it was; the session has none afterwards. */
export function publishWill(engine: Engine, session: Session): void {
  const { will, clientId } = session;
  session.will = undefined;
  session.willDueAt = 0;
  if (!will) return;
  // Or it would come again after a restart.
  session.store?.saveSession(session);
  const { topic, payload, qos, retain, forwarded, publisherId } = will.message;
  if (isReservedTopic(topic) || !engine.access.mayPublish({ clientId, username: will.username }, topic)) return;
  const expiresAt = will.expirySeconds === undefined ? 0 : Date.now() + will.expirySeconds * 1_000;
  const message = new Message({ topic, payload, qos, retain, forwarded, publisherId, expiresAt });
  message.isWill = true;
  engine.publishOwn(message)?.catch((error: unknown) => {
    engine.log.error(`The will of ${clientId} could not be published: ${error instanceof Error ? error.message : String(error)}`);
  });
}
