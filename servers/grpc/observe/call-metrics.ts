import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { GrpcMethodCalls, GrpcViews } from "../../../contract/services/grpc.ts";
import type { SentEnd } from "../engine/call-transport.ts";
import { statusName } from "../engine/status.ts";
import type { CallEntry, RecordedMethod } from "./call-entry.ts";

/** Prometheus metrics of calls. */
export interface CallMetrics {
  readonly registry: Registry;
  begin(method: RecordedMethod | undefined): void;
  end(entry: CallEntry, end: SentEnd): void;
  /** For the page; of methods that were called. */
  calls(): readonly GrpcMethodCalls[];
}

interface CountedMethod {
  readonly active: Gauge.Internal<"method">;
  begun: number;
  open: number;
  errors: number;
}

export function createCallMetrics(): CallMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "grpc_server_requests_total",
    help: "Calls that have ended, by method and status code.",
    labelNames: ["method", "code"],
    registers,
  });
  const latency = new Histogram({
    name: "grpc_server_request_latency_seconds",
    help: "Time from a call's headers to its end, by method and status code.",
    labelNames: ["method", "code"],
    registers,
  });
  const active = new Gauge({ name: "grpc_server_active_requests", help: "Open calls, by method.", labelNames: ["method"], registers });
  // Looking labels up costs more than counting.
  const counted = new Map<string, CountedMethod>();
  const ended = new Map<string, { readonly requests: Counter.Internal; readonly latency: Histogram.Internal<"method" | "code"> }>();

  function countsOf(method: string): CountedMethod {
    let known = counted.get(method);
    if (!known) {
      known = { active: active.labels({ method }), begun: 0, open: 0, errors: 0 };
      counted.set(method, known);
    }
    return known;
  }

  return {
    registry,
    begin(method) {
      const counts = countsOf(labelOf(method));
      counts.active.inc();
      counts.begun++;
      counts.open++;
    },
    end(entry, { status, httpStatus }) {
      const method = labelOf(entry.method);
      // A call without a status was cancelled by its client. An answer by HTTP has no gRPC code: it counts as UNKNOWN.
      const code = status ? statusName(status.code) : httpStatus === undefined ? "CANCELLED" : "UNKNOWN";
      const key = `${code} ${method}`;
      let known = ended.get(key);
      if (!known) {
        known = { requests: requests.labels({ method, code }), latency: latency.labels({ method, code }) };
        ended.set(key, known);
      }
      known.requests.inc();
      known.latency.observe(entry.tookMs / 1_000);
      const counts = countsOf(method);
      counts.active.dec();
      counts.open--;
      if (code !== "OK") counts.errors++;
    },
    calls: () => [...counted].map(([path, { begun, open, errors }]) => ({ path, begun, open, errors })),
  };
}

/** There may be any number of methods that are not served, so they share a label. */
const labelOf = (method: RecordedMethod | undefined): string => method?.path ?? "unknown";

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
