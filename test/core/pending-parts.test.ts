import { expect, it } from "vitest";
import { PendingParts } from "../../servers/core/traffic/pending-parts.ts";

it("[BL-42] parts that wait count what they take in memory, also those without content", () => {
  const parts = new PendingParts({ parts: 100, bytes: 1_000 });
  const byte = Buffer.alloc(1);
  for (let part = 0; part < 200; part++) parts.add(byte, 1);
  expect(parts.held).toBeGreaterThan(100 * 100);
  // Their content alone has the limit of bytes.
  expect([parts.total, parts.hasRoom(0)]).toEqual([200, false]);
  parts.drop();
  expect([parts.held, parts.hasRoom(1_000), parts.hasRoom(1_001)]).toEqual([0, true, false]);
});
