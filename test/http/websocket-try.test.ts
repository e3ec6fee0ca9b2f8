import { expect, it } from "vitest";
import type { WebSocketTried } from "../../contract/services/websocket-try.ts";
import { type HttpUnderTest, startHttp, until } from "./harness.ts";

type Tried = Exclude<WebSocketTried, { readonly state: "untried" }>;

const tried = (service: HttpUnderTest) => service.views.get("socket") as Tried | undefined;
/** The newest state once it has these values: views are published a little later. */
const untilTried = (service: HttpUnderTest, wanted: Partial<Record<string, unknown>>) =>
  until(() => {
    const now = tried(service);
    return now && Object.entries(wanted).every(([name, value]) => (now as unknown as Record<string, unknown>)[name] === value) && now;
  });

const textOf = (base64: string) => Buffer.from(base64, "base64").toString();

it("[HTTP-140] Try opens a WebSocket to the service, sends text and bytes, and has the messages of both directions", async () => {
  const service = await startHttp();
  await untilTried(service, { state: "untried" });
  await service.act("socket.open", { target: "/ws/echo?room=1", headers: [["X-Team", "blue"]], protocols: ["chat", "other"] });
  const opened = await untilTried(service, { state: "open", target: "/ws/echo?room=1", protocol: "chat", sent: 0, received: 0 });
  const connection = service.anyDetail(opened.row ?? 0);
  expect(connection.kind === "websocket" && connection.request.headers).toContainEqual(["X-Team", "blue"]);
  await service.act("socket.send", { type: "text", content: "grün" });
  await service.act("socket.send", { type: "binary", content: Buffer.from([0, 255]).toString("base64") });
  await untilTried(service, { sent: 2, received: 2 });
  const { messages } = await service.act("socket.messages");
  expect(messages.map(({ place }) => place)).toEqual([4, 3, 2, 1]);
  const of = (direction: string) => messages.filter((message) => message.direction === direction).reverse();
  for (const direction of ["sent", "received"]) {
    const [text, binary] = of(direction);
    expect(text).toMatchObject({ type: "text", bytes: 5 });
    expect(textOf(text?.base64 ?? "")).toBe("grün");
    expect(binary).toMatchObject({ type: "binary", bytes: 2, base64: "AP8=" });
  }
});

it("[HTTP-141] a tried WebSocket is closed with a code and a reason, or cut; another one takes its place", async () => {
  const service = await startHttp({ webSocketFrameBytes: 100 });
  await service.act("socket.open", { target: "/ws/echo" });
  await service.act("socket.close", { code: 4001, reason: "bye" });
  await untilTried(service, { state: "closed", code: 4001, reason: "bye" });
  expect(await service.ended(({ kind }) => kind === "websocket")).toMatchObject({ outcome: "closed 4001" });

  await service.act("socket.open", { target: "/ws/echo" });
  await service.act("socket.close", { cut: true });
  await untilTried(service, { state: "closed", code: 1006 });

  await service.act("socket.open", { target: "/ws/echo" });
  await service.act("socket.send", { type: "text", content: "x".repeat(101) });
  await untilTried(service, { state: "closed", code: 1009, sent: 1 });

  await service.act("socket.open", { target: "/ws/echo?first" });
  await service.act("socket.open", { target: "/ws/echo?second" });
  await untilTried(service, { state: "open", target: "/ws/echo?second", sent: 0 });
  await service.ended(({ target }) => target === "/ws/echo?first");
});

it("[HTTP-142] a WebSocket that cannot be opened says why, and nothing is sent on it", async () => {
  const service = await startHttp({ corsOrigins: ["http://here.test"] });
  await service.act("socket.open", { target: "/nowhere" });
  await untilTried(service, { state: "refused", status: 404 });
  await service.act("socket.open", { target: "/ws/echo", headers: [["Origin", "http://elsewhere.test"]] });
  await untilTried(service, { state: "refused", status: 403 });
  await service.act("socket.open", { target: "/ws/echo", headers: [["Bad Name", "1"]] });
  expect(await untilTried(service, { state: "failed" })).toMatchObject({ problem: expect.stringContaining("Bad Name") });
  await expect(service.running.act("socket.send", { type: "text", content: "x" })).rejects.toMatchObject({ code: "CALL_INVALID" });
  for (const params of [{ code: 1005 }, { code: 999 }, { code: 5000 }, { code: 1000, reason: "ü".repeat(62) }])
    await expect(service.running.act("socket.close", params)).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[HTTP-283] a tried WebSocket is closed when no page is open any more, and says so", async () => {
  const service = await startHttp();
  service.running.pagesLeft();
  await service.act("socket.open", { target: "/ws/echo" });
  service.running.pagesLeft();
  const why = "no page of Backlot is open any more";
  await untilTried(service, { state: "closed", code: 1001, reason: why });
  expect(await service.ended(({ kind }) => kind === "websocket")).toMatchObject({ outcome: "closed 1001" });
  service.running.pagesLeft();
  const said = () => service.logs.filter(({ text }) => text.includes("of Try")).map(({ text }) => text);
  await expect.poll(said).toEqual([`The WebSocket of Try was closed: ${why}`]);
});
