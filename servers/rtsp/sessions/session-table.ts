import { RtspRefusal } from "../protocol/message.ts";
import { RtspSession, type SessionMedia, type SessionOptions } from "./rtsp-session.ts";

export interface SessionTableLimits {
  readonly sessions: number;
  readonly sessionsPerAddress: number;
}

const tickMs = 1_000;

/** The open sessions of all connections: one may go on over another connection (RFC 2326 §12.37). */
export class SessionTable {
  readonly #limits: SessionTableLimits;
  readonly #sessions = new Map<string, RtspSession>();
  readonly #perAddress = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  /** Sessions so far. */
  opened = 0;
  refused = 0;

  constructor(limits: SessionTableLimits) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  get(id: string): RtspSession | undefined {
    return this.#sessions.get(id);
  }

  get size(): number {
    return this.#sessions.size;
  }

  list(): RtspSession[] {
    return [...this.#sessions.values()];
  }

  /** Throws an RtspRefusal of 503 where there are too many. */
  open(media: SessionMedia, options: Omit<SessionOptions, "onEnd">, onEnd: SessionOptions["onEnd"]): RtspSession {
    const { address } = options;
    const ofAddress = this.#perAddress.get(address) ?? 0;
    if (this.#sessions.size >= this.#limits.sessions || ofAddress >= this.#limits.sessionsPerAddress) {
      this.refused++;
      const whose = ofAddress >= this.#limits.sessionsPerAddress ? ` of ${address}` : "";
      throw new RtspRefusal(503, `there are too many sessions${whose}`);
    }
    const session = new RtspSession(media, {
      ...options,
      onEnd: (ended, reason, isOurs) => {
        this.#remove(ended);
        onEnd(ended, reason, isOurs);
      },
    });
    this.#sessions.set(session.id, session);
    this.#perAddress.set(address, ofAddress + 1);
    this.opened++;
    return session;
  }

  #remove({ id, address }: RtspSession): void {
    if (!this.#sessions.delete(id)) return;
    const left = (this.#perAddress.get(address) ?? 1) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
  }

  #tick(): void {
    const now = performance.now();
    for (const session of this.list()) session.tick(now);
  }

  close(reason: string): void {
    clearInterval(this.#timer);
    for (const session of this.list()) session.end(reason, true);
  }
}
