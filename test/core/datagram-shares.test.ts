import { expect, it } from "vitest";
import { DatagramShares } from "../../servers/core/net/datagram-shares.ts";

it("[WEBRTC-482] each known socket has a share of its own, and all others of an address have one together; the next tenth of a second is new", () => {
  let now = 0;
  const lines: string[] = [];
  const shares = new DatagramShares({
    perSecond: 50,
    what: "Questions",
    log: { warning: (text) => void lines.push(text) },
    now: () => now,
  });
  const taken = (address: string, isKnown: boolean) =>
    Array.from({ length: 10 }, (_, index) => shares.take({ address, port: isKnown ? 1 : index }, isKnown)).filter(Boolean).length;
  expect([taken("a", true), taken("b", true), taken("a", true)]).toEqual([5, 5, 0]);
  expect([taken("c", false), taken("c", false)]).toEqual([5, 0]);
  now = 100;
  expect([taken("a", true), taken("d", false)]).toEqual([5, 5]);
  expect(lines).toEqual(["Questions over UDP are dropped: more than 50 a second come, the last one from a:1."]);
  now = 10_100;
  taken("d", false);
  expect(lines.at(-1)).toBe("Questions over UDP are dropped: more than 50 a second come, the last one from d:5.");
});

it("[WEBRTC-482] where one address uses up the share of unknown senders, others have a part of it at once", () => {
  let now = 0;
  const shares = new DatagramShares({ perSecond: 1_000, what: "Questions", log: { warning: () => {} }, now: () => now });
  const taken = (address: string, count: number) =>
    Array.from({ length: count }, (_, port) => shares.take({ address, port }, false)).filter(Boolean).length;
  for (; now < 1_000; now += 100) {
    expect(taken("192.0.2.1", 5_000)).toBe(100);
    expect(taken("192.0.2.2", 20)).toBe(20);
    expect(taken("192.0.2.1", 5_000)).toBe(0);
    // A /64 is one client.
    expect([taken("2001:db8::1", 40), taken("2001:db8::2", 40)]).toEqual([33, 0]);
  }
  // While the sum is below the share nobody loses, whoever sends more.
  now = 2_000;
  expect([taken("192.0.2.1", 60), taken("192.0.2.2", 40)]).toEqual([60, 40]);
});

it("[WEBRTC-482] datagrams of forged addresses without end are bounded too", () => {
  let now = 0;
  const shares = new DatagramShares({ perSecond: 1_000, what: "Questions", log: { warning: () => {} }, now: () => now });
  const takenOf = (round: number) =>
    Array.from({ length: 10_000 }, (_, index) =>
      shares.take({ address: `10.${round}.${index >> 8}.${index & 255}`, port: 1 }, false),
    ).filter(Boolean).length;
  for (let round = 0; round < 5; round++, now += 100) expect(takenOf(round)).toBe(100);
  // Many of each: the parts of those that come later are small.
  const most = Array.from({ length: 1_000 }, (_, index) =>
    Array.from({ length: 100 }, () => shares.take({ address: `10.9.0.${index}`, port: 1 }, false)),
  );
  expect(most.flat().filter(Boolean).length).toBeLessThanOrEqual(200);
});
