import type { PeerLink } from "../peer.ts";
import type { ChatEvent, PeerEvent, SignalEvent } from "../signalling-event.ts";

/** The way to a client of another instance. */
export class InstanceLink implements PeerLink {
  readonly unsentBytes = 0;
  readonly unsentMemory = 0;
  readonly sentBytes = 0;
  readonly #send: (event: SignalEvent | ChatEvent) => void;

  constructor(send: (event: SignalEvent | ChatEvent) => void) {
    this.#send = send;
  }

  /** The instance tells its clients of all else itself. */
  deliver(event: PeerEvent): void {
    if (event.type === "signal" || event.type === "chat") this.#send(event);
  }

  hold(): void {}

  release(): void {}

  close(): void {}
}
