import type { ReasonCode } from "./reason-code.ts";

/** What the other side sent breaks the standard; `reason` is what MQTT 5.0 has for it. */
export class PacketError extends Error {
  override readonly name = "PacketError";
  readonly reason: ReasonCode;

  constructor(reason: ReasonCode, message: string) {
    super(message);
    this.reason = reason;
  }
}
