import { describe, expect, it } from "vitest";
import { addressOf, addressParts } from "../../renderer/src/ui/texts/address.ts";
import {
  formatByteRate,
  formatBytes,
  formatCount,
  formatCountOf,
  formatPart,
  formatRate,
  pluralOfRate,
} from "../../renderer/src/ui/texts/quantity.ts";
import {
  clockMinutes,
  clockSeconds,
  clockTime,
  formatAgo,
  formatDuration,
  formatDurationExact,
  formatTook,
  isoTime,
} from "../../renderer/src/ui/texts/time.ts";

describe("times", () => {
  const at = new Date(2026, 10, 21, 4, 5, 9, 7).getTime();

  it("are local, with milliseconds on request", () => {
    expect([clockMinutes(at), clockSeconds(at), clockTime(at)]).toEqual(["04:05", "04:05:09", "04:05:09.007"]);
  });

  it("are ISO 8601 in UTC for a title", () => {
    expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("durations", () => {
  it.each([
    [0, "0 s"],
    [41_000, "41 s"],
    [48 * 60_000, "48 m"],
    [8_040_000, "2 h 14 m"],
    [2 * 3_600_000 + 60_000, "2 h 01 m"],
    [76 * 3_600_000, "3 d 4 h"],
    [-5, "0 s"],
  ])("%i ms is %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("have seconds beside minutes if exact", () => {
    expect([formatDurationExact(124_000), formatDurationExact(9_000), formatDurationExact(8_040_000)]).toEqual([
      "2 m 04 s",
      "9 s",
      "2 h 14 m",
    ]);
  });

  it.each([
    [0.7, "0.7 ms"],
    [42.4, "42 ms"],
    [1_200, "1.20 s"],
    [124_000, "2 m 04 s"],
  ])("an exchange of %d ms took %s", (ms, text) => {
    expect(formatTook(ms)).toBe(text);
  });

  it("are shown as time ago", () => {
    expect([formatAgo(3_000), formatAgo(120_000)]).toEqual(["just now", "2 m ago"]);
  });
});

describe("quantities", () => {
  it("have thousands separators, and a noun in singular or plural", () => {
    expect([
      formatCount(12_480),
      formatCountOf(1, "client"),
      formatCountOf(14, "client"),
      formatCountOf(2, "process", "processes"),
    ]).toEqual(["12,480", "1 client", "14 clients", "2 processes"]);
  });

  it.each([
    [0, "0"],
    [0.04, "0"],
    [0.44, "0.4"],
    [7.25, "7.3"],
    [41.6, "42"],
    [4_812.3, "4,812"],
  ])("a rate of %d is %s", (rate, text) => {
    expect(formatRate(rate)).toBe(text);
  });

  it.each([
    [0, "items"],
    [0.4, "items"],
    [0.96, "item"],
    [1, "item"],
    [1.04, "item"],
    [1.1, "items"],
    [2, "items"],
  ])("[BL-571] with a rate of %d goes %s", (rate, word) => {
    expect(pluralOfRate(rate, "item", "items")).toBe(word);
  });

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [1_840, "1.8 kB"],
    [9_960, "10 kB"],
    [214e6, "214 MB"],
    [999_600, "1.0 MB"],
    [5e15, "5,000 TB"],
  ])("%d bytes are %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it("of bytes per second have their unit", () => {
    expect(formatByteRate(118_000)).toBe("118 kB/s");
  });
});

describe("addresses", () => {
  it.each([
    ["http://127.0.0.1:8080/", "127.0.0.1:8080"],
    ["rtsp://127.0.0.1:8554/stream", "127.0.0.1:8554/stream"],
    ["turn:127.0.0.1:3478", "127.0.0.1:3478"],
  ])("%s is shown as %s", (url, text) => {
    expect(addressOf(url)).toBe(text);
  });

  it.each([
    ["http://127.0.0.1:8080", "http://127.0.0.1", ":8080", ""],
    ["http://127.0.0.1:8082/events", "http://127.0.0.1", ":8082", "/events"],
    ["mqtt://[::1]:1883", "mqtt://[::1]", ":1883", ""],
    ["turn:192.168.1.24:3478?transport=udp", "turn:192.168.1.24", ":3478", "?transport=udp"],
    ["http://127.0.0.1:any free port", "http://127.0.0.1", ":any free port", ""],
    ["127.0.0.1:8554/stream", "127.0.0.1", ":8554", "/stream"],
    ["https://example.org/path", "https://example.org/path", "", ""],
  ])("%s keeps its port when it is cut", (text, host, port, path) => {
    expect(addressParts(text)).toEqual([host, port, path]);
  });
});

describe("the kept part of a content", () => {
  it.each([
    [262_144, 300_000, "256 KiB of 293 KiB"],
    [8_192, 8_200, "8 KiB of 8 KiB"],
    [8_192, 9_000, "8 KiB of 8.8 KiB"],
    [262_144, 5_000_000, "256 KiB of 4.8 MiB"],
    [262_144, 1_048_575, "256 KiB of 1 MiB"],
    [300, 2_000, "300 B of 2.0 kB"],
  ])("of %i and %i bytes is %s", (kept, whole, text) => {
    expect(formatPart(kept, whole)).toBe(text);
  });
});
