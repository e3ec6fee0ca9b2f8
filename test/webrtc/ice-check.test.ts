import { expect, it } from "vitest";
import type { IceCheck, IceRequestCount } from "../../contract/services/webrtc-ice-check.ts";
import { resultOf } from "../../servers/core/turns/work-connection.ts";
import { unauthenticated } from "../../servers/webrtc/ice-check/allocation-refusals.ts";
import type { PeerEvidence, SeenRelay, SentSignal } from "../../servers/webrtc/ice-check/ice-side.ts";
import { judgeConnection } from "../../servers/webrtc/ice-check/judge-connection.ts";
import { noImpairment } from "../../servers/webrtc/turn/impairment.ts";
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
  user: "a",
  addresses: [part.relayed ?? "127.0.0.1:50112"],
  impairment: noImpairment,
  lastToPeersAt: 0,
  lastFromPeersAt: 0,
  lastRequestAt: 0,
  ...part,
});

interface Side extends Partial<PeerEvidence> {
  /** Sent after the description. */
  readonly candidates?: readonly string[];
}

const late = 60_000;
const soon = 2_000;

/** Of a relay: data passed in both directions until so long before the check. */
const passed = (agoMs: number): Partial<SeenRelay> => ({
  toPeers: 40,
  fromPeers: 38,
  lastToPeersAt: late - agoMs,
  lastFromPeersAt: late - agoMs,
});

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
  return resultOf(
    judgeConnection(
      [evidence("a", signal("offer", 0, bare(offer)), ada), evidence("b", signal("answer", 100, answer), bob)],
      addresses,
      now,
    ),
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
  const refused = (code: number, isFault?: true) =>
    check(
      {
        candidates: [line("host", "192.168.1.5"), line("srflx", "203.0.113.7")],
        requests: [
          request("binding", 0),
          request("allocate", unauthenticated),
          { ...request("allocate", code), ...(isFault && { isFault }) },
        ],
      },
      { candidates: [line("host", "10.0.0.9")] },
    );
  expect(words(refused(401), "a")).toBe(
    "Ada: reflexive but no relay: the allocation over UDP was refused with 401, wrong credentials. Use user name and credential of the newest welcome unchanged: they end after a time.",
  );
  expect(found(refused(401))).toContain("wrong-credentials a");
  expect(found(refused(486))).toContain("over-quota a");
  for (const code of [401, 486]) {
    expect(found(refused(code, true))).toContain("allocation-refused a");
    expect(words(refused(code, true), "a")).toBe(
      `Ada: reflexive but no relay: the allocation over UDP was refused with ${code}, by a fault on demand. Release the fault.`,
    );
  }
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
  expect(found(ada({ impairment: { ...noImpairment, isCut: true } }))).toEqual(["failed", "relay-impaired a"]);
  expect(found(ada({ permissions: ["10.0.0.9"], toPeers: 12 }))).toEqual(["failed", "relay-one-way a"]);
});

it("[WEBRTC-419] connected by one relay or by two, where data passes in both directions", () => {
  const data = { permissions: ["127.0.0.1"], ...passed(2_000) };
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

it("[WEBRTC-424] a relay is that of the peer whose candidate names it, with whatever credentials it was made", () => {
  const ada = (...relays: readonly Partial<SeenRelay>[]) =>
    check(
      {
        candidates: [line("relay", "127.0.0.1", 50_112)],
        relays: relays.map((part) => relay({ permissions: ["10.0.0.9"], ...passed(1_000), ...part })),
      },
      { candidates: [line("host", "10.0.0.9")] },
    );
  expect(found(ada({ user: "of /ice-servers" }))).toEqual(["connected", "relayed"]);
  // The port was that of another relay before.
  expect(found(ada({ user: "before", closed: "expired" }, { allocation: 2, user: "now" }))).toEqual(["connected", "relayed"]);
  // No candidate names one: that of its own credentials. That of others is not its own.
  expect(found(ada({ relayed: "127.0.0.1:50200" }))).toEqual(["connected", "relayed"]);
  expect(found(ada({ user: "c", relayed: "127.0.0.1:50200" }))).toEqual(["waiting", "no-relay a"]);
});

it("[WEBRTC-420] a relay that is not used beside a direct way, such as one by names of multicast DNS, is no cause", () => {
  const side = (port: number, candidates: readonly string[]) => ({
    address: "127.0.0.1",
    candidates: [...candidates, line("relay", "127.0.0.1", port)],
    relays: [relay({ allocation: port, relayed: `127.0.0.1:${port}` })],
    requests: [request("allocate", 0)],
  });
  const name = "3f2504e0-4f89-41d3-9a0c-0305e82c3301.local";
  const hidden = check(side(50_112, [line("host", name)]), side(50_113, [line("host", name)]));
  expect(hidden.verdict).toBe("direct");
  expect(hidden.findings.filter(({ tone }) => tone === "bad" || tone === "warn")).toEqual([]);
  expect(found(hidden)).toEqual(["direct", "mdns-only", "no-permission a", "no-permission b"]);
  expect(words(hidden, "a")).toContain("does not use its relay");
  const shown = check(side(50_112, [line("host", "10.0.0.9")]), side(50_113, [line("host", "10.0.0.8")]));
  expect(shown.verdict).toBe("direct");
  const young = check(side(50_112, [line("host", "10.0.0.9")]), side(50_113, [line("host", "10.0.0.8")]), soon);
  expect(found(young)).toEqual(["direct", "direct-possible"]);
});

it("[WEBRTC-425] data of a relay to a third peer says nothing about the second: ports count where relays share an address", () => {
  const toCarol = { permissions: ["127.0.0.1"], channels: ["127.0.0.1:50300"], ...passed(1_000) };
  const between = (ofAda: readonly SeenRelay[]) =>
    check(
      { candidates: [line("relay", "127.0.0.1", 50_112)], relays: ofAda },
      { candidates: [line("relay", "127.0.0.1", 50_113)], relays: [relay({ allocation: 3, relayed: "127.0.0.1:50113", user: "b" })] },
    );
  const apart = between([relay(), relay({ allocation: 2, relayed: "127.0.0.1:50200", ...toCarol })]);
  expect(found(apart)).toEqual(["failed", "no-permission a", "no-permission b"]);
  const same = between([relay(toCarol)]);
  expect(found(same)).toEqual(["failed", "no-permission a", "no-permission b"]);
  expect(words(same, "a")).toContain("its channels lead to others than Bob");
});

it("[WEBRTC-425] what passed before is no connection, and a cut, loss or delay on request is named", () => {
  const both = (ofAda: Partial<SeenRelay>, ofBob: Partial<SeenRelay> = {}) =>
    check(
      {
        candidates: [line("relay", "127.0.0.1", 50_112)],
        relays: [relay({ permissions: ["127.0.0.1"], channels: ["127.0.0.1:50113"], ...passed(1_000), ...ofAda })],
      },
      {
        candidates: [line("relay", "127.0.0.1", 50_113)],
        relays: [
          relay({
            ...{ allocation: 2, user: "b", relayed: "127.0.0.1:50113", permissions: ["127.0.0.1"], channels: ["127.0.0.1:50112"] },
            ...{ ...passed(1_000), ...ofBob },
          }),
        ],
      },
    );
  const cut = { impairment: { ...noImpairment, isCut: true } };
  expect(found(both(cut))).toEqual(["failed", "relay-impaired a"]);
  expect(words(both(cut), "a")).toBe("The relay of Ada, 127.0.0.1:50112, passes nothing: it is cut on request. End its faults.");
  expect(found(both({}, cut))).toEqual(["failed", "relay-impaired b"]);
  const loss = { impairment: { ...noImpairment, loss: 0.3, delayMs: 200 } };
  const lossy = both(loss);
  expect(found(lossy)).toEqual(["connected", "relayed", "relay-impaired a"]);
  expect(lossy.findings[1]).toMatchObject({
    tone: "warn",
    text: "The relay of Ada, 127.0.0.1:50112, loses 30 % of its datagrams and delays its datagrams by 200 ms on request.",
  });
  expect(found(both({ ...loss, ...passed(20_000) }, passed(20_000)))).toEqual([
    "failed",
    "relay-impaired a",
    "relay-quiet a",
    "relay-quiet b",
  ]);
  expect(found(both(passed(20_000), passed(20_000)))).toEqual(["waiting", "relay-quiet a", "relay-quiet b"]);
});

it("[WEBRTC-426] nothing through a relay for longer than consent lasts, while the allocation is open", () => {
  const ada = (part: Partial<SeenRelay>, bob = "10.0.0.9", more: readonly string[] = []) =>
    check(
      {
        candidates: [line("relay", "127.0.0.1", 50_112), ...more],
        relays: [relay({ permissions: ["10.0.0.9"], ...passed(40_000), ...part })],
      },
      { candidates: [line("host", bob)] },
    );
  const silent = ada({});
  expect(found(silent)).toEqual(["failed", "consent-expired a"]);
  expect(silent.findings[0]?.text).toBe(
    "Nothing has passed the relay of Ada, 127.0.0.1:50112, for 40 s, while it is still open: consent has probably expired.",
  );
  expect(words(ada({ lastRequestAt: late - 5_000 }), "a")).toContain("for 40 s, while its client still refreshes it: consent");
  expect(words(ada({ lastToPeersAt: late - 1_000 }), "a")).toContain(
    "Nothing from Bob has come to the relay of Ada, 127.0.0.1:50112, for 40 s",
  );
  expect(words(ada({ lastFromPeersAt: late - 1_000 }), "a")).toContain("Ada has sent nothing through its relay, 127.0.0.1:50112, for 40 s");
  // They may have changed to a direct way.
  const direct = ada({}, "10.0.0.9", [line("host", "10.0.0.7")]);
  expect(found(direct)).toEqual(["direct", "consent-expired a", "direct-possible"]);
  expect(direct.findings[0]).toMatchObject({ tone: "note" });
});
