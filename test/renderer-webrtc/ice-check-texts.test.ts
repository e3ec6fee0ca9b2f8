import { expect, it } from "vitest";
import type { IceFinding, IceSideFacts } from "../../contract/services/webrtc-ice-check.ts";
import { joinedFindings } from "../../renderer/src/services/webrtc/ice-check/ice-check-texts.ts";

const side = (peer: string, name: string): IceSideFacts => ({
  peer,
  name,
  address: "127.0.0.1",
  candidates: { host: 1, srflx: 0, prflx: 0, relay: 0, mdns: 0 },
  isGathered: true,
  requests: [],
  relays: [],
});
const finding = (peer: string, text: string, part: Partial<IceFinding> = {}): IceFinding => ({
  code: "hosts-apart",
  tone: "bad",
  peer,
  text,
  advice: "Give the client the ICE servers.",
  ...part,
});
const sides = [side("a", "Ada"), side("b", "Bob")] as const;
const texts = (...findings: IceFinding[]) => joinedFindings({ findings, sides }).map(({ text }) => text);

it("[WEBRTC-442] what is found of both sides alike is said once, and what differs stays apart", () => {
  expect(texts(finding("a", "Ada: no relay."), finding("b", "Bob: no relay."))).toEqual(["Ada and Bob: no relay."]);
  expect(texts(finding("a", "Ada: no relay."), finding("b", "Bob: nothing."))).toEqual(["Ada: no relay.", "Bob: nothing."]);
  const other = { advice: "Raise the quota." };
  expect(texts(finding("a", "Ada: no relay."), finding("b", "Bob: no relay.", other))).toHaveLength(2);
  expect(texts(finding("a", "Ada left."), finding("b", "Bob left."))).toEqual(["Ada left.", "Bob left."]);
});
