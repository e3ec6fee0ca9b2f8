import path from "node:path";
import type { AppInfo, AppSettings } from "../../contract/control.ts";
import { exportSource, type TrafficFormat } from "../../contract/export.ts";
import { isNotable, type LogLine, logLevels } from "../../contract/log.ts";
import { type ServiceId, type ServiceStatus, type ServiceView, serviceIds } from "../../contract/service.ts";
import type { DownFrame, Port } from "../../contract/wire.ts";
import { adoptAuthority } from "../core/certificates/certificate-authority.ts";
import type { StreamFromService } from "../core/service/link.ts";
import { createLog, type Log, writeLogs } from "../core/service/log.ts";
import type { Service } from "../core/service/service.ts";
import { createBinaryHub } from "./binary-hub.ts";
import { createControlHandlers } from "./control-handlers.ts";
import { serveDashboard } from "./dashboard-session.ts";
import type { PartReader } from "./export-pump.ts";
import { type ClaimedExport, createExports, type ExportsOptions } from "./exports.ts";
import { createLogOrder } from "./log-order.ts";
import { createLogStore } from "./log-store.ts";
import type { ServiceTiming } from "./managed-service-options.ts";
import { createOpenPages } from "./open-pages.ts";
import { createPeerBroker } from "./peer-broker.ts";
import { createPortPlan } from "./port-plan.ts";
import { residentBytes } from "./process-sampler.ts";
import { createRateHistory } from "./rate-history.ts";
import { openSettings, unknownFields } from "./settings-file.ts";
import type { Spawner } from "./spawner.ts";
import { createSupervisedService, type SupervisedService } from "./supervised-service.ts";
import { createTopicHub } from "./topic-hub.ts";
import { createTrafficMemory } from "./traffic/traffic-memory.ts";
import { createTurns } from "./traffic/turns.ts";

/** Unknown settings in one line of the log. */
const mostNamed = 20;

/** A planned service, shown in the rail. */
export interface PlannedService {
  readonly id: ServiceId;
  readonly title: string;
  readonly purpose: string;
  /** All ports that it will use by default, for TCP or UDP. */
  readonly ports: readonly number[];
}

export interface SupervisorOptions {
  readonly services: readonly Service[];
  readonly planned: readonly PlannedService[];
  readonly spawner: Spawner;
  readonly dataDir: string;
  readonly shell: AppInfo["shell"];
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From the command line: field values as text, by service. */
  readonly flags: Readonly<Partial<Record<ServiceId, Readonly<Record<string, string>>>>>;
  /** Of the settings, for this run; absent for the active one. */
  readonly profile?: string | undefined;
  /** Set if only this service is started: it may then use variables that otherwise belong to another service. */
  readonly alone?: ServiceId | undefined;
  readonly timing?: Partial<ServiceTiming>;
  /** Between two looks at what another Backlot has saved in the settings file. */
  readonly settingsLookMs?: number;
  /** So long no dashboard is open until what Try holds open ends. */
  readonly pagesLeftMs?: number;
  /** Desktop: asks the user where to write an export. */
  readonly chooseFile?: ExportsOptions["chooseFile"];
}

export interface Supervisor {
  readonly settings: AppSettings;
  views(): readonly ServiceView[];
  /** Resolves when it runs; rejects with its failure. Throws SERVICE_UNKNOWN or SERVICE_NOT_BUILT. */
  start(id: ServiceId): Promise<void>;
  stop(id: ServiceId): Promise<void>;
  /** Calls back with each service's current status, then with every change. */
  onStatus(listener: (view: ServiceView) => void): () => void;
  /** Calls back with the kept lines, which include those of reading the settings, then with every new line. */
  onLog(listener: (lines: readonly LogLine[]) => void): () => void;
  readonly log: Log;
  /** Serves one dashboard; `reject` closes a connection that sent an invalid frame. */
  attach(port: Port<DownFrame, unknown>, reject: () => void): void;
  /** The export that a link's token leads to, once. */
  claimExport(token: string): ClaimedExport | undefined;
  /** The kept rows of each service, also after `close`. */
  recorded(): readonly RecordedTraffic[];
  /** Stops every service and releases everything; later calls wait for the first one. */
  close(): Promise<void>;
}

export interface RecordedTraffic {
  readonly id: ServiceId;
  /** Since its first start, kept or not. */
  readonly total: number;
  readonly kept: number;
  /** Those that have a place for its rows. */
  readonly formats: readonly TrafficFormat[];
  /** As a dashboard exports them, without credentials. */
  read(format: TrafficFormat): PartReader;
}

const processSampleIntervalMs = 2_000;
const settingsLookMs = 1_000;
const pagesLeftMs = 15_000;
const mebibyte = 1_048_576;
const replayedLines = 1_000;

export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const hub = createTopicHub();
  const logs = createLogStore();
  const rates = createRateHistory();
  const exports = createExports({ publish: (list) => hub.publish("export", list), chooseFile: options.chooseFile });
  const startedAt = Date.now();

  const logOrder = createLogOrder((entries) => {
    const lines = entries.map(({ source, entry }) => logs.add(source, entry));
    hub.publishAll("log", lines);
    hub.publishAll("log/newest", lines.slice(-1));
    hub.publishAll("log/notable", lines.filter(isNotable));
  });
  const level = logLevels.find((known) => known === options.environment.LOG_LEVEL) ?? "info";
  const log = createLog({ level: () => level, write: (entry) => logOrder.add("backlot", writeLogs([entry])) });
  const settings = await openSettings(options.dataDir, log.warning, options.profile, (gone) => handlers.othersSaved(gone));
  const unknown = unknownFields(settings.current, options.services);
  if (unknown.length > 0)
    log.warning(
      `settings.json has settings that are not known, and have no effect: ${unknown.slice(0, mostNamed).join(", ")}${unknown.length > mostNamed ? " and more" : ""}.`,
    );
  const memory = createTrafficMemory(settings.current.app.trafficMebibytes * mebibyte);
  const turns = createTurns();
  // A running filter must not delay the next call of the same dashboard.
  const callTurns = createTurns();

  const certificatesDir = path.join(options.dataDir, "certificates");
  // Older versions had a certificate for MQTT only, which clients may still trust.
  const formerFolder = path.join(options.dataDir, "services", "mqtt", "tls");
  await adoptAuthority(certificatesDir, {
    certificate: path.join(formerFolder, "certificate.pem"),
    key: path.join(formerFolder, "key.pem"),
  });

  const supervised = new Map<ServiceId, SupervisedService>();
  const binary = createBinaryHub({ services: options.services, post: (id, message) => supervised.get(id)?.postStream(message) });
  const peers = createPeerBroker((id) => supervised.get(id));
  function onStream(id: ServiceId, message: StreamFromService) {
    switch (message.type) {
      case "binary":
      case "binaryDropped":
        binary.receive(id, message);
        return;
      case "peerCall":
      case "peerOpen":
      case "peerTaken":
      case "peerCancel":
        peers.fromConsumer(id, message);
        return;
      case "servedResult":
      case "servedItem":
      case "servedEnd":
        peers.fromProvider(id, message);
        return;
      default:
        message satisfies never;
    }
  }

  const ports = createPortPlan({
    uses: () => [...supervised.values()].flatMap((service) => service.portUses()),
    configured: () => [...supervised.values()].flatMap((service) => service.configuredPorts()),
    planned: options.planned.flatMap((service) => service.ports),
    ownProcesses: () => new Map([[process.pid, "Backlot itself, for the dashboard"], ...servicePids()]),
  });
  for (const service of options.services) {
    supervised.set(
      service.id,
      createSupervisedService({
        service,
        spawner: options.spawner,
        dataDir: path.join(options.dataDir, "services", service.id),
        certificatesDir,
        environment: options.environment,
        flags: options.flags[service.id] ?? {},
        alone: options.alone === service.id,
        settings,
        hub,
        memory,
        turns,
        rates,
        log: (written) => logOrder.add(service.id, written),
        onStream: (message) => onStream(service.id, message),
        onStarted: () => binary.started(service.id),
        onGone: (crashed) => peers.gone(service.id, crashed),
        ports,
        ...(options.timing && { timing: options.timing }),
      }),
    );
  }

  const servicePids = () =>
    options.services.flatMap(({ id, title }): [number, string][] => {
      const pid = supervised.get(id)?.pid;
      return pid === undefined ? [] : [[pid, title]];
    });
  const views = () =>
    serviceIds.flatMap((id): ServiceView[] => {
      const built = supervised.get(id);
      if (built) return [built.view()];
      const planned = options.planned.find((service) => service.id === id);
      if (!planned) return [];
      const status: ServiceStatus = { state: "stopped" };
      return [
        {
          ...planned,
          rateUnit: "",
          built: false,
          status,
          plannedEndpoints: [],
          openToLan: false,
          recordsCredentials: false,
          restartNeeded: false,
          configRevision: 0,
          playsSample: false,
        },
      ];
    });
  hub.publishAll("status", views());

  const handlers = createControlHandlers({
    info: {
      version: options.version,
      shell: options.shell,
      platform: process.platform,
      node: process.version,
      dataDir: options.dataDir,
      startedAt,
    },
    settings,
    supervised,
    views,
    hub,
    logs,
    turns,
    rates,
    exports,
    ports,
    certificatesDir,
    log,
    onAppSettings: ({ trafficMebibytes }) => memory.setLimit(trafficMebibytes * mebibyte),
  });

  const sampling = setInterval(async () => {
    const named = [{ name: "backlot", pid: process.pid }];
    for (const { id, status } of views()) if (status.state === "running") named.push({ name: id, pid: status.pid });
    const memory = await residentBytes(named.map(({ pid }) => pid));
    hub.publish("process", {
      at: Date.now(),
      processes: named.flatMap(({ name, pid }) => {
        const bytes = memory.get(pid);
        return bytes === undefined ? [] : [{ name, pid, residentBytes: bytes }];
      }),
    });
  }, processSampleIntervalMs);

  const pages = createOpenPages({
    restMs: options.pagesLeftMs ?? pagesLeftMs,
    onLeft: () => [...supervised.values()].forEach((service) => void service.pagesLeft()),
  });
  const looking = setInterval(() => void settings.look(), options.settingsLookMs ?? settingsLookMs);

  let closing: Promise<void> | undefined;
  async function close() {
    pages.close();
    clearInterval(looking);
    clearInterval(sampling);
    await exports.close();
    await Promise.all([...supervised.values()].map((service) => service.close()));
    await settings.settled();
    logOrder.close();
  }

  return {
    get settings() {
      return settings.current.app;
    },
    views,
    start: async (id) => handlers.find(id).start(),
    stop: async (id) => handlers.find(id).stop(),
    onStatus: (listener) => hub.subscribe("status", (items) => items.forEach(listener)),
    onLog(listener) {
      const lines = logs.newest(replayedLines);
      if (lines.length > 0) listener(lines);
      return hub.subscribe("log", listener);
    },
    log,
    attach(port, reject) {
      pages.add(port);
      serveDashboard({ port, hub, binary, turns: callTurns, call: handlers.call, reject });
    },
    claimExport: exports.claim,
    recorded: () =>
      [...supervised.values()].map(({ id, traffic }) => ({
        id,
        ...traffic.counts(),
        formats: traffic.decoders.http ? ["jsonl", "har"] : ["jsonl"],
        read: (format) => handlers.readExport(exportSource.parse({ kind: "traffic", ids: [id], format })),
      })),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
