import type { Session } from "./session.ts";
import type { StoredSession } from "./session-store.ts";

/** A session as another broker can take it on. */
export function storedForm(session: Session): StoredSession {
  return {
    clientId: session.clientId,
    v5: session.v5,
    expirySeconds: session.expirySeconds,
    disconnectedAt: session.disconnectedAt,
    will: session.will,
    subscriptions: [...session.subscriptions.values()].map(({ filter, options }) => ({ filter, options })),
    deliveries: [...session.deliveries()].map(({ message, qos, retain, identifiers, packetId, state, shared }) => ({
      id: 0,
      message,
      qos,
      retain,
      identifiers: identifiers ?? [],
      packetId,
      released: state === "awaiting pubcomp",
      sharedFilter: shared?.filter ?? "",
    })),
    received: session.received(),
  };
}
