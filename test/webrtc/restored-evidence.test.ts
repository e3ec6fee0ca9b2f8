import { expect, it } from "vitest";
import type { IceCheck } from "../../contract/services/webrtc-ice-check.ts";
import type { LadderAnswer } from "../../contract/services/webrtc-signals.ts";
import { createTrafficMemory } from "../../servers/supervisor/traffic/traffic-memory.ts";
import { createTrafficStore } from "../../servers/supervisor/traffic/traffic-store.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { webrtcService } from "../../servers/webrtc/webrtc-service.ts";
import { offer } from "../renderer-webrtc/samples.ts";
import { startService } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { errorOf, TurnClientUnderTest } from "./turn-harness.ts";
import { startWebrtc, type WebrtcContract } from "./webrtc-harness.ts";

it("[WEBRTC-409] ladder and ICE check know the signals, requests and relays of an earlier run, while the service is stopped too", async () => {
  const store = createTrafficStore({
    service: "webrtc",
    decoders: webrtcService.details,
    memory: createTrafficMemory(64 << 20),
    turns: createTurns(),
    rows: 10_000,
  });
  const first = await startWebrtc({}, undefined, { onBatch: (batch) => store.add(batch) });
  const [ada, bob] = [await first.connect(), await first.connect()];
  const sample = await first.connect({ headers: { "User-Agent": "demo Backlot-sample" } });
  await sample.join("s");
  await ada.join("r", { name: "Ada" });
  await bob.join("r", { name: "Bob" });
  ada.send({ type: "offer", to: bob.id, sdp: offer.replaceAll(/a=candidate:.*\r\n/g, "") });
  await bob.messages.until(({ type }) => type === "offer");
  ada.send({ type: "chat", to: "nobody", text: "lost" });
  await ada.settled();
  const username = ada.iceServers.find((server) => server.username !== undefined)?.username ?? "";
  const port = Number(/turn:127\.0\.0\.1:(\d+)/.exec(first.urlOf("TURN"))?.[1]);
  const turn = await TurnClientUnderTest.connect({ port, tlsPort: 0 });
  expect(errorOf(await turn.allocate([], { credentials: { username, password: "wrong" } }))).toBe(401);
  const peers: [string, string] = [ada.id, bob.id];
  bob.socket.close();
  await until(async () => (await first.act("signals.list")).signals.some(({ isEnd }) => isEnd));
  const [listed, checked] = [await first.act("signals.list"), await first.act("ice.check", { peers })];
  await until(() => first.rows().length === store.newestId());
  await first.running.stop();
  store.abandon("service crashed");

  const kept = { readKept: async (after: number) => store.records(after), firstRowId: store.nextId() };
  const stopped = await startService<WebrtcContract>(webrtcService, { mode: "browse", ...kept });
  const shown: LadderAnswer = await stopped.act("signals.list");
  expect(shown.signals.slice(0, listed.signals.length)).toEqual(listed.signals);
  expect(shown.signals.slice(listed.signals.length)).toMatchObject([
    { from: ada.id, isEnd: true, room: "r" },
    { from: sample.id, isEnd: true, isSample: true },
  ]);
  expect(shown.names).toEqual(listed.names);
  const ofUser = await stopped.act("signals.list", { withoutSample: true });
  expect(ofUser.signals.map(({ from }) => from)).not.toContain(sample.id);
  expect(ofUser.signals.length).toBe(shown.signals.length - 2);
  const check: IceCheck | null = await stopped.act("ice.check", { peers });
  // A request is counted a moment after its row was made.
  const near = checked?.sides.map(({ name, requests }) => [
    name,
    requests.map((request) => ({ ...request, lastAt: expect.closeTo(request.lastAt, -2) })),
  ]);
  expect(check?.sides.map(({ name, requests }) => [name, requests])).toEqual(near);
  await expect(stopped.act("peer.kick", { peer: ada.id })).rejects.toMatchObject({ code: "SERVICE_NOT_RUNNING" });
  await stopped.stop();

  const again = await startWebrtc({}, undefined, kept);
  const cid = await again.connect();
  await cid.join("r", { name: "Cid" });
  const after = await again.act("signals.list");
  expect(after.signals.slice(0, shown.signals.length)).toEqual(shown.signals);
  expect(after.signals.at(-1)).toMatchObject({ from: cid.id, kind: "join" });
});
