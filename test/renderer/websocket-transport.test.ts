import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type DownFrame, linkExpiredCode, maxFrameBytes } from "../../contract/wire.ts";
import { controlUrl } from "../../renderer/src/control/choose-transport.ts";
import { createLinkToken } from "../../renderer/src/control/link-token.ts";
import type { Connection } from "../../renderer/src/control/transport.ts";
import { retryDelayMs, type Socket, webSocketTransport } from "../../renderer/src/control/websocket-transport.ts";

class FakeSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readyState = 0;
  protocol = "";
  binaryType: BinaryType = "blob";
  readonly sent: string[] = [];
  send(text: string) {
    this.sent.push(text);
  }
  succeed(protocol = "backlot") {
    this.readyState = 1;
    this.protocol = protocol;
    this.onopen?.({} as Event);
  }
  end(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code } as CloseEvent);
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const missing = null;
function setUp(token: string | null = "first") {
  const sockets: FakeSocket[] = [];
  const offered: string[][] = [];
  const kept = { token: token ?? undefined, other: undefined as string | undefined, accepted: [] as string[], changed: () => {} };
  const connections: Connection[] = [];
  const frames: DownFrame[] = [];
  const transport = webSocketTransport({
    url: "ws://127.0.0.1:7070/control",
    token: {
      read: () => kept.token,
      accepted: (token) => void kept.accepted.push(token),
      refused: (token) => {
        kept.token = kept.other ?? kept.token;
        return kept.token !== token;
      },
      onChange: (listener) => {
        kept.changed = listener;
      },
    },
    open: (_, protocols) => {
      offered.push(protocols);
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
  });
  transport.open({ onFrame: (frame) => frames.push(frame), onConnection: (connection) => connections.push(connection) });
  return { transport, sockets, connections, frames, offered, kept };
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

  it("[BL-550] does not send a frame that is too large, and stays open", () => {
    const { transport, sockets } = setUp();
    sockets[0]?.succeed();
    const call = (text: string) => transport.post({ type: "call", id: 1, name: "x", params: text });
    // Three bytes each in UTF-8.
    expect([call("€".repeat(maxFrameBytes / 3)), call("x".repeat(maxFrameBytes - 100)), call("x".repeat(maxFrameBytes))]).toEqual([
      false,
      true,
      false,
    ]);
    expect(sockets[0]?.sent).toHaveLength(1);
  });

  it("reconnects with growing waits, and from the shortest after a lasting connection", () => {
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

  it("reconnects at once on request, and then not again at the planned time", () => {
    const { transport, sockets } = setUp();
    sockets[0]?.end();
    transport.retryNow();
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
    expect(sockets).toHaveLength(2);
  });

  it("[BL-137] opens no second socket while one is connecting or open", () => {
    const { transport, sockets, connections } = setUp();
    transport.retryNow();
    sockets[0]?.end();
    transport.retryNow();
    transport.retryNow();
    expect(sockets).toHaveLength(2);
    sockets[1]?.succeed();
    transport.retryNow();
    expect(sockets).toHaveLength(2);
    expect(connections.at(-1)).toEqual({ state: "open" });
  });
});

describe("the link of the page", () => {
  it("[BL-91] gives its token to the WebSocket as a subprotocol, never in the address", () => {
    const { offered } = setUp();
    expect(offered).toEqual([["backlot", "backlot.token.first"]]);
  });

  it("[BL-136] that has expired ends the retries and says so, without having been open", () => {
    const { sockets, connections } = setUp();
    sockets[0]?.succeed("backlot.token.first");
    sockets[0]?.end(linkExpiredCode);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(1);
    expect(connections).toEqual([{ state: "connecting" }, { state: "refused", link: "expired" }]);
  });

  it("[BL-136] that is missing causes no connection", () => {
    const { sockets, connections } = setUp(missing);
    expect([sockets.length, connections.at(-1)]).toEqual([0, { state: "refused", link: "missing" }]);
  });

  it("[BL-136] is tried again when a new one is opened, and on request", () => {
    const { sockets, connections, offered, kept, transport } = setUp();
    sockets[0]?.end(linkExpiredCode);
    kept.token = "second";
    kept.changed();
    expect(offered.at(-1)).toEqual(["backlot", "backlot.token.second"]);
    sockets[1]?.end(linkExpiredCode);
    transport.retryNow();
    sockets[2]?.succeed();
    expect(connections.at(-1)).toEqual({ state: "open" });
    kept.changed();
    expect(sockets).toHaveLength(3);
  });
});

it("[BL-136] a link that is refused gives way to the one that the page has", () => {
  const { sockets, connections, offered, kept } = setUp("of a stranger");
  kept.other = "own";
  sockets[0]?.succeed("backlot.token.of a stranger");
  sockets[0]?.end(linkExpiredCode);
  sockets[1]?.succeed();
  expect([offered.at(-1), kept.accepted, connections]).toEqual([
    ["backlot", "backlot.token.own"],
    ["own"],
    [{ state: "connecting" }, { state: "open" }],
  ]);
});

/** As much of a page as the token needs. */
function page(hash: string, kept = new Map<string, string>()) {
  const target = new EventTarget();
  const location = { hash, pathname: "/" };
  const replaceState = (_data: unknown, _title: string, address: string) => {
    location.hash = address.startsWith("#") ? address : "";
  };
  const localStorage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const parts = { location, history: { replaceState }, localStorage, addEventListener: target.addEventListener.bind(target) };
  const dispatch = (type: string, fields: object) => target.dispatchEvent(Object.assign(new Event(type), fields));
  return { parts: parts as unknown as Window, location, kept, dispatch };
}

describe("the token of the page's link", () => {
  it("[BL-91] is removed from the address and kept for the next load", () => {
    const first = page("#token=abc");
    const token = createLinkToken(first.parts);
    expect([token.read(), first.location.hash, first.kept.size]).toEqual(["abc", "", 0]);
    token.accepted("abc");
    const reloaded = page("#/http/live", first.kept);
    expect([createLinkToken(reloaded.parts).read(), reloaded.location.hash]).toEqual(["abc", "#/http/live"]);
    expect(createLinkToken(page("").parts).read()).toBeUndefined();
  });

  it("[BL-136] replaces the kept one only when it was accepted", () => {
    const { parts, kept } = page("#token=of-a-stranger", new Map([["backlot.link", "own"]]));
    const token = createLinkToken(parts);
    expect([token.read(), kept.get("backlot.link")]).toEqual(["of-a-stranger", "own"]);
    expect([token.refused("of-a-stranger"), token.read()]).toEqual([true, "own"]);
    expect([token.refused("own"), token.read()]).toEqual([false, "own"]);
    const newer = page("#token=newer", kept);
    createLinkToken(newer.parts).accepted("newer");
    expect(kept.get("backlot.link")).toBe("newer");
    // Without another one it is tried again.
    const only = createLinkToken(page("#token=only").parts);
    expect([only.refused("only"), only.read()]).toEqual([false, "only"]);
  });

  it("[BL-136] is read from a link opened in the same page, which stays where it is, or in another tab", () => {
    const { parts, location, kept, dispatch } = page("#token=abc");
    const token = createLinkToken(parts);
    let changes = 0;
    token.onChange(() => changes++);
    location.hash = "#token=def";
    dispatch("hashchange", { oldURL: "http://127.0.0.1:7070/#/http/live" });
    expect([token.read(), location.hash, changes]).toEqual(["def", "#/http/live", 1]);
    location.hash = "#/mqtt/live";
    dispatch("hashchange", { oldURL: "http://127.0.0.1:7070/#/http/live" });
    kept.set("backlot.link", "ghi");
    dispatch("storage", { key: "another" });
    expect(changes).toBe(1);
    dispatch("storage", { key: "backlot.link" });
    expect([token.read(), changes]).toEqual(["ghi", 2]);
  });

  it("is kept in the page if the browser stores nothing", () => {
    const { parts } = page("#token=abc");
    Object.defineProperty(parts, "localStorage", {
      get() {
        throw new Error("SecurityError");
      },
    });
    const token = createLinkToken(parts);
    token.accepted("abc");
    expect(token.read()).toBe("abc");
  });
});

describe("the control address", () => {
  it("is the page's own host, over WebSocket", () => {
    expect([controlUrl({ origin: "http://127.0.0.1:7070" }), controlUrl({ origin: "https://backlot.test" })]).toEqual([
      "ws://127.0.0.1:7070/control",
      "wss://backlot.test/control",
    ]);
  });
});
