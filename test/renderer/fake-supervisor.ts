/** Seven built services with made-up traffic, so that every screen of the dashboard can be looked at before the services exist. */
import type { AppSettings, ControlCall, RateHistory, Topic } from "../../contract/control.ts";
import { isNotable, type LogLevel, type LogLine, type LogSource } from "../../contract/log.ts";
import { type ServiceId, type ServiceStatus, type ServiceView, serviceIds } from "../../contract/service.ts";
import type { RateSample, TrafficRow } from "../../contract/traffic/row.ts";
import { fakeConfig } from "./fake-config.ts";
import { sketchOf } from "./fake-services.ts";

export type Scenario = "full" | "first" | "flood";

/** The parameters of the calls that are answered here, all together. */
export interface CallParams {
  readonly id?: ServiceId;
  readonly name?: string;
  readonly text?: string;
  readonly limit?: number;
  readonly seconds?: number;
  readonly points?: number;
  readonly notable?: boolean;
  readonly before?: number;
  readonly source?: LogSource;
  readonly values?: { readonly port?: number };
  readonly settings?: Partial<AppSettings>;
}

const endpointsOf = (id: ServiceId) => sketchOf(id).endpoints.map(([label, url]) => ({ label, url }));
const portTaken = {
  code: "PORT_IN_USE",
  message: "Port 8554 is taken by mediamtx (pid 812)",
  hint: "RTSP needs it for its streams. Stop it, or use 8555.",
  fix: { title: "Use 8555 instead", config: { port: 8555 } },
};
const wave = (seconds: number, id: ServiceId) => {
  const seed = serviceIds.indexOf(id) * 7;
  return 1 + 0.25 * Math.sin(seconds / 17 + seed) + 0.18 * Math.sin(seconds / 5.3 + seed * 2) + 0.12 * Math.sin(seconds * 1.7 + seed);
};

/** `publish` hands items to all who listen to a topic. */
export function createFakeSupervisor(scenario: Scenario, publish: (topic: Topic, items: readonly unknown[]) => void) {
  const startedAt = Date.now() - 2 * 3_600_000 - 14 * 60_000;
  const statuses = new Map<ServiceId, ServiceStatus>(serviceIds.map((id) => [id, initialStatus(id)]));
  const lines: LogLine[] = [];
  let settings: AppSettings = { startAtLaunch: ["http"], keepRunningInTray: false, keptRows: 50_000, trafficMebibytes: 192 };
  let profiles = { active: "Mobile app, staging-like", names: ["Default", "Mobile app, staging-like"] };
  let nextRow = 1;
  let newestSeq = 0;

  function initialStatus(id: ServiceId): ServiceStatus {
    if (scenario === "first") return { state: "stopped" };
    if (id === "rtsp") return { state: "failed", since: Date.now() - 120_000, failure: portTaken };
    if (id === "account") return { state: "stopped", lastRun: { from: startedAt - 3_600_000, to: startedAt - 1_140_000 } };
    return { state: "running", since: startedAt, pid: 4_000 + serviceIds.indexOf(id), endpoints: endpointsOf(id) };
  }
  const viewOf = (id: ServiceId): ServiceView => ({
    id,
    title: sketchOf(id).title,
    purpose: sketchOf(id).purpose,
    built: true,
    status: statuses.get(id) as ServiceStatus,
    rateUnit: sketchOf(id).rateUnit,
    ports: sketchOf(id).ports,
    plannedEndpoints: endpointsOf(id),
    openToLan: id === "mqtt" && scenario !== "first",
    recordsCredentials: id === "account" && scenario === "full",
    restartNeeded: id === "http" && scenario === "full",
    configRevision: 0,
    playsSample: false,
  });
  const isRunning = (id: ServiceId) => statuses.get(id)?.state === "running";
  const rateOf = (id: ServiceId, seconds: number) => sketchOf(id).rate * wave(seconds, id);

  function change(id: ServiceId, status: ServiceStatus) {
    statuses.set(id, status);
    publish("status", [viewOf(id)]);
  }
  async function start(id: ServiceId) {
    change(id, { state: "starting", since: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, 400));
    change(id, { state: "running", since: Date.now(), pid: 5_000, endpoints: endpointsOf(id) });
    return viewOf(id);
  }
  async function stop(id: ServiceId) {
    change(id, { state: "stopping", since: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, 300));
    change(id, { state: "stopped", lastRun: { from: startedAt, to: Date.now() } });
    return viewOf(id);
  }
  function addLine(source: LogSource, level: LogLevel, text: string, agoMs = 0, notable = false): LogLine {
    const line: LogLine = { seq: ++newestSeq, at: Date.now() - agoMs, source, level, text, ...(notable && { notable }) };
    lines.push(line);
    if (lines.length > 20_000) lines.splice(0, 10_000);
    return line;
  }
  function publishLines(added: readonly LogLine[]) {
    publish("log", added);
    publish("log/newest", added.slice(-1));
    publish("log/notable", added.filter(isNotable));
  }
  const log = (...line: Parameters<typeof addLine>) => publishLines([addLine(...line)]);
  function row(id: ServiceId): TrafficRow {
    const n = nextRow++;
    const failed = n % 17 === 0;
    return {
      id: n,
      service: id,
      at: Date.now(),
      kind: "http",
      verb: id === "mqtt" ? "PUBLISH" : n % 3 === 0 ? "POST" : "GET",
      target: id === "mqtt" ? "sensors/hall-a/temperature" : n % 3 === 0 ? "/api/echo" : "/api/data?limit=50",
      tone: failed ? "failed" : "ok",
      outcome: failed ? "503" : "200",
      tookMs: (n % 40) / 7,
      bytesIn: n % 900,
      bytesOut: (n * 37) % 9_000,
      client: n % 2 ? "okhttp" : "curl",
      peer: `127.0.0.1:${53_000 + (n % 100)}`,
      preview: "",
    };
  }
  function history(seconds: number, points: number): RateHistory {
    const stepSeconds = Math.max(1, Math.ceil(seconds / points));
    const last = Math.floor(Date.now() / 1_000 / stepSeconds) * stepSeconds;
    const at = Array.from(
      { length: Math.floor(seconds / stepSeconds) },
      (_, index, length = Math.floor(seconds / stepSeconds)) => (last - (length - 1 - index) * stepSeconds) * 1_000,
    );
    const series = serviceIds.filter(isRunning).map((service) => ({
      service,
      itemsPerSecond: at.map((ms) => rateOf(service, ms / 1_000)),
      bytesPerSecond: at.map((ms) => sketchOf(service).bytes * wave(ms / 1_000, service)),
    }));
    return { stepSeconds, at, series };
  }
  const rows: TrafficRow[] = [];

  if (scenario !== "first") {
    log("mqtt", "info", "opened to the LAN by you", 1_160_000, true);
    log("grpc", "info", "example.Greeter set to SERVING", 750_000, true);
    log("webrtc", "info", "room “standup” opened, 4 peers", 485_000, true);
    log("events", "info", "10.0.2.15 over its limit, 31 refused", 210_000, true);
    log("http", "info", "new SSE subscriber 127.0.0.1:53114", 110_000, true);
    log("mqtt", "warning", "recorder-07 reads slowly, 212 queued", 16_000);
    log("rtsp", "error", "did not start: port 8554 is taken by mediamtx (pid 812)", 5_000);
  }

  return {
    known: {
      status: () => serviceIds.map(viewOf),
      profile: () => [profiles],
      "log/newest": () => lines.slice(-1),
    } as Readonly<Partial<Record<Topic, () => readonly unknown[]>>>,

    /** Once a second. */
    second() {
      const at = Date.now();
      const samples = serviceIds.filter(isRunning).map((service): RateSample => {
        const { bytes, clients, note } = sketchOf(service);
        const bytesPerSecond = bytes * wave(at / 1_000, service);
        return {
          service,
          at,
          itemsPerSecond: rateOf(service, at / 1_000),
          bytesInPerSecond: bytesPerSecond * 0.2,
          bytesOutPerSecond: bytesPerSecond * 0.8,
          clients,
          total: 12_480,
          dropped: 0,
          figures: [],
          note,
        };
      });
      publish("rate", samples);
      const processes = ["backlot", ...serviceIds.filter(isRunning)].map((name, index) => ({
        name,
        pid: 4_000 + index,
        residentBytes: 33e6 + index * 1e6,
      }));
      publish("process", [{ at, processes }]);
    },

    /** Twenty times a second. */
    tick() {
      const perTick = scenario === "flood" ? 250 : 1;
      for (const id of serviceIds.filter(isRunning)) {
        if (scenario !== "flood" && Math.random() > 0.3) continue;
        const made = Array.from({ length: id === "http" ? perTick : 1 }, () => row(id));
        rows.push(...made);
        if (rows.length > 50_000) rows.splice(0, 25_000);
        publish(`traffic/${id}`, made);
      }
      if (scenario !== "flood") return;
      publishLines(Array.from({ length: 50 }, (_, index) => addLine("http", "info", `GET /api/data 200 in 1.2 ms, ${index}`)));
    },

    async call(name: ControlCall, params: CallParams): Promise<unknown> {
      const { id = "http", text = "", limit = 500, seconds = 300, points = 300 } = params;
      switch (name) {
        case "app.info":
          return {
            version: "0.1.0",
            shell: "browser",
            platform: "linux x64",
            node: "24.21.0",
            dataDir: "/home/me/.local/share/backlot",
            startedAt,
          };
        case "app.settings":
          return settings;
        case "app.setSettings":
          settings = { ...settings, ...params.settings };
          return settings;
        case "profile.list":
          return profiles;
        case "profile.create":
        case "profile.activate": {
          const added = params.name ?? "Default";
          profiles = { active: added, names: [...new Set([...profiles.names, added])] };
          publish("profile", [profiles]);
          return profiles;
        }
        case "service.list":
          return serviceIds.map(viewOf);
        case "service.start":
        case "service.restart":
          return start(id);
        case "service.stop":
          return stop(id);
        case "service.startAll":
          return Promise.all(serviceIds.map(start));
        case "service.stopAll":
          return Promise.all(serviceIds.filter(isRunning).map(stop));
        case "config.read":
          return fakeConfig();
        case "config.write":
          if (params.values?.port === 1) {
            throw { code: "CONFIG_INVALID", message: "x", hint: "y", field: { name: "port", problem: "Another service uses this port." } };
          }
          return fakeConfig();
        case "config.reset":
          return fakeConfig();
        case "port.check":
          return serviceIds.flatMap((service) =>
            sketchOf(service).ports.map((port) =>
              service === "rtsp"
                ? {
                    service,
                    field: "port",
                    transport: "tcp",
                    port,
                    free: false,
                    problem: "Port 8554 is taken by mediamtx (pid 812)",
                    hint: "Stop it, or use 8555.",
                    fix: { title: "Use 8555 instead", config: { port: 8555 } },
                  }
                : { service, field: "port", transport: "tcp", port, free: true },
            ),
          );
        case "traffic.read": {
          const kept = rows.filter((one) => one.service === id);
          return { rows: kept.slice(-limit).reverse(), matching: kept.length, kept: kept.length, total: kept.length, dropped: 0 };
        }
        case "log.read": {
          const found = lines.filter(
            (line) =>
              (!params.source || line.source === params.source) &&
              (!params.notable || isNotable(line)) &&
              line.seq < (params.before ?? Number.POSITIVE_INFINITY) &&
              line.text.includes(text ?? ""),
          );
          return { lines: found.slice(-limit), hasOlder: found.length > limit, kept: lines.length };
        }
        case "rate.history":
          return history(seconds, points);
        default:
          return {};
      }
    },
  };
}
