import { expect, it } from "vitest";
import { describedMessage, type MessageType } from "../../servers/grpc/engine/message-type.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import * as messages from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { startGrpc } from "./harness.ts";

const { helloRequest, helloReply, dataRequest, dataResponse, clientMessage, serverResponse, echoMessage, streamRequest, streamItem } =
  messages;

it("[GRPC-1] SayHello greets by name, with status 200", async () => {
  const service = await startGrpc({ serverId: "here" });
  const { replies, status } = await callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name: "Zoë" }]);
  expect(replies).toEqual([{ message: "Hello, Zoë from here!", status: 200 }]);
  expect(status).toMatchObject({ code: 0, details: "" });
});

it("[GRPC-2] StreamData sends ids from 0, 100 ms apart, and cuts a count that is too great", async () => {
  const service = await startGrpc({ streamItems: 4 });
  const startedAt = performance.now();
  const { replies, status } = await callMethod(service.client(), "/example.Greeter/StreamData", dataRequest, dataResponse, [
    { count: 100, prefix: "item" },
  ]);
  expect(performance.now() - startedAt).toBeGreaterThan(280);
  expect(replies.map(({ id, value }) => [id, value])).toEqual([0, 1, 2, 3].map((id) => [id, `item-${id}`]));
  expect(replies.every(({ timestamp }) => Math.abs(Date.parse(timestamp) - Date.now()) < 60_000)).toBe(true);
  expect(status.code).toBe(0);
  const none = await callMethod(service.client(), "/example.Greeter/StreamData", dataRequest, dataResponse, [{ count: 0, prefix: "" }]);
  expect([none.replies, none.status.code]).toEqual([[], 0]);
});

it("[GRPC-3] ClientStream answers once with the number of messages, BidirectionalStream answers each", async () => {
  const service = await startGrpc({ serverId: "here" });
  const client = service.client();
  const sent = [1, 2, 3].map((sequence) => ({ clientId: "c", message: `m${sequence}`, sequence: sequence * 10 }));
  const once = await callMethod(client, "/example.Greeter/ClientStream", clientMessage, serverResponse, sent);
  expect(once.replies).toMatchObject([{ serverId: "here", response: "Received 3 messages", receivedSequence: 3 }]);
  const each = await callMethod(client, "/example.Greeter/BidirectionalStream", clientMessage, serverResponse, sent);
  expect(each.replies.map(({ response, receivedSequence }) => [response, receivedSequence])).toEqual([
    ["Echo: m1", 10],
    ["Echo: m2", 20],
    ["Echo: m3", 30],
  ]);
});

it("[GRPC-4] EchoService returns what it gets", async () => {
  const service = await startGrpc();
  const client = service.client();
  const one = await callMethod(client, "/example.EchoService/EchoUnary", echoMessage, echoMessage, [{ message: "ä" }]);
  expect(one.replies).toEqual([{ message: "ä" }]);
  const many = Array.from({ length: 50 }, (_, index) => ({ message: `m${index}` }));
  expect((await callMethod(client, "/example.EchoService/EchoBidiStream", echoMessage, echoMessage, many)).replies).toEqual(many);
});

it("[GRPC-5] ChatService: members of a room see who joins, says and leaves; a stream that ends has left", async () => {
  const service = await startGrpc();
  const pool = await loadOwnProtos();
  const request = describedMessage<object>(pool.message("example.ChatRequest"));
  const event = describedMessage<object>(pool.message("example.ChatEvent"));
  const member = () => {
    const stream = openStream(service.client(), "/example.ChatService/Chat");
    const events: { readonly case: string; readonly value: object }[] = [];
    stream.on("data", (bytes: Buffer) => events.push((event.decode(bytes) as { event: (typeof events)[number] }).event));
    const send = (action: string, value: object) => void stream.write(body(request.frame({ action: { case: action, value } })));
    return { stream, events, send };
  };
  const [ada, bob] = [member(), member()];
  ada.send("join", { room: "lobby", name: "Ada" });
  await until(() => ada.events.length === 1);
  bob.send("join", { room: "lobby", name: "Ada" });
  bob.send("join", { room: "lobby", name: "Bob" });
  bob.send("say", { room: "lobby", text: "hello" });
  await until(() => ada.events.length === 3 && bob.events.length === 3);
  bob.stream.cancel();
  await until(() => ada.events.length === 4);
  expect(ada.events).toMatchObject([
    { case: "presence", value: { members: ["Ada"] } },
    { case: "joined", value: { name: "Bob" } },
    { case: "said", value: { name: "Bob", text: "hello" } },
    { case: "left", value: { name: "Bob" } },
  ]);
  expect(bob.events).toMatchObject([
    { case: "refused", value: { reason: "Ada is in this room already" } },
    { case: "presence", value: { members: ["Ada", "Bob"] } },
    { case: "said" },
  ]);
  // All of it is for each member.
  ada.send("say", { room: "lobby", text: "x".repeat(65_537) });
  await until(() => ada.events.length === 5);
  expect(ada.events[4]).toMatchObject({ case: "refused", value: { reason: "a text has at most 65536 characters" } });
  const reply = describedMessage<{ rooms: object[] }>(pool.message("example.ListRoomsReply"));
  const listed = await callMethod(service.client(), "/example.ChatService/ListRooms", helloRequest, reply, [{ name: "" }]);
  expect(listed.replies[0]?.rooms).toMatchObject([{ name: "lobby", members: ["Ada"] }]);
  ada.stream.end();
});

it("[GRPC-174] ChatService: a room of many members is told in slices, all of them the same; one that comes gets what follows", async () => {
  const service = await startGrpc();
  const pool = await loadOwnProtos();
  const request = describedMessage<object>(pool.message("example.ChatRequest"));
  const event = describedMessage<object>(pool.message("example.ChatEvent"));
  const client = service.client();
  const member = (name: string) => {
    const stream = openStream(client, "/example.ChatService/Chat");
    stream.on("error", () => {});
    const heard: string[] = [];
    stream.on("data", (bytes: Buffer) => {
      const { event: what } = event.decode(bytes) as { event: { case: string; value: { name?: string; text?: string } } };
      heard.push(what.case === "said" ? `${what.value.name}: ${what.value.text?.slice(0, 2)}` : `${what.value.name ?? ""} ${what.case}`);
    });
    const send = (action: string, value: object) => void stream.write(body(request.frame({ action: { case: action, value } })));
    send("join", { room: "large", name });
    return { name, stream, heard, say: (text: string) => send("say", { room: "large", text }) };
  };
  const members = Array.from({ length: 140 }, (_, index) => member(`m${index}`));
  await until(() => members.every(({ heard }) => heard.includes(" presence")), 30_000);
  await until(() => members[0]?.heard.length === 140, 30_000);
  const long = "x".repeat(20_000);
  for (let count = 0; count < 5; count++) {
    members[0]?.say(`a${count}${long}`);
    members[1]?.say(`b${count}${long}`);
  }
  const newcomer = member("newcomer");
  await until(() => newcomer.heard.length > 0);
  members[2]?.say("last");
  members[3]?.stream.cancel();
  const staying = members.filter((_, index) => index !== 3);
  const hasAll = (heard: readonly string[]) => heard.includes("m2: la") && heard.includes("m3 left") && heard.includes("newcomer joined");
  const toldBy = (heard: readonly string[]) => heard.filter((line) => /: [ab]\d$/.test(line)).length;
  await until(() => staying.every(({ heard }) => hasAll(heard) && toldBy(heard) === 10), 30_000);
  const after = ({ heard }: (typeof members)[number]) => heard.slice(heard.findIndex((line) => line.includes(": ")));
  for (const one of staying) expect(after(one)).toEqual(after(members[0] as (typeof members)[number]));
  for (const letter of ["a", "b"]) {
    const said = after(members[4] as (typeof members)[number]).filter((line) => line.includes(`: ${letter}`));
    expect(said.map((line) => line.at(-1))).toEqual(["0", "1", "2", "3", "4"]);
  }
  const [joined, ...rest] = newcomer.heard;
  expect(joined).toBe(" presence");
  const inRoom = after(members[0] as (typeof members)[number]);
  expect(rest).toEqual(inRoom.slice(inRoom.indexOf("newcomer joined") + 1));
  client.close();
}, 60_000);

it("[GRPC-6] StreamService goes on from a position, with rate, count and payload; a position's item is always the same", async () => {
  const service = await startGrpc();
  const ask = (value: Partial<Parameters<typeof streamRequest.frame>[0]>) =>
    callMethod(service.client(), "/example.StreamService/Subscribe", streamRequest, streamItem, [
      { fromPosition: 0, count: 0, rate: 0, payloadBytes: 0, ...value },
    ]);
  const whole = await ask({ count: 6, rate: 1_000, payloadBytes: 20 });
  const rest = await ask({ fromPosition: 4, count: 2, rate: 1_000, payloadBytes: 20 });
  const known = ({ position, value, payload }: (typeof whole.replies)[number]) => [position, value, Buffer.from(payload).toString()];
  expect(whole.replies.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(rest.replies.map(known)).toEqual(whole.replies.slice(4).map(known));
  expect(whole.replies[0]?.payload.length).toBe(20);
  expect((await ask({ count: -1 })).status).toMatchObject({ code: 3, details: expect.stringContaining("count is not from 0") });
});

it("[GRPC-7] an endless stream keeps its rate, and ends when its client leaves", async () => {
  const service = await startGrpc();
  const stream = openStream(service.client(), "/example.StreamService/Subscribe");
  const arrivals: number[] = [];
  stream.on("data", () => arrivals.push(performance.now()));
  const startedAt = performance.now();
  stream.write(body(streamRequest.frame({ fromPosition: 0, count: 0, rate: 200, payloadBytes: 0 })));
  stream.end();
  /** Whether so many came in half a second: 100 are due. */
  const came = (count: number) => arrivals.some((at, index) => (arrivals[index + count] ?? Number.POSITIVE_INFINITY) - at < 500);
  await until(() => came(60));
  await until(() => arrivals.length > 200);
  // What a busy computer has kept waiting may come at once; over its whole time the stream is not ahead.
  expect(arrivals.length / ((arrivals.at(-1) ?? 0) - startedAt)).toBeLessThan(0.26);
  stream.cancel();
  expect(await service.ended(({ tone }) => tone === "aborted")).toMatchObject({ outcome: "client cancelled" });
});

it("[GRPC-8] the messages are those of example.proto, to the number and type", async () => {
  const pool = await loadOwnProtos();
  for (const type of Object.values(messages) as unknown as readonly MessageType<object>[]) {
    const described = describedMessage<object>(pool.message(type.typeName));
    const { fields } = pool.message(type.typeName);
    const sample = Object.fromEntries(
      fields.map(({ localName, scalar }, index) => [
        localName,
        { 9: `text ${index}`, 12: Buffer.from([index, 255]), 1: 1.5, 3: BigInt(7 - 2 * index) }[scalar as number] ?? -index - 1,
      ]),
    );
    const plain = Object.fromEntries(
      Object.entries(sample).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
    );
    const bytes = body(described.frame(sample));
    expect(body((type as { frame(value: object): Buffer }).frame(plain)).toString("hex"), type.typeName).toBe(bytes.toString("hex"));
    expect(type.decode(bytes), type.typeName).toEqual(plain);
  }
});
