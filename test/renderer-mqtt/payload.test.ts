import { describe, expect, it } from "vitest";
import type { MqttMessageSummary } from "../../contract/traffic/mqtt.ts";
import { comparedWith } from "../../renderer/src/services/mqtt/history/message-history.ts";
import { firstField, numericFields, unitOf, wholePayload } from "../../renderer/src/services/mqtt/history/numeric-fields.ts";
import { aloneBetween, createPlotReader, gapsOf, plotSeries, readingText } from "../../renderer/src/services/mqtt/history/plot-series.ts";
import { timeLabel } from "../../renderer/src/services/mqtt/history/value-plot.tsx";
import { shortCount } from "../../renderer/src/ui/texts/quantity.ts";
import { timeSteps } from "../../renderer/src/ui/use-plot.ts";
import type { FormatChoice } from "../../renderer/src/viewer/content-format.ts";
import { fromHex, toBase64, toHex } from "../../renderer/src/viewer/decode/bytes.ts";
import { layOutContent } from "../../renderer/src/viewer/layout/content-layout.ts";
import { copiedText } from "../../renderer/src/viewer/layout/line-diff.ts";
import { previewLine, previewOf } from "../../renderer/src/viewer/payload-preview.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const shown = (payload: string | Uint8Array<ArrayBuffer>, format: FormatChoice, isCut = false) => {
  const bytes = typeof payload === "string" ? encode(payload) : payload;
  const { text, problem } = layOutContent({ bytes, format, isCut, contentType: "", expanded: true });
  return { lines: text.split("\n"), problem };
};
const summary = (payload: string | Uint8Array, change: Partial<MqttMessageSummary> = {}): MqttMessageSummary => {
  const bytes = typeof payload === "string" ? encode(payload) : payload;
  return {
    id: 1,
    at: 1_000,
    topic: "t",
    qos: 0,
    retain: false,
    publisher: "",
    bytes: bytes.length,
    start: toBase64(bytes.subarray(0, 256)),
    matched: 0,
    delivered: 0,
    acknowledged: 0,
    acknowledgeable: 0,
    dropped: 0,
    ...change,
  };
};

describe("a payload line by line", () => {
  it("as JSON has one member per line, empty containers stay on one line", () => {
    expect(shown('{"v":20.70,"a":[1,{}],"s":"{"}', "json")).toEqual({
      lines: ["{", '  "v": 20.70,', '  "a": [', "    1,", "    {}", "  ],", '  "s": "{"', "}"],
      problem: undefined,
    });
  });
  it("that is not JSON is shown as text, and says so", () => {
    expect(shown("open", "json")).toEqual({ lines: ["open"], problem: "not JSON" });
    expect(shown("21.5", "json")).toEqual({ lines: ["21.5"], problem: undefined });
  });
  it("of bytes that are not text is shown as hex", () => {
    expect(shown(Uint8Array.of(0xff, 0x00), "text")).toMatchObject({ problem: "not text, shown as bytes" });
    expect(shown(Uint8Array.of(0x41), "hex").lines[0]).toMatch(/^41 +A$/);
  });
  it("[MQTT-162] in MessagePack, CBOR and Protobuf is decoded, or it says why not", () => {
    expect(shown(fromHex("81a17601") ?? new Uint8Array(), "messagepack").lines).toEqual(["{", '  "v": 1', "}"]);
    expect(shown(fromHex("a1617601") ?? new Uint8Array(), "cbor").lines).toEqual(["{", '  "v": 1', "}"]);
    expect(shown(fromHex("089601") ?? new Uint8Array(), "protobuf").lines).toEqual(["1 VARINT 150"]);
    expect(shown("open", "protobuf").problem).toBe("not Protobuf: it has the unknown wire type 7, at byte 0");
    expect(shown(fromHex("a16176") ?? new Uint8Array(), "cbor").problem).toBe("not CBOR: it ends within a value, at byte 3");
    expect(shown(fromHex("a1617601") ?? new Uint8Array(), "cbor", true).problem).toBe(
      "only the start was recorded, not a whole CBOR value",
    );
  });
});

describe("the base of a comparison", () => {
  const message = (id: number, topic = "t") => ({ id, topic });
  const newestFirst = [message(9), message(8, "u"), message(7), message(3)];
  it("[MQTT-161] is the previous message of its topic, or the chosen one if it is older", () => {
    const idOf = (chosen: { id: number; topic: string }, picked?: { id: number; topic: string }) =>
      comparedWith(chosen, picked, newestFirst)?.id;
    expect([idOf(message(9)), idOf(message(7)), idOf(message(3)), idOf(message(8, "u"))]).toEqual([7, 3, undefined, undefined]);
    // It need not be among those that are shown.
    expect([idOf(message(9), message(1)), idOf(message(7), message(1))]).toEqual([1, 1]);
    expect([idOf(message(7), message(7)), idOf(message(7), message(9)), idOf(message(9), message(2, "u"))]).toEqual([3, 3, 7]);
  });
});

describe("the difference to the previous message", () => {
  const compared = (before: string, after: string) =>
    layOutContent({
      bytes: encode(after),
      format: "json",
      isCut: false,
      contentType: "",
      expanded: true,
      before: { bytes: encode(before), isCut: false, contentType: "" },
    });
  const diff = (before: string, after: string) => {
    const { text, changes } = compared(before, after);
    return changes && text.split("\n").map((line, index) => `${" +-"[changes[index] ?? 0]}${line}`);
  };
  it("marks only what changed", () => {
    expect(diff('{"v":1,"unit":"C","seq":7}', '{"v":2,"unit":"C","seq":8}')).toEqual([
      " {",
      '-  "v": 1,',
      '+  "v": 2,',
      '   "unit": "C",',
      '-  "seq": 7',
      '+  "seq": 8',
      " }",
    ]);
  });
  it("puts a changed line beside its old version if they can be matched", () => {
    expect(diff('{"a":1,"b":1}', '{"a":2,"b":2}')).toEqual([" {", '-  "a": 1,', '+  "a": 2,', '-  "b": 1', '+  "b": 2', " }"]);
    expect(diff('{"a":1,"b":1}', '{"a":2}')).toEqual([" {", '-  "a": 1,', '-  "b": 1', '+  "a": 2', " }"]);
  });
  it("ignores the comma added by a new last member", () => {
    expect(diff('{"a":1}', '{"a":1,"b":2}')).toEqual([" {", '   "a": 1,', '+  "b": 2', " }"]);
    expect(diff("{}", "{}")).toEqual([" {}"]);
  });
  it("keeps the colours of both, and copies only the newer one", () => {
    const laidOut = compared('{"v":1}', '{"v":2}');
    const numbers = Array.from({ length: laidOut.marks.length / 3 }, (_, mark) =>
      laidOut.text.slice(laidOut.marks[mark * 3], laidOut.marks[mark * 3 + 1]),
    );
    expect(numbers.filter((text) => /\d/.test(text))).toEqual(["1", "2"]);
    expect(copiedText(laidOut)).toBe('{\n  "v": 2\n}');
  });
  it("of long payloads that share little is not computed", () => {
    const long = (from: number) => JSON.stringify(Array.from({ length: 3_000 }, (_, index) => index * from));
    expect(diff(long(2), long(3))).toBeUndefined();
    expect(compared(long(2), long(3)).notes).toEqual(["Too long to compare."]);
    expect(diff(long(2), long(2).replace("[0,", "[1,"))).toHaveLength(3_003);
  });
});

describe("numbers to plot", () => {
  it("are found by their path, also in a payload that was cut", () => {
    expect([...numericFields('{"v":1.5,"at":{"lat":2,"lon":[3,-4e1]},"s":"5","n":12')]).toEqual([
      ["v", 1.5],
      ["at.lat", 2],
      ["at.lon.0", 3],
      ["at.lon.1", -40],
    ]);
    expect([...numericFields(" 41.2 ")]).toEqual([[wholePayload, 41.2]]);
    expect([numericFields("open").size, numericFields("").size]).toEqual([0, 0]);
  });
  it("begin with a measured value and not with a counter", () => {
    expect(firstField(["seq", "v"])).toBe("v");
    expect(firstField(["seq", "level"])).toBe("level");
    expect(firstField(["seq"])).toBe("seq");
    expect(firstField([])).toBeUndefined();
    expect(unitOf('{"unit":"°C"}')).toBe("°C");
  });
  it("are oldest first with minimum, mean and maximum", () => {
    const series = plotSeries([summary('{"v":3}', { at: 2_000 }), summary('{"v":1,"w":9}')], "json", undefined);
    expect(series).toMatchObject({ fields: ["v", "w"], field: "v", at: [1, 2], values: [1, 3], least: 1, mean: 2, most: 3 });
    expect(plotSeries([summary('{"v":1,"w":9}')], "json", "w").values).toEqual([9]);
    expect(plotSeries([summary("open")], "json", undefined).field).toBeUndefined();
    const withUnit = [summary('{"v":1,"unit":"°C","seq":9}')];
    expect([plotSeries(withUnit, "json", undefined).unit, plotSeries(withUnit, "json", "seq").unit]).toEqual(["°C", ""]);
  });

  it("are the same if each payload is decoded once, also after a restart of the service", () => {
    const read = createPlotReader();
    const first = [summary('{"v":3}', { id: 2, at: 2_000 }), summary('{"v":1}', { id: 1, at: 1_000 })];
    const more = [summary('{"v":8}', { id: 3, at: 3_000 }), ...first];
    const anew = [summary('{"v":5}', { id: 1, at: 4_000 })];
    for (const messages of [first, more, anew]) expect(read(messages, "json", undefined)).toEqual(plotSeries(messages, "json", undefined));
  });
  it("have as many decimals as are needed to distinguish them", () => {
    expect([readingText(20.784, 1.6), readingText(1_013.25, 0.04), readingText(148_212, 90), readingText(5, 0)]).toEqual([
      "20.78",
      "1,013.2500",
      "148,212",
      "5",
    ]);
  });
});

describe("gaps of a plot", () => {
  it("[MQTT-163] are shown if nothing arrived for much longer than usual", () => {
    expect(gapsOf([0, 1, 2, 3, 60, 61, 62])).toEqual([4]);
    expect(gapsOf([0, 0.01, 0.02, 0.5, 0.51])).toEqual([]);
    expect(gapsOf([0, 1, 300])).toEqual([2]);
    expect([gapsOf([]), gapsOf([5]), gapsOf([0, 3_600])]).toEqual([[], [], []]);
    // Irregular ones have none.
    expect(gapsOf([0, 1, 21, 22, 50, 51, 90, 120])).toEqual([]);
  });
  it("[MQTT-163] a value between two gaps is drawn as a point", () => {
    expect([aloneBetween([4, 5], 8), aloneBetween([1, 7], 8), aloneBetween([], 8), aloneBetween([], 1)]).toEqual([[4], [0, 7], [], [0]]);
  });
});

it("[MQTT-480] the labels of a time axis are at most half of the shown time apart", () => {
  const widthPx = 400;
  for (let seconds = 0.1; seconds < 100 * 86_400; seconds *= 1.07) {
    const step = timeSteps.find((one) => (widthPx * one) / seconds >= timeLabel(seconds).spacePx) ?? Number.POSITIVE_INFINITY;
    expect(seconds / step, `${seconds} s`).toBeGreaterThanOrEqual(2);
  }
});

describe("one line of a payload", () => {
  it("[MQTT-162] is text, bytes or what was decoded", () => {
    expect(previewLine(summary('{"v":\n 1}'), "json")).toBe('{"v": 1}');
    expect(previewLine(summary(Uint8Array.of(1, 2)), "json")).toBe("01 02");
    expect(previewLine(summary(new Uint8Array(300)), "text")).toBe(`${"00 ".repeat(32)}…`);
    expect(previewLine(summary(Uint8Array.of(1, 2)), "hex")).toBe("01 02");
    expect(previewLine(summary(fromHex("81a17601") ?? ""), "messagepack")).toBe('{"v":1}');
    expect(previewLine(summary(fromHex("0a0161") ?? ""), "protobuf")).toBe('{"1":"a"}');
    expect(previewLine(summary("open"), "cbor")).toBe("open");
    expect(previewLine(summary(""), "text")).toBe("");
  });
  it("in the tree is the measured value only", () => {
    expect([previewOf('{"v":20.78,"unit":"°C"}'), previewOf('{"value":"on"}'), previewOf('{"a":1}'), previewOf("41.2")]).toEqual([
      "20.78",
      '"on"',
      '{"a":1}',
      "41.2",
    ]);
  });
  it("counts are short", () => {
    expect([842, 6_204, 102_300, 999_600, 9_120_000, 312_000_000].map(shortCount)).toEqual([
      "842",
      "6,204",
      "102 k",
      "1.0 M",
      "9.1 M",
      "312 M",
    ]);
  });
  it("hex is decoded and encoded", () => {
    expect([toHex(Uint8Array.of(192, 31)), fromHex("c0 1F"), fromHex("c"), fromHex("zz")]).toEqual([
      "c0 1f",
      Uint8Array.of(192, 31),
      undefined,
      undefined,
    ]);
  });
});
