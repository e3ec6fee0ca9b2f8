import { describe, expect, it } from "vitest";
import type { DetailPart } from "../../contract/traffic/detail.ts";
import { dataOf } from "../../renderer/src/inspectors/http/events-tab.tsx";
import { type KnownParts, withNewer, withOlder } from "../../renderer/src/inspectors/use-detail.ts";
import { asJavaScript, asWebsocat, closeCodeText, type WebSocketReplay } from "../../renderer/src/inspectors/websocket/websocket-copies.ts";

const part = (index: number): DetailPart => ({ kind: "sse-event", index, at: index, bytes: 1, text: "" });
const page = (from: number, to: number, total = to): KnownParts => ({
  parts: Array.from({ length: to - from }, (_, at) => part(from + at)),
  next: to,
  total,
  leftOut: 0,
});
const indexes = ({ parts }: KnownParts) => parts.map(({ index }) => index);

describe("[BL-186] parts", () => {
  it("[BL-186] new ones are appended once, older ones are put before them", () => {
    const known = page(5, 8);
    expect(indexes(withNewer(known, page(7, 10)))).toEqual([5, 6, 7, 8, 9]);
    expect(withNewer(known, page(7, 10))).toMatchObject({ next: 10, total: 10 });
    expect(indexes(withOlder(known, page(3, 6).parts))).toEqual([3, 4, 5, 6, 7]);
    expect(withOlder(known, page(3, 6).parts)).toMatchObject({ next: 8, total: 8 });
  });
  it("[BL-186] are kept up to a bound", () => {
    const all = withNewer(page(0, 9_500), page(9_500, 10_500));
    expect([all.parts.length, all.parts[0]?.index, all.parts.at(-1)?.index]).toEqual([10_000, 500, 10_499]);
  });
});

describe("an event", () => {
  it("has its data lines joined into one text", () => {
    expect(dataOf("event: tick\nid: 1\ndata: a\ndata:b\ndata\n\n")).toBe("a\nb\n");
    expect(dataOf(": only a comment\n\n")).toBe("");
  });
});

describe("a WebSocket copied", () => {
  const body = (text: string) => ({ bytes: text.length, base64: btoa(text) });
  const replay: WebSocketReplay = {
    origin: "http://127.0.0.1:8080",
    target: "/ws/echo?a=1",
    headers: [
      ["Host", "127.0.0.1:8080"],
      ["Upgrade", "websocket"],
      ["Connection", "Upgrade"],
      ["Sec-WebSocket-Key", "x"],
      ["Sec-WebSocket-Protocol", "chat, log"],
      ["X-It", "it's"],
    ],
  };
  it("[BL-187] is a websocat command without header fields that the client sets itself", () => {
    expect(asWebsocat(replay)).toBe(String.raw`websocat --protocol chat,log -H 'X-It: it'\''s' 'ws://127.0.0.1:8080/ws/echo?a=1'`);
    expect(asWebsocat({ ...replay, headers: [], message: { type: "text", body: body("hi there") } })).toBe(
      String.raw`printf '%s\n' 'hi there' | websocat -n1 'ws://127.0.0.1:8080/ws/echo?a=1'`,
    );
    expect(asWebsocat({ ...replay, headers: [], target: "/", message: { type: "binary", body: body("\0\x01") } })).toBe(
      "printf %s AAE= | base64 -d | websocat -bn1 ws://127.0.0.1:8080/",
    );
  });
  it("[BL-187] is a program in JavaScript", () => {
    expect(
      asJavaScript({ ...replay, message: { type: "text", body: body('say "hi"') } })
        .split("\n")
        .slice(0, 2),
    ).toEqual([
      'const socket = new WebSocket("ws://127.0.0.1:8080/ws/echo?a=1", ["chat","log"]);',
      String.raw`socket.onopen = () => socket.send("say \"hi\"");`,
    ]);
  });
  it("[BL-187] has its close code", () => {
    expect([closeCodeText(1_000), closeCodeText(1_006), closeCodeText(4_001)]).toEqual([
      "1000, normal closure",
      "1006, abnormal closure",
      "4001",
    ]);
  });
});
