import type { GrpcViews } from "../../../contract/services/grpc.ts";
import type { CallMetrics } from "./call-metrics.ts";

/** Publishes the calls by method, if they changed since the last time. */
export function createCallsView({ calls }: Pick<CallMetrics, "calls">, show: (view: GrpcViews["calls"]) => void): () => void {
  let shown: string | undefined;
  return () => {
    const methods = calls();
    const text = JSON.stringify(methods);
    if (text === shown) return;
    shown = text;
    show({ at: Date.now(), methods });
  };
}
