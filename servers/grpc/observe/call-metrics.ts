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
  begun: number;
  open: number;
  errors: number;
}

/** Of a method and a status code. */
interface EndedCalls {
  readonly labels: { readonly method: string; readonly code: string };
  readonly latency: Histogram.Internal<"method" | "code">;
  count: number;
}

export function createCallMetrics(): CallMetrics {
  const registry = new Registry();
  const registers = [registry];
  // prom-client looks labels up for each value: what can be counted here is only given to it when it is asked for.
  const counted = new Map<string, CountedMethod>();
  const ended = new Map<string, EndedCalls>();
  new Counter({
    name: "grpc_server_requests_total",
    help: "Calls that have ended, by method and status code.",
    labelNames: ["method", "code"],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of ended.values()) this.inc(labels, count);
    },
  });
  const latency = new Histogram({
    name: "grpc_server_request_latency_seconds",
    help: "Time from a call's headers to its end, by method and status code.",
    labelNames: ["method", "code"],
    registers,
  });
  new Gauge({
    name: "grpc_server_active_requests",
    help: "Open calls, by method.",
    labelNames: ["method"],
    registers,
    collect() {
      for (const [method, { open }] of counted) this.set({ method }, open);
    },
  });

  function countsOf(method: string): CountedMethod {
    let known = counted.get(method);
    if (!known) {
      known = { begun: 0, open: 0, errors: 0 };
      counted.set(method, known);
    }
    return known;
  }

  return {
    registry,
    begin(method) {
      const counts = countsOf(labelOf(method));
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
        const labels = { method, code };
        known = { labels, count: 0, latency: latency.labels(labels) };
        ended.set(key, known);
      }
      known.count++;
      known.latency.observe(entry.tookMs / 1_000);
      const counts = countsOf(method);
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
