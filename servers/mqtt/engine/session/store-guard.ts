import { ServiceError } from "../../../core/service/service-error.ts";
import { type EngineLog, faultText } from "../engine-observer.ts";
import type { SessionStore } from "./session-store.ts";

const retryEveryMs = 1_000;
const logEveryMs = 30_000;

/** A connection that can be made to wait. */
export interface Holdable {
  hold(): void;
  release(): void;
}

export interface StoreGuardOptions {
  readonly store: Pick<SessionStore, "commit">;
  readonly connections: Iterable<Holdable>;
  readonly log: EngineLog;
  /** Called when delayed writes may be sent. */
  readonly onRecovered: () => void;
}

/**
 * Commits the recorded changes of the session store. While that fails (disk full, database locked) all clients wait: only stored
 * messages are acknowledged, and no more are accepted.
 */
export class StoreGuard {
  failing = false;
  private retryAt = 0;
  private logAt = 0;
  private readonly held = new Set<Holdable>();
  private readonly options: StoreGuardOptions;

  constructor(options: StoreGuardOptions) {
    this.options = options;
  }

  /** False if the changes could not be stored: nothing may be sent. Never throws. */
  commit(): boolean {
    if (this.failing && performance.now() < this.retryAt) return false;
    try {
      this.options.store.commit();
    } catch (error) {
      this.fail(error);
      return false;
    }
    if (this.failing) this.recover();
    return true;
  }

  /** Makes a client wait that connects while the store is failing. */
  hold(connection: Holdable): void {
    if (this.held.has(connection)) return;
    this.held.add(connection);
    connection.hold();
  }

  private fail(error: unknown): void {
    const now = performance.now();
    this.retryAt = now + retryEveryMs;
    if (!this.failing || now >= this.logAt) {
      this.logAt = now + logEveryMs;
      const [problem, hint] = error instanceof ServiceError ? [error.message, ` ${error.hint}`] : [`An error: ${faultText(error)}`, ""];
      this.options.log.error(`${problem}: clients wait, and nothing is acknowledged, until it can be written.${hint}`);
    }
    this.failing = true;
    for (const connection of this.options.connections) this.hold(connection);
  }

  private recover(): void {
    this.failing = false;
    this.options.log.info("The sessions can be written again: clients are served.");
    const held = [...this.held];
    this.held.clear();
    // After the commit: changes of the resumed clients belong to the next one.
    setImmediate(() => {
      for (const connection of held) connection.release();
      this.options.onRecovered();
    });
  }
}
