import type { GrpcMethodCalls, GrpcViews } from "../../../contract/services/grpc.ts";
import type { SentEnd } from "../engine/call-transport.ts";
import { statusName } from "../engine/status.ts";
import type { RecordedMethod } from "./call-record.ts";

/** Prometheus metrics of calls. */
export interface CallMetrics {
  /** The text for Prometheus, in steps: thousands of methods may have been called. */
  text(): Generator<void, string>;
  begin(method: RecordedMethod | undefined): MethodCounts;
  end(counts: MethodCounts, end: SentEnd, tookMs: number): void;
  /** For the page; of methods that were called. */
  calls(): readonly GrpcMethodCalls[];
}

/** What is counted of a method. */
export interface MethodCounts {
  begun: number;
  open: number;
  errors: number;
  readonly latencies: Latencies;
  /** Calls that have ended, by their code. */
  readonly ended: Map<string, number>;
}

/** In seconds: the default buckets of Prometheus's clients. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

class Latencies {
  count = 0;
  sum = 0;
  /** Of each bound, those above the bound before. */
  readonly inBucket = bounds.map(() => 0);

  add(seconds: number): void {
    this.count++;
    this.sum += seconds;
    for (let index = 0; index < bounds.length; index++) {
      if (seconds > (bounds[index] as number)) continue;
      this.inBucket[index]!++;
      return;
    }
  }
}

/** https://prometheus.io/docs/instrumenting/exposition_formats */
const methodLabel = (method: string): string => `method="${method.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;

const requests = "grpc_server_requests_total";
const handled = "grpc_server_handled_total";
const latency = "grpc_server_request_latency_seconds";
const active = "grpc_server_active_requests";

const head = (name: string, type: string, help: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function latencyLines(labels: string, { count, sum, inBucket }: Latencies): string {
  let text = "";
  let below = 0;
  for (let index = 0; index < bounds.length; index++) {
    below += inBucket[index] as number;
    text += `${latency}_bucket{le="${bounds[index]}",${labels}} ${below}\n`;
  }
  return `${text}${latency}_bucket{le="+Inf",${labels}} ${count}\n${latency}_sum{${labels}} ${sum}\n${latency}_count{${labels}} ${count}\n`;
}

export const noCalls = (): MethodCounts => ({ begun: 0, open: 0, errors: 0, latencies: new Latencies(), ended: new Map() });

export function createCallMetrics(): CallMetrics {
  const byMethod = new Map<string, MethodCounts>();

  function* linesOf(linesOfMethod: (label: string, counts: MethodCounts) => string): Generator<void, string> {
    let lines = "";
    for (const [method, counts] of byMethod) {
      yield;
      lines += linesOfMethod(methodLabel(method), counts);
    }
    return lines;
  }

  return {
    *text() {
      const total = yield* linesOf((label, { latencies }) => `${requests}{${label}} ${latencies.count}\n`);
      const codes = yield* linesOf((label, { ended }) =>
        [...ended].map(([code, count]) => `${handled}{${label},code="${code}"} ${count}\n`).join(""),
      );
      const times = yield* linesOf((label, { latencies }) => latencyLines(label, latencies));
      const open = yield* linesOf((label, counts) => `${active}{${label}} ${counts.open}\n`);
      return [
        head(requests, "counter", "Calls that have ended, by method.") + total,
        head(handled, "counter", "The same by method and status code.") + codes,
        head(latency, "histogram", "Time from a call's headers to its end, by method.") + times,
        head(active, "gauge", "Open calls, by method.") + open,
      ].join("\n");
    },
    begin(method) {
      // There may be any number of methods that are not served, so they share a label.
      const label = method?.path ?? "unknown";
      let counts = byMethod.get(label);
      if (!counts) {
        counts = noCalls();
        byMethod.set(label, counts);
      }
      counts.begun++;
      counts.open++;
      return counts;
    },
    end(counts, { status, httpStatus }, tookMs) {
      // A call without a status was cancelled by its client. An answer by HTTP has no gRPC code: it counts as UNKNOWN.
      const code = status ? statusName(status.code) : httpStatus === undefined ? "CANCELLED" : "UNKNOWN";
      counts.ended.set(code, (counts.ended.get(code) ?? 0) + 1);
      counts.latencies.add(tookMs / 1_000);
      counts.open--;
      if (code !== "OK") counts.errors++;
    },
    calls: () => [...byMethod].map(([path, { begun, open, errors }]) => ({ path, begun, open, errors })),
  };
}

/** Publishes the calls by method, once a second while they change, and once more when they have not: a rate is of the second before it, and 0 in a quiet one. */
export function createCallsView({ calls }: Pick<CallMetrics, "calls">, show: (view: GrpcViews["calls"]) => void): () => void {
  let shown: string | undefined;
  let isStill = false;
  let since: number | undefined;
  return () => {
    const methods = calls();
    const text = JSON.stringify(methods);
    const at = Date.now();
    const from = since;
    since = at;
    if (text === shown && isStill) return;
    isStill = text === shown;
    shown = text;
    show({ at, ...(from !== undefined && { since: from }), methods });
  };
}
