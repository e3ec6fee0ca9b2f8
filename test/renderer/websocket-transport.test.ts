import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { DownFrame } from "../../contract/wire.ts";
import { type Connection, controlUrl } from "../../renderer/src/control/transport.ts";
import { retryDelayMs, type Socket, webSocketTransport } from "../../renderer/src/control/websocket-transport.ts";

class FakeSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readyState = 0;
  readonly sent: string[] = [];
  send(text: string) {
    this.sent.push(text);
  }
  succeed() {
    this.readyState = 1;
    this.onopen?.({} as Event);
  }
  end() {
    this.readyState = 3;
    this.onclose?.({} as CloseEvent);
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const sockets: FakeSocket[] = [];
  const connections: Connection[] = [];
  const frames: DownFrame[] = [];
  const transport = webSocketTransport({
    url: "ws://127.0.0.1:7070/control",
    open: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
  });
  transport.open({ onFrame: (frame) => frames.push(frame), onConnection: (connection) => connections.push(connection) });
  return { transport, sockets, connections, frames };
}

describe("the WebSocket transport", () => {
  it("carries frames as JSON text, and only while open", () => {
    const { transport, sockets, frames } = setUp();
    transport.post({ type: "subscribe", topic: "log" });
    sockets[0]?.succeed();
    transport.post({ type: "subscribe", topic: "rate" });
    expect(sockets[0]?.sent).toEqual(['{"type":"subscribe","topic":"rate"}']);
    sockets[0]?.onmessage?.({ data: '{"type":"result","id":1,"value":2}' } as MessageEvent);
    expect(frames).toEqual([{ type: "result", id: 1, value: 2 }]);
  });

  it("connects again with growing waits, and from the start after it held", () => {
    const { sockets, connections } = setUp();
    sockets[0]?.end();
    vi.advanceTimersByTime(250);
    sockets[1]?.end();
    vi.advanceTimersByTime(500);
    sockets[2]?.succeed();
    sockets[2]?.end();
    expect(connections).toEqual([
      { state: "connecting" },
      { state: "lost", since: 0, attempt: 1, retryAt: 250 },
      { state: "lost", since: 0, attempt: 2, retryAt: 750 },
      { state: "open" },
      { state: "lost", since: 750, attempt: 1, retryAt: 1_000 },
    ]);
  });

  it("never waits longer than five seconds", () => {
    expect([1, 2, 3, 4, 5, 6, 20].map(retryDelayMs)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it("tries at once when asked to, and then not again at the old time", () => {
    const { transport, sockets } = setUp();
    sockets[0]?.end();
    transport.retryNow();
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
    expect(sockets).toHaveLength(2);
  });
});

describe("the control address", () => {
  it("is the page's own, over WebSocket", () => {
    expect([controlUrl({ origin: "http://127.0.0.1:7070" }), controlUrl({ origin: "https://backlot.test" })]).toEqual([
      "ws://127.0.0.1:7070/control",
      "wss://backlot.test/control",
    ]);
  });
});
