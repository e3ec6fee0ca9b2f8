/** Two small services that send binary items to pages, and streams to each other. */
import { createServer } from "node:net";
import { z } from "zod";
import { binaryTopic } from "../../contract/binary.ts";
import { operation } from "../../contract/operation.ts";
import { provided, providedStream } from "../../contract/provided.ts";
import type { ServiceId } from "../../contract/service.ts";
import { commonFields, portField } from "../../servers/core/config/common-fields.ts";
import { listenTcp } from "../../servers/core/net/tcp-listener.ts";
import { defineService } from "../../servers/core/service/service.ts";
import { ServiceError, toFailure } from "../../servers/core/service/service-error.ts";

const fixtureBinary = {
  /** Any item may follow a gap. */
  samples: binaryTopic<{ readonly n: number }>()({ windowBytes: 100_000, windowItems: 10, resume: "any" }),
  /** Only a key item may. */
  picture: binaryTopic<{ readonly n: number }>()({ windowBytes: 100_000, windowItems: 10, resume: "key" }),
};

const providedBy = (service: ServiceId) =>
  provided({
    service,
    calls: {
      echo: operation<{ readonly value: string; readonly by: number }>()(z.strictObject({ value: z.string().max(100) })),
      refuse: operation<null>()(z.strictObject({})),
      hang: operation<null>()(z.strictObject({})),
      state: operation<StreamState>()(z.strictObject({})),
    },
    streams: {
      /** So many items of so many bytes; fails behind the last one where told to. */
      numbers: providedStream<{ readonly n: number }>()(
        z.strictObject({ items: z.int(), bytes: z.int().default(0), fails: z.boolean().default(false) }),
      ),
      /** Sends without end and drops what the reader has no credit for. */
      live: providedStream<{ readonly n: number }>()(z.strictObject({ bytes: z.int() })),
    },
  });

export interface StreamState {
  readonly sent: number;
  readonly sentBytes: number;
  readonly dropped: number;
  readonly open: number;
  readonly aborted: number;
}

const peer = z.enum(["rtsp", "webrtc"]);

const fixtureStreamActions = {
  /** Publishes so many items of so many bytes, each `keyEvery`-th of them a key item; the number of pages that want the source. */
  publish: operation<{ readonly wanted: boolean; readonly changes: readonly (readonly [string, number])[] }>()(
    z.strictObject({
      topic: z.enum(["samples", "picture"]),
      source: z.string(),
      items: z.int(),
      bytes: z.int(),
      keyEvery: z.int().default(1),
      /** The bytes are a part of a larger buffer. */
      from: z.int().default(0),
    }),
  ),
  call: operation<unknown>()(
    z.strictObject({ service: peer, name: z.enum(["echo", "refuse", "hang", "state"]), value: z.string().optional() }),
  ),
  /** Reads so many items, then leaves; or all where 0. */
  read: operation<{ readonly items: readonly number[]; readonly bytes: number; readonly failure?: string; readonly code?: string }>()(
    z.strictObject({
      service: peer,
      stream: z.enum(["numbers", "live"]),
      items: z.int().default(0),
      bytes: z.int().default(0),
      fails: z.boolean().default(false),
      leaveAfter: z.int().default(0),
      pauseMs: z.int().default(0),
    }),
  ),
  /** Opens a stream and takes nothing of it. */
  hold: operation<null>()(z.strictObject({ service: peer, bytes: z.int() })),
  exit: operation<null>()(z.strictObject({})),
};

const streamFixture = (id: "rtsp" | "webrtc") =>
  defineService({
    id,
    title: `Stream ${id}`,
    purpose: "Tests of binary items and of streams between services",
    rateUnit: "item/s",
    config: z.strictObject({ port: portField(0, { title: "Port", env: `${id.toUpperCase()}_PORT` }), ...commonFields(id) }),
    details: {},
    actions: fixtureStreamActions,
    binary: fixtureBinary,
    provides: providedBy(id),
    ports: [{ field: "port", transport: "tcp" }],
    endpoints: ({ port }) => [{ label: "TCP", url: `tcp://127.0.0.1:${port}` }],
    snippets: () => [],
    async start({ config, onStop, handle, provide, binary, services }) {
      const port = await listenTcp({ port: config.port, openToLan: false, createServer: () => createServer(), onStop });
      const topics = { samples: binary("samples"), picture: binary("picture") };
      const changes: (readonly [string, number])[] = [];
      for (const topic of Object.values(topics)) topic.onSubscribers((source, count) => changes.push([source, count]));
      const state = { sent: 0, sentBytes: 0, dropped: 0, open: 0, aborted: 0 };

      provide({
        calls: {
          echo: ({ value }) => ({ value, by: process.pid }),
          refuse: () => {
            throw new ServiceError("STORE_FULL", "refused by the fixture", "Ask for something else.");
          },
          hang: () => new Promise(() => {}),
          state: () => ({ ...state }),
        },
        streams: {
          async numbers({ items, bytes, fails }, stream) {
            state.open++;
            try {
              for (let n = 1; n <= items; n++) {
                await stream.send({ n }, bytes > 0 ? new Uint8Array(bytes).fill(n % 256) : undefined);
                state.sent++;
                state.sentBytes += bytes;
              }
              if (fails) throw new ServiceError("STORE_FULL", "the stream broke", "Open it again.");
            } finally {
              state.open--;
              if (stream.signal.aborted) state.aborted++;
            }
          },
          async live({ bytes }, stream) {
            state.open++;
            for (let n = 1; !stream.signal.aborted; n++) {
              if (stream.trySend({ n }, new Uint8Array(bytes))) state.sent++;
              else state.dropped++;
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
            state.open--;
            state.aborted++;
          },
        },
      });

      handle({
        publish({ topic, source, items, bytes, keyEvery, from }) {
          const buffer = new Uint8Array(bytes + from);
          for (let n = 1; n <= items; n++) {
            topics[topic].publish(source, { header: { n }, payload: buffer.fill(n % 256).subarray(from), isKey: n % keyEvery === 0 });
          }
          return { wanted: topics[topic].isWanted(source), changes };
        },
        call: ({ service, name, value = "" }) =>
          name === "echo" ? services.call(providedBy(service), name, { value }) : services.call(providedBy(service), name, {}),
        async read({ service, stream: name, items, bytes, fails, leaveAfter, pauseMs }) {
          const stream =
            name === "numbers"
              ? services.open(providedBy(service), name, { items, bytes, fails }, { items: 8, bytes: 10_000 })
              : services.open(providedBy(service), name, { bytes }, { items: 8, bytes: 10_000 });
          const read: number[] = [];
          let readBytes = 0;
          try {
            for await (const { header, payload } of stream) {
              read.push(header.n);
              readBytes += payload?.length ?? 0;
              if (read.length === leaveAfter) break;
              if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
            }
          } catch (error) {
            const { message, code } = toFailure(error);
            return { items: read, bytes: readBytes, failure: message, code };
          }
          return { items: read, bytes: readBytes };
        },
        hold({ service, bytes }) {
          services.open(providedBy(service), "live", { bytes }, { items: 8, bytes: 10_000 });
          return null;
        },
        exit: () => process.exit(3),
      });
      return [{ label: "TCP", url: `tcp://127.0.0.1:${port}` }];
    },
  });

export const streamFixtures = [streamFixture("rtsp"), streamFixture("webrtc")];
