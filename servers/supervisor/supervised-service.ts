import { isDeepStrictEqual } from "node:util";
import type { ConfigView } from "../../contract/config.ts";
import type { LogLevel } from "../../contract/log.ts";
import type { SampleViews } from "../../contract/sample-traffic.ts";
import type { Endpoint, Failure, ServiceId, ServiceView, Snippet, SuggestedFix } from "../../contract/service.ts";
import { checkConfigValues, configFields, resolveConfig } from "../core/config/config.ts";
import type { ServiceBatch, StreamFromService } from "../core/service/link.ts";
import { createLog, writeLogs } from "../core/service/log.ts";
import type { Service } from "../core/service/service.ts";
import { toFailure } from "../core/service/service-error.ts";
import { createBrowsing } from "./browsing.ts";
import { createManagedService, type ManagedService } from "./managed-service.ts";
import type { ServiceTiming } from "./managed-service-options.ts";
import { configuredPorts, type PortPlan, type PortProblem, type PortUse, portUses } from "./port-plan.ts";
import type { RateHistoryStore } from "./rate-history.ts";
import { createRateSamples } from "./rate-samples.ts";
import { createResumption } from "./resumption.ts";
import { createSavedValues, without } from "./saved-values.ts";
import { namedAsSet } from "./setting-names.ts";
import type { SettingsFile } from "./settings-file.ts";
import type { Spawner } from "./spawner.ts";
import { logStatus } from "./status-lines.ts";
import type { TopicHub } from "./topic-hub.ts";
import type { TrafficMemory } from "./traffic/traffic-memory.ts";
import { createTrafficStore, type TrafficStore } from "./traffic/traffic-store.ts";
import type { Turns } from "./traffic/turns.ts";

export interface SupervisedServiceOptions {
  readonly service: Service;
  readonly spawner: Spawner;
  readonly dataDir: string;
  readonly certificatesDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, string>>;
  readonly alone: boolean;
  readonly settings: SettingsFile;
  readonly hub: TopicHub;
  /** For the traffic of all services. */
  readonly memory: TrafficMemory;
  readonly turns: Turns;
  readonly rates: RateHistoryStore;
  /** Gets what a `LogWriter` wrote, good until it returns. */
  readonly log: (written: Uint8Array) => void;
  readonly ports: Pick<PortPlan, "explain">;
  readonly onStream: (message: StreamFromService) => void;
  /** The process is running and can answer other services. */
  readonly onStarted: () => void;
  readonly onGone: (crashed: boolean) => void;
  readonly timing?: Partial<ServiceTiming>;
}

/** One service in the supervisor: process, configuration, traffic, counters. */
export interface SupervisedService {
  readonly id: ServiceId;
  readonly traffic: TrafficStore;
  readonly title: string;
  readonly isRunning: boolean;
  view(): ServiceView;
  start(): Promise<void>;
  /** Ends its browsing process too, so that another Backlot can have its folder. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** Works while the service is stopped too, if it can be browsed. */
  act(action: string, params: unknown): Promise<unknown>;
  /** Stops the service and its browsing process. */
  close(): Promise<void>;
  /** No dashboard has been open for some time. */
  pagesLeft(): void;
  snippets(): readonly Snippet[];
  readConfig(): ConfigView;
  /** As those of `SavedValues`. */
  writeConfig(values: Readonly<Record<string, unknown>>, resets: readonly string[]): Promise<void>;
  /** For this run only; throws CONFIG_INVALID. */
  overrideConfig(values: Readonly<Record<string, unknown>>): void;
  resetConfig(fields: readonly string[] | undefined): Promise<void>;
  /** The hint and fix for a port that it cannot use. */
  adviseOnPort(use: PortUse, problem: PortProblem): { readonly hint: string; readonly fix?: SuggestedFix };
  /** The ports of its configuration, or of the defaults while that is invalid. */
  portUses(): readonly PortUse[];
  /** Also those of what is switched off. */
  configuredPorts(): readonly PortUse[];
  /** Process id, from the spawn on. */
  readonly pid: number | undefined;
  postStream: ManagedService["postStream"];
  /** To be called after the settings or the active profile changed. */
  refresh(): void;
}

export function createSupervisedService(options: SupervisedServiceOptions): SupervisedService {
  const { service, settings, hub } = options;
  const { id } = service;
  const views = `view/${id}` as const;
  const traffic = createTrafficStore({
    service: id,
    decoders: service.details,
    memory: options.memory,
    turns: options.turns,
    rows: settings.current.app.keptRows,
  });
  const samples = createRateSamples({
    service: id,
    dropped: () => traffic.dropped,
    publish(sample) {
      options.rates.add(sample);
      hub.publish("rate", sample);
    },
  });
  let playsSample = false;
  let configRevision = 0;

  /** Values for this run, set in the dashboard; they override all others. */
  let runValues: Readonly<Record<string, unknown>> = {};

  const saved = createSavedValues(service, settings);
  const sources = () => ({
    file: saved.current,
    environment: options.environment,
    flags: options.flags,
    run: runValues,
    alone: options.alone,
  });
  const resolve = () => resolveConfig(service, sources());
  const fields = () => configFields(service, sources());
  /** Falls back to the defaults, for views that must work with an invalid configuration. */
  const resolveOrDefault = () => {
    try {
      return resolve();
    } catch {
      return service.config.parse({}) as Record<string, unknown>;
    }
  };

  const log = createLog({ level: () => resolveOrDefault().logLevel as LogLevel, write: (entry) => options.log(writeLogs([entry])) });
  let droppedLogs = 0;

  async function explain(failure: Failure, config: Readonly<Record<string, unknown>>): Promise<Failure> {
    if (failure.code === "CONFIG_INVALID") return { ...failure, hint: namedAsSet(failure.hint, fields()) };
    if (failure.code !== "PORT_IN_USE" || failure.port === undefined) return failure;
    const { port, transport = "tcp" } = failure;
    const use = portUses(service, config).find(
      (each) => each.kind !== "destinations" && each.transport === transport && each.first <= port && port <= each.last,
    );
    if (!use) return failure;
    const problem = await options.ports.explain(use, port);
    return { ...failure, message: problem.message, ...adviseOnPort(use, problem) };
  }

  /** A saved value has no effect if a variable or flag overrides it: the hint names that, and the fix applies to this run. */
  function adviseOnPort(
    { field, fieldTitle }: PortUse,
    { isForeign, isOfTwoFields = false, next }: PortProblem,
  ): { hint: string; fix?: SuggestedFix } {
    const sentence = (change: string) => (isForeign ? `Stop it, or ${change}.` : `${change.charAt(0).toUpperCase()}${change.slice(1)}.`);
    const { source, setBy, value } = fields().find(({ name }) => name === field) ?? {};
    const isRuled = source === "environment" || source === "flag";
    const where = source === "flag" ? "on the command line" : "in the environment";
    const another = next === undefined ? "" : `, for example to ${next}`;
    if (isRuled) {
      const hint = sentence(`change ${setBy}, which is set to ${value} ${where}${another}`);
      return { hint, ...(next !== undefined && { fix: { title: `Use ${next} for this run`, config: { [field]: next }, thisRun: true } }) };
    }
    const toChange = isOfTwoFields ? ` for ${fieldTitle}` : "";
    if (next === undefined) return { hint: sentence(`choose another port${toChange} in Config`) };
    const hint = sentence(`use ${next}${toChange}`);
    if (source === "run") return { hint, fix: { title: `Use ${next} for this run`, config: { [field]: next }, thisRun: true } };
    return { hint, fix: { title: `Use ${next} instead`, config: { [field]: next } } };
  }

  const processOptions = {
    spawner: options.spawner,
    config: resolve,
    dataDir: options.dataDir,
    certificatesDir: options.certificatesDir,
    firstRowId: () => traffic.nextId(),
    readKept: traffic.records,
    onBatch: (batch: ServiceBatch) => {
      traffic.add(batch);
      if (hub.hasSubscribers(`traffic/${id}`)) hub.publishAll(`traffic/${id}`, traffic.rowsOf(batch));
      if (batch.logs.length > 0) options.log(batch.logs);
      if (batch.droppedLogs > droppedLogs) log.warning(`${batch.droppedLogs - droppedLogs} log lines left out under load`);
      droppedLogs = batch.droppedLogs;
    },
    onView: (name: string, value: unknown) => hub.publish(views, { name, value }),
    onOutput: (text: string) => {
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      for (const line of lines) log.warning(line);
    },
    onGone: (crashed: boolean) => {
      droppedLogs = 0;
      traffic.abandon(crashed ? "service crashed" : "service stopped", (rows) => hub.publishAll(`traffic/${id}`, rows));
      samples.idle();
    },
  };
  const browsing = createBrowsing(service, { ...processOptions, isOutdated: isBrowsedOtherwise });
  const resumption = createResumption(service, (action, params) => managed.act(action, params));
  const managed = createManagedService({
    ...processOptions,
    service,
    mode: "serve",
    // Two processes must not write to the same data.
    beforeStart: browsing.end,
    explain,
    // Not forgotten when the process ends: pages show some as the last known state.
    onView(name, value, pid) {
      const { state } = managed.status;
      if (state === "running" || state === "stopping") resumption.viewed(name, value);
      if (name === "sample") showSample((value as SampleViews["sample"]).running);
      hub.publish(views, { name, value, pid });
    },
    onStream: options.onStream,
    onGone(crashed) {
      processOptions.onGone(crashed);
      options.onGone(crashed);
    },
    onStatus: (status, before) => {
      if (status.state !== "running") playsSample = false;
      refresh();
      resumption.changed(status, before);
      if (status.state === "running" && before.state !== "running") {
        options.onStarted();
        managed.setWatched(hub.hasSubscribers(views));
      }
      logStatus(log, service, status, before);
      forgetOtherFailure();
    },
    onCounters: samples.add,
    ...(options.timing && { timing: options.timing }),
  });

  hub.onWatched(views, managed.setWatched);

  function view(): ServiceView {
    const { status, runningConfig } = managed;
    const config = resolveOrDefault();
    return {
      id,
      title: service.title,
      purpose: service.purpose,
      rateUnit: service.rateUnit,
      built: true,
      status,
      ports: portsOf(status.state === "running" ? status.endpoints : service.endpoints(runningConfig ?? config)),
      plannedEndpoints: service.endpoints(config),
      openToLan: (runningConfig ?? config).openToLan === true,
      recordsCredentials: (runningConfig ?? config).recordCredentials === true,
      restartNeeded: restartNeeded(),
      configRevision,
      playsSample,
    };
  }
  function showSample(plays: boolean): void {
    if (plays === playsSample) return;
    playsSample = plays;
    hub.publish("status", view());
  }
  /** Whether the next start has another configuration, apart from what a running service takes over. */
  function isOtherNow(config: Readonly<Record<string, unknown>>): boolean {
    const next = resolveOrDefault();
    return fields().some(({ name, needsRestart }) => needsRestart && !isDeepStrictEqual(config[name], next[name]));
  }
  /** Whether what is browsed with this configuration is something else now. Where the next start would fail, nothing goes on with the configuration before it. */
  function isBrowsedOtherwise(config: Readonly<Record<string, unknown>>): boolean {
    let next: Readonly<Record<string, unknown>>;
    try {
      next = resolve();
    } catch {
      return true;
    }
    return service.browse?.fields.some((name) => !isDeepStrictEqual(config[name], next[name])) ?? false;
  }
  function restartNeeded(): boolean {
    return managed.runningConfig !== undefined && isOtherNow(managed.runningConfig);
  }
  /** Why a start failed, and what would help, is about the configuration that it had: it is not shown beside another one. */
  function isOfOtherConfig(failure: Failure): boolean {
    if (managed.failedConfig) return isOtherNow(managed.failedConfig);
    if (failure.code !== "CONFIG_INVALID") return false;
    try {
      resolve();
      return true;
    } catch (error) {
      return toFailure(error).message !== failure.message;
    }
  }
  /** The configuration may also have changed before the start failed. */
  function forgetOtherFailure(): void {
    const { status } = managed;
    if (status.state === "failed" && isOfOtherConfig(status.failure)) managed.forgetFailure();
  }
  function refresh() {
    traffic.limitRows(settings.current.app.keptRows);
    hub.publish("status", view());
  }

  /** After a change of settings or profile: applies live fields to the running service and updates the view. */
  function takeOver() {
    configRevision++;
    managed.setLogLevel(resolveOrDefault().logLevel as LogLevel);
    browsing.refresh();
    forgetOtherFailure();
    refresh();
  }

  return {
    id,
    traffic,
    view,
    start: managed.start,
    async stop() {
      await Promise.all([managed.stop(), browsing.end()]);
    },
    restart: () => resumption.over(managed.restart),
    close: async () => void (await Promise.all([managed.close(), browsing.end()])),
    act(action, params) {
      const { state } = managed.status;
      return state === "stopped" || state === "failed" ? browsing.act(action, params) : managed.act(action, params);
    },
    postStream: managed.postStream,
    pagesLeft: managed.pagesLeft,
    title: service.title,
    get isRunning() {
      return managed.status.state === "running";
    },
    snippets() {
      const { status } = managed;
      const config = managed.runningConfig ?? resolveOrDefault();
      const endpoints: readonly Endpoint[] = status.state === "running" ? status.endpoints : service.endpoints(config);
      return service.snippets(endpoints, config);
    },
    readConfig: () => ({ fields: fields(), restartNeeded: restartNeeded() }),
    async writeConfig(values, resets) {
      await saved.write(values, resets);
      takeOver();
    },
    adviseOnPort,
    overrideConfig(values) {
      checkConfigValues(service, values);
      runValues = { ...runValues, ...values };
      takeOver();
    },
    async resetConfig(fields) {
      const ended = Object.keys(runValues).filter((name) => !fields || fields.includes(name));
      runValues = without(runValues, ended);
      // The saved value is kept if the form showed the value of this run.
      if (fields?.every((name) => ended.includes(name))) return takeOver();
      await saved.remove(fields);
      takeOver();
    },
    portUses: () => portUses(service, resolveOrDefault()),
    configuredPorts: () => configuredPorts(service, resolveOrDefault()),
    get pid() {
      return managed.pid;
    },
    refresh() {
      managed.startAnew(isOtherNow);
      takeOver();
    },
  };
}

const portsOf = (endpoints: readonly Endpoint[]): readonly number[] => [
  ...new Set(endpoints.flatMap(({ url }) => /:(\d+)(?:[/?]|$)/.exec(url)?.slice(1).map(Number) ?? [])),
];
