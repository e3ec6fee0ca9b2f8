import { type WebrtcActions, type WebrtcViews, webrtcActions } from "../../contract/services/webrtc.ts";
import { refusedActions, type ServiceContext } from "../core/service/service.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { IceChecks } from "./ice-check/ice-checks.ts";
import { RequestHistory } from "./ice-check/request-history.ts";
import { restoreEvidence } from "./ice-check/restore-evidence.ts";
import { keptSignals, SignalHistory } from "./ice-check/signal-history.ts";
import type { WebrtcConfig } from "./webrtc-config.ts";

/** The ladder and the ICE check of a service that is stopped, from the records that the supervisor kept. */
export async function browseWebrtc(
  context: ServiceContext<Pick<WebrtcConfig, "turnPort" | "turnsPort">, WebrtcActions, WebrtcViews>,
): Promise<void> {
  const { config } = context;
  const hub = { find: () => undefined };
  const signals = new SignalHistory(keptSignals, () => undefined);
  const requests = new RequestHistory({ allocations: () => [], isPeer: () => false });
  const addresses = { port: config.turnPort, tlsPort: config.turnsPort || undefined };
  const turns = new WorkTurns();
  context.onStop(() => turns.close());
  const checks = new IceChecks({ hub, signals, requests, addresses, turns });
  await restoreEvidence(context.kept, { signals, requests, checks });
  context.view("signals", { total: signals.total, version: signals.version });
  context.handle({ ...refusedActions(webrtcActions, "WebRTC"), ...checks.actions });
}
