import type { LogLevel } from "../../contract/log.ts";
import type { Endpoint, Failure, ServiceStatus } from "../../contract/service.ts";
import { type BatchReceiver, receiveBatches } from "../core/service/batch-stream.ts";
import type { FromService, ToService } from "../core/service/link.ts";
import { errorOfFailure, type ServiceError, toFailure } from "../core/service/service-error.ts";
import { createBackOff } from "./back-off.ts";
import { defaultTiming, type ManagedServiceOptions } from "./managed-service-options.ts";
import { crashFailure, notAnswering, notRunning, timeoutFailure } from "./service-failures.ts";
import type { ServiceProcess } from "./spawner.ts";
import { startDeadline } from "./start-deadline.ts";

/** Looks at the clock within `silenceMs`: counted in these, silence does not include a time in which the supervisor itself did not run. */
const silenceSteps = 5;
/** Actions wait longer: a service that is only busy answers them later. */
const actionSilences = 3;

/** One service's process and the only writer of its status. Operations run one at a time; the last one requested wins. */
export interface ManagedService {
  readonly status: ServiceStatus;
  /** Process id, from the spawn on. */
  readonly pid: number | undefined;
  /** The configuration of the running process; undefined while it does not run. */
  readonly runningConfig: Readonly<Record<string, unknown>> | undefined;
  /** The configuration with which the start failed that its status tells of; undefined if it was none, or was invalid. */
  readonly failedConfig: Readonly<Record<string, unknown>> | undefined;
  /** Resolves when it runs; rejects with the failure. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A start under way whose configuration is not wanted begins anew with the one that there is now; nothing is told of what became of it. */
  startAnew(isUnwanted: (config: Readonly<Record<string, unknown>>) => boolean): void;
  /** A failure that nothing follows: it is stopped. */
  forgetFailure(): void;
  restart(): Promise<void>;
  /** Ends its process and timers; a failed status is kept. */
  close(): Promise<void>;
  /** Throws SERVICE_NOT_RUNNING, SERVICE_NOT_ANSWERING, or the action's error. */
  act(action: string, params: unknown): Promise<unknown>;
  setLogLevel(level: LogLevel): void;
  /** Whether a dashboard receives the service's views. */
  setWatched(watched: boolean): void;
  /** No dashboard has been open for some time. */
  pagesLeft(): void;
  /** Sends a message of a call or stream; dropped if the service does not run. */
  postStream(message: Extract<ToService, { type: "stream" }>["message"]): void;
}

type StartOutcome = { readonly running: readonly Endpoint[] } | { readonly failure: Failure } | { readonly cancelled: true };

interface Launched {
  readonly outcome: StartOutcome;
  /** Undefined where it was invalid. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

export function createManagedService(options: ManagedServiceOptions): ManagedService {
  const { service } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const backOff = createBackOff(timing.firstBackOffMs);
  let status: ServiceStatus = { state: "stopped" };
  let child: ServiceProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let runningConfig: Readonly<Record<string, unknown>> | undefined;
  let failedConfig: Readonly<Record<string, unknown>> | undefined;
  let startingConfig: Readonly<Record<string, unknown>> | undefined;
  let startsAnew = false;
  let cancelStart: (() => void) | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let lastActionId = 0;
  /** Counts stop requests: a start requested before one is cancelled. */
  let stopsAsked = 0;
  const actions = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();

  function setStatus(next: ServiceStatus) {
    const before = status;
    status = next;
    options.onStatus(next, before);
  }
  function rejectActions(error: ServiceError) {
    for (const { reject } of actions.values()) reject(error);
    actions.clear();
  }
  /** Follows the reports of a running process; returns what is to be called at each report. */
  function watchSilence(onEnd: (stop: () => void) => void): () => void {
    let steps = 0;
    let reportedAt = Date.now();
    const timer = setInterval(() => {
      steps += 1;
      if (status.state !== "running") return;
      if (steps >= silenceSteps && status.silentSince === undefined) setStatus({ ...status, silentSince: reportedAt });
      if (steps >= silenceSteps * actionSilences) rejectActions(notAnswering(service));
    }, timing.silenceMs / silenceSteps);
    onEnd(() => clearInterval(timer));
    return () => {
      steps = 0;
      reportedAt = Date.now();
      if (status.state !== "running" || status.silentSince === undefined) return;
      const { silentSince: _, ...answering } = status;
      setStatus(answering);
    };
  }
  function enqueue<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = queue.then(operation);
    queue = result.catch(() => {});
    return result;
  }
  function endStarts(): number {
    dropRetry();
    cancelStart?.();
    return ++stopsAsked;
  }
  function dropRetry() {
    clearTimeout(retryTimer);
    retryTimer = undefined;
  }

  /** Spawns the process and waits until it listens; on failure no process is left. */
  async function launch(config: Readonly<Record<string, unknown>>): Promise<StartOutcome> {
    let crash = "";
    let batches: BatchReceiver | undefined;
    let onReport: (() => void) | undefined;
    let endWatch = () => {};
    const report = () => {
      onReport ??= watchSilence((stop) => {
        endWatch = stop;
      });
      onReport();
    };
    let lost: ReturnType<typeof setTimeout> | undefined;
    let said: ((outcome: StartOutcome) => void) | undefined;
    const outcome = new Promise<StartOutcome>((resolve) => {
      said = resolve;
    });
    const process = options.spawner(service.id);
    child = process;
    const deadline = startDeadline(timing.startTimeoutMs, (doing) =>
      said?.({ failure: timeoutFailure(service, timing.startTimeoutMs, doing) }),
    );
    process.onOutput(options.onOutput);
    process.onMessage((message) => {
      if (message.type === "loaded") {
        batches = receiveBatches({
          address: message.batches,
          onBatch(batch) {
            options.onBatch(batch);
            process.post({ type: "ack", seq: batch.seq });
          },
          // A process that ends breaks its connections: that is said by its end.
          onError(error) {
            lost = setTimeout(() => options.onOutput(`its traffic is no longer recorded: ${error.message}`), timing.lastBatchesMs);
          },
        });
        process.post({
          type: "start",
          mode: options.mode,
          config,
          dataDir: options.dataDir,
          certificatesDir: options.certificatesDir,
          firstRowId: options.firstRowId(),
        });
      } else if (message.type === "starting") {
        deadline.renew(message.doing);
        if (status.state === "starting" && status.doing !== message.doing) setStatus({ ...status, doing: message.doing });
      } else if (message.type === "running") {
        // Its first counters come a second later: it may hang before. Without listeners it has none.
        if (options.mode === "serve") report();
        said?.({ running: message.endpoints });
      } else if (message.type === "failed") said?.({ failure: message.failure });
      else if (message.type === "crashed") crash = message.message;
      else if (message.type === "counters") {
        report();
        options.onCounters(message.counters, message.at, message.clockMs);
      } else receive(message, process);
    });
    exited = new Promise((resolve) => {
      process.onExit(async (code) => {
        endWatch();
        clearTimeout(lost);
        // What the process wrote before its end is still in the socket.
        const lastRead = setTimeout(() => batches?.close(), timing.lastBatchesMs);
        await batches?.ended;
        clearTimeout(lastRead);
        said?.({ failure: crashFailure(service, code, crash) });
        gone(process, code, crash);
        resolve();
      });
    });
    cancelStart = () => said?.({ cancelled: true });
    const result = await outcome;
    deadline.clear();
    cancelStart = undefined;
    if (!("running" in result)) await end(process);
    return result;
  }

  /** Asks the process to stop and kills it when it does not. */
  async function end(process: ServiceProcess) {
    process.post({ type: "stop" });
    const deadline = setTimeout(() => process.kill(), timing.stopTimeoutMs);
    await exited;
    clearTimeout(deadline);
  }

  function gone(process: ServiceProcess, code: number | null, crash: string) {
    if (child !== process) return;
    child = undefined;
    runningConfig = undefined;
    rejectActions(notRunning(service));
    const crashed = status.state === "running";
    options.onGone(crashed);
    if (crashed) retryAfter(crashFailure(service, code, crash));
  }

  function retryAfter(crash: Failure) {
    const waitMs = backOff.next();
    const since = Date.now();
    if (waitMs === undefined) {
      const hint = "It crashed 5 times within a minute, so it is no longer restarted automatically. See its log.";
      setStatus({ state: "failed", since, failure: { ...crash, code: "CRASH_LOOP", hint } });
      return;
    }
    const hint = "Its log has the lines before the crash.";
    setStatus({ state: "failed", since, failure: { ...crash, hint }, retryAt: since + waitMs });
    retryTimer = setTimeout(() => void enqueue(() => startNow({ asked: stopsAsked, byItself: true })).catch(() => {}), waitMs);
  }

  function receive(
    message: Exclude<FromService, { type: "loaded" | "starting" | "running" | "failed" | "crashed" | "counters" }>,
    process: ServiceProcess,
  ) {
    switch (message.type) {
      case "readKept":
        process.post({ type: "kept", records: options.readKept(message.after) });
        return;
      case "view":
        options.onView(message.name, message.value, process.pid ?? 0);
        return;
      case "stream":
        options.onStream?.(message.message);
        return;
      case "result":
        actions.get(message.id)?.resolve(message.value);
        actions.delete(message.id);
        return;
      case "failure":
        actions.get(message.id)?.reject(errorOfFailure(message.failure));
        actions.delete(message.id);
        return;
      case "stopped":
        return;
      default:
        message satisfies never;
    }
  }

  /** With what helps against a failure. */
  async function launchOnce(): Promise<Launched> {
    failedConfig = startingConfig = undefined;
    let outcome: StartOutcome;
    try {
      startingConfig = options.config();
      await options.beforeStart?.();
      outcome = startsAnew ? { cancelled: true } : await launch(startingConfig);
    } catch (error) {
      outcome = { failure: toFailure(error) };
    }
    const config = startingConfig;
    if (!("failure" in outcome) || startsAnew) return { outcome, config };
    const reported = outcome.failure;
    return { outcome: { failure: await options.explain(reported, config ?? {}).catch(() => reported) }, config };
  }

  async function startNow({ asked, byItself }: { asked: number; byItself: boolean }) {
    if (asked !== stopsAsked) throw notRunning(service);
    dropRetry();
    if (status.state === "running") {
      if (!runningConfig || !options.isOutdated?.(runningConfig)) return;
      await stopNow();
    }
    setStatus({ state: "starting", since: Date.now() });
    let told: Launched;
    do {
      startsAnew = false;
      told = await launchOnce();
      // It may have been running already.
      if (startsAnew && child) await end(child);
    } while (startsAnew && asked === stopsAsked);
    startingConfig = undefined;
    const { config } = told;
    // A stop was asked for in between.
    const outcome: StartOutcome = startsAnew ? { cancelled: true } : told.outcome;
    if ("running" in outcome) {
      runningConfig = config;
      setStatus({ state: "running", since: Date.now(), pid: child?.pid ?? 0, endpoints: outcome.running });
      return;
    }
    if ("cancelled" in outcome) {
      setStatus({ state: "stopped" });
      throw notRunning(service);
    }
    const { failure } = outcome;
    if (byItself && failure.code === "CRASHED") retryAfter(failure);
    else {
      failedConfig = config;
      setStatus({ state: "failed", since: Date.now(), failure });
    }
    throw errorOfFailure(failure);
  }

  async function stopNow() {
    dropRetry();
    if (status.state === "stopped") return;
    const since = status.state === "running" ? status.since : undefined;
    if (child) {
      setStatus({ state: "stopping", since: Date.now() });
      await end(child);
    }
    setStatus({ state: "stopped", ...(since !== undefined && { lastRun: { from: since, to: Date.now() } }) });
  }

  return {
    get status() {
      return status;
    },
    get pid() {
      return child?.pid;
    },
    get runningConfig() {
      return runningConfig;
    },
    get failedConfig() {
      return failedConfig;
    },
    start() {
      backOff.reset();
      const asked = stopsAsked;
      return enqueue(() => startNow({ asked, byItself: false }));
    },
    stop() {
      endStarts();
      return enqueue(stopNow);
    },
    startAnew(isUnwanted) {
      if (status.state !== "starting" || !startingConfig || !isUnwanted(startingConfig)) return;
      startsAnew = true;
      cancelStart?.();
    },
    forgetFailure() {
      if (status.state === "failed" && status.retryAt === undefined) setStatus({ state: "stopped" });
    },
    restart() {
      backOff.reset();
      const asked = endStarts();
      return enqueue(async () => {
        await stopNow();
        await startNow({ asked, byItself: false });
      });
    },
    close() {
      endStarts();
      return enqueue(async () => {
        if (status.state !== "failed") await stopNow();
        dropRetry();
      });
    },
    act(action, params) {
      const process = child;
      if (!process || status.state !== "running") return Promise.reject(notRunning(service));
      return new Promise((resolve, reject) => {
        const id = ++lastActionId;
        actions.set(id, { resolve, reject });
        process.post({ type: "action", id, action, params });
      });
    },
    postStream(message) {
      child?.post({ type: "stream", message });
    },
    setWatched(watched) {
      child?.post({ type: "watched", watched });
    },
    pagesLeft() {
      child?.post({ type: "pagesLeft" });
    },
    setLogLevel(level) {
      child?.post({ type: "logLevel", level });
    },
  };
}
