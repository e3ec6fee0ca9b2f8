import { describe, expect, it } from "vitest";
import { type ContentFormat, contentFormats } from "../../renderer/src/viewer/content-format.ts";
import { type LayoutRequest, layOutContent } from "../../renderer/src/viewer/layout/content-layout.ts";
import { layoutBounds } from "../../renderer/src/viewer/layout/laid-out-text.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { seededRandom } from "../support/seeded-random.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const request = (
  content: string | Uint8Array<ArrayBuffer>,
  format: ContentFormat | "auto",
  rest: Partial<LayoutRequest> = {},
): LayoutRequest => ({
  bytes: typeof content === "string" ? encode(content) : content,
  format,
  contentType: "",
  isCut: false,
  ...rest,
});
const repeated = (bytes: readonly number[], times: number) =>
  Uint8Array.from({ length: bytes.length * times }, (_, at) => bytes[at % bytes.length] ?? 0);

/** Content of 64 KiB and more that was made to be expensive. */
const hostile = (
  [
    ["65,500 × [", "[".repeat(65_500)],
    ["[ and ] nested", `${"[".repeat(32_000)}${"]".repeat(32_000)}`],
    ["objects in objects", '{"a":'.repeat(100_000)],
    ["many members at depth 200", `${"[".repeat(200)}${"1,".repeat(500_000)}`],
    ["a million empty lists", `[${"[],".repeat(1_000_000)}`],
    ["one string of 8 MB", `["${"x".repeat(8_000_000)}"]`],
    ["one string of backslashes that does not end", `{"a":"${"\\".repeat(4_000_000)}`],
    ["one number of 4 MB", "1".repeat(4_000_000)],
    ["one word of 4 MB that is no JSON", `[${"x".repeat(4_000_000)}`],
    ["blanks within short lists", `[1,${" ".repeat(10_000)}`.repeat(200)],
    ["line ends", "\n".repeat(4_000_000)],
    ["carriage returns", "\r".repeat(1_000_000)],
    ["one line of 8 MB", "x".repeat(8_000_000)],
    ["surrogate pairs in one line", "🙂".repeat(1_000_000)],
    ["hidden characters", "\x1b\u202e".repeat(500_000)],
    ["marks that pile up on a letter", `a${"\u0301".repeat(1_000_000)}`],
    ["nested XML", `<?xml version="1.0"?>${"<a>".repeat(200_000)}`],
    ["end tags that close nothing", `<?xml?>${"<a>".repeat(50_000)}${"</b>".repeat(50_000)}`],
    ["XML with quotes that do not end", `<?xml?>${'<a b="'.repeat(100_000)}`],
    ["brackets that begin no tag", `<?xml?>${"<".repeat(1_000_000)}`],
    ["comments that do not end", `<?xml?>${"<!--".repeat(200_000)}`],
    ["attributes without end", `<html><a ${"b=c ".repeat(500_000)}>`],
    ["lines of many attributes", `<?xml?><a>${`<b ${'c="" '.repeat(500)}/>\n`.repeat(500)}</a>`],
    ["scripts that do not end", `<html>${"<script></".repeat(100_000)}`],
    ["a bignum of 64 KiB", Uint8Array.from([0xc2, 0x5a, 0, 1, 0, 0, ...new Uint8Array(65_536).fill(0xff)]), "application/cbor"],
    ["a bignum of 1 MiB", Uint8Array.from([0xc2, 0x5a, 0, 16, 0, 0, ...repeated([0xab], 1_048_576)]), "application/cbor"],
    ["CBOR lists in lists", repeated([0x81], 65_536), "application/cbor"],
    ["CBOR maps as keys of maps", Uint8Array.from([...repeated([0xa1], 100), 0x61, 0x22, ...repeated([0x01], 100)]), "application/cbor"],
    ["a CBOR list of 64 Ki nulls", Uint8Array.from([0x9a, 0, 1, 0, 0, ...repeated([0xf6], 65_536)]), "application/cbor"],
    [
      "MessagePack maps as keys of maps",
      Uint8Array.from([...repeated([0x81], 100), 0xa1, 0x22, ...repeated([0x01], 100)]),
      "application/msgpack",
    ],
    ["Protobuf groups in groups", repeated([0x0b], 65_536), "application/protobuf"],
    ["Protobuf fields of two bytes", repeated([0x0a, 0x00], 200_000), "application/protobuf"],
    ["Protobuf fields that fail as messages", repeated([0x0a, 0x04, 0x0f, 0x0f, 0xff, 0x0f], 20_000), "application/protobuf"],
    ["a form of 500,000 fields", "a=&".repeat(500_000), "application/x-www-form-urlencoded"],
    ["a form of one field of 4 MB", `${"%41".repeat(1_300_000)}`, "application/x-www-form-urlencoded"],
    ["parts without content", "--b\r\n\r\n\r\n".repeat(100_000), "multipart/form-data; boundary=b"],
    ["a part with a head of 4 MB", `--b\r\nContent-Disposition: ${"x".repeat(4_000_000)}\r\n\r\n`, "multipart/form-data; boundary=b"],
    ["zeros", new Uint8Array(8_000_000)],
    [
      "all bytes",
      repeated(
        Array.from({ length: 256 }, (_, byte) => byte),
        20_000,
      ),
    ],
  ] satisfies [name: string, content: string | Uint8Array<ArrayBuffer>, contentType?: string][]
).map(([name, content, contentType = ""]) => ({ name, content, contentType }));

type Content = string | Uint8Array<ArrayBuffer>;

/** In linear time the whole takes four times as long as a quarter, in square time 16 times. Short times say nothing: they are mostly compilation. */
function expectLinear(layOut: (content: Content) => void, content: Content): void {
  const quarter = content.slice(0, content.length / 4);
  const isLinear = () => {
    const ofQuarter = threadCpuMs(() => layOut(quarter));
    return threadCpuMs(() => layOut(content)) < 10 * Math.max(ofQuarter, 30);
  };
  // Measured again, since one of the times may hold the collection of others' garbage.
  expect(isLinear() || isLinear()).toBe(true);
}

function expectBounded(laidOut: ReturnType<typeof layOutContent>): void {
  const { text, marks, folds, softBreaks, changes } = laidOut;
  expect(text.length).toBeLessThanOrEqual(layoutBounds.characters * (changes ? 2 : 1));
  expect(marks.length / 3).toBeLessThanOrEqual(layoutBounds.marks * (changes ? 2 : 1));
  let lines = 1;
  let longest = 0;
  let mostMarks = 0;
  let mark = 0;
  for (let at = 0; at <= text.length; ) {
    const newLine = text.indexOf("\n", at);
    const end = newLine < 0 ? text.length : newLine;
    longest = Math.max(longest, end - at);
    const firstMark = mark;
    while (mark < marks.length && (marks[mark] as number) < end) mark += 3;
    mostMarks = Math.max(mostMarks, (mark - firstMark) / 3);
    if (newLine < 0) break;
    lines++;
    at = end + 1;
  }
  expect(lines).toBeLessThanOrEqual(layoutBounds.lines * (changes ? 2 : 1));
  expect(longest).toBeLessThanOrEqual(layoutBounds.lineCharacters);
  expect(mostMarks).toBeLessThanOrEqual(layoutBounds.lineMarks);
  expect(marks.every((value, index) => index % 3 === 2 || value <= text.length)).toBe(true);
  expect(folds.every((value) => value <= text.length)).toBe(true);
  expect(softBreaks.every((position) => text[position] === "\n")).toBe(true);
}

describe("hostile content", () => {
  it.each(hostile)("[BL-180] $name is laid out within the bounds", ({ content, contentType }) => {
    expectLinear((each) => expectBounded(layOutContent(request(each, "auto", { contentType }))), content);
  });

  it.each(hostile.slice(0, 18))("[BL-180] $name is compared within the bounds", ({ content, contentType }) => {
    expectLinear((each) => {
      const { bytes } = request(each, "auto");
      const before = { bytes: bytes.slice(0, -1), isCut: false, contentType };
      expectBounded(layOutContent(request(bytes, "auto", { contentType, expanded: true, before })));
    }, content);
  });

  it("[BL-180] says what is not shown in the chosen format", () => {
    const notes = (content: string) => layOutContent(request(content, "auto")).notes;
    expect(notes("[".repeat(65_500))).toEqual(["Shown to depth 200; what is deeper is on one line.", "Long lines are shown in pieces."]);
    expect(notes("\n".repeat(4_000_000))).toEqual(["Only the start is shown: the layout is too long. Copy and Save have all of it."]);
    expect(layOutContent(request(new Uint8Array(2_000_000), "hex")).notes).toEqual([
      "Only the first 512 KiB are shown as hex. Save has all of it.",
    ]);
  });

  it("random bytes are laid out in every format without an exception", () => {
    const random = seededRandom(18);
    for (let round = 0; round < 300; round++) {
      const alphabet = encode('{}[]",:\\<>/=!-ab01 \n&;\u0000\u00ff');
      const bytes = Uint8Array.from({ length: random.below(400) }, () =>
        random.chance(0.8) ? (alphabet[random.below(alphabet.length)] ?? 0) : random.below(256),
      );
      for (const format of contentFormats) {
        expectBounded(layOutContent(request(bytes, format, { contentType: "multipart/form-data; boundary=a", isCut: random.chance(0.5) })));
      }
    }
  });
});
