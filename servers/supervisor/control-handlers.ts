import {
  type AppInfo,
  type AppSettings,
  type ControlCall,
  type ControlCalls,
  controlCalls,
  type PortCheck,
  type Profiles,
} from "../../contract/control.ts";
import type { ExportPart, ExportSource } from "../../contract/export.ts";
import type { Handlers, ParsedParamsOf } from "../../contract/operation.ts";
import type { ServiceId, ServiceView } from "../../contract/service.ts";
import { authorityView, openAuthority } from "../core/certificates/certificate-authority.ts";
import type { Log } from "../core/service/log.ts";
import { parseParams } from "../core/service/parse-params.ts";
import { ServiceError } from "../core/service/service-error.ts";
import type { CallHandler } from "./dashboard-session.ts";
import type { PartReader } from "./export-pump.ts";
import type { Exports } from "./exports.ts";
import type { LogStore } from "./log-store.ts";
import type { PortPlan } from "./port-plan.ts";
import { createProfileHandlers, profilesOf } from "./profiles.ts";
import type { RateHistoryStore } from "./rate-history.ts";
import type { SettingsFile } from "./settings-file.ts";
import type { SupervisedService } from "./supervised-service.ts";
import type { TopicHub } from "./topic-hub.ts";
import { createTrafficExport } from "./traffic/traffic-export.ts";
import type { Turns } from "./traffic/turns.ts";

export interface ControlParts {
  readonly info: AppInfo;
  readonly settings: SettingsFile;
  readonly supervised: ReadonlyMap<ServiceId, SupervisedService>;
  readonly views: () => readonly ServiceView[];
  readonly hub: TopicHub;
  readonly logs: LogStore;
  /** For what takes long. */
  readonly turns: Turns;
  readonly rates: RateHistoryStore;
  readonly exports: Exports;
  readonly ports: PortPlan;
  readonly certificatesDir: string;
  readonly log: Log;
  /** Applies the settings immediately. */
  readonly onAppSettings: (settings: AppSettings) => void;
}

export interface ControlHandlers {
  readonly call: CallHandler;
  readonly readExport: (source: ExportSource) => PartReader;
  /** Another Backlot has saved settings; `gone` was the active profile, and is there no more. */
  othersSaved(gone: string | undefined): void;
  /** Throws SERVICE_NOT_BUILT. */
  find(id: ServiceId): SupervisedService;
}

/** Handlers that also get the caller. */
type ControlAnswers = {
  readonly [Name in ControlCall]: (params: ParsedParamsOf<ControlCalls[Name]>, caller: unknown) => ReturnType<Handlers<ControlCalls>[Name]>;
};

/** Handlers of `controlCalls`. */
export function createControlHandlers(parts: ControlParts): ControlHandlers {
  const { settings, supervised, views, hub, log } = parts;
  const all = [...supervised.values()];

  function find(id: ServiceId): SupervisedService {
    const service = supervised.get(id);
    if (!service) throw new ServiceError("SERVICE_NOT_BUILT", `${id} is not in this version of Backlot yet`, "Start one of the others.");
    return service;
  }
  const publishProfiles = (profiles: Profiles) => {
    hub.publish("profile", profiles);
    for (const service of all) service.refresh();
    return profiles;
  };

  function readExport(source: ExportSource): PartReader {
    switch (source.kind) {
      case "action": {
        const service = find(source.id);
        return async (after) =>
          (await service.act(source.action, { ...source.params, ...(after !== undefined && { after }) })) as ExportPart;
      }
      case "log":
        return (after) => parts.turns.run(source, parts.logs.exportPart(source, after));
      case "traffic":
        return createTrafficExport({ ...source, stores: source.ids.map((id) => find(id).traffic), version: parts.info.version });
      default:
        return source satisfies never;
    }
  }

  const handlers: ControlAnswers = {
    "app.info": () => parts.info,
    "app.settings": () => settings.current.app,
    async "app.setSettings"(changed) {
      const { app } = await settings.update((current) => ({ ...current, app: { ...current.app, ...changed } }));
      parts.onAppSettings(app);
      for (const service of all) service.refresh();
      return app;
    },
    "page.fault"({ region, message }) {
      log.error(`dashboard, ${region}: ${message}`);
      return null;
    },
    ...createProfileHandlers(settings, publishProfiles),

    "service.list": () => views(),
    async "service.start"({ id }) {
      await find(id).start();
      return find(id).view();
    },
    async "service.stop"({ id }) {
      await find(id).stop();
      return find(id).view();
    },
    async "service.restart"({ id }) {
      await find(id).restart();
      return find(id).view();
    },
    async "service.startAll"({ sample }) {
      await Promise.allSettled(all.map((service) => service.start()));
      if (sample) await Promise.all(all.filter(({ isRunning }) => isRunning).map((service) => service.act("sample.start", {})));
      return views();
    },
    async "service.stopAll"() {
      await Promise.all(all.map((service) => service.stop()));
      return views();
    },
    "service.snippets": ({ id }) => find(id).snippets(),
    "service.action": ({ id, action, params }) => find(id).act(action, params),

    "config.read": ({ id }) => find(id).readConfig(),
    async "config.write"({ id, values, resets }) {
      await find(id).writeConfig(values, resets);
      log.info(`${id}: changed ${[...Object.keys(values), ...resets].join(", ")}`);
      return find(id).readConfig();
    },
    "config.override"({ id, values }) {
      find(id).overrideConfig(values);
      log.info(`${id}: changed ${Object.keys(values).join(", ")} for this run`);
      return find(id).readConfig();
    },
    async "config.reset"({ id, fields }) {
      await find(id).resetConfig(fields);
      return find(id).readConfig();
    },

    "certificate.authority": async () => authorityView(await openAuthority(parts.certificatesDir, Date.now(), (text) => log.warning(text))),

    async "port.check"() {
      return await Promise.all(
        all.flatMap((service) =>
          service.portUses().map(async (use): Promise<PortCheck> => {
            const base = { service: service.id, field: use.field, transport: use.transport, port: use.first };
            const problem = service.view().status.state === "running" ? undefined : await parts.ports.check(use);
            if (!problem) return { ...base, free: true };
            return { ...base, free: false, problem: problem.message, ...service.adviseOnPort(use, problem) };
          }),
        ),
      );
    },

    "traffic.read": ({ id, ...query }, caller) => find(id).traffic.read(query, caller),
    "traffic.match": ({ id, rows, ...filter }, caller) => find(id).traffic.match(rows, filter, caller),
    "traffic.detail": ({ id, row }) => find(id).traffic.detail(row),
    "traffic.parts": ({ id, row, from, limit }) => find(id).traffic.parts(row, from, limit),
    "traffic.clear": ({ id }) => find(id).traffic.clear(),
    "traffic.restore": ({ id }) => ({ restored: find(id).traffic.restore() }),
    "log.read": (query, caller) => parts.turns.run(caller, parts.logs.read(query)),
    "export.start": ({ source, ...request }) => parts.exports.start(request, readExport(source)),
    "export.cancel"({ id }) {
      parts.exports.cancel(id);
      return null;
    },
    "rate.history": ({ seconds, points }) => parts.rates.read(seconds, points),
  };

  const isCall = (name: string): name is ControlCall => Object.hasOwn(controlCalls, name);
  function answer<Name extends ControlCall>(name: Name, params: unknown, caller: unknown) {
    const parsed = parseParams(controlCalls[name].params, params ?? {}, name) as ParsedParamsOf<ControlCalls[Name]>;
    return handlers[name](parsed, caller);
  }
  hub.publish("profile", profilesOf(settings.current));

  return {
    find,
    readExport,
    othersSaved(gone) {
      const profiles = profilesOf(settings.current);
      if (gone !== undefined)
        log.warning(
          `The profile "${gone}" is gone: another Backlot with this data folder has removed or renamed it. "${profiles.active}" is active now.`,
        );
      parts.onAppSettings(settings.current.app);
      publishProfiles(profiles);
    },
    async call(name, params, caller) {
      if (!isCall(name)) {
        throw new ServiceError("CALL_UNKNOWN", `There is no call "${name}"`, "Reload the dashboard: it may be of another version.");
      }
      return await answer(name, params, caller);
    },
  };
}
