import { reasonCode } from "../../codec/reason-code.ts";
import type { Connection } from "../connection/connection.ts";
import { type EngineLimits, neverExpires } from "../engine-limits.ts";
import { type EngineLog, type EngineObserver, faultText } from "../engine-observer.ts";
import { publishWill, type WillParts } from "./pending-will.ts";
import type { Session } from "./session.ts";

export const sweepIntervalMs = 250;

export interface SweepParts extends WillParts {
  readonly limits: EngineLimits;
  readonly observer: EngineObserver;
  readonly log: EngineLog;
  readonly connections: Iterable<Connection>;
  /** Sessions without a connection. */
  readonly away: Set<Session>;
  endSession(session: Session): void;
}

/** Time-driven work: keep alive, connect timeout, wills, session expiry, rates. One timer for all clients. */
export function sweep(parts: SweepParts): void {
  const now = performance.now();
  for (const connection of parts.connections) connection.run(() => checkConnection(parts, connection, now));
  const date = Date.now();
  for (const session of parts.away) {
    try {
      if (session.willDueAt > 0 && session.willDueAt <= date) publishWill(parts, session);
      if (isOver(session, date)) parts.endSession(session);
    } catch (error) {
      // It would fail again in each sweep.
      parts.away.delete(session);
      parts.log.error(`An error while the session of ${session.clientId} was ended: ${faultText(error)}`);
    }
  }
}

/** `now` is monotonic: setting the system clock must not end connections. */
function checkConnection({ limits, observer }: SweepParts, connection: Connection, now: number): void {
  if (connection.state !== "connected") {
    if (now - connection.openedAt <= limits.connectTimeoutMs) return;
    observer.connectTimedOut?.();
    connection.disconnect(reasonCode.unspecifiedError, "No CONNECT arrived in time.");
    return;
  }
  // [MQTT-3.1.2-24]: one and a half times the keep alive.
  if (connection.keepAliveSeconds > 0 && !connection.held && now - connection.lastPacketAt > connection.keepAliveSeconds * 1_500) {
    connection.disconnect(reasonCode.keepAliveTimeout, "No packet arrived within one and a half times the keep alive.");
    return;
  }
  if (limits.messagesPerSecond > 0) connection.checkRate((limits.messagesPerSecond * sweepIntervalMs) / 1_000);
}

/** For a session without a connection. */
export const isOver = ({ expirySeconds, disconnectedAt }: Session, now: number): boolean =>
  expirySeconds !== neverExpires && disconnectedAt + expirySeconds * 1_000 <= now;
