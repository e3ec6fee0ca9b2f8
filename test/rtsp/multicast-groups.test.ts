import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { parseTransport } from "../../servers/rtsp/protocol/transport-header.ts";
import { chooseTransport, openTransport, type TransportConnection } from "../../servers/rtsp/sessions/choose-transport.ts";
import { groupCount, type MulticastGroup, MulticastGroups } from "../../servers/rtsp/sessions/multicast-groups.ts";
import type { RtspSession } from "../../servers/rtsp/sessions/rtsp-session.ts";
import type { Stream } from "../../servers/rtsp/streams/stream.ts";
import { onEnd } from "../support/start-service.ts";

interface HeldGroup {
  readonly group: MulticastGroup;
  readonly release: () => void;
  /** Why it was ended. */
  readonly reasons: readonly string[];
}

async function openGroups() {
  const turns = new WorkTurns();
  onEnd(() => turns.close());
  const groups = await MulticastGroups.open({
    ...{ address: "239.255.42.1", port: 40_000, ttl: 0, interfaceAddress: "127.0.0.1" },
    ...{ faults: { registry: new Faults(), mostHeldBytes: 1 }, turns, unsentBytes: 100_000 },
  });
  onEnd(() => groups.close());
  /** Those to which a group has been added as a reader. */
  const joined: object[] = [];
  const newStream = () => {
    const addPacketReader = () => {
      joined.push(stream);
      return { next: () => undefined, remove() {} };
    };
    const stream = { tracks: [], keyTrack: -1, ended: undefined as string | undefined, moreReaders: 0, addPacketReader };
    return stream;
  };
  const hold = (client: string, stream = newStream()): HeldGroup | undefined => {
    const group = groups.of(stream as unknown as Stream, "live", client);
    if (!group) return undefined;
    const reasons: string[] = [];
    const release = group.hold({ address: client, end: (reason) => reasons.push(reason) });
    return { group, release, reasons };
  };
  const mustHold = (client: string, stream = newStream()): HeldGroup => {
    const held = hold(client, stream);
    if (!held) throw new Error(`no group for ${client}`);
    return held;
  };
  return { groups, joined, newStream, hold, mustHold };
}

it("[RTSP-245] a group that a session has set up is given to no other stream, however many come and go", async () => {
  const { newStream, mustHold } = await openGroups();
  const watched = mustHold("192.0.2.1");
  for (let time = 0; time < 2 * groupCount + 50; time++) {
    const stream = newStream();
    const { group, release } = mustHold("192.0.2.2", stream);
    expect(group.address).not.toBe(watched.group.address);
    expect(group.portsOf(0)).not.toEqual(watched.group.portsOf(0));
    stream.ended = "the publisher has left";
    release();
  }
  expect(watched.reasons).toEqual([]);
});

it("[RTSP-245] a stream keeps its group without a session until another one needs it", async () => {
  const { newStream, mustHold } = await openGroups();
  const stream = newStream();
  const first = mustHold("192.0.2.1", stream);
  first.release();
  expect(mustHold("192.0.2.1", stream).group).toBe(first.group);
  const idle = mustHold("192.0.2.1");
  idle.release();
  for (let count = 2; count < groupCount; count++) mustHold("192.0.2.1");
  expect(mustHold("192.0.2.1").group.address).toBe(idle.group.address);
});

it("[RTSP-246] where all groups are taken, the client that has most loses one to another one that has fewer", async () => {
  const { joined, newStream, hold, mustHold } = await openGroups();
  const shared = newStream();
  const all = Array.from({ length: groupCount }, (_, index) => mustHold("192.0.2.2", index === groupCount - 1 ? shared : undefined));
  // The newest, but another client has it as well.
  const guest = mustHold("192.0.2.1", shared);
  expect(hold("192.0.2.2")).toBeUndefined();
  const taken = mustHold("192.0.2.3");
  const loser = all[groupCount - 2] as HeldGroup;
  expect(taken.group.address).toBe(loser.group.address);
  expect(loser.reasons).toEqual([expect.stringContaining("all multicast groups are taken")]);
  expect(all.filter(({ reasons }) => reasons.length > 0)).toEqual([loser]);
  expect(guest.reasons).toEqual([]);
  // Its session has not ended yet, and begins to play: nothing is sent to the other one's group.
  loser.group.use()();
  expect(joined).toEqual([]);
  guest.group.use()();
  expect(joined).toEqual([shared]);
  loser.release();
  expect(mustHold("192.0.2.4").group.address).toBe((all[groupCount - 3] as HeldGroup).group.address);
});

it("[RTSP-246] the session that gives way ends with the reason, and SETUP gets 461 where none does", async () => {
  const { groups, newStream, mustHold } = await openGroups();
  const offers = parseTransport("RTP/AVP;multicast");
  const ends: string[] = [];
  const setUp = (address: string) => {
    const media = { role: "read", stream: newStream() as unknown as Stream } as const;
    const connection = { address, multicast: groups } as unknown as TransportConnection;
    const session = { endInTurn: (reason: string) => ends.push(reason) } as unknown as RtspSession;
    const chosen = chooseTransport(offers, { track: 0, media, path: "live" }, undefined, connection, () => {});
    return openTransport(chosen, { track: 0, session, ssrc: 1 }, connection);
  };
  for (let count = 1; count < groupCount; count++) mustHold("192.0.2.1");
  setUp("192.0.2.1");
  expect(() => setUp("192.0.2.1")).toThrow("other streams have all 200 multicast groups");
  const { release } = setUp("192.0.2.2");
  expect(ends).toEqual(["all multicast groups are taken, and its address has most of them"]);
  release();
  setUp("192.0.2.1");
});

it("[RTSP-38] a group counts as no reader, neither while it is one nor when its stream has ended", async () => {
  const { newStream, mustHold } = await openGroups();
  const [ended, left] = [newStream(), newStream()];
  for (const stream of [ended, left]) {
    const { group, release } = mustHold("192.0.2.1", stream);
    const leave = group.use();
    expect(stream.moreReaders).toBe(-1);
    if (stream === ended) group.onEnd("the publisher has left");
    leave();
    release();
  }
  expect([ended.moreReaders, left.moreReaders]).toEqual([0, 0]);
});
