import { expect, it } from "vitest";
import type { IceCheck } from "../../contract/services/webrtc-ice-check.ts";
import { answer, offer } from "../renderer-webrtc/samples.ts";
import { until } from "../support/until.ts";
import { errorOf, TurnClientUnderTest } from "./turn-harness.ts";
import { type JsonClient, startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

const bare = (sdp: string) => sdp.replaceAll(/a=candidate:.*\r\n/g, "");
const candidate = (type: "host" | "srflx", address: string) => ({
  candidate: `candidate:1 1 udp 1 ${address} 50000 typ ${type}${type === "host" ? "" : " raddr 192.168.1.5 rport 50000"}`,
  sdpMid: "0",
});

type Candidates = readonly (readonly ["host" | "srflx", string])[];

/** Ada calls Bob; both send these candidates, and that there are no more. */
async function call(service: WebrtcUnderTest, ofAda: Candidates, ofBob: Candidates): Promise<readonly [JsonClient, JsonClient]> {
  const [ada, bob] = [await service.connect(), await service.connect()];
  await ada.join("r", { name: "Ada" });
  await bob.join("r", { name: "Bob" });
  ada.send({ type: "offer", to: bob.id, sdp: bare(offer) });
  await bob.messages.until(({ type }) => type === "offer");
  bob.send({ type: "answer", to: ada.id, sdp: bare(answer) });
  for (const [from, to, candidates] of [
    [ada, bob, ofAda],
    [bob, ada, ofBob],
  ] as const) {
    for (const [type, address] of candidates) from.send({ type: "candidate", to: to.id, candidate: candidate(type, address) });
    from.send({ type: "candidate", to: to.id, candidate: null });
    await from.settled();
  }
  return [ada, bob];
}

/** What the page shows of one of them, as soon as the connection is given up. */
async function causesOf(service: WebrtcUnderTest, peers: readonly [JsonClient, JsonClient], whose: JsonClient): Promise<string> {
  const check = (): Promise<IceCheck | null> => service.act("ice.check", { peers: [peers[0].id, peers[1].id] });
  await until(async () => (await check())?.verdict === "failed");
  const finding = (await check())?.findings.find(({ peer, tone }) => peer === whose.id && tone === "bad");
  return `${finding?.text} ${finding?.advice}`;
}

const turnPortOf = (service: WebrtcUnderTest): number => Number(/turn:127\.0\.0\.1:(\d+)/.exec(service.urlOf("TURN"))?.[1]);

it("[WEBRTC-410] the running service names host candidates of different networks", async () => {
  const service = await startWebrtc();
  const peers = await call(service, [["host", "192.168.1.5"]], [["host", "10.0.0.9"]]);
  expect(await causesOf(service, peers, peers[0])).toMatch(
    /^Ada: only host candidates of different networks and no relay offered\. Give the client the ICE servers of the welcome\. /,
  );
});

it("[WEBRTC-411] the running service names an allocation that was refused for wrong credentials", async () => {
  const service = await startWebrtc();
  const peers = await call(
    service,
    [
      ["host", "192.168.1.5"],
      ["srflx", "203.0.113.7"],
    ],
    [["host", "10.0.0.9"]],
  );
  const username = peers[0].iceServers.find((server) => server.username !== undefined)?.username ?? "";
  const turn = await TurnClientUnderTest.connect({ port: turnPortOf(service), tlsPort: 0 });
  expect(errorOf(await turn.allocate([], { credentials: { username, password: "wrong" } }))).toBe(401);
  expect(await causesOf(service, peers, peers[0])).toBe(
    "Ada: reflexive but no relay: the allocation over UDP was refused with 401, wrong credentials. Use user name and credential of the newest welcome unchanged: they end after a time.",
  );
});

it("[WEBRTC-412] the running service names UDP that never arrived", async () => {
  const service = await startWebrtc();
  const port = turnPortOf(service);
  const peers = await call(service, [["host", "192.168.1.5"]], []);
  expect(await causesOf(service, peers, peers[1])).toMatch(
    new RegExp(`^Bob: no candidates, neither reflexive nor relay: UDP to ${port} never arrived, try TCP \\(turn:…:${port}\\?transport=tcp`),
  );
});
