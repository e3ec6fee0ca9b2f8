import { expect, it, onTestFinished } from "vitest";
import { Hub } from "../../servers/webrtc/signalling/hub.ts";
import type { HubOptions } from "../../servers/webrtc/signalling/hub-options.ts";
import type { PeerEvent } from "../../servers/webrtc/signalling/signalling-event.ts";
import { until } from "../support/until.ts";

it("[WEBRTC-554] a room that is closed is taken for that of another address with none of its members, who are all told", async () => {
  const most = 1 << 20;
  const limits = new Proxy({}, { get: () => most }) as HubOptions["limits"];
  const observer = { onConnected() {}, onMessage() {}, onDisconnected() {} };
  const hub = new Hub({
    limits,
    observer,
    failures: { isBlocked: () => false, count() {} },
    iceServers: () => [],
  } as unknown as HubOptions);
  onTestFinished(() => hub.close());
  let questions = 0;
  const told: PeerEvent[] = [];
  const link = {
    deliver: (event: PeerEvent) => void told.push(event),
    hold() {},
    release() {},
    close() {},
    unsentBytes: 0,
    unsentMemory: 0,
    sentBytes: 0,
  };
  const count = 50;
  for (let index = 0; index < count; index++) {
    const connection = {
      id: index,
      local: "",
      openedAt: 0,
      tls: undefined,
      get remote() {
        questions++;
        return `192.0.2.${index}:1000`;
      },
    };
    const peer = hub.connect({ dialect: "json", link, connection, userAgent: "" });
    if (peer) hub.join(peer, { room: "room" }, { raw: "" });
  }
  expect(hub.findRoom("room")?.members.size).toBe(count);
  questions = 0;
  hub.closeRoom("room");
  expect([questions, hub.roomCount]).toEqual([0, 0]);
  await until(() => told.filter((event) => event.type === "error" && event.code === "room-closed").length === count);
});
