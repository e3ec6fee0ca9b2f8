import { reasonCode } from "../../codec/reason-code.ts";
import type { Engine } from "../engine.ts";
import { neverExpires } from "../engine-limits.ts";
import { publishWill } from "./publish-will.ts";
import type { Session } from "./session.ts";

export const sweepIntervalMs = 250;

/** What time does by itself: keep alive, connect timeout, wills, session expiry, rates. One timer for all clients. */
export function sweep(engine: Engine, now: number): void {
  const { limits } = engine;
  for (const connection of engine.connections) {
    if (connection.state !== "connected") {
      if (now - connection.openedAt <= limits.connectTimeoutMs) continue;
      engine.observer.connectTimedOut?.();
      connection.disconnect(reasonCode.unspecifiedError, "No CONNECT came in time.");
      continue;
    }
    // [MQTT-3.1.2-24]: one and a half times the keep alive.
    if (connection.keepAliveSeconds > 0 && !connection.held && now - connection.lastPacketAt > connection.keepAliveSeconds * 1_500) {
      connection.disconnect(reasonCode.keepAliveTimeout, "Nothing came within one and a half times the keep alive.");
      continue;
    }
    if (limits.messagesPerSecond > 0) connection.checkRate((limits.messagesPerSecond * sweepIntervalMs) / 1_000);
  }
  for (const session of engine.away) {
    if (session.willDueAt > 0 && session.willDueAt <= now) publishWill(engine, session);
    if (isOver(session, now)) engine.endSession(session);
  }
}

/** Of a session whose client is not there. */
export const isOver = ({ expirySeconds, disconnectedAt }: Session, now: number): boolean =>
  expirySeconds !== neverExpires && disconnectedAt + expirySeconds * 1_000 <= now;
