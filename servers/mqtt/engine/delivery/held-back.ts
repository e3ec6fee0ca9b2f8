/** Called when bytes were passed to the transport, or are lost because their client is gone. */
export type HandedOver = (isSent: boolean) => void;

interface HeldChunk {
  readonly bytes: Buffer;
  readonly dueAt: number;
  readonly onHandedOver: readonly HandedOver[] | undefined;
}

interface HeldBackParts {
  write(bytes: Buffer): void;
  /** Bytes were written. */
  written(): void;
  /** Runs a step for the client. */
  run(step: () => void): void;
}

/** Bytes held back for a client that the page has delayed or frozen. */
export class HeldBack {
  bytes = 0;
  private readonly parts: HeldBackParts;
  /** In order. */
  private chunks: HeldChunk[] = [];
  private timer: NodeJS.Timeout | undefined = undefined;
  private delayMs = 0;
  private frozen = false;

  constructor(parts: HeldBackParts) {
    this.parts = parts;
  }

  get isActive(): boolean {
    return this.frozen || this.delayMs > 0 || this.chunks.length > 0;
  }

  /** Delays all further bytes by `delayMs`; 0 ends the delay and writes what was held back. */
  delay(delayMs: number): void {
    this.delayMs = delayMs;
    if (delayMs === 0) this.release(Number.POSITIVE_INFINITY);
  }

  freeze(): void {
    this.frozen = true;
  }

  thaw(): void {
    this.frozen = false;
    this.release(this.delayMs === 0 ? Number.POSITIVE_INFINITY : performance.now());
  }

  /** Ends freeze and delay, and writes what they held back: before the connection ends. */
  end(): void {
    this.frozen = false;
    this.delay(0);
  }

  /** The same, but the client is gone. */
  lose(): void {
    const { chunks } = this;
    this.chunks = [];
    this.end();
    clearTimeout(this.timer);
    this.timer = undefined;
    this.bytes = 0;
    for (const { onHandedOver } of chunks) for (const done of onHandedOver ?? []) done(false);
  }

  hold(bytes: Buffer, onHandedOver: readonly HandedOver[] | undefined): void {
    this.bytes += bytes.length;
    // Not before the earlier chunks, even if the delay is shorter now.
    const dueAt = Math.max(performance.now() + this.delayMs, this.chunks.at(-1)?.dueAt ?? 0);
    this.chunks.push({ bytes, dueAt, onHandedOver });
    this.releaseLater(dueAt);
  }

  private releaseLater(dueAt: number): void {
    if (this.frozen || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.parts.run(() => this.release(performance.now()));
    }, dueAt - performance.now()).unref();
  }

  private release(upTo: number): void {
    const { chunks } = this;
    if (chunks.length === 0 || this.frozen) return;
    const later = chunks.findIndex(({ dueAt }) => dueAt > upTo);
    const due = later < 0 ? chunks : chunks.slice(0, later);
    this.chunks = later < 0 ? [] : chunks.slice(later);
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.chunks[0]) this.releaseLater(this.chunks[0].dueAt);
    for (const { bytes, onHandedOver } of due) {
      this.bytes -= bytes.length;
      this.parts.write(bytes);
      for (const done of onHandedOver ?? []) done(true);
    }
    if (due.length > 0) this.parts.written();
  }
}
