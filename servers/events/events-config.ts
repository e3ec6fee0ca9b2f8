import { z } from "zod";
import { commonFields, field, portField, redisAddressField, wholeNumber } from "../core/config/common-fields.ts";
import { httpLimitFields, httpsFields, proxyFields } from "../core/http/messages/http-fields.ts";
import { databasePlace } from "./store/database-place.ts";

function checkDatabase(text: string, context: z.RefinementCtx): void {
  const place = databasePlace(text);
  if (place.kind === "unknown") context.addIssue({ code: "custom", message: place.problem });
}

const requests = (standard: number, what: string, env: string) =>
  field(wholeNumber(1, 100_000, standard), {
    title: `${what}: requests`,
    help: "From one address within the window.",
    env,
    group: "Rate limits",
  });
const windowSeconds = (standard: number, what: string, env: string) =>
  field(wholeNumber(1, 86_400, standard), { title: `${what}: window`, help: "A sliding window.", unit: "s", env, group: "Rate limits" });

export const eventsConfig = z.strictObject({
  port: portField(8082, { title: "Port", env: "EVENTS_PORT" }),
  ...httpsFields({ prefix: "EVENTS", port: 8446 }),
  ...commonFields("events"),

  database: field(z.string().max(1_000).superRefine(checkDatabase).default(""), {
    title: "Database",
    help: "A file, file:///path, or postgres://user:password@host/database. Empty is events.db in the data folder.",
    env: "EVENTS_DB",
    group: "Storage",
    address: true,
  }),
  maxMebibytes: field(wholeNumber(0, 1_048_576, 0), {
    title: "Largest file",
    help: "A file that would grow beyond it counts as a full disk; 0 is no limit.",
    unit: "MiB",
    env: "EVENTS_MAX_MEBIBYTES",
    group: "Storage",
  }),
  databaseSeconds: field(wholeNumber(1, 3_600, 10), {
    title: "Answer of PostgreSQL",
    help: "How long a statement may take. Its connection counts as lost then: clients get 503, and the next statement has a new one.",
    unit: "s",
    env: "EVENTS_DB_SECONDS",
    group: "Storage",
  }),

  rateLimits: field(z.boolean().default(true), {
    title: "Rate limits",
    help: "Off for load tests: every request is accepted.",
    env: "EVENTS_RATE_LIMITS",
    group: "Rate limits",
  }),
  postRequests: requests(200, "POST /events", "EVENTS_POST_REQUESTS"),
  postSeconds: windowSeconds(10, "POST /events", "EVENTS_POST_SECONDS"),
  readRequests: requests(60, "GET /events", "EVENTS_READ_REQUESTS"),
  readSeconds: windowSeconds(60, "GET /events", "EVENTS_READ_SECONDS"),
  statsRequests: requests(60, "GET /stats", "EVENTS_STATS_REQUESTS"),
  statsSeconds: windowSeconds(60, "GET /stats", "EVENTS_STATS_SECONDS"),
  rateLimitRedis: redisAddressField({
    title: "Shared limits",
    help: "redis://host:6379 makes several instances share their limits; empty keeps them in this process.",
    env: "RATE_LIMIT_REDIS",
    group: "Rate limits",
  }),
  ...proxyFields({ prefix: "EVENTS", group: "Rate limits" }),
  ...httpLimitFields({ prefix: "EVENTS", body: { minimum: 1_024, maximum: 16 << 20, standard: 16_384 } }),
});
export type EventsConfig = z.output<typeof eventsConfig>;
