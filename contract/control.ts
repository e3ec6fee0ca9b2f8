/** Calls that a dashboard may make to the supervisor, and topics that it may subscribe to. */
import { z } from "zod";
import type { ConfigView } from "./config.ts";
import { type ExportStarted, type ExportView, exportRequest } from "./export.ts";
import { type LogLine, logLevels } from "./log.ts";
import { operation } from "./operation.ts";
import { type PortTransport, type ServiceId, type ServiceView, type Snippet, type SuggestedFix, serviceIds } from "./service.ts";
import type { Detail, DetailPartPage } from "./traffic/detail.ts";
import type { ProcessSample, RateSample, TrafficRow } from "./traffic/row.ts";
import { rowFilterFields } from "./traffic/row-filter.ts";
import { rowSortSchema, sortPlaceSchema } from "./traffic/row-sort.ts";

const none = z.strictObject({});
const serviceId = z.enum(serviceIds);
const oneService = z.strictObject({ id: serviceId });
const profileName = z
  .string()
  .trim()
  .min(1)
  .max(60)
  // zod leaves this key out of every record, so such a profile would be lost at the next start.
  .refine((name) => name !== "__proto__", "This name cannot be used.");
const searchText = z.string().max(500).default("");

export interface AppInfo {
  readonly version: string;
  readonly shell: "electron" | "browser";
  readonly platform: string;
  readonly node: string;
  readonly dataDir: string;
  readonly startedAt: number;
}

export interface Profiles {
  readonly active: string;
  readonly names: readonly string[];
}

const appFields = z.strictObject({
  /** Services to start together with Backlot. */
  startAtLaunch: z.array(serviceId),
  /** Desktop: closing the window leaves the services running in the tray. */
  keepRunningInTray: z.boolean(),
  /** Ended rows kept for each service: the newest ones. Open rows are kept in addition. */
  keptRows: z.int().min(1_000).max(200_000),
  /** Memory for the recorded traffic of all services together, in mebibytes. */
  trafficMebibytes: z.int().min(16).max(4_096),
});
const { shape } = appFields;

/** Settings of the program itself; a service's are its configuration. */
export const appSettings = z.strictObject({
  startAtLaunch: shape.startAtLaunch.default([]),
  keepRunningInTray: shape.keepRunningInTray.default(false),
  keptRows: shape.keptRows.default(50_000),
  trafficMebibytes: shape.trafficMebibytes.default(192),
});
export type AppSettings = z.output<typeof appSettings>;

/** The certificate authority of this installation, which signs the TLS certificates of its services. */
export interface AuthorityView {
  readonly subject: string;
  /** SHA-256 of the certificate: "A1:B2:…" */
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
  /** Its certificate as PEM: absolute path on Backlot's machine, and text. */
  readonly file: string;
  readonly pem: string;
}

export interface PortCheck {
  readonly service: ServiceId;
  /** Name of the configuration field. */
  readonly field: string;
  readonly transport: PortTransport;
  readonly port: number;
  readonly free: boolean;
  /** Where it is not free: the process that holds it, if the system names one, or the other service that is set to it. */
  readonly problem?: string;
  /** Where it is not free: what to do about it. */
  readonly hint?: string;
  /** Present where one change of configuration is likely to help. */
  readonly fix?: SuggestedFix;
}

export interface TrafficPage {
  /** Newest first, or as they were asked to be sorted. */
  readonly rows: readonly TrafficRow[];
  /** Rows kept that match the filter. */
  readonly matching: number;
  /** Rows that do not match in what is kept of their content, where a text was searched in it; absent for none. */
  readonly searchedInPart?: number;
  /** Rows kept at all. */
  readonly kept: number;
  /** Rows since the service's first start, kept or not. */
  readonly total: number;
  /** How many of `total` a service dropped under load. */
  readonly dropped: number;
}

/** A row as it is now, with its detail. */
export interface RowDetail {
  readonly row: TrafficRow;
  readonly detail: Detail;
}

export interface LogPage {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** There may be older ones: the answer has as many as were asked for, or as fit in it. */
  readonly hasOlder: boolean;
  readonly kept: number;
}

export interface RateHistory {
  /** Seconds between two samples. */
  readonly stepSeconds: number;
  /** One series per service; `at[i]` is the time (ms) of the i-th value of each. */
  readonly at: readonly number[];
  readonly series: readonly {
    readonly service: ServiceId;
    readonly itemsPerSecond: readonly number[];
    readonly bytesPerSecond: readonly number[];
  }[];
}

export const controlCalls = {
  "app.info": operation<AppInfo>()(none),
  "app.settings": operation<AppSettings>()(none),
  "app.setSettings": operation<AppSettings>()(appFields.partial()),

  /** A fault in the dashboard's page, for Backlot's log: which region, and the error with the start of its stack. */
  "page.fault": operation<null>()(z.strictObject({ region: z.string().min(1).max(100), message: z.string().max(2_000) })),

  "profile.list": operation<Profiles>()(none),
  /** Makes a copy of the active profile and makes it active. */
  "profile.create": operation<Profiles>()(z.strictObject({ name: profileName })),
  "profile.rename": operation<Profiles>()(z.strictObject({ name: profileName, to: profileName })),
  "profile.remove": operation<Profiles>()(z.strictObject({ name: profileName })),
  /** Running services keep running; those whose configuration differs are marked as needing a restart. */
  "profile.activate": operation<Profiles>()(z.strictObject({ name: profileName })),

  "service.list": operation<readonly ServiceView[]>()(none),
  /** Settles when the service runs; fails with the service's failure. */
  "service.start": operation<ServiceView>()(oneService),
  "service.stop": operation<ServiceView>()(oneService),
  "service.restart": operation<ServiceView>()(oneService),
  /** Settles when each built service is running or has failed. With `sample` those that run then are sent sample traffic, also where the caller has left meanwhile. */
  "service.startAll": operation<readonly ServiceView[]>()(z.strictObject({ sample: z.boolean().default(false) })),
  "service.stopAll": operation<readonly ServiceView[]>()(none),
  "service.snippets": operation<readonly Snippet[]>()(oneService),
  /** Runs one of the actions that `contract/<service>.ts` declares; the service's process parses the parameters. */
  "service.action": operation<unknown>()(
    z.strictObject({ id: serviceId, action: z.string().max(100), params: z.record(z.string(), z.unknown()).default({}) }),
  ),

  "config.read": operation<ConfigView>()(oneService),
  /** Saves the values, and removes the saved ones of `resets`; nothing is changed when a value is refused. */
  "config.write": operation<ConfigView>()(
    z.strictObject({ id: serviceId, values: z.record(z.string(), z.unknown()), resets: z.array(z.string()).default([]) }),
  ),
  /** Sets the values for this run only, stronger than variables and flags; `config.reset` ends that. */
  "config.override": operation<ConfigView>()(z.strictObject({ id: serviceId, values: z.record(z.string(), z.unknown()) })),
  /** Removes the values of this run for `fields`; a field without one is reset to its default. Without `fields` both, for all fields. */
  "config.reset": operation<ConfigView>()(z.strictObject({ id: serviceId, fields: z.array(z.string()).optional() })),

  /** Creates the authority if there is none yet. */
  "certificate.authority": operation<AuthorityView>()(none),

  "port.check": operation<readonly PortCheck[]>()(none),

  "traffic.read": operation<TrafficPage>()(
    z.strictObject({
      id: serviceId,
      /** Only rows with a smaller id. */
      before: z.int().optional(),
      /** Of all rows that match the first ones in this order, or the first ones behind `sortedAfter`. */
      sort: rowSortSchema.optional(),
      sortedAfter: sortPlaceSchema.optional(),
      ...rowFilterFields,
      /** Only rows that belong to this one. */
      parent: z.int().optional(),
      limit: z.int().min(1).max(1_000).default(200),
    }),
  ),
  /** Those of the rows that match: for a list that gets new rows and cannot search their details itself. */
  "traffic.match": operation<readonly number[]>()(z.strictObject({ id: serviceId, rows: z.array(z.int()).max(1_000), ...rowFilterFields })),
  /** Null once it is no longer kept. */
  "traffic.detail": operation<RowDetail | null>()(z.strictObject({ id: serviceId, row: z.int() })),
  /** The parts of a row with an index of `from` or more, at most `limit` of them; without `from` the newest. Null once the row is no longer kept. */
  /** As many as the limit allows and about 1 MiB holds: `next` of the answer says where to go on. */
  "traffic.parts": operation<DetailPartPage | null>()(
    z.strictObject({
      id: serviceId,
      row: z.int(),
      from: z.int().min(0).optional(),
      limit: z.int().min(1).max(1_000).default(200),
    }),
  ),
  /** Empties the view but for the rows that are open. The rows cleared last can be restored until the next clear. */
  "traffic.clear": operation<{ readonly cleared: number; readonly left: number }>()(oneService),
  "traffic.restore": operation<{ readonly restored: number }>()(oneService),

  "log.read": operation<LogPage>()(
    z.strictObject({
      source: z.enum([...serviceIds, "backlot"]).optional(),
      /** This level and above. */
      level: z.enum(logLevels).default("debug"),
      text: searchText,
      notable: z.boolean().default(false),
      /** Only lines with a smaller `seq`. */
      before: z.int().optional(),
      limit: z.int().min(1).max(50_000).default(500),
    }),
  ),

  /** Resolves when the export has started; the topic `export` has its progress. */
  "export.start": operation<ExportStarted>()(exportRequest),
  "export.cancel": operation<null>()(z.strictObject({ id: z.int() })),

  "rate.history": operation<RateHistory>()(
    z.strictObject({ seconds: z.int().min(10).max(86_400), points: z.int().min(2).max(1_000).default(300) }),
  ),
};
export type ControlCalls = typeof controlCalls;
export type ControlCall = keyof ControlCalls;

interface CommonTopics {
  /** Newest state per service. */
  status: ServiceView;
  /** Newest sample per service. */
  rate: RateSample;
  process: ProcessSample;
  profile: Profiles;
  /** Every line, for a page that shows them. */
  log: LogLine;
  /** Only the newest line. */
  "log/newest": LogLine;
  /** Notable lines, warnings and errors. */
  "log/notable": LogLine;
  /** The newest exports, the newest first. */
  export: readonly ExportView[];
}
/** Every topic and what one of its items is. */
export type Topics = CommonTopics & { [T in `traffic/${ServiceId}`]: TrafficRow } & {
  /** Newest value per named view of a service; `contract/<service>.ts` declares their shapes. */
  [T in `view/${ServiceId}`]: ServiceDataView;
};
export type Topic = keyof Topics;

export interface ServiceDataView {
  readonly name: string;
  readonly value: unknown;
  /** The process of the running service that published it. Absent if the service was stopped, and a process read its data. */
  readonly pid?: number;
}

export interface TopicPolicy {
  readonly batchesPerSecond: number;
  /** Most items in one batch; further items are counted as dropped. */
  readonly batchItems: number;
  /** Present where only the newest item per key matters. A new subscriber first gets the newest item of every key. */
  readonly key?: (item: never) => string;
  /** Present where an item is sent again when it ends: an item that was sent as open is never dropped when it ends. */
  readonly row?: { readonly id: (item: never) => number; readonly isOpen: (item: never) => boolean };
}

const trafficRow = { id: (row: TrafficRow) => row.id, isOpen: (row: TrafficRow) => row.tone === "pending" };
const latest = <Item>(key: (item: Item) => string): TopicPolicy => ({ batchesPerSecond: 20, batchItems: 1_000, key });

export const topicPolicies: ReadonlyMap<string, TopicPolicy> = new Map<Topic, TopicPolicy>([
  ["status", { ...latest<ServiceView>((view) => view.id), batchesPerSecond: 100 }],
  ["rate", latest<RateSample>((sample) => sample.service)],
  ["process", latest<ProcessSample>(() => "")],
  ["profile", latest<Profiles>(() => "")],
  ["export", latest<readonly ExportView[]>(() => "")],
  ["log", { batchesPerSecond: 15, batchItems: 500 }],
  // A text that changes more often cannot be read.
  ["log/newest", { ...latest<LogLine>(() => ""), batchesPerSecond: 4 }],
  ["log/notable", { batchesPerSecond: 15, batchItems: 500 }],
  ...serviceIds.flatMap((id): [Topic, TopicPolicy][] => [
    [`traffic/${id}`, { batchesPerSecond: 20, batchItems: 300, row: trafficRow }],
    [`view/${id}`, latest<ServiceDataView>((view) => view.name)],
  ]),
]);
