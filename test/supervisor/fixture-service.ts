import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { z } from "zod";
import { exportAction } from "../../contract/export.ts";
import { logLevels } from "../../contract/log.ts";
import { operation } from "../../contract/operation.ts";
import type { ServiceId } from "../../contract/service.ts";
import type { Tone } from "../../contract/traffic/row.ts";
import { commonFields, field, portField } from "../../servers/core/config/common-fields.ts";
import { listenTcp } from "../../servers/core/net/tcp-listener.ts";
import { defineService, notQueued, refusedActions, type TrafficEntry } from "../../servers/core/service/service.ts";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import { RecordReader } from "../../servers/core/traffic/record-reader.ts";
import type { KeptRecord } from "../../servers/core/traffic/row-record.ts";

const none = z.strictObject({});

const actions = {
  echo: operation<unknown>()(z.strictObject({ value: z.string() })),
  /** Throws a ServiceError. */
  refuse: operation<null>()(none),
  hang: operation<null>()(none),
  /** Logs a line and throws where nobody catches. */
  crash: operation<null>()(none),
  exit: operation<null>()(z.strictObject({ code: z.int() })),
  /** Never gives the event loop back. */
  spin: operation<null>()(none),
  flood: operation<null>()(z.strictObject({ rows: z.int(), logs: z.int() })),
  /** One row, pending. */
  open: operation<{ readonly row: number }>()(none),
  log: operation<null>()(z.strictObject({ level: z.enum(logLevels), text: z.string() })),
  print: operation<null>()(z.strictObject({ text: z.string() })),
  /** As Node warns of an API of its own. */
  deprecate: operation<null>()(z.strictObject({ text: z.string() })),
  view: operation<null>()(z.strictObject({ name: z.string(), value: z.unknown() })),
  /** As the sample traffic of a service, with a parameter. */
  "sample.start": operation<null>()(z.strictObject({ rate: z.int().default(1) })),
  /** So many parts of so many bytes; throws instead of the last where told to. */
  parts: exportAction({ parts: z.int(), bytes: z.int().default(10), fails: z.boolean().default(false) }),
};

/** A small service that behaves as badly as its configuration and its actions tell it to. */
export const fixtureService = (id: ServiceId) =>
  defineService({
    id,
    title: `Fixture ${id}`,
    purpose: "Tests of the supervisor",
    rateUnit: "row/s",
    config: z.strictObject({
      port: portField(0, { title: "Port", env: `${id.toUpperCase()}_PORT` }),
      ...commonFields(id),
      starts: field(z.enum(["well", "never", "fails", "crashes", "crashes-again"]).default("well"), {
        title: "How it starts",
        env: "HTTP_STARTS",
      }),
      stops: field(z.enum(["well", "never", "throws"]).default("well"), { title: "How it stops" }),
      label: field(z.string().default("plain"), { title: "Label", env: "LABEL" }),
      password: field(z.string().default(""), { title: "Password", env: `${id.toUpperCase()}_PASSWORD`, secret: true }),
    }),
    actions,
    details: {
      // What was written last.
      "mqtt-event": async () => ({
        detail({ row: { id, at }, detail }) {
          const reader = new RecordReader(detail);
          let text = "";
          while (!reader.atEnd) text = reader.text();
          return { kind: "mqtt-event", id, at, clientId: "fixture", text };
        },
        withoutCredentials: (exported) => exported,
      }),
    },
    ports: [{ field: "port", transport: "tcp" }],
    keepsFiles: ({ starts }) => starts === "crashes-again",
    endpoints({ port, label }) {
      if (label === "switched off") return [];
      return [{ label: "TCP", url: label === "turn" ? `turn:127.0.0.1:${port}?transport=udp` : `tcp://127.0.0.1:${port}` }];
    },
    resumes: (views) =>
      views.has("goes on") ? [{ action: "log", params: { level: "info", text: `goes on with ${views.get("goes on")}` } }] : [],
    snippets: ([endpoint]) => [{ label: "nc", language: "shell", text: `nc ${endpoint?.url}` }],
    async start({ config, dataDir, log, traffic, onStop, onPagesLeft, handle, view, counters }) {
      onStop(() => log.info("released first"));
      const port = await listenTcp({ port: config.port, openToLan: config.openToLan, createServer: () => createServer(), onStop });
      onStop(() => log.info("released second"));
      onPagesLeft((why) => log.info(`left: ${why}`));
      if (config.stops === "throws") {
        onStop(() => {
          throw new Error("release refused");
        });
      }
      if (config.stops === "never") onStop(() => new Promise<void>(() => {}));
      log.info(`starting with label ${config.label}`);
      switch (config.starts) {
        case "never":
          await new Promise(() => setInterval(() => {}, 60_000));
          break;
        case "fails":
          throw new ServiceError("CONFIG_INVALID", "This fixture fails", "Let it start well.");
        case "crashes":
          crashSoon();
          await new Promise(() => {});
          break;
        case "crashes-again": {
          const marker = path.join(dataDir(), "started-before");
          if (existsSync(marker)) {
            crashSoon();
            await new Promise(() => {});
          }
          writeFileSync(marker, "");
          break;
        }
        case "well":
          break;
        default:
          config.starts satisfies never;
      }
      let rows = 0;
      const figures = () => [
        { label: "made", value: 10 * rows, unit: "part/s", perSecond: true },
        { label: "rows in all", value: rows, unit: "" },
      ];
      counters(() => ({ items: rows, bytesIn: 0, bytesOut: 0, clients: 0, figures: figures(), note: "" }));
      const newRow = (tone: Tone): TrafficEntry => {
        rows++;
        return fixtureEntry(traffic.nextId(), () => tone);
      };
      handle({
        echo: ({ value }) => ({ value, label: config.label }),
        refuse: () => {
          throw new ServiceError("SERVICE_UNKNOWN", "refused by the fixture", "Ask for something else.");
        },
        hang: () => new Promise(() => {}),
        crash() {
          log.warning("about to crash");
          crashSoon();
          return null;
        },
        exit: ({ code }) => process.exit(code),
        spin() {
          for (;;);
        },
        flood({ rows, logs }) {
          for (let index = 0; index < rows; index++) traffic.touch(newRow("ok"));
          for (let index = 0; index < logs; index++) log.info(`flood ${index}`);
          return null;
        },
        open() {
          const entry = newRow("pending");
          traffic.touch(entry);
          return { row: entry.id };
        },
        log({ level, text }) {
          log[level](text);
          return null;
        },
        deprecate({ text }) {
          process.emitWarning(text, "DeprecationWarning", "DEP0169");
          return null;
        },
        print({ text }) {
          process.stdout.write(text);
          return null;
        },
        view({ name, value }) {
          view(name, value as never);
          return null;
        },
        "sample.start"({ rate }) {
          log.info(`sample traffic at ${rate}`);
          view("sample", { running: true, params: { rate } } as never);
          return null;
        },
        parts({ parts, bytes, fails, after = "1" }) {
          const part = Number(after);
          if (fails && part === parts) throw new ServiceError("SERVICE_UNKNOWN", "the export broke", "SuggestedFix the fixture.");
          const text = `${after.padEnd(bytes - 1, ".")}\n`;
          return { text, items: 1, ...(part === 1 && { total: parts }), ...(part < parts && { next: String(part + 1) }) };
        },
      });
      return [{ label: "TCP", url: `tcp://127.0.0.1:${port}` }];
    },
    // One of them keeps something that can be looked at while it is stopped.
    ...(id === "events" && {
      browse: {
        fields: ["label"],
        async open({ config, handle, kept, view }: FixtureBrowsing) {
          view("label", config.label);
          const rows: string[] = [];
          for await (const { row, detail } of kept) rows.push(`${row.service} ${row.id} ${row.tone} ${detail.length}`);
          handle({
            ...refusedActions(actions, "The fixture"),
            echo: ({ value }: { value: string }) => ({ value, browsed: process.pid, label: config.label, rows }),
            hang: () => new Promise(() => {}),
          } as never);
        },
      },
    }),
  });

interface FixtureBrowsing {
  readonly config: { readonly label: string };
  readonly kept: AsyncIterable<KeptRecord>;
  handle(handlers: never): void;
  view(name: string, value: unknown): void;
}

const crashSoon = () =>
  setImmediate(() => {
    throw new Error("fixture crashed");
  });

export function fixtureEntry(id: number, tone: () => Tone, heldBytes = 100): TrafficEntry {
  return {
    id,
    heldBytes,
    queueSlot: notQueued,
    isAnnounced: false,
    get open() {
      return tone() === "pending";
    },
    write(record) {
      record.row({
        id,
        at: 0,
        kind: "mqtt-event",
        verb: "GET",
        target: `/${id}`,
        tone: tone(),
        outcome: tone() === "pending" ? "" : "200",
        bytesIn: 0,
        bytesOut: 0,
        client: "fixture",
        peer: "127.0.0.1:1",
        preview: "",
      });
      record.text(tone());
    },
  };
}

export const fixtureServices = [fixtureService("http"), fixtureService("mqtt"), fixtureService("events")];
