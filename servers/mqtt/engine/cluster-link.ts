import type { Transport } from "./delivery/output.ts";
import type { Message } from "./routing/message.ts";
import type { SharedGroup } from "./routing/subscription.ts";
import type { Session } from "./session/session.ts";

/** A connection whose writes may wait. */
export interface GatedClient {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
  /** Called when delayed writes may be sent. */
  drained(): void;
  /** Runs a step for the connection: an error in it ends only this connection. */
  run(step: () => void): void;
}

/** A client for which something waits. */
export interface WaitingClient {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
  hasLeft(): boolean;
}

/** The other brokers that serve the same clients. Groups are named as `SharedGroup.name`. */
export interface ClusterLink {
  /** Delays acknowledgements until the other brokers can know of the acknowledged messages. */
  gate(transport: Transport, client: GatedClient): Transport;
  /** Other brokers have not read so much of what was published here that publishers have to wait. */
  readonly isBehind: boolean;
  /** `resume` is called when they need not wait: addresses take turns. For the broker itself without a client. */
  whenCaughtUp(resume: () => void, client?: WaitingClient): void;
  /**
   * Fetches the session from the broker that has it, and ends the client's connection there. False if that fails; never rejects. No other
   * broker gets it before `settled` is called. Of the clients of an address some are served at a time, and nothing is begun for one that has left.
   */
  bring(clientId: string, cleanStart: boolean, client?: WaitingClient): Promise<boolean>;
  /** To be called once for each `bring`: the connection has opened the session, or is closed. */
  settled(clientId: string): void;
  /** The client is connected. */
  opened(session: Session): void;
  /** The session is over. */
  ended(clientId: string): void;
  /** The client became or is no longer a member of a shared subscription, or connected or disconnected as a member. */
  memberChanged(group: string, clientId: string): void;
  /** For a message that sessions keep: true if it is to be delivered when it comes back from the journal (`Message.comesBack`). */
  journalFirst(message: Message): boolean;
  /** Delivers to the topic's shared groups that choose this broker. */
  routeShared(message: Message, groups: readonly SharedGroup[]): void;
  hasConnectedMemberElsewhere(group: string): boolean;
  /** Passes a message for a shared subscription to another broker; false if no other broker has a suitable member. */
  handOn(group: string, message: Message, toConnected: boolean): boolean;
}
