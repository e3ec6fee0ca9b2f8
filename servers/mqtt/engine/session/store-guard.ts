import { ServiceError } from "../../../core/service/service-error.ts";
import type { Connection } from "../connection/connection.ts";
import type { EngineLog } from "../engine-options.ts";
import type { SessionStore } from "./session-store.ts";

const retryEveryMs = 1_000;
const tellEveryMs = 30_000;

export interface StoreGuardOptions {
  readonly store: Pick<SessionStore, "commit">;
  readonly connections: ReadonlySet<Connection>;
  readonly log: EngineLog;
  /** What was held back may leave. */
  readonly onRecovered: () => void;
}

/**
 * Commits the store's notes. Where that fails (no room, a lock) everything stands still until it works again: nobody is told of
 * what is not kept, and nothing more is taken on.
 */
export class StoreGuard {
  failing = false;
  private retryAt = 0;
  private tellAt = 0;
  private readonly held = new Set<Connection>();
  private readonly options: StoreGuardOptions;

  constructor(options: StoreGuardOptions) {
    this.options = options;
  }

  /** False where the notes are not kept: nothing may leave. */
  commit(): boolean {
    if (this.failing && performance.now() < this.retryAt) return false;
    try {
      this.options.store.commit();
    } catch (error) {
      // Anything else is a fault of ours.
      if (!(error instanceof ServiceError)) throw error;
      this.fail(error);
      return false;
    }
    if (this.failing) this.recover();
    return true;
  }

  /** Whoever comes while it fails waits as well. */
  hold(connection: Connection): void {
    if (this.held.has(connection)) return;
    this.held.add(connection);
    connection.hold();
  }

  private fail({ message, hint }: ServiceError): void {
    const now = performance.now();
    this.retryAt = now + retryEveryMs;
    if (!this.failing || now >= this.tellAt) {
      this.tellAt = now + tellEveryMs;
      this.options.log.error(`${message}: clients wait, and nothing is acknowledged, until it can be written. ${hint}`);
    }
    this.failing = true;
    for (const connection of this.options.connections) this.hold(connection);
  }

  private recover(): void {
    this.failing = false;
    this.options.log.info("The sessions can be written again: clients are served.");
    const held = [...this.held];
    this.held.clear();
    // Not within the commit: what they bring is for the next one.
    setImmediate(() => {
      for (const connection of held) connection.release();
      this.options.onRecovered();
    });
  }
}
