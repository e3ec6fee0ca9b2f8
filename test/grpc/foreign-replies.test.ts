/** Reply rules for a user's protocol files, as a client of another language sees them: Python, by reflection alone. */
import { expect, it } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { python } from "./python.ts";
import { startWithRules } from "./rules.ts";
import { polled, servicesOf, write } from "./user-protos.ts";

const orders = {
  "store/types.proto": `syntax = "proto3"; package store; enum State { UNKNOWN = 0; OPEN = 1; SHIPPED = 2; }
    message Order { string id = 1; State state = 2; map<string, int64> counts = 3; oneof who { string email = 4; int64 number = 5; } }
    message OutOfStock { string sku = 1; int32 left = 2; }`,
  "store/orders.proto": `syntax = "proto3"; package store; import "store/types.proto"; import "google/protobuf/duration.proto";
    message Find { string id = 1; int64 least = 2; google.protobuf.Duration within = 3; }
    service Orders {
      rpc Get(Find) returns (Order); rpc Watch(Find) returns (stream Order);
      rpc Put(stream Order) returns (Order); rpc Talk(stream Order) returns (stream Order);
    }`,
};

interface Answered {
  readonly answers: readonly object[];
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly unknown[];
  readonly trailers?: Readonly<Record<string, string>>;
}

it("[GRPC-90] Python gets what rules answer for a user's protos: by fields, by count, a script that another call releases, rich errors", async () => {
  const folder = write(temporaryDir(), orders);
  const rules = [
    { method: "store.Orders/Get", when: { request: { id: "flaky" } }, times: 2, status: { code: "UNAVAILABLE", message: "try {{count}}" } },
    {
      method: "store.Orders/Get",
      when: { request: { id: "gone" }, metadata: { "x-user": "ada" } },
      trailers: { "x-why": "sold {{request.id}}" },
      status: {
        code: "FAILED_PRECONDITION",
        message: "größer als {{request.least}}",
        details: [
          { "@type": "store.OutOfStock", sku: "{{request.id}}", left: 3 },
          { "@type": "RetryInfo", retryDelay: "1.500s" },
        ],
      },
    },
    {
      method: "store.Orders/Get",
      when: { request: { least: { greater: "9007199254740993" }, within: { less: "10s" } } },
      reply: { id: "many", state: "SHIPPED", counts: { a: "{{request.least}}" }, number: "{{count}}" },
    },
    { method: "store.Orders/Get", when: { request: { id: "release" } }, release: "stock", reply: { id: "released" } },
    { method: "store.Orders/Get", reply: { id: "{{request.id}}!", email: "{{metadata.x-user}}" } },
    {
      method: "store.Orders/Watch",
      stream: [
        { message: { id: "first", number: "{{index}}" } },
        { waitFor: "stock" },
        { repeat: 2, steps: [{ message: { id: "again", number: "{{index}}" } }, { pause: "10ms" }] },
        { status: { code: "ABORTED", message: "no more" } },
      ],
    },
    {
      method: "store.Orders/Put",
      when: { messageCount: { greater: 1 }, anyMessage: { state: "SHIPPED" } },
      reply: { id: "{{messages[0].id}} of {{messages.length}}" },
    },
    { method: "store.Orders/Talk", when: { request: { email: { exists: true } } }, reply: { id: "mail to {{request.email}}" } },
  ];
  const service = await startWithRules(rules, { protos: [folder] });
  await polled(() => servicesOf(service)).toEqual(["store.Orders"]);
  await polled(() => service.replies().problems).toEqual([]);
  const get = (request: object, metadata: readonly (readonly string[])[] = []) => ({
    path: "store.Orders/Get",
    requests: [request],
    metadata,
  });
  const asked = [
    ...Array.from({ length: 3 }, () => get({ id: "flaky" })),
    get({ id: "gone", least: "7" }, [["x-user", "ada"]]),
    get({ id: "gone" }, [["x-user", "bob"]]),
    get({ least: "9007199254740994", within: "5s" }),
    get({ least: "9007199254740993", within: "5s" }),
    { path: "store.Orders/Watch", requests: [{}], others: [["store.Orders/Get", [{ id: "release" }]]] },
    { path: "store.Orders/Put", requests: [{ id: "a", state: "OPEN" }, { state: "SHIPPED" }] },
    { path: "store.Orders/Put", requests: [{ id: "a", state: "SHIPPED" }] },
    { path: "store.Orders/Talk", requests: [{ email: "a@b" }, { number: "5" }] },
  ];
  const got = JSON.parse(await python("rules_client.py", service.address, JSON.stringify(asked))) as readonly Answered[];
  const unavailable = (count: number) => ({ answers: [], code: "UNAVAILABLE", message: `try ${count}`, details: [], trailers: {} });
  const sample = expect.objectContaining({ id: "id" }) as unknown;
  expect(got).toEqual([
    unavailable(1),
    unavailable(2),
    { answers: [{ id: "flaky!" }] },
    {
      answers: [],
      code: "FAILED_PRECONDITION",
      message: "größer als 7",
      trailers: { "x-why": "sold gone" },
      details: [
        ["store.OutOfStock", { sku: "gone", left: 3 }],
        ["google.rpc.RetryInfo", { retryDelay: "1.500s" }],
      ],
    },
    { answers: [{ id: "gone!", email: "bob" }] },
    { answers: [{ id: "many", state: "SHIPPED", counts: { a: "9007199254740994" }, number: "1" }] },
    { answers: [{ id: "!" }] },
    {
      answers: [
        { id: "first", number: "0" },
        { id: "again", number: "1" },
        { id: "again", number: "2" },
      ],
      code: "ABORTED",
      message: "no more",
      details: [],
      trailers: {},
    },
    { answers: [{ id: "a of 2" }] },
    { answers: [sample] },
    { answers: [{ id: "mail to a@b" }, sample] },
  ]);
});

it("[GRPC-91] durations are compared as a whole, and a path into one is named as a mistake", async () => {
  const folder = write(temporaryDir(), orders);
  const rule = (when: object, id: string) => ({ method: "store.Orders/Get", when: { request: when }, reply: { id } });
  const rules = [
    rule({ "within.seconds": { less: 10 } }, "wrong"),
    rule({ within: { greater: "1.5s", less: "10s" } }, "soon"),
    rule({ within: "3600s" }, "hour"),
    rule({ within: { exists: true } }, "some time"),
  ];
  const service = await startWithRules(rules, { protos: [folder] });
  await polled(() => service.replies().rules.map(({ problem }) => problem?.message)).toEqual([
    'rules[0].when.request["within.seconds"]: within is a google.protobuf.Duration: in JSON it is one value without fields',
    ...[undefined, undefined, undefined],
  ]);
  const asked = ["1.500s", "1.501s", "9s", "10s", "3600s"].map((within) => ({ path: "store.Orders/Get", requests: [{ within }] }));
  const got = JSON.parse(await python("rules_client.py", service.address, JSON.stringify(asked))) as readonly Answered[];
  expect(got.map(({ answers }) => answers)).toEqual(["some time", "soon", "soon", "some time", "hour"].map((id) => [{ id }]));
});
