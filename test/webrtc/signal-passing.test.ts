import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Peer } from "../../servers/webrtc/signalling/peer.ts";
import { Room } from "../../servers/webrtc/signalling/room.ts";
import { RoomBroadcasts } from "../../servers/webrtc/signalling/room-broadcasts.ts";
import { type PassedSignals, SignalPassing } from "../../servers/webrtc/signalling/signal-passing.ts";
import type { SignalPath } from "../../servers/webrtc/signalling/signal-path.ts";
import type { SignalEvent } from "../../servers/webrtc/signalling/signalling-event.ts";
import { onEnd } from "../support/start-service.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const event = (number: number): SignalEvent => ({
  type: "signal",
  from: "sender",
  room: "large",
  signal: { kind: "other", dialect: "ywebrtc", payload: { number } },
});
const numberOf = ({ signal }: SignalEvent): unknown => (signal.payload as { readonly number: number }).number;

/** A room of 2,000 and a sender, between which every seventh signal is lost. */
function open() {
  const { turns, pass } = workTime();
  onEnd(() => turns.close());
  const delivered: { readonly to: string; readonly number: unknown }[] = [];
  let holds = 0;
  let looked = 0;
  let hold: ((arrive: () => void) => void) | undefined;
  const holdBack = (next: typeof hold) => {
    hold = next;
  };
  const peerOf = (id: string) =>
    new Peer(id, {
      ...{ dialect: "json", userAgent: "", connection: { id: 0, remote: "", local: "", openedAt: 0, tls: undefined } },
      link: {
        deliver() {},
        hold: () => void holds++,
        release: () => void holds--,
        close() {},
        ...{ unsentBytes: 0, unsentMemory: 0, sentBytes: 0 },
      },
    });
  const path: SignalPath = {
    isClear: false,
    forget() {},
    pass(_signal, arrive) {
      pass();
      if (hold) {
        hold(arrive);
        return ["delayed"];
      }
      if (++looked % 7 === 0) return ["dropped"];
      arrive();
      return [];
    },
  };
  const hand = (peer: Peer, handed: unknown) => {
    pass();
    delivered.push({ to: peer.id, number: numberOf(handed as SignalEvent) });
  };
  const broadcasts = new RoomBroadcasts(
    hand,
    (_peer, send) => send(),
    () => {},
    turns,
  );
  const room = new Room("large", undefined);
  const sender = peerOf("sender");
  const members = [sender, ...Array.from({ length: 2_000 }, (_, index) => peerOf(`peer ${index}`))];
  for (const member of members) {
    room.add(member);
    member.rooms.push(room);
  }
  const passing = new SignalPassing(path, broadcasts);
  return { broadcasts, delivered, holdBack, members, passing, room, sender, holds: () => holds, looked: () => looked };
}

it("[WEBRTC-553] a signal to a room that faults concern is passed on in turns, and its sender is read no further meanwhile", async () => {
  const { delivered, members, passing, room, sender, holds, looked } = open();
  let passed: PassedSignals | undefined;
  passing.toMany(members.slice(1), event(1), room, sender, (result) => {
    passed = result;
  });
  expect([passed, holds() > 0]).toEqual([undefined, true]);
  // Who leaves before it was reached gets nothing.
  (members[2_000] as Peer).isConnected = false;
  while (!passed || holds() > 0) {
    const before = looked() + delivered.length;
    await nextTurn();
    expect(looked() + delivered.length - before).toBeLessThanOrEqual(2 * itemsOfTurn);
  }
  const lost = Math.floor(1_999 / 7);
  expect(passed).toMatchObject({ deliveries: 1_999 - lost });
  expect(passed.effects).toHaveLength(lost);
  expect(new Set(delivered.map(({ to }) => to)).size).toBe(1_999 - lost);
});

it("[WEBRTC-553] what comes from another instance stays in its order, and nothing is passed on after the end", async () => {
  const { broadcasts, delivered, members, passing, room, looked } = open();
  const receivers = members.slice(1);
  for (const number of [1, 2]) passing.toManyHere(receivers, event(number), room);
  while (looked() < 2 * receivers.length) await nextTurn();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  for (const [to, all] of Map.groupBy(delivered, (one) => one.to))
    expect([1, 2], to).toEqual(expect.arrayContaining(all.map(({ number }) => number)));
  expect(delivered.findLastIndex(({ number }) => number === 1)).toBeLessThan(delivered.findIndex(({ number }) => number === 2));
  passing.toManyHere(receivers, event(3), room);
  broadcasts.close();
  const before = looked();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(looked() - before).toBe(0);
});

it("[WEBRTC-561] a signal to a room tells of those that it is held back for, also where one has left before it is due", async () => {
  const { members, passing, room, sender, holdBack } = open();
  const waiting: (() => void)[] = [];
  holdBack((arrive) => waiting.push(arrive));
  let passed: PassedSignals | undefined;
  passing.toMany(members.slice(1, 5), event(1), room, sender, (result) => {
    passed = result;
  });
  while (!passed) await nextTurn();
  expect(passed).toMatchObject({ deliveries: 4, held: { isOver: false, waiting: 4, lost: 0 } });
  (members[2] as Peer).isConnected = false;
  let over = 0;
  (passed as PassedSignals).held?.whenOver(() => void over++);
  for (const arrive of waiting) {
    expect(over).toBe(0);
    arrive();
    // Another copy.
    arrive();
  }
  expect([over, (passed as PassedSignals).held]).toMatchObject([1, { isOver: true, lost: 1, reason: "receiver left" }]);
});
