import type { Transport } from "./delivery/output.ts";
import type { Message } from "./routing/message.ts";
import type { SharedGroup } from "./routing/subscription.ts";
import type { Session } from "./session/session.ts";

/** A connection whose writes may wait. */
export interface GatedClient {
  /** Called when the delayed writes were sent. */
  drained(): void;
  /** Runs a step for it: what it throws ends its connection and no other. */
  run(step: () => void): void;
}

/** The other brokers that serve the same clients. Groups are named as `SharedGroup.name`. */
export interface ClusterLink {
  /** Delays writes until what they acknowledge is known to the other brokers. */
  gate(transport: Transport, client: GatedClient): Transport;
  /** Fetches the session from the broker that has it, and ends the client's connection there. False where that fails; never rejects. */
  bring(clientId: string, cleanStart: boolean): Promise<boolean>;
  /** The client is connected. */
  opened(session: Session): void;
  /** The session is over. */
  ended(clientId: string): void;
  /** The client subscribed to a shared subscription or does not any more, or connected or left as one of its members. */
  memberChanged(group: string, clientId: string): void;
  /** Delivers to those of the topic's groups whose turn is here. */
  routeShared(message: Message, groups: readonly SharedGroup[]): void;
  hasConnectedMemberElsewhere(group: string): boolean;
  /** Gives a message for a shared subscription to another broker; false where none has a member, or a connected one. */
  handOn(group: string, message: Message, toConnected: boolean): boolean;
}
