import type { Message } from "../routing/message.ts";

export interface PendingWill {
  readonly message: Message;
  readonly delaySeconds: number;
  /** Counted from when it is published. */
  readonly expirySeconds?: number;
  /** Whose rights it is published with. */
  readonly username?: string | undefined;
}
