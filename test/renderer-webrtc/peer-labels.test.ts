import { expect, it } from "vitest";
import { choicesOfPeers, peerLabels } from "../../renderer/src/services/webrtc/peer-labels.ts";

it("[WEBRTC-607] a name that more than one peer has, or had, has the identifier behind it, of a long one as much as tells them apart", () => {
  const names = {
    ...{ Cg1hp5q_lPYL: "Bob", "x8Kd-0abcdef": "Bob", only: "Ann" },
    ...{ "device-kitchen-1": "Cam", "device-kitchen-2": "Cam", "0123456789abcdef": "Eve", fedcba9876543210: "Eve" },
  };
  const namesakes = Object.keys(names).filter((id) => id !== "only");
  expect(peerLabels({ names, namesakes })).toEqual({
    Cg1hp5q_lPYL: "Bob Cg1hp5q_lPYL",
    "x8Kd-0abcdef": "Bob x8Kd-0abcdef",
    only: "Ann",
    "device-kitchen-1": "Cam device-kitchen-1",
    "device-kitchen-2": "Cam device-kitchen-2",
    "0123456789abcdef": "Eve 01234567…",
    fedcba9876543210: "Eve fedcba98…",
  });
});

it("[WEBRTC-607] in the menu of peers those that have left come last, and are marked", () => {
  const peers = [
    ["one", "Bob one"],
    ["two", "Bob two"],
    ["three", "three"],
  ] as const;
  expect(choicesOfPeers(peers, new Set(["one"]))).toEqual([
    { value: "two", label: "Bob two" },
    { value: "three", label: "three" },
    { value: "one", label: "Bob one (left)" },
  ]);
});
