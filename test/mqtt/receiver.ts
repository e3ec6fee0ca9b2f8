import type { FlushScheduler } from "../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { Output, type OutputOwner, type Transport } from "../../servers/mqtt/engine/delivery/output.ts";

/** Whatever fails fails the test. */
export const owner: OutputOwner = {
  congestionEnded() {},
  run: (step) => step(),
  fault(error) {
    throw error;
  },
};

/** Takes bytes at once, or as slow systems do: it looks at them only later, and they must still be there. */
export class Receiver implements Transport {
  readonly received: Buffer[] = [];
  private readonly slow: boolean;
  private waiting: Buffer[] = [];

  constructor(slow: boolean) {
    this.slow = slow;
  }

  get pendingBytes(): number {
    return this.waiting.reduce((sum, { length }) => sum + length, 0);
  }

  write(bytes: Buffer): boolean {
    if (this.slow) this.waiting.push(bytes);
    else this.received.push(Buffer.from(bytes));
    return !this.slow;
  }

  take(): void {
    this.received.push(...this.waiting.map((bytes) => Buffer.from(bytes)));
    this.waiting = [];
  }

  end(): void {}
  destroy(): void {}
  pause(): void {}
  resume(): void {}
}

/** A client whose writes take a millisecond each. */
export function slowlyWritten(
  scheduler: FlushScheduler,
  onWrite: () => void,
): {
  readonly receiver: Receiver;
  readonly target: { readonly output: Output; readonly v5: false; readonly maximumPacketSize: 0; readonly sentAliases: undefined };
} {
  class Counted extends Receiver {
    override write(bytes: Buffer): boolean {
      onWrite();
      return super.write(bytes);
    }
  }
  const receiver = new Counted(false);
  const output = new Output(receiver, scheduler, 1 << 30, owner);
  return { receiver, target: { output, v5: false, maximumPacketSize: 0, sentAliases: undefined } };
}
