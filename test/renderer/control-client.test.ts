import { describe, expect, it } from "vitest";
import { binaryTopic } from "../../contract/binary.ts";
import type { ServiceView } from "../../contract/service.ts";
import { httpActions } from "../../contract/services/http.ts";
import type { DownFrame, UpFrame } from "../../contract/wire.ts";
import { createControlClient } from "../../renderer/src/control/control-client.ts";
import { FailureError } from "../../renderer/src/control/failure-error.ts";
import type { Connection } from "../../renderer/src/control/transport.ts";

/** A transport by hand, and frames that are painted when told to. */
function setUp(state: Connection = { state: "open" }) {
  const posted: UpFrame[] = [];
  const frames: (() => void)[] = [];
  let handlers: { onFrame(frame: DownFrame): void; onConnection(connection: Connection): void } | undefined;
  const client = createControlClient({
    nextFrame: (run) => frames.push(run),
    transport: {
      post(frame) {
        if (JSON.stringify(frame).includes("too large")) return false;
        posted.push(frame);
        return true;
      },
      open: (given) => {
        handlers = given;
        given.onConnection(state);
      },
      retryNow: () => {},
    },
  });
  return {
    client,
    receive: (frame: DownFrame) => handlers?.onFrame(frame),
    become: (connection: Connection) => handlers?.onConnection(connection),
    paint: () => {
      for (const run of frames.splice(0)) run();
    },
    sent: () => posted.splice(0),
  };
}
const lost: Connection = { state: "lost", since: 0, attempt: 1, retryAt: 250 };
const view = (id: ServiceView["id"], title: string) => ({ id, title }) as ServiceView;
const statusBatch = (seq: number, ...items: ServiceView[]): DownFrame => ({ type: "batch", topic: "status", seq, items, dropped: 0 });

describe("calls", () => {
  it("resolve with the value of their own answer, in any order", async () => {
    const { client, receive, sent } = setUp();
    const list = client.call("service.list");
    const started = client.call("service.start", { id: "http" });
    expect(sent()).toEqual([
      { type: "call", id: 0, name: "service.list", params: {} },
      { type: "call", id: 1, name: "service.start", params: { id: "http" } },
    ]);
    receive({ type: "result", id: 1, value: "second" });
    receive({ type: "result", id: 0, value: ["first"] });
    expect([await list, await started]).toEqual([["first"], "second"]);
  });

  it("[BL-550] that are too large fail at once, and others go on", async () => {
    const { client, receive, sent } = setUp();
    await expect(client.call("log.read", { text: "too large" })).rejects.toMatchObject({ failure: { code: "CALL_INVALID" } });
    const list = client.call("service.list");
    expect(sent()).toMatchObject([{ name: "service.list" }]);
    receive({ type: "result", id: 1, value: [] });
    expect(await list).toEqual([]);
  });

  it("of an action carry the service, its name and its parameters", () => {
    const { client, sent } = setUp();
    void client.action(httpActions, "http", "sse.send", { data: "x" });
    void client.action(httpActions, "http", "sample.start");
    expect(sent().map((frame) => frame.type === "call" && frame.params)).toEqual([
      { id: "http", action: "sse.send", params: { data: "x" } },
      { id: "http", action: "sample.start", params: {} },
    ]);
  });

  it("reject with the failure that was answered", async () => {
    const { client, receive } = setUp();
    const call = client.call("service.stop", { id: "http" });
    const failure = { code: "SERVICE_NOT_RUNNING", message: "HTTP does not run.", hint: "Start it." };
    receive({ type: "failure", id: 0, failure });
    const error = await call.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(FailureError);
    expect((error as FailureError).failure).toEqual(failure);
  });

  it("made before the connection is open are sent once it is", () => {
    const { client, become, sent } = setUp({ state: "connecting" });
    void client.call("app.info");
    expect(sent()).toEqual([]);
    become({ state: "open" });
    expect(sent()).toEqual([{ type: "call", id: 0, name: "app.info", params: {} }]);
  });

  it("in progress when the connection is lost are rejected, and so are later ones until it is back", async () => {
    const { client, become } = setUp();
    const call = client.call("app.info");
    become(lost);
    for (const one of [call, client.call("app.info")]) {
      await expect(one).rejects.toMatchObject({ failure: { code: "CONNECTION_LOST" } });
    }
  });
});

describe("topics", () => {
  it("are acknowledged after painting, not on arrival", () => {
    const { client, receive, paint, sent } = setUp();
    const seen: unknown[] = [];
    client.subscribe("log", (batch) => seen.push(batch));
    expect(sent()).toEqual([{ type: "subscribe", topic: "log" }]);
    receive({ type: "batch", topic: "log", seq: 1, items: ["line"], dropped: 7 });
    expect(seen).toEqual([{ items: ["line"], dropped: 7 }]);
    expect(sent()).toEqual([]);
    paint();
    expect(sent()).toEqual([{ type: "ack", topic: "log", seq: 1 }]);
  });

  it("are subscribed to once for any number of listeners, and unsubscribed with the last", () => {
    const { client, sent } = setUp();
    const ends = [client.subscribe("log", () => {}), client.subscribe("log", () => {})];
    expect(sent()).toEqual([{ type: "subscribe", topic: "log" }]);
    ends[0]?.();
    expect(sent()).toEqual([]);
    ends[1]?.();
    expect(sent()).toEqual([{ type: "unsubscribe", topic: "log" }]);
  });

  it("with keys send a later listener the newest of each key at once", () => {
    const { client, receive } = setUp();
    client.subscribe("status", () => {});
    receive(statusBatch(1, view("http", "old"), view("grpc", "gRPC")));
    receive(statusBatch(2, view("http", "new")));
    const seen: string[] = [];
    client.subscribe("status", ({ items }) => seen.push(...items.map((item) => item.title)));
    expect(seen).toEqual(["new", "gRPC"]);
  });

  it("are subscribed to again after a reconnect, and the known values are dropped", () => {
    const { client, receive, become, sent } = setUp();
    client.subscribe("status", () => {});
    receive(statusBatch(1, view("http", "old")));
    sent();
    become(lost);
    become({ state: "open" });
    expect(sent()).toEqual([{ type: "subscribe", topic: "status" }]);
    const seen: unknown[] = [];
    client.subscribe("status", ({ items }) => seen.push(...items));
    expect(seen).toEqual([]);
  });

  it("of a lost connection are not acknowledged on the next", () => {
    const { client, receive, become, paint, sent } = setUp();
    client.subscribe("status", () => {});
    receive(statusBatch(9, view("http", "old")));
    become(lost);
    become({ state: "open" });
    sent();
    paint();
    expect(sent()).toEqual([]);
  });
});

describe("onOpen", () => {
  it("runs now when open, and again after each reconnect until ended", () => {
    const { client, become } = setUp();
    let runs = 0;
    const end = client.onOpen(() => runs++);
    become(lost);
    become({ state: "open" });
    end();
    become({ state: "open" });
    expect(runs).toBe(2);
  });
});

describe("binary items", () => {
  const topics = { picture: binaryTopic<{ n: number }>()({ windowBytes: 1, windowItems: 1, resume: "any" }) };
  const frame = (subscription: number, seq: number, dropped = 0): DownFrame => ({
    type: "binary",
    subscription,
    seq,
    dropped,
    isKey: true,
    header: { n: seq },
    payload: new Uint8Array([seq]),
  });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

  it("[BL-142] are acknowledged when processed, with all before them, and what was dropped is reported", async () => {
    const { client, receive, sent } = setUp();
    const got: number[] = [];
    const dropped: number[] = [];
    const release: (() => void)[] = [];
    const end = client.binary(topics, "rtsp", "picture", "/cam1", {
      item: ({ header }) => {
        got.push(header.n);
        return new Promise<void>((resolve) => release.push(resolve));
      },
      dropped: (count) => dropped.push(count),
    });
    expect(sent()).toEqual([{ type: "binarySubscribe", subscription: 1, service: "rtsp", topic: "picture", source: "/cam1" }]);
    receive(frame(1, 1));
    receive(frame(1, 2, 4));
    receive({ type: "binaryDropped", subscription: 1, dropped: 3 });
    receive(frame(99, 1));
    expect([got, dropped, sent()]).toEqual([[1, 2], [4, 3], []]);
    release[1]?.();
    await settled();
    expect(sent()).toEqual([]);
    release[0]?.();
    await settled();
    expect(sent()).toEqual([{ type: "binaryAck", subscription: 1, seq: 2 }]);
    receive(frame(1, 3));
    end();
    end();
    release[2]?.();
    await settled();
    expect(sent()).toEqual([{ type: "binaryUnsubscribe", subscription: 1 }]);
    receive(frame(1, 4));
    expect(got).toEqual([1, 2, 3]);
  });

  it("[BL-141] are requested again on a new connection, where items of the old one are not acknowledged", async () => {
    const { client, receive, become, sent } = setUp({ state: "connecting" });
    const release: (() => void)[] = [];
    const refused: string[] = [];
    client.binary(topics, "rtsp", "picture", "/cam1", {
      item: () => new Promise<void>((resolve) => release.push(resolve)),
      refused: ({ code }) => refused.push(code),
    });
    expect(sent()).toEqual([]);
    become({ state: "open" });
    const [first] = sent();
    receive(frame((first as { subscription: number }).subscription, 1));
    become(lost);
    become({ state: "open" });
    const [second] = sent();
    expect(second).toEqual({ ...first, subscription: (first as { subscription: number }).subscription + 1 });
    release[0]?.();
    await settled();
    expect(sent()).toEqual([]);
    const { subscription } = second as { subscription: number };
    receive({ type: "binaryRefused", subscription, failure: { code: "CALL_UNKNOWN", message: "", hint: "" } });
    expect(refused).toEqual(["CALL_UNKNOWN"]);
  });
});
