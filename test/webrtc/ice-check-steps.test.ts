import { expect, it } from "vitest";
import { resultOf } from "../../servers/core/turns/work-connection.ts";
import { type PeerEvidence, readSide, type SeenRelay, type SentSignal } from "../../servers/webrtc/ice-check/ice-side.ts";
import { judgeConnection } from "../../servers/webrtc/ice-check/judge-connection.ts";
import { noImpairment } from "../../servers/webrtc/turn/impairment.ts";
import { answer, offer } from "../renderer-webrtc/samples.ts";

const late = 60_000;
const line = (type: string, address: string, port: number) =>
  `candidate:1 1 udp 1 ${address} ${port} typ ${type}${type === "host" ? "" : " raddr 10.9.9.9 rport 1"}`;
const signal = (type: SentSignal["type"], at: number, text: string): SentSignal => ({ type, at, text });
const relay = (part: Pick<SeenRelay, "allocation" | "relayed" | "user" | "toPeers">): SeenRelay => ({
  ...{ transport: "udp", permissions: [], channels: [], fromPeers: 0, addresses: [part.relayed], impairment: noImpairment },
  ...{ lastToPeersAt: 0, lastFromPeersAt: 0, lastRequestAt: 0, ...part },
});

it("[WEBRTC-541] the signals of two peers are read in steps, one each", () => {
  const side = (peer: string, type: "offer" | "answer"): PeerEvidence => ({
    ...{ peer, name: peer, address: "10.0.0.9", isHere: true, requests: [], relays: [] },
    signals: Array.from({ length: 50 }, (_, index) => signal(type, index, type === "offer" ? offer : answer)),
  });
  const steps = judgeConnection([side("a", "offer"), side("b", "answer")], { port: 3478, tlsPort: undefined }, late);
  for (let count = 0; count < 100; count++) expect(steps.next().done).toBe(false);
  expect(steps.next().done).toBe(true);
});

it("[WEBRTC-541] of many descriptions the last offer and answer are kept as read, and 500 candidates", () => {
  const lines = (from: number) =>
    Array.from({ length: 300 }, (_, index) => `a=${line("host", `10.0.${from}.${index % 250}`, 9 + index)}`).join("\r\n");
  const descriptions = Array.from({ length: 6 }, (_, index) =>
    signal(index % 2 === 0 ? "offer" : "answer", index, `${offer.trimEnd()}\r\n${lines(index)}\r\n`),
  );
  const evidence: PeerEvidence = {
    ...{ peer: "a", name: "a", address: "10.0.0.9", isHere: true, requests: [], relays: [] },
    signals: descriptions,
  };
  const side = resultOf(readSide(evidence));
  expect(side.descriptions.map(({ sdp }) => sdp !== undefined)).toEqual([false, false, false, false, true, true]);
  expect(side.candidates).toHaveLength(500);
});

it("[WEBRTC-541] the addresses of hundreds of candidates and relays are looked at once each", () => {
  let looked = 0;
  const relays = Array.from({ length: 200 }, (_, index) => ({
    ...relay({ allocation: index, relayed: `127.0.0.1:${50_000 + index}`, user: index % 2 === 0 ? "a" : "b", toPeers: 1 }),
    get permissions() {
      looked++;
      return ["192.0.2.1"];
    },
  }));
  const side = (peer: string, type: "offer" | "answer", network: number): PeerEvidence => ({
    ...{ peer, name: peer, address: "10.0.0.9", isHere: true, requests: [], relays },
    signals: [
      signal(type, network, type === "offer" ? offer : answer),
      ...Array.from({ length: 350 }, (_, index) =>
        signal("candidate", 10, line("host", `10.${network}.${index % 200}.${index}`, 9 + index)),
      ),
      ...Array.from({ length: 100 }, (_, index) =>
        signal("candidate", 10, line("relay", "127.0.0.1", 50_000 + 2 * index + (peer === "a" ? 0 : 1))),
      ),
    ],
  });
  const result = resultOf(judgeConnection([side("a", "offer", 0), side("b", "answer", 1)], { port: 3478, tlsPort: undefined }, late));
  expect(result.sides.map((one) => one.relays.length + (one.relaysLeftOut ?? 0))).toEqual([100, 100]);
  // Where it leads to, a few times for the one that is judged, and for the page.
  expect(looked).toBeLessThan(4 * relays.length);
});

it("[WEBRTC-559] of hundreds of relays with many permissions an answer has as many as it has room for, those that are open first, and says how many it leaves out", () => {
  const permissions = Array.from({ length: 100 }, (_, index) => `2001:db8:0:1:2:3:4:${index.toString(16)}`);
  const relays = Array.from({ length: 1_000 }, (_, index) => ({
    ...relay({ allocation: index, relayed: `127.0.0.1:${40_000 + index}`, user: "a", toPeers: 1 }),
    permissions,
    ...(index >= 50 && { closed: "expired" }),
  }));
  const side = (peer: string): PeerEvidence => ({
    ...{ peer, name: peer, address: "10.0.0.9", isHere: true, requests: [], relays },
    signals: [signal("offer", 1, offer)],
  });
  const result = resultOf(judgeConnection([side("a"), side("b")], { port: 3478, tlsPort: undefined }, late));
  const [{ relays: shown, relaysLeftOut = 0 }, other] = result.sides;
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(100 << 10);
  expect([shown.length + relaysLeftOut, shown.length > 100]).toEqual([1_000, true]);
  expect(shown.slice(0, 50).map(({ allocation }) => allocation)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(shown.slice(50).map(({ allocation }) => allocation)).toEqual(
    Array.from({ length: shown.length - 50 }, (_, index) => 1_050 - shown.length + index),
  );
  expect([shown[0]?.permissions, shown[0]?.permissionCount]).toEqual([permissions.slice(0, 10), 100]);
  expect(other.relays).toEqual([]);
  expect(other).not.toHaveProperty("relaysLeftOut");
});
