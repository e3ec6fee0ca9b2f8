import { describe, expect, it } from "vitest";
import { fromHex } from "../../renderer/src/mqtt/base64.ts";
import { decodeCbor } from "../../renderer/src/mqtt/decode-cbor.ts";
import { decodeMessagePack } from "../../renderer/src/mqtt/decode-message-pack.ts";
import { DecodeError } from "../../renderer/src/mqtt/decoded-value.ts";
import { valueText } from "../../renderer/src/mqtt/value-text.ts";
import { seededRandom } from "../support/seeded-random.ts";

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

it("whatever bytes come, both answer with a value or a refusal", () => {
  const random = seededRandom(4);
  for (let round = 0; round < 20_000; round++) {
    const noise = Uint8Array.from({ length: random.below(24) }, () => random.below(256));
    for (const decode of [decodeCbor, decodeMessagePack]) {
      try {
        JSON.parse(valueText(decode(noise)));
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }
  }
});
