import { Counter, Gauge, Registry } from "prom-client";
import type { RtspSession } from "../sessions/rtsp-session.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Paths } from "../streams/paths.ts";

/** Prometheus metrics, read when they are asked for. */
export interface RtspMetrics {
  readonly registry: Registry;
}

export interface MetricsParts {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly stats: () => Readonly<Record<string, number>>;
}

export function createRtspMetrics({ paths, sessions, stats }: MetricsParts): RtspMetrics {
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
  const perPath = (name: string, help: string, read: (path: ReturnType<Paths["list"]>[number]) => number) =>
    new Gauge({
      ...{ name, help, labelNames: ["path"], registers },
      collect() {
        this.reset();
        for (const path of paths.list()) this.set({ path: path.name }, read(path));
      },
    });
  perPath("rtsp_path_readers", "Readers of a path.", ({ source }) => source.stream?.readers ?? 0);
  perPath("rtsp_path_received_bytes", "Media bytes from the source of a path.", ({ source }) =>
    (source.stream?.counts ?? []).reduce((sum, { bytes }) => sum + bytes, 0),
  );
  perPath("rtsp_path_sent_bytes", "Bytes of RTP to the readers of a path.", ({ source }) => source.stream?.bytesSent ?? 0);
  const total = (name: string, help: string, stat: string) =>
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(stats()[stat] ?? 0);
      },
    });
  total("rtsp_requests_total", "Requests of RTSP.", "requests");
  total("rtsp_sessions_total", "Sessions that were set up.", "sessionsOpened");
  total("rtsp_sessions_refused_total", "Sessions refused because there were too many.", "sessionsRefused");
  total("rtsp_received_bytes_total", "Bytes received over RTSP, RTP and RTCP.", "bytesReceived");
  total("rtsp_sent_bytes_total", "Bytes sent over RTSP, RTP and RTCP.", "bytesSent");
  total("rtsp_foreign_datagrams_total", "Datagrams that belong to no session.", "foreignDatagrams");
  return { registry };
}
