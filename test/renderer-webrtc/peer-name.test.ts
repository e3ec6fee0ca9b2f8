import { expect, it } from "vitest";
import { peerName } from "../../renderer/src/services/webrtc/ladder/ladder-columns.tsx";

it("[WEBRTC-525] a name in Signals has no characters that turn the text beside it", () => {
  expect(peerName("id", { id: "a\u202eb" })).toBe("a\\u202eb");
  expect(peerName("a\u202ebcdefghijklm", {})).toBe("a\\u202ebcdefg…");
  expect(peerName("id", { id: "Anna" })).toBe("Anna");
});
