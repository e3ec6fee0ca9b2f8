import { expect, it } from "vitest";
import type { IceRequestCount } from "../../contract/services/webrtc-ice-check.ts";
import { resultOf } from "../../servers/core/turns/work-connection.ts";
import type { PeerEvidence, SeenHandshake, SeenRelay, SentSignal } from "../../servers/webrtc/ice-check/ice-side.ts";
import { judgeConnection } from "../../servers/webrtc/ice-check/judge-connection.ts";
import { noImpairment } from "../../servers/webrtc/turn/impairment.ts";
import { answer, offer } from "../renderer-webrtc/samples.ts";

const bare = (sdp: string) => sdp.replaceAll(/a=candidate:.*\r\n/g, "");
const host = (address: string) => `candidate:1 1 udp 1 ${address} 50000 typ host`;
const relayed = "candidate:1 1 udp 1 127.0.0.1 50112 typ relay raddr 10.9.9.9 rport 1";
const refusedAt = (lastAt: number): IceRequestCount => ({ method: "create permission", transport: "udp", code: 403, count: 1, lastAt });
const relay: SeenRelay = {
  ...{
    allocation: 1,
    relayed: "127.0.0.1:50112",
    transport: "udp",
    user: "a",
    addresses: ["127.0.0.1:50112"],
    permissions: [],
    channels: [],
  },
  ...{ toPeers: 0, fromPeers: 0, lastToPeersAt: 0, lastFromPeersAt: 0, lastRequestAt: 0, impairment: noImpairment },
};

const failedAt = (at: number, isDistrust = true) => ({ at, why: "the client does not trust the service's certificate", isDistrust });

interface Call {
  readonly ada: readonly string[];
  readonly bob: readonly string[];
  readonly requests?: readonly IceRequestCount[];
  readonly closed?: string;
  /** Of Ada's address. */
  readonly failedHandshake?: SeenHandshake;
  readonly hasRelay?: boolean;
  readonly now?: number;
  /** Signals of Ada before her offer. */
  readonly before?: readonly SentSignal[];
}

/** Ada, who has a relay, calls Bob: offer at 10,000, answer at 10,100, and nothing more until 70,000. */
function check(call: Call) {
  const { verdict, findings } = checked(call);
  return [verdict, ...findings.map(({ code, peer = "", tone }) => `${code} ${peer} ${tone}`)];
}

function checked({ ada, bob, requests = [], closed, before = [], failedHandshake, hasRelay = true, now = 70_000 }: Call) {
  const side = (peer: string, name: string, own: readonly SentSignal[], candidates: readonly string[]): PeerEvidence => ({
    ...{ peer, name, address: "192.168.1.5", isHere: true, requests: [], relays: [] },
    signals: [...own, ...candidates.map((text): SentSignal => ({ type: "candidate", at: 10_200, text }))],
  });
  const evidence: readonly [PeerEvidence, PeerEvidence] = [
    {
      ...side("a", "Ada", [...before, { type: "offer", at: 10_000, text: bare(offer) }], ada),
      requests,
      failedHandshake,
      relays: hasRelay ? [{ ...relay, ...(closed !== undefined && { closed }) }] : [],
    },
    side("b", "Bob", [{ type: "answer", at: 10_100, text: bare(answer) }], bob),
  ];
  return resultOf(judgeConnection(evidence, { port: 3478, tlsPort: 5349 }, now));
}

const apart = { ada: [relayed], bob: [host("10.0.0.9")] };
const near = { ada: [relayed, host("192.168.1.5")], bob: [host("192.168.1.77")] };

it("[WEBRTC-580] a permission that was refused in an earlier call is no cause", () => {
  expect(check({ ...apart, requests: [refusedAt(10_300)] })).toEqual(["failed", "peer-not-allowed a bad"]);
  expect(check({ ...apart, requests: [refusedAt(9_000)] })).toEqual(["failed", "no-permission a bad"]);
});

it("[WEBRTC-580] one of the same use of ICE still is, whatever was offered since", () => {
  const before: readonly SentSignal[] = [{ type: "offer", at: 5_000, text: bare(offer) }];
  expect(check({ ...apart, before, requests: [refusedAt(9_000)] })).toEqual(["failed", "peer-not-allowed a bad"]);
  const restarted = before.map((one) => ({ ...one, text: one.text.replaceAll("ufrag:aaaa", "ufrag:zzzz") }));
  expect(check({ ...apart, before: restarted, requests: [refusedAt(9_000)] })).toEqual(["failed", "no-permission a bad"]);
});

it("[WEBRTC-580] a relay that is closed, and a refused permission, are no cause beside a direct way", () => {
  expect(check({ ...near, closed: "refreshed with lifetime 0" })).toEqual(["direct", "relay-closed a note", "direct-possible  note"]);
  expect(check({ ...near, requests: [refusedAt(10_300)] })).toEqual(["direct", "peer-not-allowed a note", "direct-possible  note"]);
  expect(check({ ...apart, closed: "refreshed with lifetime 0" })).toEqual(["failed", "relay-closed a bad"]);
});

it("[WEBRTC-580] beside the relay of one side the other is to blame where it has no candidate", () => {
  expect(check({ ada: [relayed], bob: [] })).toEqual(["failed", "never-arrived b bad"]);
  expect(check({ ada: [relayed], bob: [], requests: [refusedAt(9_000)] })).toEqual(["failed", "never-arrived b bad"]);
});

const alone = { ada: [], bob: [host("10.0.0.9")], hasRelay: false };

it("[WEBRTC-581] a TLS handshake with turns: that failed is the cause, in words, where its side has no relay", () => {
  const failedHandshake = failedAt(10_050);
  expect(check({ ...alone, failedHandshake })).toEqual(["failed", "tls-failed a bad", "hosts-apart b bad"]);
  expect(check({ ...alone, ada: [host("192.168.1.5")], failedHandshake })).toEqual(["failed", "tls-failed a bad", "hosts-apart b bad"]);
  const words = (isDistrust: boolean) => {
    const { text, advice } = checked({ ...alone, failedHandshake: { ...failedHandshake, isDistrust } }).findings[0] ?? {};
    return `${text} ${advice}`;
  };
  const cause =
    "Ada: no relay: a TLS handshake with turns: from its address, 192.168.1.5, failed 60 s ago: the client does not trust the service's certificate.";
  expect(words(true)).toBe(
    `${cause} Let its computer trust Backlot's authority (see Settings), or give the client turn:…:3478, without TLS.`,
  );
  expect(words(false)).toBe(`${cause} turn:…:3478 needs no TLS.`);
});

it("[WEBRTC-581] one that failed shortly before the offer counts, since some gather first, and none of an earlier call", () => {
  expect(check({ ...alone, failedHandshake: failedAt(1_000) })[1]).toBe("tls-failed a bad");
  expect(check({ ...alone, failedHandshake: failedAt(-1) })[1]).toBe("never-arrived a bad");
});

it("[WEBRTC-581] it is no cause where TLS has succeeded since, where there is a relay, or where an allocation was refused", () => {
  const failedHandshake = failedAt(10_050);
  const allocated = (code: number, lastAt: number): IceRequestCount => ({ method: "allocate", transport: "tls", code, count: 1, lastAt });
  expect(check({ ...alone, failedHandshake, requests: [allocated(0, 10_060)] })[1]).toBe("no-candidates a bad");
  expect(check({ ...alone, failedHandshake, requests: [allocated(0, 10_000)] })[1]).toBe("tls-failed a bad");
  expect(check({ ...alone, failedHandshake, requests: [allocated(486, 10_000)] })[1]).toBe("over-quota a bad");
  expect(check({ ...apart, failedHandshake })).toEqual(["failed", "no-permission a bad"]);
});

it("[WEBRTC-581] beside a direct way, and while a relay may still come, it is a note", () => {
  const failedHandshake = failedAt(10_050);
  const both = { ada: [host("192.168.1.5")], bob: [host("192.168.1.77")], hasRelay: false };
  expect(check({ ...both, failedHandshake })).toEqual(["direct", "direct-possible  note", "tls-failed a note"]);
  const young = check({ ...alone, bob: [], failedHandshake, now: 12_000 });
  expect(young).toEqual(["waiting", "gathering a wait", "gathering b wait", "tls-failed a note"]);
});
