import { Counter, Gauge, Registry } from "prom-client";
import { SharedText } from "../../core/http/connections/shared-text.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { RtspSession } from "../sessions/rtsp-session.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Paths } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";

/** Prometheus metrics, read when they are asked for. */
export interface RtspMetrics {
  readonly registry: Registry;
  /** Of all metrics. */
  readonly text: SharedText;
}

export interface MetricsParts {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly stats: () => Readonly<Record<string, number>>;
  /** Of all clients of the service. */
  readonly turns: WorkTurns;
}

export function createRtspMetrics({ paths, sessions, stats, turns }: MetricsParts): RtspMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "rtsp_sessions",
    help: "Open sessions, by state.",
    labelNames: ["state"],
    registers,
    collect() {
      const states: Record<RtspSession["state"], number> = { ready: 0, playing: 0, recording: 0 };
      for (const { state } of sessions.list()) states[state]++;
      for (const [state, count] of Object.entries(states)) this.set({ state }, count);
    },
  });
  new Gauge({
    ...{ name: "rtsp_path_readers", help: "Readers of a path.", labelNames: ["path"], registers },
    collect() {
      this.reset();
      for (const { name: path, source } of paths.list()) this.set({ path }, source.stream?.readers ?? 0);
    },
  });
  /** Counted from the start of the path's source: with another one it begins at 0, as a counter may. */
  const totalOfPath = (name: string, help: string, read: (stream: Stream) => number) =>
    new Counter({
      ...{ name, help, labelNames: ["path"], registers },
      collect() {
        this.reset();
        for (const { name: path, source } of paths.list()) this.inc({ path }, source.stream ? read(source.stream) : 0);
      },
    });
  totalOfPath("rtsp_path_received_bytes_total", "Media bytes from the source of a path.", ({ counts }) =>
    counts.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  totalOfPath("rtsp_path_sent_bytes_total", "Bytes of media to the readers of a path.", ({ bytesSent }) => bytesSent);
  totalOfPath("rtsp_path_skips_total", "How often slow readers of a path were skipped to the next key frame.", ({ skips }) => skips);
  totalOfPath(
    "rtsp_path_unsent_packets_total",
    "Packets of RTP that slow readers of a path were not sent.",
    ({ packetsUnsent }) => packetsUnsent,
  );
  let known: ReturnType<typeof stats> | undefined;
  /** Once for all of an answer, whose values are read together: they are sums over all connections. */
  const statsOfAnswer = () => {
    if (!known) queueMicrotask(() => (known = undefined));
    known ??= stats();
    return known;
  };
  const total = (name: string, help: string, stat: string) =>
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(statsOfAnswer()[stat] ?? 0);
      },
    });
  total("rtsp_requests_total", "Requests of RTSP.", "requests");
  total("rtsp_sessions_total", "Sessions that were set up.", "sessionsOpened");
  total("rtsp_sessions_refused_total", "Sessions refused because there were too many.", "sessionsRefused");
  total("rtsp_received_bytes_total", "Bytes received over RTSP, RTP and RTCP.", "bytesReceived");
  total("rtsp_sent_bytes_total", "Bytes sent over RTSP, RTP and RTCP.", "bytesSent");
  total(
    "rtsp_unsent_datagrams_total",
    "Packets of RTP over UDP that were left out since too much waits for the network.",
    "unsentDatagrams",
  );
  total("rtsp_foreign_datagrams_total", "Datagrams that belong to no session.", "foreignDatagrams");
  return { registry, text: new SharedText(turns.connection(""), () => registry.metrics()) };
}
