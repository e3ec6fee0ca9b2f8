import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bodyBytes, bodyContent } from "../../renderer/src/viewer/body-content.ts";
import { decodeBody } from "../../renderer/src/viewer/decode-body.ts";
import { hexLine, hexText } from "../../renderer/src/viewer/hex-lines.ts";
import { imageSize } from "../../renderer/src/viewer/image-size.ts";
import { multipartParts } from "../../renderer/src/viewer/multipart.ts";
import { textLines } from "../../renderer/src/viewer/text-lines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("what a body is", () => {
  it.each([
    ['{"a":1}', "application/json", "json"],
    ['{"a":1}', "application/problem+json; charset=utf-8", "json"],
    ['[{"a":1}]', "", "json"],
    ['{"a":1}', "text/html", "text"],
    ["{not json}", "text/plain", "text"],
    ["a=1&b=2", "application/x-www-form-urlencoded", "form"],
    ["<p>hi", "text/html", "text"],
    ["a\0b", "text/plain", "binary"],
    ["", "text/plain", "empty"],
  ])("%j as %s is %s", (text, type, kind) => {
    expect(bodyContent(bytes(text), type).kind).toBe(kind);
  });

  it("reads the declared charset, and an unknown one as bytes", () => {
    expect(bodyContent(Uint8Array.of(0xfc), "text/plain; charset=iso-8859-1")).toEqual({ kind: "text", text: "ü" });
    expect(bodyContent(bytes("a"), "text/plain; charset=klingon").kind).toBe("binary");
  });

  it("takes a body that was cut within a character for text", () => {
    const cut = bytes("größer").subarray(0, 3);
    expect(bodyContent(cut, "text/plain", true)).toEqual({ kind: "text", text: "gr" });
    expect(bodyContent(cut, "text/plain").kind).toBe("binary");
  });

  it("decodes a form", () => {
    expect(bodyContent(bytes("a=two+words&b=%E2%82%AC&a=2"), "application/x-www-form-urlencoded")).toMatchObject({
      fields: [
        ["a", "two words"],
        ["b", "€"],
        ["a", "2"],
      ],
    });
  });

  it("comes from base64", () => {
    expect(bodyBytes({ bytes: 3, base64: "AP8Q" })).toEqual(Uint8Array.of(0, 255, 16));
  });
});

describe("multipart", () => {
  const type = 'multipart/form-data; boundary="b-1"';
  const whole =
    '--b-1\r\nContent-Disposition: form-data; name="née"\r\n\r\nAda\r\n--b-1\r\ncontent-disposition: form-data; name="f"; filename="a%22b.bin"\r\nContent-Type: application/octet-stream\r\n\r\n\x01\r\n--x\r\n--b-1--\r\n';

  it("gives its parts", () => {
    expect(multipartParts(bytes(whole), type)).toEqual([
      { name: "née", bytes: bytes("Ada"), cut: false },
      { name: "f", filename: 'a"b.bin', contentType: "application/octet-stream", bytes: bytes("\x01\r\n--x"), cut: false },
    ]);
  });

  it("says which part was cut", () => {
    const parts = multipartParts(bytes(whole).subarray(0, 60), type);
    expect(parts.map(({ cut }) => cut)).toEqual([true]);
  });

  it("is nothing without its boundary", () => {
    expect(multipartParts(bytes(whole), "multipart/form-data")).toEqual([]);
    expect(multipartParts(bytes("no boundary here"), type)).toEqual([]);
  });
});

describe("content encodings", () => {
  const text = "x".repeat(10_000);
  it("are undone, also of a cut stream", async () => {
    const packed = new Uint8Array(gzipSync(text));
    expect(await decodeBody(packed, "GZIP")).toEqual({ bytes: bytes(text), decodedFrom: "gzip" });
    const cut = await decodeBody(packed.slice(0, -9), "gzip");
    expect(cut.decodedFrom ?? cut.leftEncoded).toBe("gzip");
  });

  it("that this engine does not know stay", async () => {
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
  ])("tell that they are %s, and their size", (format, start, width, height) => {
    expect(imageSize(Uint8Array.from(start))).toEqual({ format, width, height });
  });

  it("cut short are no fault", () => {
    for (const start of [[0x89, 0x50], [0xff, 0xd8, 0xff], [...bytes("RIFF")], [...bytes("GIF8")]]) {
      expect(imageSize(Uint8Array.from(start))).toBeUndefined();
    }
  });
});

describe("lines", () => {
  it("are numbered, and long ones come in pieces", () => {
    expect(textLines(`a\r\n${"x".repeat(1_500)}\n\nb\n`).map(({ number, text }) => [number, text.length])).toEqual([
      [1, 1],
      [2, 1_000],
      [undefined, 500],
      [3, 0],
      [4, 1],
    ]);
  });
});
