import { fromBinary } from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import type { ReplyCount } from "../../contract/services/grpc-replies.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { clientMessage, serverResponse } from "../../servers/grpc/services/example-messages.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { body, openStream } from "./calls.ts";
import { framed, rawRequest } from "./raw-call.ts";
import { bothWays, clientStream, sayHello, startWithRules, streamData, subscribe } from "./rules.ts";
import { servicesOf, write } from "./user-protos.ts";

const greeter = (name: string) => `example.Greeter/${name}`;

it("[GRPC-90] the first rule that matches answers, before the method's own handler, in each pattern; without one the handler does", async () => {
  const service = await startWithRules([
    { method: greeter("SayHello"), when: { request: { name: "Ada" } }, reply: { message: "first" } },
    { method: greeter("SayHello"), when: { request: { name: { matches: "^A" } } }, reply: { message: "second" } },
    { method: greeter("StreamData"), stream: [{ message: { id: 7, value: "ruled" } }, { message: { id: 8 } }] },
    { method: greeter("ClientStream"), reply: { response: "ruled" } },
    { method: greeter("BidirectionalStream"), reply: { response: "ruled" } },
    { method: "example.EchoService/*", status: "ABORTED" },
  ]);
  const hello = async (name: string) => (await sayHello(service, name)).replies;
  expect(await hello("Ada")).toEqual([{ message: "first", status: 0 }]);
  expect(await hello("Alan")).toEqual([{ message: "second", status: 0 }]);
  expect(await hello("Bob")).toEqual([{ message: "Hello, Bob from backlot!", status: 200 }]);
  expect((await streamData(service)).replies.map(({ id, value }) => [id, value])).toEqual([
    [7, "ruled"],
    [8, ""],
  ]);
  expect((await clientStream(service, ["a", "b"])).replies).toMatchObject([{ response: "ruled" }]);
  expect((await bothWays(service, ["a", "b"])).replies).toMatchObject([{ response: "ruled" }, { response: "ruled" }]);
  expect((await service.act("replies.read")).revision).toBe(1);
  expect(service.replies()).toMatchObject({ problems: [], isConfigured: true, file: service.file });
  await service.rules([]);
  expect(await hello("Ada")).toEqual([{ message: "Hello, Ada from backlot!", status: 200 }]);
});

it("[GRPC-160] a call names the rules that had a part in it, each once, while it is open too", async () => {
  const service = await startWithRules([
    { name: "Ada", method: greeter("SayHello"), when: { request: { name: "Ada" } }, reply: { message: "first" } },
    { method: greeter("BidirectionalStream"), when: { request: { message: "a" } }, reply: { response: "ruled" } },
    { name: "others", method: greeter("BidirectionalStream"), reply: { response: "others" } },
  ]);
  await sayHello(service, "Ada");
  await sayHello(service, "Bob");
  const hello = await until(() => service.rows().length === 2 && service.rows().every(({ tone }) => tone !== "pending") && service.rows());
  expect(hello.map(({ id }) => service.detail(id).rules)).toEqual([[{ key: "Ada", name: "Ada" }], undefined]);
  const stream = openStream(service.client(), `/${greeter("BidirectionalStream")}`);
  for (const message of ["b", "a", "b"]) stream.write(body(clientMessage.frame({ clientId: "t", message, sequence: 1 })));
  const open = await until(() => service.rows().find(({ parts }) => parts === 6));
  expect(service.detail(open.id).rules?.map(({ name }) => name)).toEqual(["others", greeter("BidirectionalStream")]);
  stream.cancel();
});

it("[GRPC-99] the handler's answer to a message comes behind the reply of a rule to the one before", async () => {
  const service = await startWithRules([
    { method: greeter("BidirectionalStream"), when: { request: { message: "a" } }, delay: "50ms", reply: { response: "ruled" } },
  ]);
  const { replies } = await bothWays(service, ["a", "b", "a", "b"]);
  const isRuled = replies.map((reply) => (reply as { readonly response?: string }).response === "ruled");
  expect([isRuled[0], isRuled.indexOf(true, 1) > 1, isRuled.filter((ruled) => ruled).length]).toEqual([true, true, 2]);
});

it("[GRPC-91] conditions look at fields by their paths: equals, matches, contains, exists, greater and less, 64-bit numbers too", async () => {
  const subscribeRule = (test: unknown, value: string) => ({
    method: "example.StreamService/Subscribe",
    when: { request: { from_position: test } },
    stream: [{ message: { value } }],
  });
  const service = await startWithRules([
    subscribeRule({ equals: 9_007_199_254_740_000 }, "equal"),
    subscribeRule({ greater: 100, less: "200" }, "between"),
    subscribeRule({ greater: 1_000 }, "above"),
    { method: "example.ChatService/Chat", when: { request: { "join.room": { exists: true } } }, reply: { room: "{{request.join.room}}" } },
    { method: greeter("SayHello"), when: { request: { name: { contains: "ö", matches: "^.{3,5}$" } } }, reply: { message: "umlaut" } },
    { method: greeter("SayHello"), when: { request: { name: "" } }, reply: { message: "nobody" } },
    { method: greeter("SayHello"), when: { request: { name: "1.0" } }, reply: { message: "as text" } },
  ]);
  const at = async (fromPosition: number) => (await subscribe(service, { fromPosition })).replies[0]?.value;
  expect(await at(9_007_199_254_740_000)).toBe("equal");
  expect(await at(150)).toBe("between");
  expect(await at(100)).toBe("item-100");
  expect(await at(5_000)).toBe("above");
  const hello = async (name: string) => (await sayHello(service, name)).replies[0]?.message;
  expect([await hello("1.0"), await hello("1")]).toEqual(["as text", "Hello, 1 from backlot!"]);
  expect([await hello("Jörg"), await hello("Jörg-Peter"), await hello("")]).toEqual([
    "umlaut",
    "Hello, Jörg-Peter from backlot!",
    "nobody",
  ]);
});

it("[GRPC-92] conditions look at metadata: one of the values fulfils them, or there is none", async () => {
  const service = await startWithRules([
    {
      method: greeter("SayHello"),
      when: { metadata: { "x-tenant": "a", "x-raw-bin": { exists: true } } },
      reply: { message: "{{metadata.x-raw-bin}}" },
    },
    { method: greeter("SayHello"), when: { metadata: { "X-Tenant": { contains: "b" } } }, reply: { message: "b" } },
    { method: greeter("SayHello"), when: { metadata: { "x-tenant": { exists: false } } }, reply: { message: "none" } },
  ]);
  const hello = async (metadata: Record<string, string | Buffer | readonly string[]>) =>
    (await sayHello(service, "x", { metadata })).replies[0]?.message;
  expect(await hello({ "x-tenant": "a", "x-raw-bin": Buffer.from([1, 2, 3]) })).toBe("AQID");
  expect(await hello({ "x-tenant": ["c", "ab"] })).toBe("b");
  expect(await hello({})).toBe("none");
  expect(await hello({ "x-tenant": "a" })).toBe("Hello, x from backlot!");
});

it("[GRPC-93] a client's stream is matched when it has ended, by its last message, any, every one or their number; the handler gets all of it", async () => {
  const rule = (when: object, response: string) => ({ method: greeter("ClientStream"), when, reply: { response } });
  const service = await startWithRules(
    [
      rule({ messageCount: { greater: 3 } }, "many: {{messages.length}}, first {{messages[0].message}}"),
      rule({ request: { message: "last" } }, "last"),
      rule({ anyMessage: { message: "any", sequence: "1.0" } }, "any"),
      rule({ everyMessage: { message: { matches: "^e" } } }, "every"),
    ],
    { replyHeldBytes: 1_024 },
  );
  const send = async (...texts: string[]) => (await clientStream(service, texts)).replies[0]?.response;
  expect(await send("a", "b", "c", "d")).toBe("many: 4, first a");
  expect(await send("x", "last")).toBe("last");
  expect(await send("any", "x")).toBe("any");
  expect(await send("e1", "e2")).toBe("every");
  expect(await send("x", "any")).toBe("Received 2 messages");
  expect((await clientStream(service, ["x".repeat(2_000)])).status).toMatchObject({
    code: 8,
    details: expect.stringContaining("1024 bytes"),
  });
});

it("[GRPC-94] answers change with the count of matches: the first N, each Nth, a delay that falls by a step", async () => {
  const service = await startWithRules([
    { name: "fails", method: greeter("SayHello"), times: 2, status: { code: "UNAVAILABLE", message: "try {{count}}" } },
    { name: "third", method: greeter("SayHello"), every: 3, reply: { message: "third" } },
    { name: "slow", method: greeter("SayHello"), delay: { from: "2s", step: "-1900ms", least: "20ms" }, reply: { message: "{{count}}" } },
  ]);
  const hello = async () => {
    const { replies, status } = await sayHello(service, "x");
    return replies[0]?.message ?? `${status.code} ${status.details}`;
  };
  expect([await hello(), await hello()]).toEqual(["14 try 1", "14 try 2"]);
  const timed = async () => {
    const startedAt = performance.now();
    const message = await hello();
    return [message, performance.now() - startedAt] as const;
  };
  const ended: string[] = [];
  const noted = async () => {
    const result = await timed();
    ended.push(result[0]);
    return result;
  };
  const slow = noted();
  // Calls of two connections may be in any order.
  await until(() => service.rows().some(({ id, tone }) => tone === "pending" && service.detail(id).rules));
  const [first, second] = await Promise.all([slow, noted()]);
  expect(ended).toEqual(["2", "1"]);
  expect([first[0], second[0], await hello(), await hello()]).toEqual(["1", "2", "third", "3"]);
  expect(first[1]).toBeGreaterThan(1_995);
  expect(second[1]).toBeGreaterThan(95);
  const counts = await until(() => {
    const view = service.views.get("replyCounts") as { counts: readonly ReplyCount[] } | undefined;
    return view?.counts.some(({ key, matched }) => key === "slow" && matched === 3) && view.counts;
  });
  expect(counts.map(({ key, matched, answered }) => [key, matched, answered])).toEqual([
    ["fails", 6, 2],
    ["third", 4, 1],
    ["slow", 3, 3],
  ]);
});

it("[GRPC-95] placeholders take values of the request, metadata and the match; a text that is one placeholder keeps its type", async () => {
  const service = await startWithRules([
    {
      method: "example.StreamService/Subscribe",
      stream: [
        {
          message: {
            position: "{{request.fromPosition}}",
            value: "{{index}} of {{request.count}}, {{ count }}: {{metadata.x-user}}{{'{{'}}",
            timestamp: "{{now}}",
          },
        },
        { message: { position: "{{nowMs}}", value: "{{uuid}}", payload: "{{metadata.x-raw-bin}}" } },
        { message: { value: "{{index}}", timestamp: "{{metadata.x-none}}" } },
      ],
    },
    {
      method: "example.ChatService/Chat",
      reply: { room: "{{request.join.room}}", presence: { members: ["{{request.join.name}}", "you"] } },
    },
    { method: greeter("SayHello"), reply: "{{request}}" },
  ]);
  const { replies } = await subscribe(
    service,
    { fromPosition: 12, count: 5 },
    { metadata: { "x-user": "ada", "x-raw-bin": Buffer.from("hi") } },
  );
  expect(replies[0]).toMatchObject({ position: 12, value: "0 of 5, 1: ada{{", timestamp: expect.stringMatching(/^\d{4}-.*Z$/) });
  expect(replies[1]).toMatchObject({ value: expect.stringMatching(/^[0-9a-f-]{36}$/), payload: Buffer.from("hi") });
  expect(Math.abs((replies[1]?.position ?? 0) - Date.now())).toBeLessThan(10_000);
  expect(replies[2]).toMatchObject({ value: "2", timestamp: "" });
  // A HelloRequest has no fields of HelloReply but those that it has by name.
  expect((await sayHello(service, "x")).status).toMatchObject({ code: 13, details: expect.stringContaining("HelloReply") });
});

it("[GRPC-96] a script sends messages with pauses and repeats, and ends with a status, details and trailers", async () => {
  const service = await startWithRules([
    {
      method: greeter("StreamData"),
      headers: { "x-head": "{{request.prefix}}" },
      trailers: { "x-tail": ["a", "b"], "x-tail-bin": "AQI=" },
      stream: [
        { message: { id: "{{index}}" } },
        { pause: "60ms" },
        { repeat: 2, steps: [{ messages: [{ id: "{{index}}" }, { id: "{{index}}", value: "two" }] }, { pause: "20ms" }] },
        {
          status: {
            code: "RESOURCE_EXHAUSTED",
            message: "no more for {{request.prefix}}",
            details: [{ "@type": "RetryInfo", retryDelay: "2s" }],
          },
        },
      ],
    },
  ]);
  const startedAt = performance.now();
  const { replies, headers, status } = await streamData(service, { prefix: "p" });
  expect(performance.now() - startedAt).toBeGreaterThan(95);
  expect(replies.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
  expect(headers?.get("x-head")).toEqual(["p"]);
  expect(status).toMatchObject({ code: 8, details: "no more for p" });
  expect(status.metadata.get("x-tail")).toEqual(["a, b"]);
  expect(status.metadata.get("x-tail-bin")).toEqual([Buffer.from([1, 2])]);
  expect(status.metadata.get("grpc-status-details-bin").length).toBe(1);
  await service.rules([
    { method: greeter("StreamData"), stream: [{ repeat: "until the client leaves", steps: [{ message: {} }, { pause: "10ms" }] }] },
  ]);
  const endless = await streamData(service, {}, { deadlineMs: 300 });
  expect(endless.status.code).toBe(4);
  expect(endless.replies.length).toBeGreaterThan(5);
  expect(endless.replies.length).toBeLessThan(32);
});

it("[GRPC-97] a script waits until another call or the page releases it, and the page sees who waits", async () => {
  const service = await startWithRules([
    { method: greeter("StreamData"), stream: [{ message: { id: 1 } }, { waitFor: "go" }, { message: { id: 2 } }] },
    { method: greeter("SayHello"), when: { request: { name: "hold" } }, waitFor: "answer", reply: { message: "at last" } },
    { method: greeter("SayHello"), when: { request: { name: "release" } }, release: "go", reply: { message: "released" } },
  ]);
  const two = Promise.all([streamData(service), streamData(service)]);
  const waiting = await until(() => service.waiting().length === 2 && service.waiting());
  expect(waiting[0]).toMatchObject({ name: "go", path: "/example.Greeter/StreamData", row: expect.any(Number) });
  await sayHello(service, "release");
  for (const { replies } of await two) expect(replies.map(({ id }) => id)).toEqual([1, 2]);
  const held = sayHello(service, "hold");
  const [one] = await until(() => service.waiting().length === 1 && service.waiting());
  expect(await service.act("reply.release", { name: "answer", id: (one?.id ?? 0) + 1 })).toEqual({ released: 0 });
  expect(await service.act("reply.release", { name: "answer", id: one?.id })).toEqual({ released: 1 });
  expect((await held).replies[0]?.message).toBe("at last");
  // One that leaves waits no more.
  expect((await sayHello(service, "hold", { deadlineMs: 100 })).status.code).toBe(4);
  await until(() => service.waiting().length === 0);
});

it("[GRPC-98] a status has a code by name or number, a message, and details of any served type", async () => {
  const service = await startWithRules([
    { method: greeter("SayHello"), when: { request: { name: "number" } }, status: 7 },
    {
      method: greeter("SayHello"),
      status: {
        code: "invalid_argument",
        message: "{{request.name}} is wrong",
        details: [
          { "@type": "BadRequest", fieldViolations: [{ field: "name", description: "not {{request.name}}" }] },
          { "@type": "type.googleapis.com/example.Room", name: "r" },
        ],
      },
    },
  ]);
  expect(service.replies().rules.map(({ answer }) => answer)).toEqual(["PERMISSION_DENIED", "INVALID_ARGUMENT {{request.name}} is wrong"]);
  expect((await sayHello(service, "number")).status).toMatchObject({ code: 7, details: "PERMISSION_DENIED by a reply rule" });
  const { status } = await sayHello(service, "Ada");
  expect(status).toMatchObject({ code: 3, details: "Ada is wrong" });
  const pool = await loadOwnProtos();
  const rich = fromBinary(pool.message("google.rpc.Status"), status.metadata.get("grpc-status-details-bin")[0] as Buffer) as unknown as {
    details: Any[];
  };
  expect(rich.details.map((detail) => anyUnpack(detail, pool.registry))).toMatchObject([
    { fieldViolations: [{ field: "name", description: "not Ada" }] },
    { $typeName: "example.Room", name: "r" },
  ]);
});

it("[GRPC-99] a stream in both directions: a script from its beginning, a reply per message in their order, and the handler answers the rest", async () => {
  const service = await startWithRules([
    {
      method: greeter("BidirectionalStream"),
      when: { request: { message: "slow" } },
      delay: "100ms",
      reply: { response: "slow {{request.sequence}}" },
    },
    { method: greeter("BidirectionalStream"), when: { request: { message: "quick" } }, reply: { response: "quick {{request.sequence}}" } },
    {
      method: greeter("BidirectionalStream"),
      when: { request: { message: "twice" } },
      stream: [{ message: { response: "1" } }, { message: { response: "2" } }],
    },
    { method: greeter("BidirectionalStream"), when: { request: { message: "stop" } }, status: "ABORTED" },
  ]);
  const answers = async (...texts: string[]) => {
    const { replies, status } = await bothWays(service, texts);
    return [...replies.map(({ response }) => response), status.code];
  };
  expect(await answers("slow", "quick", "slow")).toEqual(["slow 1", "quick 2", "slow 3", 0]);
  expect(await answers("x", "twice")).toEqual(["Echo: x", "1", "2", 0]);
  expect(await answers("x", "stop")).toEqual(["Echo: x", 10]);
  await service.rules([
    { method: greeter("BidirectionalStream"), when: { metadata: { "x-two": "yes" } }, stream: [{ message: { response: "hello" } }] },
    {
      method: greeter("BidirectionalStream"),
      stream: [{ message: { response: "hello" } }, { pause: "50ms" }, { message: { response: "still" } }],
      reply: { response: "you said {{request.message}}" },
    },
  ]);
  const stream = openStream(service.client(), "/example.Greeter/BidirectionalStream");
  const seen: string[] = [];
  stream.on("data", (bytes: Buffer) => seen.push(serverResponse.decode(bytes).response));
  await until(() => seen.length === 2);
  stream.write(body(clientMessage.frame({ clientId: "", message: "a", sequence: 1 })));
  await until(() => seen.length === 3);
  expect(seen).toEqual(["hello", "still", "you said a"]);
  stream.end();
  expect(await service.ended(({ outcome }) => outcome === "OK")).toBeDefined();
  // Nobody answers its messages, so it ends with its script.
  expect((await bothWays(service, ["a"], { metadata: { "x-two": "yes" } })).replies.map(({ response }) => response)).toEqual(["hello"]);
});

it("[GRPC-100] a rule without an answer delays, waits or releases, and the handler answers", async () => {
  const service = await startWithRules([
    { method: greeter("SayHello"), delay: "80ms", headers: { "x-slow": "yes" } },
    { method: greeter("BidirectionalStream"), when: { request: { message: "wait" } }, delay: "80ms" },
  ]);
  const startedAt = performance.now();
  const { replies, headers } = await sayHello(service, "Ada");
  expect(performance.now() - startedAt).toBeGreaterThan(75);
  expect(replies).toEqual([{ message: "Hello, Ada from backlot!", status: 200 }]);
  expect(headers?.get("x-slow")).toEqual(["yes"]);
  expect((await bothWays(service, ["a", "wait", "b"])).replies.map(({ response }) => response)).toEqual([
    "Echo: a",
    "Echo: wait",
    "Echo: b",
  ]);
});

it("[GRPC-178] what rules read as a whole has bounds with the fields that have their default, of a message and of a client's stream; a field is read alone", async () => {
  const fields = Array.from({ length: 100 }, (_, index) => `string field_${index} = ${index + 1};`).join(" ");
  const proto = `syntax = "proto3"; package shop; message Orders { repeated Order orders = 1; } message Order { ${fields} }
    service Wide { rpc Put(Orders) returns (Orders); rpc Stream(stream Orders) returns (Orders); }`;
  const rules = ["Put", "Stream"].flatMap((name) => {
    const method = `shop.Wide/${name}`;
    return [
      {
        method,
        when: { metadata: { "x-whole": "yes" }, [name === "Put" ? "request" : "everyMessage"]: { orders: { exists: true } } },
        reply: {},
      },
      { method, when: { request: { "orders.0.field_7": "" } }, status: { code: "ABORTED" } },
    ];
  });
  const service = await startWithRules(rules, { protos: [write(temporaryDir(), { "wide.proto": proto })] });
  await until(() => servicesOf(service).includes("shop.Wide"));
  const ordersOf = (count: number) => Buffer.alloc(2 * count, Buffer.from([0x0a, 0]));
  const whole = { "x-whole": "yes" };
  const put = async (message: Buffer, fields = {}) =>
    (await rawRequest(service, { ":path": "/shop.Wide/Put", ...fields }, framed(message))).fields;
  expect(await put(ordersOf(10), whole)).toMatchObject({ "grpc-status": "0" });
  expect(await put(ordersOf(100_000))).toMatchObject({ "grpc-status": "10" });
  const refused = { "grpc-status": "8", "grpc-message": expect.stringContaining("fields of the request") };
  expect(await put(ordersOf(100_000), whole)).toMatchObject(refused);
  const stream = async (messages: number, fields = {}) => {
    const bytes = Buffer.concat(Array.from({ length: messages }, () => framed(ordersOf(10))));
    return (await rawRequest(service, { ":path": "/shop.Wide/Stream", ...fields }, bytes)).fields;
  };
  expect(await stream(20, whole)).toMatchObject({ "grpc-status": "0" });
  expect(await stream(2_000)).toMatchObject({ "grpc-status": "10" });
  expect(await stream(2_000, whole)).toMatchObject(refused);
});
