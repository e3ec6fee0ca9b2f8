import { Counter, Gauge, Histogram, type MetricType, Registry } from "prom-client";
import type { GrpcMethodCalls, GrpcViews } from "../../../contract/services/grpc.ts";
import type { SentEnd } from "../engine/call-transport.ts";
import { statusName } from "../engine/status.ts";
import type { RecordedMethod } from "./call-record.ts";

/** Prometheus metrics of calls. */
export interface CallMetrics {
  readonly registry: Registry;
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
  /** By their code. */
  readonly ended: Map<string, Latencies>;
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

type HistogramLabel = "method" | "code" | "le";
type HistogramValues = Awaited<ReturnType<Histogram<HistogramLabel>["get"]>>;

/** prom-client looks labels up for each value, which takes more than all other counts of a call: it only gets the sums, when it is asked for. */
class CountedHistogram extends Histogram<HistogramLabel> {
  readonly #facts: { readonly name: string; readonly help: string };
  readonly #values: () => Iterable<readonly [labels: Record<"method" | "code", string>, latencies: Latencies]>;

  constructor(
    { name, help, registers }: { readonly name: string; readonly help: string; readonly registers: Registry[] },
    values: () => Iterable<readonly [labels: Record<"method" | "code", string>, latencies: Latencies]>,
  ) {
    super({ name, help, registers, labelNames: ["method", "code"], buckets: bounds });
    this.#facts = { name, help };
    this.#values = values;
  }

  override async get(): Promise<HistogramValues> {
    const { name, help } = this.#facts;
    const values: HistogramValues["values"] = [];
    for (const [labels, { count, sum, inBucket }] of this.#values()) {
      let below = 0;
      const bucket = (le: number | string, value: number) =>
        values.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value });
      for (const [index, bound] of bounds.entries()) {
        below += inBucket[index] ?? 0;
        bucket(bound, below);
      }
      bucket("+Inf", count);
      values.push({ metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count });
    }
    return { name, help, type: "histogram" as unknown as MetricType, aggregator: "sum", collect: () => {}, values };
  }

  /** What the registry calls where there is one. */
  getForPromString(): Promise<HistogramValues> {
    return this.get();
  }
}

export function createCallMetrics(): CallMetrics {
  const registry = new Registry();
  const registers = [registry];
  const byMethod = new Map<string, MethodCounts>();

  function* ended(): Generator<readonly [labels: Record<"method" | "code", string>, latencies: Latencies]> {
    for (const [method, counts] of byMethod) for (const [code, latencies] of counts.ended) yield [{ method, code }, latencies];
  }
  new Counter({
    name: "grpc_server_requests_total",
    help: "Calls that have ended, by method and status code.",
    labelNames: ["method", "code"],
    registers,
    collect() {
      this.reset();
      for (const [labels, { count }] of ended()) this.inc(labels, count);
    },
  });
  const latency = "Time from a call's headers to its end, by method and status code.";
  new CountedHistogram({ name: "grpc_server_request_latency_seconds", help: latency, registers }, ended);
  new Gauge({
    name: "grpc_server_active_requests",
    help: "Open calls, by method.",
    labelNames: ["method"],
    registers,
    collect() {
      for (const [method, { open }] of byMethod) this.set({ method }, open);
    },
  });

  return {
    registry,
    begin(method) {
      // There may be any number of methods that are not served, so they share a label.
      const label = method?.path ?? "unknown";
      let counts = byMethod.get(label);
      if (!counts) {
        counts = { begun: 0, open: 0, errors: 0, ended: new Map() };
        byMethod.set(label, counts);
      }
      counts.begun++;
      counts.open++;
      return counts;
    },
    end(counts, { status, httpStatus }, tookMs) {
      // A call without a status was cancelled by its client. An answer by HTTP has no gRPC code: it counts as UNKNOWN.
      const code = status ? statusName(status.code) : httpStatus === undefined ? "CANCELLED" : "UNKNOWN";
      let latencies = counts.ended.get(code);
      if (!latencies) {
        latencies = new Latencies();
        counts.ended.set(code, latencies);
      }
      latencies.add(tookMs / 1_000);
      counts.open--;
      if (code !== "OK") counts.errors++;
    },
    calls: () => [...byMethod].map(([path, { begun, open, errors }]) => ({ path, begun, open, errors })),
  };
}

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
