/** RFC 7541: header compression. */
import { expect, it } from "vitest";
import { FrameBatch } from "../../servers/core/http2/frame-batch.ts";
import { errorCodes, Http2Error } from "../../servers/core/http2/frames.ts";
import { fieldOverhead } from "../../servers/core/http2/header-field.ts";
import { HpackDecoder } from "../../servers/core/http2/hpack-decoder.ts";
import { type AnswerFields, HpackEncoder } from "../../servers/core/http2/hpack-encoder.ts";
import { resultOf } from "../../servers/core/turns/work-connection.ts";
import { seededRandom } from "../support/seeded-random.ts";

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");
const most = 1 << 20;

function decode(decoder: HpackDecoder, block: Buffer): [string, string][] {
  return decoder.decode(block, most).fields.map(({ name, value }) => [name, value]);
}

const request = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "www.example.com"],
];
const httpsRequest = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/index.html"],
  [":authority", "www.example.com"],
  ["custom-key", "custom-value"],
];
const redirection = (status: string) => [
  [":status", status],
  ["cache-control", "private"],
  ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
  ["location", "https://www.example.com"],
];
const found = [
  [":status", "200"],
  ["cache-control", "private"],
  ["date", "Mon, 21 Oct 2013 20:13:22 GMT"],
  ["location", "https://www.example.com"],
  ["content-encoding", "gzip"],
  ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
];

it.each([
  ["C.2.1", "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [["custom-key", "custom-header"]], 55],
  ["C.2.2", "040c 2f73 616d 706c 652f 7061 7468", [[":path", "/sample/path"]], 0],
  ["C.2.3", "1008 7061 7373 776f 7264 0673 6563 7265 74", [["password", "secret"]], 0],
  ["C.2.4", "82", [[":method", "GET"]], 0],
] as const)("[GRPC-290] RFC 7541 %s", (_name, hex, fields, tableBytes) => {
  const decoder = new HpackDecoder();
  expect(decode(decoder, bytesOf(hex))).toEqual(fields);
  expect(decoder.tableBytes).toBe(tableBytes);
});

it.each([
  [
    "C.3",
    4_096,
    [
      ["8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", request, 57],
      ["8286 84be 5808 6e6f 2d63 6163 6865", [...request, ["cache-control", "no-cache"]], 110],
      ["8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", httpsRequest, 164],
    ],
  ],
  [
    "C.4",
    4_096,
    [
      ["8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", request, 57],
      ["8286 84be 5886 a8eb 1064 9cbf", [...request, ["cache-control", "no-cache"]], 110],
      ["8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", httpsRequest, 164],
    ],
  ],
  [
    "C.5",
    256,
    [
      [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        redirection("302"),
        222,
      ],
      ["4803 3330 37c1 c0bf", redirection("307"), 222],
      [
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
        found,
        215,
      ],
    ],
  ],
  [
    "C.6",
    256,
    [
      [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        redirection("302"),
        222,
      ],
      ["4883 640e ffc1 c0bf", redirection("307"), 222],
      [
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        found,
        215,
      ],
    ],
  ],
] as const)("[GRPC-290] RFC 7541 %s: blocks of one connection, with a table of %i bytes", (_name, tableBytes, blocks) => {
  const decoder = new HpackDecoder(tableBytes);
  for (const [hex, fields, size] of blocks) {
    expect(decode(decoder, bytesOf(hex))).toEqual(fields);
    expect(decoder.tableBytes).toBe(size);
  }
});

it.each([
  ["an index of nothing", "80"],
  ["an index beyond the table", "be"],
  ["an integer without an end", "ff ff ff ff ff ff ff"],
  ["a string that is longer than its block", "00 05 61 62"],
  ["a block that ends within a field", "40 01 61"],
  ["a Huffman code with the end of the string", "00 84 ff ff ff ff 00"],
  ["a Huffman code with more than seven bits of padding", "00 82 1f ff 00"],
  ["a Huffman code whose padding is not ones", "00 81 18 00"],
  ["a larger table than allowed", "3f e2 1f"],
  ["a change of the table behind a field", "82 20"],
])("[GRPC-290] %s is an error of the connection", (_name, hex) => {
  expect(() => decode(new HpackDecoder(), bytesOf(hex))).toThrow(expect.objectContaining({ code: 9 }));
});

it("[GRPC-290] a smaller table evicts; fields beyond a limit are counted and not kept", () => {
  const decoder = new HpackDecoder();
  decode(decoder, bytesOf("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"));
  expect(decoder.table.map(({ name }) => name)).toEqual(["custom-key"]);
  expect(decode(decoder, bytesOf("20 82"))).toEqual([[":method", "GET"]]);
  expect(decoder.table).toEqual([]);
  // One that finds no room empties the table (RFC 7541 §4.4).
  decode(decoder, bytesOf("3f 00"));
  expect(decode(decoder, bytesOf("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))).toHaveLength(1);
  expect([decoder.table, decoder.tableBytes]).toEqual([[], 0]);
  const above = Buffer.alloc(30, 0x82);
  expect(new HpackDecoder().decode(above, 1_000)).toEqual({ fields: [], bytes: 30 * (10 + fieldOverhead) });
});

it("[GRPC-305] fields above twice the limit are refused as soon as that is known", () => {
  const refusal = expect.objectContaining({ code: errorCodes.enhanceYourCalm }) as unknown;
  const most = 1_000;
  const read = (fragment: Buffer) => {
    const decoder = new HpackDecoder();
    decoder.begin(most);
    return () => resultOf(decoder.add(fragment, false));
  };
  const [ofLimit, above] = [Buffer.alloc(47, 0x82), Buffer.alloc(48, 0x82)];
  expect(read(ofLimit)()).toEqual({ fields: [], bytes: 47 * (10 + fieldOverhead) });
  expect(read(above)).toThrow(refusal);
  // The length of a value, which has not come: 2,127 bytes, and of Huffman codes so many that they are more than 2,000.
  expect(read(bytesOf("00 01 61 7f d0 0f"))).toThrow(refusal);
  expect(read(bytesOf("00 01 61 7f d0 0e"))()).toEqual({ fields: [], bytes: 0 });
  expect(read(bytesOf("00 01 61 ff d0 3c"))).toThrow(refusal);
  expect(read(bytesOf("00 01 61 ff d0 38"))()).toEqual({ fields: [], bytes: 0 });
});

it("[GRPC-305] a block is decoded to the same, in whatever fragments it comes", () => {
  const random = seededRandom(305);
  const [whole, parts, encoder, batch] = [new HpackDecoder(), new HpackDecoder(), new HpackEncoder(), new FrameBatch(1_024)];
  for (let round = 0; round < 200; round++) {
    const fields: Record<string, string> = { ":status": String(round), "content-type": `a${random.below(9)}` };
    for (let left = random.below(5); left > 0; left--) fields[`x-${left}`] = "v".repeat(random.below(random.chance(0.2) ? 2_000 : 20));
    encoder.encode(fields, false, batch);
    const block = batch.take();
    parts.begin(most);
    let at = 0;
    while (random.chance(0.9) && at < block.length) {
      const end = Math.min(block.length, at + random.below(random.chance(0.5) ? 5 : 500));
      resultOf(parts.add(block.subarray(at, end), false));
      at = end;
    }
    expect(parts.heldBytes).toBeLessThan(40_000);
    expect(resultOf(parts.add(block.subarray(at), true))).toEqual(whole.decode(block, most));
    expect(parts.heldBytes).toBe(0);
  }
  expect(parts.table).toEqual(whole.table);
});

it("[GRPC-290] what is encoded is decoded to the same, whatever the table", () => {
  const random = seededRandom(290);
  const text = (letters: string, length: number) => Array.from({ length }, () => letters[random.below(letters.length)]).join("");
  for (let connection = 0; connection < 50; connection++) {
    const [encoder, decoder, batch] = [new HpackEncoder(), new HpackDecoder(), new FrameBatch(1_024)];
    const shared: AnswerFields = { ":status": 200, "content-type": "application/grpc", "grpc-status": "0" };
    for (let block = 0; block < 40; block++) {
      if (random.chance(0.02)) encoder.limitTable(random.below(5_000));
      const fields: Record<string, string | string[]> = { ":status": String(200 + random.below(300)) };
      for (let left = random.below(6); left > 0; left--) {
        const value = () => text("abc ÄÖ0123456789", random.below(300)).trim();
        fields[random.chance(0.5) ? "content-type" : text("abc-", 1 + random.below(8))] = random.chance(0.2) ? [value(), value()] : value();
      }
      const sent = random.chance(0.5) ? shared : fields;
      encoder.encode(sent, sent === shared, batch);
      const expected = Object.entries(sent).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
      expect(decode(decoder, batch.take())).toEqual(expected);
    }
    expect(decoder.tableBytes).toBeLessThanOrEqual(4_096);
  }
});

it("[GRPC-290] no bytes make the decoder throw anything but its error, or grow beyond its table", () => {
  const random = seededRandom(291);
  let decoder = new HpackDecoder();
  let understood = 0;
  for (let round = 0; round < 20_000; round++) {
    const block = Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
    try {
      decode(decoder, block);
      understood++;
    } catch (error) {
      expect(error, block.toString("hex")).toBeInstanceOf(Http2Error);
      decoder = new HpackDecoder();
    }
    expect(decoder.tableBytes).toBeLessThanOrEqual(4_096);
  }
  expect(understood).toBeGreaterThan(500);
});

it("[GRPC-301] a long block is read in steps", () => {
  // `:method GET`, indexed.
  const block = Buffer.alloc(40_000, 0x82);
  const decoder = new HpackDecoder();
  decoder.begin(most);
  const steps = decoder.add(block, true);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBeGreaterThan(70);
  expect(step.value).toEqual(new HpackDecoder().decode(block, most));
});
