/** Exports: any number of items, from where they are kept into a file of the user's choice, part by part. */
import { z } from "zod";
import { logLevels } from "./log.ts";
import { operation } from "./operation.ts";
import { type Failure, serviceIds } from "./service.ts";
import { rowFilterFields } from "./traffic/row-filter.ts";

/** At most some hundred kilobytes: a whole part is held in memory. */
export interface ExportPart {
  readonly text: string;
  /** Rows, messages or lines in it. */
  readonly items: number;
  /** Pass it as `after` to get the next part; absent in the last one. */
  readonly next?: string;
  /** Items in all; in the first part, where it is known. */
  readonly total?: number;
}

/** An action of a service that gives an export part by part. */
export const exportAction = <Shape extends z.ZodRawShape>(shape: Shape) =>
  operation<ExportPart>()(z.strictObject({ ...shape, after: z.string().max(100).optional() }));

/** HAR 1.2 of the HTTP exchanges among the rows, or one JSON object a line with each row and its detail. */
const trafficFormats = ["har", "jsonl"] as const;
export type TrafficFormat = (typeof trafficFormats)[number];

export const exportSource = z.discriminatedUnion("kind", [
  /** One of a service's `exportAction`s. */
  z.strictObject({
    kind: z.literal("action"),
    id: z.enum(serviceIds),
    action: z.string().max(100),
    params: z.record(z.string(), z.unknown()).default({}),
  }),
  /** What the supervisor keeps of the log. */
  z.strictObject({
    kind: z.literal("log"),
    source: z.enum([...serviceIds, "backlot"]).optional(),
    level: z.enum(logLevels).default("debug"),
    text: z.string().max(500).default(""),
  }),
  /** Recorded rows of services, the oldest first, as filtered. */
  z.strictObject({
    kind: z.literal("traffic"),
    ids: z.array(z.enum(serviceIds)).min(1).max(serviceIds.length),
    ...rowFilterFields,
    format: z.enum(trafficFormats),
    /** Without it the values of header fields with credentials are masked. */
    credentials: z.boolean().default(false),
  }),
]);
export type ExportSource = z.output<typeof exportSource>;

export const exportRequest = z.strictObject({
  source: exportSource,
  /** Offered to the user: "events.csv". */
  name: z
    .string()
    .max(100)
    .regex(/^\w[\w.-]*$/),
  /** One of its items: "event". */
  item: z.string().min(1).max(20),
});

export interface ExportStarted {
  readonly id: number;
  /** Browser shell: the one-time URL of the download. On the desktop the user is asked for a file instead. */
  readonly link?: string;
}

export interface ExportView {
  readonly id: number;
  readonly name: string;
  readonly item: string;
  /** `waiting`: for the browser to fetch it, or for the user to choose a file. */
  readonly state: "waiting" | "running" | "done" | "cancelled" | "failed";
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly items: number;
  readonly total?: number;
  readonly bytes: number;
  /** Desktop: where it is written. */
  readonly file?: string;
  readonly failure?: Failure;
}

/** Prefix of the control server's paths for export downloads. */
export const exportPath = "/export/";
