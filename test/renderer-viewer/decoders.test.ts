import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../renderer/src/viewer/decode/bytes.ts";
import { decodeCbor } from "../../renderer/src/viewer/decode/decode-cbor.ts";
import { decodeMessagePack } from "../../renderer/src/viewer/decode/decode-message-pack.ts";
import { decodeProtobuf } from "../../renderer/src/viewer/decode/decode-protobuf.ts";
import { DecodeError, valueText } from "../../renderer/src/viewer/decode/decoded-value.ts";
import { layOutProtobuf, protobufValue } from "../../renderer/src/viewer/layout/protobuf-layout.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";

const bytes = (hex: string) => fromHex(hex) ?? new Uint8Array();
const cbor = (hex: string) => valueText(decodeCbor(bytes(hex)));
const messagePack = (hex: string) => valueText(decodeMessagePack(bytes(hex)));

describe("CBOR", () => {
  // The examples of RFC 8949, appendix A.
  it.each([
    ["00", "0"],
    ["1818", "24"],
    ["1903e8", "1000"],
    ["1a000f4240", "1000000"],
    ["1bffffffffffffffff", "18446744073709551615"],
    ["c249010000000000000000", "18446744073709551616"],
    ["3bffffffffffffffff", "-18446744073709551616"],
    ["c349010000000000000000", "-18446744073709551617"],
    ["3863", "-100"],
    ["f90000", "0"],
    ["f93c00", "1"],
    ["f97bff", "65504"],
    ["f90001", "5.960464477539063e-8"],
    ["f9c400", "-4"],
    ["fb3ff199999999999a", "1.1"],
    ["fa47c35000", "100000"],
    ["fa41a5999a", "20.7"],
    ["fa4b7fffff", "16777215"],
    ["fa7f7fffff", "3.4028235e+38"],
    ["f97c00", '"Infinity"'],
    ["f97e00", '"NaN"'],
    ["f4", "false"],
    ["f5", "true"],
    ["f6", "null"],
    ["f7", '"undefined"'],
    ["f0", '"simple(16)"'],
    ["f8ff", '"simple(255)"'],
    ["c11a514b67b0", '{"tag 1":1363896240}'],
    ["4401020304", `"h'01020304'"`],
    ["62c3bc", '"ü"'],
    ["83010203", "[1,2,3]"],
    ["a26161016162820203", '{"a":1,"b":[2,3]}'],
    ["a201020304", '{"1":2,"3":4}'],
    ["5f42010243030405ff", `"h'0102030405'"`],
    ["7f657374726561646d696e67ff", '"streaming"'],
    ["9f018202039f0405ffff", "[1,[2,3],[4,5]]"],
    ["bf61610161629f0203ffff", '{"a":1,"b":[2,3]}'],
  ])("%s is %s", (hex, text) => expect(cbor(hex)).toBe(text));

  it.each([
    "",
    "18",
    "1900",
    "62c3",
    "8301",
    "a1",
    "ff",
    "1c",
    "9f01",
    "5f6161ff",
    "9bffffffffffffffff",
    "0000",
    `${"81".repeat(200)}00`,
    "fc",
  ])("%s is refused", (hex) => expect(() => decodeCbor(bytes(hex))).toThrow(DecodeError));
});

describe("MessagePack", () => {
  it.each([
    ["00", "0"],
    ["7f", "127"],
    ["ff", "-1"],
    ["e0", "-32"],
    ["ccff", "255"],
    ["cd0100", "256"],
    ["ce00010000", "65536"],
    ["cfffffffffffffffff", "18446744073709551615"],
    ["d080", "-128"],
    ["d1ff00", "-256"],
    ["d2ffff0000", "-65536"],
    ["d38000000000000000", "-9223372036854775808"],
    ["ca41a5999a", "20.7"],
    ["cb4034b33333333333", "20.7"],
    ["c0", "null"],
    ["c2", "false"],
    ["c3", "true"],
    ["a568656c6c6f", '"hello"'],
    ["d90568656c6c6f", '"hello"'],
    ["c4020aff", `"h'0aff'"`],
    ["93010203", "[1,2,3]"],
    ["dc000101", "[1]"],
    ["82a176ca41a5999aa16fc3", '{"v":20.7,"o":true}'],
    ["de0001a16101", '{"a":1}'],
    ["d6ff514b67b0", '{"timestamp":"2013-03-21T20:04:00.000Z"}'],
    ["d40507", `{"extension 5":"h'07'"}`],
    ["c7020501ff", `{"extension 5":"h'01ff'"}`],
  ])("%s is %s", (hex, text) => expect(messagePack(hex)).toBe(text));

  it.each(["", "c1", "cc", "a5686c", "9301", "81a161", "ddffffffff", "0000", `${"91".repeat(200)}00`])("%s is refused", (hex) =>
    expect(() => decodeMessagePack(bytes(hex))).toThrow(DecodeError),
  );
});

describe("Protobuf, without its schema", () => {
  const lines = (hex: string) => layOutProtobuf(decodeProtobuf(bytes(hex))).text.split("\n");
  const line = (hex: string) => valueText(protobufValue(decodeProtobuf(bytes(hex))));

  // The first ones are those of the encoding's own description.
  it.each([
    ["", [""], "{}"],
    ["089601", ["1 VARINT 150"], '{"1":150}'],
    ["120774657374696e67", ['2 LEN "testing"'], '{"2":"testing"}'],
    ["1a03089601", ["3 LEN {", "  1 VARINT 150", "}"], '{"3":{"1":150}}'],
    ["220568656c6c6f280128022803", ['4 LEN "hello"', "5 VARINT 1", "5 VARINT 2", "5 VARINT 3"], '{"4":"hello","5":1,"5":2,"5":3}'],
    ["3206038e029ea705", ["6 LEN h'038e029ea705'"], `{"6":"h'038e029ea705'"}`],
    ["08feffffffffffffffff01", ["1 VARINT 18446744073709551614 or -2"], '{"1":-2}'],
    ["0d0000c03f", ["1 I32 1.5 or 1069547520"], '{"1":1.5}'],
    ["0d05000000", ["1 I32 5"], '{"1":5}'],
    ["0dffffffff", ["1 I32 4294967295 or -1"], '{"1":-1}'],
    ["0900000000000034c0", ["1 I64 -20 or 13849694754071117824"], '{"1":-20}'],
    ["090100000000000000", ["1 I64 1"], '{"1":1}'],
    ["0b10010c", ["1 GROUP {", "  2 VARINT 1", "}"], '{"1":{"2":1}}'],
    ["0b0c", ["1 GROUP {}"], '{"1":{}}'],
    ["0a00", ['1 LEN ""'], '{"1":""}'],
    // A message whose bytes are text as well: what begins with a control character is none.
    [`0a220a20${"61".repeat(32)}`, ["1 LEN {", `  1 LEN "${"a".repeat(32)}"`, "}"], `{"1":{"1":"${"a".repeat(32)}"}}`],
    ["0a02c3bc", ['1 LEN "ü"'], '{"1":"ü"}'],
    ["0a020a61", ['1 LEN "\\na"'], '{"1":"\\na"}'],
    ["f8ffffff0f01", ["536870911 VARINT 1"], '{"536870911":1}'],
  ])("[MQTT-162] %s is %j", (hex, expected, inLine) => {
    expect(lines(hex)).toEqual(expected);
    expect(line(hex)).toBe(inLine);
  });

  it.each([
    ["08", "ends within a value, at byte 1"],
    ["0896", "ends within a value, at byte 2"],
    ["0d000000", "ends within a value, at byte 4"],
    ["0a0561", "ends within a value, at byte 3"],
    ["0affffffffffffffffff01", "ends within a value, at byte 11"],
    ["0001", "has no field number, at byte 0"],
    ["f8ffffff1f01", "has no field number, at byte 0"],
    ["08010e", "has the unknown wire type 6, at byte 2"],
    ["0c", "ends a group that was not started, at byte 0"],
    ["0b1001", "ends within a group, at byte 3"],
    ["0b14", "ends a group that was not started, at byte 1"],
    ["08ffffffffffffffffffff01", "has a number of more than ten bytes, at byte 11"],
    ["7b22", "ends within a value, at byte 2"],
    ["0b".repeat(200), "is nested deeper than 128"],
  ])("[MQTT-162] %s is not Protobuf: it %s", (hex, why) => expect(() => decodeProtobuf(bytes(hex))).toThrow(new DecodeError(why)));

  it("[MQTT-162] content nested too deeply for a guess stays bytes", () => {
    let nested: number[] = [8, 1];
    for (let depth = 0; depth < 300; depth++) {
      const length = nested.length < 128 ? [nested.length] : [(nested.length & 0x7f) | 0x80, nested.length >> 7];
      nested = [10, ...length, ...nested];
    }
    expect(lines(toHex(Uint8Array.from(nested))).length).toBeGreaterThan(100);
  });

  it("[MQTT-162] messages of random fields are decoded as written, cut ones are refused or shorter", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 2_000; round++) {
      const { written, expected } = randomMessage(random, 0);
      const decoded = decodeProtobuf(Uint8Array.from(written));
      expect(decoded.map(({ number, value }) => `${number} ${value.wire}`)).toEqual(expected);
      const cut = Uint8Array.from(written.slice(0, random.below(written.length + 1)));
      try {
        expect(decodeProtobuf(cut).length).toBeLessThanOrEqual(expected.length);
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }
  });
});

function randomMessage(random: SeededRandom, depth: number): { readonly written: number[]; readonly expected: string[] } {
  const written: number[] = [];
  const expected: string[] = [];
  for (let fields = 1 + random.below(5); fields > 0; fields--) {
    const number = 1 + random.below(random.chance(0.5) ? 15 : 100_000);
    const wireType = [0, 1, 5, 2, 3][random.below(depth < 3 ? 5 : 3)] as number;
    const content = wireType === 2 || wireType === 3 ? randomMessage(random, depth + 1).written : [];
    written.push(...varint(BigInt(number) * 8n + BigInt(wireType)));
    if (wireType === 0) written.push(...varint(BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 31))));
    else if (wireType === 1 || wireType === 5) written.push(...Array.from({ length: wireType === 1 ? 8 : 4 }, () => random.below(256)));
    else if (wireType === 2) written.push(...varint(BigInt(content.length)), ...content);
    else written.push(...content, ...varint(BigInt(number) * 8n + 4n));
    expected.push(`${number} ${["VARINT", "I64", "LEN", "GROUP", "", "I32"][wireType]}`);
  }
  return { written, expected };
}

function varint(value: bigint): number[] {
  const low = Number(value & 0x7fn);
  return value < 128n ? [low] : [low | 0x80, ...varint(value >> 7n)];
}

it("any bytes are decoded or refused", () => {
  const random = seededRandom(4);
  for (let round = 0; round < 20_000; round++) {
    const noise = Uint8Array.from({ length: random.below(24) }, () => random.below(256));
    for (const decode of [decodeCbor, decodeMessagePack, (message: Uint8Array) => protobufValue(decodeProtobuf(message))]) {
      try {
        JSON.parse(valueText(decode(noise)));
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }
  }
});
