import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { hiddenCharacters } from "../../renderer/src/ui/texts/shown-text.ts";
import { readRemembered } from "../../renderer/src/ui/use-remembered.ts";
import { detectFormat } from "../../renderer/src/viewer/content-format.ts";
import { fromBase64 } from "../../renderer/src/viewer/decode/bytes.ts";
import { decodeBody } from "../../renderer/src/viewer/decode/decode-body.ts";
import { multipartParts } from "../../renderer/src/viewer/decode/multipart.ts";
import { imageSize } from "../../renderer/src/viewer/image-size.ts";
import { layOutContent } from "../../renderer/src/viewer/layout/content-layout.ts";
import { hexLine, hexText } from "../../renderer/src/viewer/layout/hex-lines.ts";
import { layOutPlain, withoutSoftBreaks } from "../../renderer/src/viewer/layout/laid-out-text.ts";
import { layOutParts } from "../../renderer/src/viewer/layout/parts-layout.ts";
import { formatChoices, withChoice } from "../../renderer/src/viewer/remembered-format.ts";

const readChoices = (stored: string | undefined) => readRemembered(stored, [], formatChoices);
const bytes = (text: string) => new TextEncoder().encode(text);

const hex = (digits: string) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const shown = (content: Uint8Array<ArrayBuffer>, contentType: string, isCut = false) =>
  layOutContent({ bytes: content, contentType, isCut, format: "auto" });

describe("Auto", () => {
  it.each([
    ['{"a":1}', "application/json", "json"],
    ['{"a":1}', "application/problem+json; charset=utf-8", "json"],
    ['[{"a":1}]', "", "json"],
    ["21.5", "", "json"],
    ['{"a":1}', "text/html", "html"],
    ["{not json}", "text/plain", "text"],
    ["a=1&b=2", "application/x-www-form-urlencoded", "form"],
    ["<p>hi", "text/html", "html"],
    ["<svg/>", "image/svg+xml", "xml"],
    ['<?xml version="1.0"?><a/>', "", "xml"],
    ["<!DOCTYPE html><p>", "", "html"],
    ["--b\r\n", "multipart/form-data; boundary=b", "multipart"],
    ["a\0b", "text/plain", "hex"],
    ["", "text/plain", "text"],
  ])("[BL-181] takes %j as %s for %s", (text, type, format) => {
    expect(detectFormat(bytes(text), { contentType: type, isCut: false })).toBe(format);
  });

  it.each([
    ["a1617601", "", "cbor"],
    ["81a17601", "", "messagepack"],
    ["83010203", "application/cbor", "cbor"],
    ["089601", "application/x-protobuf", "protobuf"],
    ["089601", "application/grpc+protobuf", "protobuf"],
    ["83010203", "application/vnd.msgpack", "messagepack"],
    ["ff00", "", "hex"],
    ["a16176", "", "hex"],
  ])("[BL-181] takes the bytes %s as %j for %s", (digits, type, format) => {
    expect(detectFormat(hex(digits), { contentType: type, isCut: false })).toBe(format);
  });

  it("[BL-181] does not guess a binary format of content that is cut or declared as text", () => {
    expect(detectFormat(hex("a1617601"), { contentType: "", isCut: true })).toBe("hex");
    expect(detectFormat(hex("81a17601"), { contentType: "", isCut: false, isText: true })).toBe("hex");
  });

  it("reads the declared charset, and an unknown one as bytes", () => {
    expect(shown(Uint8Array.of(0xfc), "text/plain; charset=iso-8859-1")).toMatchObject({ format: "text", text: "ü" });
    expect(shown(bytes("a"), "text/plain; charset=klingon").format).toBe("hex");
  });

  it("reads a body that was cut within a character as text", () => {
    const cut = bytes("größer").slice(0, 3);
    expect(shown(cut, "text/plain", true)).toMatchObject({ format: "text", text: "gr" });
    expect(shown(cut, "text/plain").format).toBe("hex");
  });

  it("decodes a form", () => {
    expect(shown(bytes("a=two+words&b=%E2%82%AC&a=2"), "application/x-www-form-urlencoded").text).toBe("a = two words\nb = €\na = 2");
  });

  it("is decoded from base64", () => {
    expect(fromBase64("AP8Q")).toEqual(Uint8Array.of(0, 255, 16));
  });
});

describe("Raw", () => {
  it("[BL-182] is the text as it was sent, or its bytes", () => {
    const raw = { contentType: "", isCut: false, format: "auto", raw: true } as const;
    expect(layOutContent({ ...raw, bytes: bytes('{"a":  1}') })).toMatchObject({ text: '{"a":  1}', format: "json" });
    expect(layOutContent({ ...raw, bytes: hex("a1617601") }).text).toMatch(/^a1 61 76 01 +·av·$/);
  });
});

describe("multipart", () => {
  const type = 'multipart/form-data; boundary="b-1"';
  const whole =
    '--b-1\r\nContent-Disposition: form-data; name="née"\r\n\r\nAda\r\n--b-1\r\ncontent-disposition: form-data; name="f"; filename="a%22b.bin"\r\nContent-Type: application/octet-stream\r\n\r\n\x01\r\n--x\r\n--b-1--\r\n';

  it("shows its parts", () => {
    expect(multipartParts(bytes(whole), type)).toEqual([
      { name: "née", bytes: bytes("Ada"), cut: false },
      { name: "f", filename: 'a"b.bin', contentType: "application/octet-stream", bytes: bytes("\x01\r\n--x"), cut: false },
    ]);
  });

  it("says which part was cut", () => {
    const parts = multipartParts(bytes(whole).subarray(0, 60), type);
    expect(parts.map(({ cut }) => cut)).toEqual([true]);
  });

  it("shows a file of bytes as hex of the width that its well has, within a fold", () => {
    const part = { name: "f", filename: "a.bin", bytes: Uint8Array.from({ length: 300 }, (_, at) => at | 0x80), cut: false };
    for (const [bytesInLine, lines] of [
      [8, 32],
      [16, 16],
    ] as const) {
      const { text, folds } = layOutParts([part], bytesInLine);
      const [head, ...hex] = text.split("\n");
      expect([head, hex.length, hex.at(-1)]).toEqual(["f  a.bin · 300 B", lines + 1, "  … 44 B more"]);
      expect(new Set(hex.slice(0, -1).map((line) => line.trim().split(/ +/).length))).toHaveLength(1);
      expect([...folds]).toEqual(["f  a.bin · 300 B".length, text.length]);
    }
  });

  it("[BL-445] draws an image in place of its bytes, and only a whole one", () => {
    const png = hex("89504e470d0a1a0a0000000d4948445200000020000000100806000000");
    const part = { name: "f", filename: "a.png", bytes: png, cut: false };
    const { text, images } = layOutParts([{ name: "a", bytes: bytes("1"), cut: false }, part]);
    expect(text.split("\n").slice(2)).toEqual(["f  a.png · 29 B", "  PNG · 32 × 16"]);
    expect(images).toEqual([{ at: text.lastIndexOf("\n") + 1, bytes: png, size: { format: "PNG", width: 32, height: 16 } }]);
    expect(layOutParts([{ ...part, cut: true }]).images).toBeUndefined();
    const many = layOutParts(Array.from({ length: 60 }, () => part));
    expect([many.images?.length, many.notes]).toEqual([50, ["The first 50 images are shown."]]);
  });

  it("cannot be parsed without its boundary", () => {
    expect(multipartParts(bytes(whole), "multipart/form-data")).toEqual([]);
    expect(multipartParts(bytes("no boundary here"), type)).toEqual([]);
  });
});

describe("content encodings", () => {
  const text = "x".repeat(10_000);
  it("are decoded, also of a cut stream", async () => {
    const packed = new Uint8Array(gzipSync(text));
    expect(await decodeBody(packed, "GZIP")).toEqual({ bytes: bytes(text), decodedFrom: "gzip" });
    const cut = await decodeBody(packed.slice(0, -9), "gzip");
    expect(cut.decodedFrom ?? cut.leftEncoded).toBe("gzip");
  });

  it("that this engine does not support are kept", async () => {
    const packed = new Uint8Array(brotliCompressSync(text));
    expect(await decodeBody(packed, "zstd")).toEqual({ bytes: packed, leftEncoded: "zstd" });
    expect(await decodeBody(bytes("not gzip"), "gzip")).toEqual({ bytes: bytes("not gzip"), leftEncoded: "gzip" });
  });
});

describe("hex", () => {
  it("shows offset, bytes and text", () => {
    expect(hexLine(bytes("0123456789abcdefHi\n"), 1)).toEqual({
      offset: "00000010",
      hex: `${"48 69 0a".padEnd(23)}  ${"".padEnd(23)}`,
      text: "Hi·",
    });
    expect(hexText(bytes("Hi")).startsWith("00000000  48 69 ")).toBe(true);
  });
});

describe("pictures", () => {
  it.each([
    ["PNG", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0, 0, 0, 0, 64], 256, 64],
    ["GIF", [...bytes("GIF89a"), 10, 0, 20, 0], 10, 20],
    ["JPEG", [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 7, 0, 9, 3], 9, 7],
  ])("show that they are %s, and their size", (format, start, width, height) => {
    expect(imageSize(Uint8Array.from(start))).toEqual({ format, width, height });
  });

  it("[BL-551] have the size that decoders find: fill bytes, and what is no marker, are skipped", () => {
    const frame = [0xff, 0xc0, 0, 17, 8, 0x12, 0x34, 0x56, 0x78, 3];
    const comment = (...content: number[]) => [0xff, 0xfe, 0, 2 + content.length, ...content];
    const size = { format: "JPEG", width: 0x5678, height: 0x1234 };
    const small = [0xff, 0xc0, 0, 17, 8, 0, 16, 0, 16, 3];
    for (const start of [
      [...comment(1, 2), ...frame],
      [0xff, 0xff, 0xff, ...comment(...small), 0xff, ...frame],
      [1, 2, 3, ...comment(...small), 0xff, 0x00, ...frame],
      [0xff, 0x01, 0xff, 0xd0, ...frame],
    ])
      expect(imageSize(Uint8Array.from([0xff, 0xd8, ...start])), String(start)).toEqual(size);
    // The picture's data begins without a size.
    expect(imageSize(Uint8Array.from([0xff, 0xd8, 0xff, 0xda, 0, 2, ...small]))).toBeUndefined();
  });

  it("that are cut are not an error", () => {
    for (const start of [[0x89, 0x50], [0xff, 0xd8, 0xff], [...bytes("RIFF")], [...bytes("GIF8")]]) {
      expect(imageSize(Uint8Array.from(start))).toBeUndefined();
    }
  });
});

describe("XML and HTML", () => {
  const laidOut = (text: string, format: "xml" | "html") => layOutContent({ bytes: bytes(text), contentType: "", isCut: false, format });
  it("have one element per line, short ones with their text, and can be folded", () => {
    const { text, folds } = laidOut('<?xml version="1.0"?><order id="7"><line sku="KB-101">2</line><note/><!-- last --></order>', "xml");
    expect(text).toBe('<?xml version="1.0"?>\n<order id="7">\n  <line sku="KB-101">2</line>\n  <note/>\n  <!-- last -->\n</order>');
    expect(text.slice(folds[0], folds[1])).toMatch(/^\n {2}<line.*\n$/s);
  });
  it("handle elements without an end tag, and keep scripts unchanged", () => {
    expect(laidOut("<!doctype html><p>a<br>b</p><script>if (a < b)\n  c();</script>", "html").text).toBe(
      "<!doctype html>\n<p>\n  a\n  <br>\n  b\n</p>\n<script>if (a < b)\n  c();</script>",
    );
  });
  it("that are invalid are shown unchanged", () => {
    expect(laidOut("<a><b></a></c>", "xml").text).toBe("<a>\n  <b>\n</a>\n</c>");
    expect(laidOut("a < b", "xml").text).toBe("a\n< b");
  });
});

describe("long lines", () => {
  it("[BL-183] are shown in pieces, and are copied whole", () => {
    const line = "x".repeat(12_000);
    const { text, softBreaks, notes } = layOutPlain(`a\r\n${line}\n\nb\n`);
    expect(text.split("\n").map(({ length }) => length)).toEqual([1, 5_000, 5_000, 2_000, 0, 1]);
    expect(notes).toEqual(["Long lines are shown in pieces."]);
    expect(withoutSoftBreaks(text, softBreaks)).toBe(`a\n${line}\n\nb`);
    expect(withoutSoftBreaks(text.slice(3_000), softBreaks, 3_000)).toBe(`${line.slice(2_998)}\n\nb`);
  });
  it("[BL-183] with many hidden characters are shown in pieces of 40, and are copied whole", () => {
    const line = "\x1b[31mred\u202e".repeat(1_000);
    const { text, softBreaks } = layOutPlain(`${line}\n${"温".repeat(200)}\n${"\u{e0041}".repeat(81)}`);
    const pieces = text.split("\n");
    expect(pieces.every((piece) => (piece.match(hiddenCharacters) ?? []).length <= 40)).toBe(true);
    expect(pieces.map(({ length }) => length)).toEqual([...Array.from({ length: 50 }, () => 180), 200, 80, 80, 2]);
    expect(withoutSoftBreaks(text, softBreaks)).toBe(`${line}\n${"温".repeat(200)}\n${"\u{e0041}".repeat(81)}`);
  });
});

describe("a format that was chosen", () => {
  it("[BL-181] is remembered for its topic or route, and Auto clears it", () => {
    const known = withChoice(withChoice([], "mqtt a", "cbor"), "http GET / response", "text");
    expect(withChoice(known, "mqtt a", "hex")).toEqual([
      ["mqtt a", "hex"],
      ["http GET / response", "text"],
    ]);
    expect(withChoice(known, "mqtt a", "auto")).toEqual([["http GET / response", "text"]]);
    expect(readChoices(JSON.stringify(known))).toEqual(known);
  });
  it.each([undefined, "", "{", "null", '{"a":"json"}', '[["a"]]', '[["a","klingon"]]'])("is ignored if %j is stored", (stored) => {
    expect(readChoices(stored)).toEqual([]);
  });
  it("is dropped for newer ones", () => {
    let known = readChoices(undefined);
    for (let index = 0; index < 300; index++) known = withChoice(known, `mqtt ${index}`, "json");
    expect([known.length, known[0]?.[0], known.at(-1)?.[0]]).toEqual([200, "mqtt 299", "mqtt 100"]);
  });
});
