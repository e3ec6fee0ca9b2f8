import { expect, it } from "vitest";
import { DatagramShares } from "../../servers/core/net/datagram-shares.ts";

it("[WEBRTC-482] each known socket has a share of its own, and all others have one together; the next tenth of a second is new", () => {
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
  expect([taken("c", false), taken("d", false)]).toEqual([5, 0]);
  now = 100;
  expect([taken("a", true), taken("d", false)]).toEqual([5, 5]);
  expect(lines).toEqual(["Questions over UDP are dropped: more than 50 a second come, the last one from a:1."]);
  now = 10_100;
  taken("d", false);
  expect(lines.at(-1)).toBe("Questions over UDP are dropped: more than 50 a second come, the last one from d:5.");
});
