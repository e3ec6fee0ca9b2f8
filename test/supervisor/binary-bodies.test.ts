import { deflateSync } from "node:zlib";
import { expect, it } from "vitest";
import type { HeaderList } from "../../contract/traffic/http.ts";
import { namesSecret } from "../../contract/traffic/secret-names.ts";
import { bytesOfText, isBinary, textOfBytes } from "../../servers/core/credentials/byte-text.ts";
import { FoundCredentials } from "../../servers/core/credentials/found-credentials.ts";
import { createHttpRedaction } from "../../servers/core/http/record/http-redaction.ts";
import { base64WithoutCredentials, textWithoutCredentials } from "../../servers/core/http/record/without-credentials.ts";
import { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { allOf, exchange, options, row, storeOf } from "./exported-traffic.ts";

const random = seededRandom(11);
const noise = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)));
const latin1 = (text: string) => Buffer.from(text, "latin1");

const png = Buffer.concat([latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR % \x1e \x1e="), deflateSync(noise(600)), latin1("\0IEND\xaeB`\x82")]);
const boundary = "--b\r\nContent-Disposition: form-data; name=";
const upload = Buffer.concat([latin1(`${boundary}"file"; filename="a.png"\r\n\r\n`), png, latin1("\r\n--b--\r\n")]);

/** Both formats of an export, without credentials. */
async function exported(body: Buffer, type: string) {
  const headers: HeaderList = type === "" ? [] : [["Content-Type", type]];
  const side = { headers, body: { bytes: body.length, base64: body.toString("base64") } };
  const { request, response } = exchange(1);
  const detail = exchange(1, { request: { ...request, ...side }, ...(response && { response: { ...response, ...side } }) });
  const store = () => storeOf([row(1, { preview: body.toString().slice(0, 200) })], new Map([[1, detail]]));
  const read = async (format: "har" | "jsonl") => (await allOf(createTrafficExport({ ...options, stores: [store()], format }))).text;
  const { detail: written } = JSON.parse(await read("jsonl"));
  const { content } = JSON.parse(await read("har")).log.entries[0].response;
  return { sides: [written.request.body, written.response.body], content };
}

it.each([
  ["a picture", png, "image/png"],
  ["bytes without a type", noise(3_000), ""],
  ["bytes that curl sends as a form", png, "application/x-www-form-urlencoded"],
  ["an upload of a picture", upload, "multipart/form-data; boundary=b"],
  ["many bytes", noise(50_000), "application/octet-stream"],
])("[BL-561] %s stays as it is in an export", async (_, body, type) => {
  const { sides, content } = await exported(body, type);
  const base64 = body.toString("base64");
  expect(sides).toEqual([
    { bytes: body.length, base64 },
    { bytes: body.length, base64 },
  ]);
  expect(content).toMatchObject({ size: body.length, text: base64, encoding: "base64" });
  expect(content).not.toHaveProperty("comment");
});

it("[BL-561] bytes of any beginning stay as they are", () => {
  const unchanged = { label: "application/octet-stream", isEncoded: false };
  for (let round = 0; round < 2_000; round++) {
    const start = ["{", "[", "4\x1e", "b", "a=", "--b\r\n", "\n["][random.below(7)] ?? "";
    const base64 = Buffer.concat([latin1(start), latin1("\0\xff"), noise(random.below(400))]).toString("base64");
    expect(base64WithoutCredentials(base64, new FoundCredentials(), unchanged)).toBe(base64);
  }
});

it.each([
  ['{"name":"gr\xfcn","password":"s3cr3t\xfc","x":"\xe9"}', "application/json", '{"name":"gr\xfcn","password":"•••","x":"\xe9"}'],
  ['{"name":"gr\xfcn","p\\u0061ssword":"s3cr3t"}', "", '{"name":"gr\xfcn","p\\u0061ssword":"•••"}'],
  ["name=gr\xfcn&password=s3cr3t\xfc", "", "name=gr\xfcn&password=•••"],
  ["name=gr\xfcn&p%61ssword=s3cr3t", "application/x-www-form-urlencoded", "name=gr\xfcn&p%61ssword=•••"],
  ['42["join",{"name":"\xfcn","token":"s3cr3t"}]\x1e2', "", '42["join",{"name":"\xfcn","token":"•••"}]\x1e2'],
  [`${boundary}"file"\r\n\r\n\xff\0\r\n${boundary}"password"\r\n\r\ns3cr3t\r\n--b--`, "multipart/form-data; boundary=b", "•••"],
  [`${boundary}"p%61ssword"\r\n\r\ns3cr3t\r\n${boundary}"file"\r\n\r\n\xff\0\r\n--b--`, "", "•••"],
])("[BL-561] of %j (%s) only the secret is hidden, byte by byte", async (body, type, shown) => {
  const written = Buffer.concat(shown.split(/(•••)/).map((part) => (part === "•••" ? Buffer.from(part) : latin1(part))));
  const { sides } = await exported(latin1(body), type);
  for (const side of sides) expect(Buffer.from(side.base64, "base64")).toEqual(written);
  if (type !== "" || !body.startsWith("--")) expect(createHttpRedaction(namesSecret).body(latin1(body))).toEqual(written);
});

it("[BL-561] a value that is no UTF-8 is hidden wherever its exchange has it", () => {
  const found = new FoundCredentials();
  const form = latin1("name=anna&password=gr\xfcn-gr\xfcn").toString("base64");
  found.collect(() => base64WithoutCredentials(form, found));
  expect(found.hideInBytes(latin1("\xff is gr\xfcn-gr\xfcn"))).toEqual(Buffer.concat([latin1("\xff is "), Buffer.from("•••")]));
});

it("[BL-561] a separator within a text makes no packets of it", () => {
  const shown = (text: string) => textWithoutCredentials(text, new FoundCredentials());
  for (const text of ["name\x1e100 %\x1ea=b", "key: a\x1eb = c", "Report\x1e[1]"]) expect(shown(text)).toBe(text);
  expect(shown('2\x1e42["a",{"token":"b"}]')).toBe('2\x1e42["a",{"token":"•••"}]');
});

it("[BL-561] bytes become a text, and the same bytes again", () => {
  const texts = ["", "a", "ü€😀\ufffd\ufeff", "\0\x7f\x80\u07ff\u0800\uffff\u{10000}\u{10ffff}", "\ud83d\ude00\ud800".slice(0, 2)];
  for (const text of texts) {
    expect(textOfBytes(Buffer.from(text))).toBe(text);
    expect(bytesOfText(text)).toEqual(Buffer.from(text));
  }
  expect(textOfBytes(latin1("a\xffü".slice(0, 2)))).toBe("a\udcff");
  expect(bytesOfText("a\ud83d")).toEqual(Buffer.from("a\ufffd"));
  for (const odd of [
    "\xc0\x80",
    "\xe0\x9f\xbf",
    "\xed\xa0\x80",
    "\xf0\x8f\xbf\xbf",
    "\xf4\x90\x80\x80",
    "\xf5\x80",
    "\xe2\x82",
    "\xf0\x9f\x98",
  ]) {
    const bytes = Buffer.concat([Buffer.from("ü"), latin1(odd), Buffer.from("ü😀")]);
    expect(textOfBytes(bytes)).toBe(`ü${Array.from(latin1(odd), (byte) => String.fromCharCode(0xdc00 + byte)).join("")}ü😀`);
  }
  for (let round = 0; round < 2_000; round++) {
    const pieces = Array.from({ length: random.below(8) }, () =>
      random.chance(0.5) ? noise(random.below(5)) : Buffer.from(texts[2] as string).subarray(random.below(3)),
    );
    const bytes = Buffer.concat(pieces);
    const text = textOfBytes(bytes);
    expect(bytesOfText(text)).toEqual(bytes);
    expect(text.replace(/[\udc80-\udcff]+/gu, "").isWellFormed()).toBe(true);
  }
});

it("[BL-561] a text whose last character is cut is one", () => {
  const cut = (bytes: number) => textOfBytes(Buffer.from("text 😀").subarray(0, bytes));
  expect([6, 7, 8, 9].map((bytes) => isBinary(cut(bytes)))).toEqual([false, false, false, false]);
  expect(isBinary(`${cut(8)} and more`)).toBe(true);
  expect(isBinary("a\tb\r\n\x1b[0m\x1e")).toBe(false);
});
