import { reasonCode } from "../../codec/reason-code.ts";
import type { Connection } from "../connection/connection.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { EngineLimits } from "../engine-limits.ts";
import type { EngineObserver } from "../engine-observer.ts";
import type { Departures } from "./departures.ts";

export const sweepIntervalMs = 250;

export interface SweepParts {
  readonly limits: EngineLimits;
  readonly observer: EngineObserver;
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  readonly connections: ReadonlySet<Connection>;
  readonly departures: Pick<Departures, "begin">;
}

/** Connections that are looked at between two looks at the clock. */
const connectionsBetweenLooks = 256;

/** Time-driven work: keep alive, connect timeout, rates, wills, session expiry. One timer for all clients; what takes long is done over several turns. */
export class Sweep {
  private left: Iterator<Connection> | undefined = undefined;
  private startedAt = performance.now();
  private elapsedMs = 0;
  private stopped = false;
  private readonly parts: SweepParts;

  constructor(parts: SweepParts) {
    this.parts = parts;
  }

  start(): void {
    this.parts.departures.begin();
    if (this.left) return;
    this.elapsedMs = performance.now() - this.startedAt;
    this.startedAt += this.elapsedMs;
    this.left = this.parts.connections.values();
    this.goOn();
  }

  stop(): void {
    this.stopped = true;
  }

  private readonly goOn = (): void => {
    if (this.stopped || !this.left) return;
    let looked = 0;
    for (let next = this.left.next(); !next.done; next = this.left.next()) {
      const connection = next.value;
      connection.run(() => this.check(connection));
      if (connection.state !== "closed" && ++looked < connectionsBetweenLooks) continue;
      looked = 0;
      if (!this.parts.scheduler.isTurnOver()) continue;
      this.parts.scheduler.whenWritten(this.goOn);
      return;
    }
    this.left = undefined;
  };

  /** By a monotonic clock: setting the system clock must not end connections. */
  private check(connection: Connection): void {
    const { limits, observer } = this.parts;
    const now = this.startedAt;
    if (connection.state !== "connected") {
      if (now - connection.openedAt <= limits.connectTimeoutMs) return;
      observer.connectTimedOut?.();
      connection.disconnect(reasonCode.unspecifiedError, "No CONNECT arrived in time.");
      return;
    }
    // [MQTT-3.1.2-24]: one and a half times the keep alive. What came since the last sweep has its time, or is not read yet.
    const silentMs = now - this.elapsedMs - connection.lastPacketAt;
    if (connection.keepAliveSeconds > 0 && !connection.held && silentMs > connection.keepAliveSeconds * 1_500) {
      connection.disconnect(reasonCode.keepAliveTimeout, "No packet arrived within one and a half times the keep alive.");
      return;
    }
    if (limits.messagesPerSecond > 0) connection.checkRate((limits.messagesPerSecond * this.elapsedMs) / 1_000);
  }
}
