import path from "node:path";
import { getHeapStatistics } from "node:v8";
import type { LogLevel } from "../../../contract/log.ts";
import type { Handlers, Operations } from "../../../contract/operation.ts";
import type { Endpoint } from "../../../contract/service.ts";
import { type InstallationCertificates, openCertificates } from "../certificates/installation-certificates.ts";
import { parseConfig } from "../config/config.ts";
import { lockFolder } from "../files/folder-lock.ts";
import { configuredConnections, connectionsWithin } from "../net/descriptor-limit.ts";
import { FaultLog } from "../net/fault-log.ts";
import { boundOpenSockets, openSockets } from "../net/open-sockets.ts";
import { type BinaryFromService, type BinaryToService, createBinaryPublishers } from "../streams/binary-publisher.ts";
import { noPeers, type PeerServices } from "../streams/peer-client.ts";
import type { ProviderMessage, ToProvider } from "../streams/peer-messages.ts";
import { createPeerProvider, type ProvidedHandlers } from "../streams/peer-provider.ts";
import { createOutbox, type Outbox, type OutboxLimits } from "../traffic/outbox.ts";
import { keptRecords, type ReadKept } from "../traffic/row-record.ts";
import { OneEachTurn } from "../turns/one-each-turn.ts";
import type { ServiceBatch, ServiceMode } from "./link.ts";
import { createLog, type Log } from "./log.ts";
import { MemoryGuard, type ProcessMemory } from "./memory-guard.ts";
import { parseParams } from "./parse-params.ts";
import { countText } from "./quantity.ts";
import type { Counters, Service, ServiceContext } from "./service.ts";
import { errorText, ServiceError } from "./service-error.ts";

export interface RunOptions {
  /** Values that differ from the defaults. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** This service's folder; created and locked if the service keeps files. */
  readonly dataDir: string;
  /** Folder of the installation's certificate authority; in `dataDir` where there is no installation. */
  readonly certificatesDir?: string;
  /** Process id of Backlot, if the service has its own process. */
  readonly backlotPid?: number;
  readonly mode?: ServiceMode;
  readonly firstRowId?: number;
  readonly outboxLimits?: OutboxLimits;
  /** Where the process is the service's own: it is bounded. */
  readonly memory?: ProcessMemory;
  /** Likewise: files that it may open. */
  readonly openFiles?: number;
  /** The records that the supervisor kept of earlier processes. */
  readonly readKept?: ReadKept;
  /** `records` of the batch are valid until `release` is called. */
  readonly onBatch?: (batch: ServiceBatch, release: () => void) => void;
  /** The other services; without it none runs. */
  readonly services?: PeerServices;
  readonly onStream?: (message: BinaryFromService | ProviderMessage) => void;
  readonly onView?: (name: string, value: unknown) => void;
  readonly onProgress?: (doing: string) => void;
  /** `at` is in milliseconds since the epoch; `clockMs` is of a clock that nobody sets. */
  readonly onCounters?: (counters: Counters, at: number, clockMs: number) => void;
}

export interface RunningService {
  readonly endpoints: readonly Endpoint[];
  readonly outbox: Outbox;
  /** Parses the parameters and runs the action. Throws CALL_UNKNOWN, CALL_INVALID or what the action throws. */
  act(action: string, params: unknown): Promise<unknown>;
  setLogLevel(level: LogLevel): void;
  /** Whether a page receives the views; true until this is called. */
  setWatched(watched: boolean): void;
  /** No page has been open for some time. */
  pagesLeft(): void;
  receiveStream(message: BinaryToService | ToProvider): void;
  /** Runs every release in reverse order; a release that throws is logged and does not stop the others. */
  stop(): Promise<void>;
}

const pagesLeftText = "no page of Backlot is open any more";

/** Where the system lets a process open fewer files, a warning is due whatever is configured. */
const usualConnections = 1_000;

/** Connections that the process has no room for are closed, with a line in the log: without that they would wait unanswered. Returns the release. */
function boundConnections(openFiles: number, config: Readonly<Record<string, unknown>>, log: Log): () => void {
  const most = connectionsWithin(openFiles);
  const configured = configuredConnections(config);
  const within = `the system lets this process open ${countText(openFiles)} files (ulimit -n)`;
  if (most < Math.max(configured, usualConnections)) {
    log.warning(
      `At most ${countText(most)} connections are accepted at a time: ${within}${configured > most ? `, and ${countText(configured)} connections are configured` : ""}.`,
    );
  }
  const faults = new FaultLog(log);
  const release = boundOpenSockets(most, () => faults.write(`A connection was refused: ${countText(most)} are open, and ${within}.`));
  return () => {
    release();
    faults.flush();
  };
}

const viewIntervalMs = 100;
const counterIntervalMs = 1_000;

/** Starts a service in this process. Rejects, with everything released, when it cannot start. */
export async function runService(service: Service, options: RunOptions): Promise<RunningService> {
  const config = parseConfig(service, options.config ?? {});
  let logLevel = config.logLevel as LogLevel;
  const releases: (() => void | Promise<void>)[] = [];
  const onStop = (release: () => void | Promise<void>) => void releases.push(release);

  const outbox = createOutbox({
    post: (batch, release) => options.onBatch?.(batch, release),
    firstRowId: options.firstRowId,
    limits: options.outboxLimits,
  });
  onStop(() => {
    outbox.flush();
    outbox.close();
  });
  const log = createLog({ level: () => logLevel, write: (entry) => outbox.log(entry) });
  const views = createViews((name, value) => options.onView?.(name, value));
  onStop(views.close);
  let isWatched = true;
  const onPagesLeft: ((why: string) => void)[] = [];
  let handlers: Handlers<Operations> | undefined;
  let providedHandlers: ProvidedHandlers | undefined;
  const postStream = (message: BinaryFromService | ProviderMessage) => options.onStream?.(message);
  const publishers = createBinaryPublishers({ topics: service.binary ?? {}, post: postStream });
  const provider = createPeerProvider({ declared: service.provides, handlers: () => providedHandlers, post: postStream });

  async function stop() {
    provider.close();
    for (let release = releases.pop(); release; release = releases.pop()) {
      try {
        await release();
      } catch (error) {
        log.error(`While stopping: ${errorText(error)}`);
      }
    }
  }

  try {
    if (options.memory) {
      const { memory } = options;
      const setting = `${service.id.toUpperCase()}_PROCESS_MEMORY_BYTES`;
      // Node gives less to its objects where the computer has little.
      const mostBytes = Math.min(config.processMemoryBytes as number, getHeapStatistics().heap_size_limit);
      const guard = new MemoryGuard({ mostBytes, setting, connections: openSockets, log, memory });
      guard.start();
      onStop(() => guard.stop());
    }
    if (options.openFiles !== undefined && options.mode !== "browse") onStop(boundConnections(options.openFiles, config, log));
    const keepsFiles = service.keepsFiles?.(config as never) ?? false;
    if (keepsFiles !== false) {
      try {
        const browses = options.mode === "browse";
        onStop(await lockFolder(options.dataDir, { ...(options.backlotPid !== undefined && { pid: options.backlotPid }), browses }));
      } catch (error) {
        const isUnwritable = error instanceof ServiceError && error.code === "STORE_UNREACHABLE";
        if (keepsFiles === true || !isUnwritable) throw error;
        log.notable(`${error.message}: ${service.title} runs, and keeps nothing there.`);
      }
    }
    let certificates: Promise<InstallationCertificates> | undefined;
    const context: ServiceContext = {
      config,
      dataDir() {
        if (!keepsFiles) throw new Error(`${service.title} does not say that it keeps files`);
        return path.resolve(options.dataDir);
      },
      certificates() {
        const folder = path.resolve(options.certificatesDir ?? path.join(options.dataDir, "certificates"));
        certificates ??= openCertificates({ folder, log, onStop });
        return certificates;
      },
      log,
      traffic: outbox,
      progress: (doing) => options.onProgress?.(doing),
      kept: keptRecords(service.id, options.readKept, options.firstRowId ?? 1),
      onStop,
      handle: (given) => {
        handlers = given;
      },
      view: views.show,
      isWatched: () => isWatched,
      onPagesLeft: (listener) => void onPagesLeft.push(listener),
      binary: publishers.topic as ServiceContext["binary"],
      provide: (given) => {
        providedHandlers = given;
      },
      services: options.services ?? noPeers,
      counters(read) {
        const timer = setInterval(() => options.onCounters?.(read(), Date.now(), performance.now()), counterIntervalMs);
        onStop(() => clearInterval(timer));
      },
    };
    const endpoints = options.mode === "browse" ? await browse(service, context) : await service.start(context as never);
    const actionTurns = new OneEachTurn();
    const unanswered = Object.keys(service.actions).filter((name) => !handlers?.[name]);
    if (unanswered.length > 0) throw new Error(`${service.title} has no handlers for its actions ${unanswered.join(", ")}`);
    return {
      endpoints,
      outbox,
      async act(action, params) {
        const declared = Object.hasOwn(service.actions, action) ? service.actions[action] : undefined;
        const handler = handlers?.[action];
        if (!declared || !handler) {
          throw new ServiceError(
            "CALL_UNKNOWN",
            `${service.title} has no action "${action}"`,
            "Reload the dashboard: it may be older than the service.",
          );
        }
        const turn = actionTurns.begin();
        if (turn) await turn;
        return await handler(parseParams(declared.params, params, action));
      },
      setLogLevel(level) {
        logLevel = level;
      },
      setWatched(watched) {
        isWatched = watched;
      },
      pagesLeft() {
        for (const listener of onPagesLeft) listener(pagesLeftText);
      },
      receiveStream(message) {
        if (isForPublishers(message)) publishers.receive(message);
        else provider.receive(message);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const isForPublishers = (message: BinaryToService | ToProvider): message is BinaryToService =>
  message.type === "binarySubscribers" || message.type === "binaryAck";

async function browse(service: Service, context: ServiceContext): Promise<readonly Endpoint[]> {
  if (!service.browse) throw new ServiceError("SERVICE_NOT_RUNNING", `${service.title} is not running`, "Start it first.");
  await service.browse.open(context as never);
  return [];
}

/** Sends the newest value per name: at once after a pause, then at most once per interval, and the last ones at the end. */
function createViews(send: (name: string, value: unknown) => void) {
  const waiting = new Map<string, unknown>();
  let timer: NodeJS.Timeout | undefined;
  function sendWaiting() {
    for (const [name, value] of waiting) send(name, value);
    waiting.clear();
  }
  function flush() {
    timer = undefined;
    if (waiting.size === 0) return;
    sendWaiting();
    timer = setTimeout(flush, viewIntervalMs);
  }
  return {
    show(name: string, value: unknown) {
      waiting.set(name, value);
      timer ??= setTimeout(flush, 0);
    },
    close() {
      clearTimeout(timer);
      sendWaiting();
    },
  };
}
