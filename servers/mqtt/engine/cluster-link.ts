import type { Engine } from "./engine.ts";
import type { Message } from "./message.ts";

/** The other brokers that serve the same clients. */
export interface ClusterLink {
  /** Before the first client. */
  attach(engine: Engine): void;
  /** Fetches the session from the broker that has it, and ends the client's connection there. Never rejects. */
  bring(clientId: string, cleanStart: boolean): Promise<void>;
  /** Whether a member at this broker gets the message; of all that ask only one is told so. Never rejects. */
  claim(message: Message, groupName: string): Promise<boolean>;
  /** The session is over here. */
  ended(clientId: string): void;
}
