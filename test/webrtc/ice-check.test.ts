import { expect, it } from "vitest";
import type { IceCheck, IceRequestCount } from "../../contract/services/webrtc-ice-check.ts";
import { unauthenticated } from "../../servers/webrtc/ice-check/allocation-refusals.ts";
import type { PeerEvidence, SeenRelay, SentSignal } from "../../servers/webrtc/ice-check/ice-side.ts";
import { judgeConnection } from "../../servers/webrtc/ice-check/judge-connection.ts";
import { scopeOf, shareNetwork } from "../../servers/webrtc/ice-check/networks.ts";
import { RequestHistory } from "../../servers/webrtc/ice-check/request-history.ts";
import { answer, offer } from "../renderer-webrtc/samples.ts";

const bare = (sdp: string) => sdp.replaceAll(/a=candidate:.*\r\n/g, "");
const line = (type: string, address: string, port = 50_000) =>
  `candidate:1 1 udp 1 ${address} ${port} typ ${type}${type === "host" ? "" : " raddr 10.9.9.9 rport 1"}`;
const signal = (type: SentSignal["type"], at: number, text: string, part: Partial<SentSignal> = {}): SentSignal => ({
  type,
  at,
  text,
  ...part,
});
const request = (method: string, code: number, part: Partial<IceRequestCount> = {}): IceRequestCount => ({
  method,
  transport: "udp",
  code,
  count: 1,
  lastAt: 1_000,
  ...part,
});
const relay = (part: Partial<SeenRelay> = {}): SeenRelay => ({
  allocation: 1,
  relayed: "127.0.0.1:50112",
  transport: "udp",
  permissions: [],
  channels: [],
  toPeers: 0,
  fromPeers: 0,
  isImpaired: false,
  ...part,
});

interface Side extends Partial<PeerEvidence> {
  /** Sent after the description. */
  readonly candidates?: readonly string[];
}

const late = 60_000;
const soon = 2_000;

/** Ada calls Bob: offer at 0, answer at 100, candidates after that. */
function check(ada: Side, bob: Side, now = late, addresses = { port: 3478, tlsPort: 5349 as number | undefined }): IceCheck {
  const evidence = (peer: string, own: SentSignal, { candidates = [], ...rest }: Side): PeerEvidence => ({
    peer,
    name: peer === "a" ? "Ada" : "Bob",
    address: peer === "a" ? "192.168.1.5" : "10.0.0.9",
    isHere: true,
    signals: [own, ...candidates.map((text, index) => signal("candidate", 200 + index, text))],
    requests: [],
    relays: [],
    ...rest,
  });
  return judgeConnection(
    [evidence("a", signal("offer", 0, bare(offer)), ada), evidence("b", signal("answer", 100, answer), bob)],
    addresses,
    now,
  );
}

const found = ({ verdict, findings }: IceCheck) => [
  verdict,
  ...findings.map(({ code, peer }) => (peer === undefined ? code : `${code} ${peer}`)),
];
const words = ({ findings }: IceCheck, peer: string) =>
  findings.filter((finding) => finding.peer === peer).map(({ text, advice }) => `${text} ${advice}`)[0];

it("[WEBRTC-410] only host candidates of different networks: the client is to be given the ICE servers of the welcome", () => {
  const result = check({ candidates: [line("host", "192.168.1.5")] }, { candidates: [line("host", "10.0.0.9")] });
  expect(found(result)).toEqual(["failed", "hosts-apart a", "hosts-apart b"]);
  expect(words(result, "a")).toBe(
    "Ada: only host candidates of different networks and no relay offered. Give the client the ICE servers of the welcome. If it has them: UDP to 3478 never arrived, try TCP (turn:…:3478?transport=tcp, or turns:…:5349).",
  );
});

it("[WEBRTC-411] reflexive but no relay: the code that refused the allocation is named, wrong credentials first", () => {
  const refused = (code: number) =>
    check(
      {
        candidates: [line("host", "192.168.1.5"), line("srflx", "203.0.113.7")],
        requests: [request("binding", 0), request("allocate", unauthenticated), request("allocate", code)],
      },
      { candidates: [line("host", "10.0.0.9")] },
    );
  expect(words(refused(401), "a")).toBe(
    "Ada: reflexive but no relay: the allocation over UDP was refused with 401, wrong credentials. Use user name and credential of the newest welcome unchanged: they end after a time.",
  );
  expect(found(refused(401))).toContain("wrong-credentials a");
  expect(found(refused(486))).toContain("over-quota a");
  expect(words(refused(508), "a")).toContain("refused with 508, no port or no place is free");
  // The first request without credentials, and one with an old nonce, are no failure.
  expect(found(refused(unauthenticated))).toContain("no-relay a");
  expect(found(refused(438))).toContain("no-relay a");
});

it("[WEBRTC-412] neither: UDP never arrived, and TCP is proposed", () => {
  const result = check({}, { candidates: [line("host", "10.0.0.9")] });
  expect(found(result)).toEqual(["failed", "never-arrived a", "hosts-apart b"]);
  expect(words(result, "a")).toMatch(
    /^Ada: no candidates, neither reflexive nor relay: UDP to 3478 never arrived, try TCP \(turn:…:3478\?transport=tcp/,
  );
  expect(words(check({}, {}, late, { port: 9_000, tlsPort: undefined }), "a")).not.toContain("turns:");
  // It has asked, and keeps what it found to itself.
  expect(found(check({ requests: [request("binding", 0)] }, { candidates: [line("host", "10.0.0.9")] }))).toContain("no-candidates a");
});

it("[WEBRTC-413] names of multicast DNS: they work within one network, and not between two", () => {
  const names = { candidates: [line("host", "3f2a.local")] };
  expect(found(check(names, names))).toEqual(["failed", "mdns-only a", "mdns-only b"]);
  expect(found(check({ ...names, address: "192.168.1.5" }, { ...names, address: "192.168.1.6" }))).toEqual(["direct", "mdns-only"]);
});

it("[WEBRTC-414] no offer, an answer that does not come, one who left, and a signal that was not delivered", () => {
  const without = { signals: [] };
  expect(found(check(without, without))).toEqual(["waiting", "no-offer"]);
  expect(found(check({}, without, soon))).toEqual(["waiting", "no-answer b"]);
  const result = check({}, without);
  expect(found(result)).toEqual(["failed", "no-answer b"]);
  expect(words(result, "b")).toMatch(/^Bob got the offer 60 s ago and has not answered\. Look at its console/);
  expect(found(check({}, { ...without, isHere: false }))).toEqual(["failed", "left b"]);
  expect(found(check({ signals: [signal("offer", 0, offer, { lost: "peer-unknown" })] }, without))).toEqual(["failed", "offer-lost a"]);
  expect(found(check({}, { signals: [signal("answer", 1, answer, { lost: "peer-unknown" })] }))).toEqual(["failed", "no-answer b"]);
});

it("[WEBRTC-415] two offers that cross (glare)", () => {
  const both = check({}, { signals: [signal("offer", 30, bare(offer))] });
  expect(found(both)).toEqual(["failed", "glare"]);
  expect(both.findings[0]?.text).toBe("Both sent an offer before either had answered (glare): Ada first, Bob 30 ms later.");
  // Settled: one of them has answered the other's.
  const settled = check(
    { signals: [signal("offer", 0, bare(offer)), signal("answer", 60, answer), signal("candidate", 70, line("host", "10.0.0.8"))] },
    { signals: [signal("offer", 30, bare(offer)), signal("candidate", 70, line("host", "10.0.0.9"))] },
  );
  expect(found(settled)).toEqual(["direct", "glare", "direct-possible"]);
});

it("[WEBRTC-416] descriptions that no browser takes, and an answer that rejects all", () => {
  expect(found(check({ signals: [signal("offer", 0, "nothing")] }, {}))).toEqual(["failed", "unusable-description a"]);
  expect(found(check({ signals: [signal("offer", 0, offer.replaceAll(/a=ice-ufrag.*\r\n/g, ""))] }, {}))).toEqual([
    "failed",
    "unusable-description a",
  ]);
  expect(found(check({}, { signals: [signal("answer", 9, answer.replaceAll("setup:active", "setup:actpass"))] }))).toEqual([
    "failed",
    "unusable-description b",
  ]);
  const rejected = answer.replaceAll(/^m=(\w+) 9 /gm, "m=$1 0 ");
  expect(found(check({}, { signals: [signal("answer", 9, rejected)] }))).toEqual(["failed", "all-rejected b"]);
});

it("[WEBRTC-417] candidates before the description, and those that did not arrive, are warnings", () => {
  const host = (address: string) => signal("candidate", 1, line("host", address));
  const early = check(
    {
      signals: [
        host("10.0.0.8"),
        signal("offer", 2, bare(offer)),
        signal("candidate", 3, line("host", "10.0.0.7"), { lost: "peer-unknown" }),
      ],
    },
    { candidates: [line("host", "10.0.0.9")] },
  );
  expect(found(early)).toEqual(["direct", "direct-possible", "early-candidates a", "candidates-lost a"]);
});

it("[WEBRTC-417] where no candidate of a side arrived, that is the cause", () => {
  const lost = check(
    { candidates: [line("host", "10.0.0.7")] },
    {
      signals: [
        signal("answer", 100, bare(answer)),
        signal("candidate", 200, line("host", "10.0.0.9"), { lost: "dropped by a fault" }),
        signal("candidate", 201, line("relay", "127.0.0.1", 50_113), { lost: "dropped by a fault" }),
      ],
    },
  );
  expect(lost.verdict).toBe("failed");
  expect(lost.findings.find(({ peer }) => peer === "b")).toMatchObject({
    code: "candidates-lost",
    tone: "bad",
    text: "No candidate of Bob reached Ada: dropped by a fault.",
  });
});

it("[WEBRTC-418] a relay without a permission, with one that is not allowed, and one that is closed, cut or one-way", () => {
  const bob = { candidates: [line("host", "10.0.0.9")] };
  const ada = (part: Partial<SeenRelay>, requests: readonly IceRequestCount[] = [], now = late) =>
    check(
      { candidates: [line("relay", "127.0.0.1", 50_112)], relays: [relay(part)], requests: [request("allocate", 0), ...requests] },
      bob,
      now,
    );
  expect(found(ada({}))).toEqual(["failed", "no-permission a"]);
  expect(found(ada({}, [], soon))).toEqual(["waiting", "no-permission a"]);
  const refused = ada({}, [request("create permission", 403)]);
  expect(found(refused)).toEqual(["failed", "peer-not-allowed a"]);
  expect(words(refused, "a")).toContain("refused with 403: it is not among the allowed peers");
  expect(found(ada({ closed: "expired" }))).toEqual(["failed", "relay-closed a"]);
  expect(found(ada({ isImpaired: true }))).toEqual(["failed", "relay-impaired a"]);
  expect(found(ada({ permissions: ["10.0.0.9"], toPeers: 12 }))).toEqual(["failed", "relay-one-way a"]);
});

it("[WEBRTC-419] connected by one relay or by two, where data has passed in both directions", () => {
  const data = { permissions: ["127.0.0.1"], toPeers: 40, fromPeers: 38 };
  const result = check(
    { candidates: [line("relay", "127.0.0.1", 50_112)], relays: [relay({ ...data, channels: ["127.0.0.1:50113"] })] },
    {
      candidates: [line("relay", "127.0.0.1", 50_113)],
      relays: [relay({ ...data, allocation: 2, relayed: "127.0.0.1:50113", transport: "tls", channels: ["127.0.0.1:50112"] })],
    },
  );
  expect(found(result)).toEqual(["connected", "relayed"]);
  expect(result.findings[0]?.text).toBe(
    "Connected by two relays: Ada at 127.0.0.1:50112 over UDP, Bob at 127.0.0.1:50113 over TLS. Data passes in both directions.",
  );
});

it("[WEBRTC-420] a direct way is named where there is one, and that the service cannot see it", () => {
  const near = check({ candidates: [line("host", "192.168.1.5")] }, { candidates: [line("host", "192.168.1.77")] });
  expect(found(near)).toEqual(["direct", "direct-possible"]);
  expect(near.findings[0]?.text).toContain("192.168.1.5 and 192.168.1.77");
  const nat = check({ candidates: [line("srflx", "203.0.113.7")] }, { candidates: [line("srflx", "198.51.100.4")] });
  expect(nat.findings[0]?.text).toContain("in front of the router");
  // 127.0.0.1 is another host on each machine.
  const loopback = { candidates: [line("host", "127.0.0.1")] };
  expect(check(loopback, loopback).verdict).toBe("failed");
  expect(check({ ...loopback, address: "127.0.0.1" }, { ...loopback, address: "::1" }).verdict).toBe("direct");
});

it("[WEBRTC-421] a new description with other credentials (a restart of ICE) forgets the candidates before it", () => {
  const restarted = check(
    {
      signals: [
        signal("offer", 0, offer),
        signal("candidate", 5, line("host", "10.0.0.3")),
        signal("offer", 10_000, bare(offer).replaceAll("ufrag:aaaa", "ufrag:zzzz")),
        signal("candidate", 10_001, line("relay", "127.0.0.1")),
      ],
    },
    { signals: [signal("answer", 20, answer), signal("answer", 10_100, answer)] },
  );
  expect(restarted.sides[0].candidates).toEqual({ host: 0, mdns: 0, srflx: 0, prflx: 0, relay: 1 });
});

it("[WEBRTC-422] networks: private ones by their prefix, public ones reach each other, loopback and link-local by themselves", () => {
  for (const [one, other, expected] of [
    ["192.168.1.5", "192.168.1.200", true],
    ["192.168.1.5", "192.168.2.5", false],
    ["10.0.0.1", "203.0.113.7", false],
    ["203.0.113.7", "198.51.100.4", true],
    ["fd00:1:2:3::1", "fd00:1:2:3::2", true],
    ["fd00:1:2:3::1", "fd00:1:2:4::1", false],
    ["2001:db8::1", "192.168.1.1", false],
    ["a.local", "b.local", false],
    ["", "", false],
  ] as const)
    expect(shareNetwork(one, other), `${one} ${other}`).toBe(expected);
  expect(["127.0.0.1", "::1", "fe80::1%eth0", "169.254.1.1", "100.64.0.1", "8.8.8.8", "X.LOCAL", "?"].map(scopeOf)).toEqual([
    "loopback",
    "loopback",
    "link-local",
    "link-local",
    "private",
    "public",
    "mdns",
    "unknown",
  ]);
});

it("[WEBRTC-423] requests are kept by user and by address, within bounds; a request without credentials is told apart from a wrong one", () => {
  let at = 1_000;
  const history = new RequestHistory({ allocations: () => [], now: () => at });
  const client = { address: "127.0.0.1", port: 1, transport: "udp" } as const;
  const event = { client, why: undefined, software: undefined, allocation: undefined };
  history.onRequest({ ...event, method: "binding", code: 0, username: undefined });
  history.onRequest({ ...event, method: "allocate", code: 401, username: undefined });
  history.onRequest({ ...event, method: "allocate", code: 401, username: "1799999999:ada" });
  at = 2_000;
  history.onRequest({ ...event, method: "allocate", code: 401, username: "1799999999:ada" });
  const of = (peer: string, since = 0) =>
    history.requestsOf(peer, "127.0.0.1", since).map(({ method, code, count }) => `${method} ${code} ×${count}`);
  expect(of("ada")).toEqual(["allocate 401 ×2", "binding 0 ×1", `allocate ${unauthenticated} ×1`]);
  // Another peer of this address has not asked in its own name: what came from the address counts.
  expect(of("bob", 1_500)).toEqual(["allocate 401 ×2"]);
  for (let user = 0; user < 5_000; user++) history.onRequest({ ...event, method: "allocate", code: 0, username: `1:u${user}` });
  expect(of("ada", 3_000)).toEqual([]);
});
