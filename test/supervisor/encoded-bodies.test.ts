import { deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { HeaderList } from "../../contract/traffic/http.ts";
import { namesSecret } from "../../contract/traffic/secret-names.ts";
import { FoundCredentials } from "../../servers/core/credentials/found-credentials.ts";
import { createHttpRedaction } from "../../servers/core/http/record/http-redaction.ts";
import { base64WithoutCredentials } from "../../servers/core/http/record/without-credentials.ts";
import { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { signallingRedaction } from "../../servers/webrtc/observe/signalling-redaction.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { allOf, exchange, options, row, storeOf } from "./exported-traffic.ts";

const random = seededRandom(31);
const noise = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)));
const little = (text: string) => Buffer.from(text, "utf16le");
const big = (text: string) => little(text).swap16();
const json = '{"name":"Jürgen 日本","password":"s3cr3t-pass","n":1}';
const hiddenJson = '{"name":"Jürgen 日本","password":"•••","n":1}';
const leftOut = Buffer.from("•••");

interface Part {
  readonly headers?: HeaderList;
  readonly bytes?: number;
}
/** Request and preview of an export of one exchange. */
async function exported(body: Buffer, type: string, { headers = [], bytes = body.length }: Part = {}) {
  const fields: HeaderList = type === "" ? headers : [["Content-Type", type], ...headers];
  const { request, response: _, ...rest } = exchange(1);
  const detail = { ...rest, request: { ...request, headers: fields, body: { bytes, base64: body.toString("base64") } } };
  const kept = row(1, { preview: body.toString().slice(0, 200), bytesIn: bytes });
  const { text } = await allOf(createTrafficExport({ ...options, stores: [storeOf([kept], new Map([[1, detail]]))], format: "jsonl" }));
  const { detail: written, preview } = JSON.parse(text);
  return { body: Buffer.from(written.request.body.base64, "base64"), hiddenIn: written.request.body.hiddenIn, preview };
}

it.each([
  ["little endian", little, "", "application/json; charset=utf-16le"],
  ["big endian", big, "", 'application/json; charset="UTF-16BE"'],
  ["little endian without a type", little, "", ""],
  ["big endian without a charset", big, "", "application/json"],
  ["little endian with a mark", little, "\ufeff", "application/json; charset=utf-16"],
  ["big endian with a mark", big, "\ufeff", "text/plain"],
  ["little endian, labelled as UTF-8", little, "", "application/json; charset=utf-8"],
] as const)("[BL-566] a password in JSON of UTF-16, %s, is hidden in exports, in its place", async (_, encode, mark, type) => {
  const shown = await exported(encode(mark + json), type);
  expect(shown).toMatchObject({ body: encode(mark + hiddenJson), hiddenIn: encode(mark + json).length });
  expect(shown.preview.replaceAll("\0", "")).not.toContain("s3cr3t");
});

it("[BL-566] a form and a multipart body in UTF-16 are without their passwords too", async () => {
  expect((await exported(little("user=joe&password=s3cr3t-pass"), "")).body).toEqual(little("user=joe&password=•••"));
  const upload = '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\ns3cr3t-pass\r\n--b--';
  expect((await exported(big(upload), "")).body).toEqual(leftOut);
  expect((await exported(little("Jürgen=1&password=s3cr3t-pass"), "text/plain; charset=utf-16le")).body).toEqual(
    little("Jürgen=1&password=•••"),
  );
});

it("[BL-566] of a body of UTF-16 that was cut in a character the password is hidden, and what is known of it elsewhere", async () => {
  const cut = little(json).subarray(0, -1);
  expect((await exported(cut, "application/json", { bytes: 1_000 })).body).toEqual(little(hiddenJson).subarray(0, -1));
  const { body } = await exported(little('{"said":"s3cr3t-pass"}'), "", { headers: [["Authorization", "Bearer s3cr3t-pass"]] });
  expect(body).toEqual(little('{"said":"•••"}'));
});

it("[BL-566] a body of UTF-8 whose type says UTF-16 is without its password", async () => {
  expect((await exported(Buffer.from(json), "application/json; charset=utf-16")).body).toEqual(Buffer.from(hiddenJson));
});

it.each([
  ["JSON of UTF-16", little('{"name":"Jürgen","n":"100 %"}'), "application/json; charset=utf-16le"],
  ["JSON of UTF-16 with a mark", big('\ufeff{"name":"Jürgen"}'), ""],
  ["a cut text of UTF-16", little("name = 1 %\ud83d").subarray(0, -1), "text/plain; charset=utf-16"],
  ["noise behind a mark", Buffer.concat([Buffer.of(0xff, 0xfe), noise(3_000)]), "application/json"],
  ["noise that is called UTF-16", noise(3_000), "application/json; charset=utf-16"],
  ["packed JSON", gzipSync('{"name":"anna","n":1}'), "application/json"],
  ["packed noise", gzipSync(noise(4_000)), "application/gzip"],
  ["packed noise that is long", gzipSync(noise(400_000)), "application/gzip"],
  ["a packed text with the word", gzipSync("hello, this is my password"), "application/gzip"],
  ["cut packed JSON", gzipSync('{"name":"anna","n":1}').subarray(0, -9), ""],
  ["text that begins like zlib", Buffer.from("x^2 + 2x = 1"), "text/plain"],
])("[BL-566] %s without a secret stays as it is", async (_, body, type) => {
  const shown = await exported(body, type);
  expect(shown.body.equals(body)).toBe(true);
  expect(shown.hiddenIn).toBeUndefined();
});

it.each([
  ["gzip", gzipSync(json), "application/gzip"],
  ["gzip labelled as JSON", gzipSync(json), "application/json"],
  ["gzip without a type", gzipSync(json), ""],
  ["gzip of stored blocks", gzipSync(json, { level: 0 }), ""],
  ["gzip of UTF-16", gzipSync(little(json)), ""],
  ["gzip of a form", gzipSync("user=joe&password=s3cr3t-pass"), "application/octet-stream"],
  ["gzip in gzip", gzipSync(gzipSync(json)), ""],
  ["gzip in more layers than anybody sends", [1, 2, 3, 4, 5].reduce((packed) => gzipSync(packed), Buffer.from("a")), ""],
  ["zlib", deflateSync(json), "application/json"],
  ["gzip that is broken", Buffer.concat([gzipSync(json).subarray(0, 20), noise(50)]), "application/gzip"],
  ["more JSON than is looked at", gzipSync(`{"a":"${"b".repeat(300_000)}","password":"s3cr3t-pass"}`), ""],
  [
    "gzip with a head that is too long",
    Buffer.concat([
      Buffer.of(0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3),
      Buffer.alloc(300, "a"),
      Buffer.of(0),
      gzipSync("b".repeat(400_000)).subarray(10),
    ]),
    "",
  ],
])("[BL-566] a password in %s, without Content-Encoding, is hidden with all of the body", async (_, body, type) => {
  expect(await exported(body, type)).toMatchObject({ body: leftOut, hiddenIn: body.length });
});

it("[BL-566] a credential that a packed body repeats is hidden with all of it, and so is the start in the row", async () => {
  const headers: HeaderList = [["Authorization", "Bearer s3cr3t-pass"]];
  const said = gzipSync("I say s3cr3t-pass to you", { level: 0 });
  expect(await exported(said, "application/gzip", { headers })).toMatchObject({ body: leftOut, preview: "•••" });
  expect((await exported(gzipSync("x".repeat(400_000)), "", { headers })).body).toEqual(leftOut);
  expect((await exported(gzipSync("nothing"), "application/gzip", { headers })).body).toEqual(gzipSync("nothing"));
  expect((await exported(gzipSync(json).subarray(0, -8), "", { bytes: 1_000 })).body).toEqual(leftOut);
});

it("[BL-566] what a packed body has is found in the rest of its exchange", () => {
  const found = new FoundCredentials();
  found.collect(() => base64WithoutCredentials(gzipSync(json).toString("base64"), found));
  expect(found.hideIn("is it s3cr3t-pass?")).toBe("is it •••?");
});

it("[BL-566] any bytes behind the start of a packed body are unpacked without an error", () => {
  for (let round = 0; round < 500; round++) {
    const packed = random.chance(0.5) ? gzipSync(noise(random.below(200))) : deflateSync(noise(random.below(200)));
    if (packed.length > 12) packed[2 + random.below(packed.length - 2)] = random.below(256);
    const cut = packed.subarray(0, random.below(packed.length + 1));
    expect(typeof base64WithoutCredentials(cut.toString("base64"), new FoundCredentials())).toBe("string");
  }
});

it.each([
  ["Account", createHttpRedaction(namesSecret)],
  ["WebRTC", signallingRedaction(false)],
])("[BL-566] %s keeps no password of UTF-16 or gzip in the first place", (_, redaction) => {
  expect(redaction.body(little(json))).toEqual(little(hiddenJson));
  expect(redaction.body(big(`\ufeff${json}`))).toEqual(big(`\ufeff${hiddenJson}`));
  expect(redaction.body(big("user=joe&password=s3cr3t-pass"))).toEqual(big("user=joe&password=•••"));
  expect(redaction.body(gzipSync(json))).toEqual(leftOut);
  const clean = little('{"user":"joe"}');
  expect(redaction.body(clean)).toBe(clean);
});
