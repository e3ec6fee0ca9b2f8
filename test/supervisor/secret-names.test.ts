import { expect, it } from "vitest";
import type { HeaderList } from "../../contract/traffic/http.ts";
import { isSecretField } from "../../servers/account/routes/request-fields.ts";
import { createTrafficExport } from "../../servers/supervisor/traffic/traffic-export.ts";
import { allOf, base64, exchange, options, row, storeOf } from "./exported-traffic.ts";

/** The line of an export without credentials, and the body in it. */
async function exported(target: string, json: string, headers: HeaderList) {
  const request = { ...exchange(1).request, target, headers, body: { bytes: json.length, base64: base64(json) } };
  const stores = [storeOf([row(1, { target, preview: json, bytesIn: json.length })], new Map([[1, exchange(1, { request })]]))];
  const { text } = await allOf(createTrafficExport({ ...options, stores, format: "jsonl", credentials: false }));
  const shown = JSON.parse(text).detail.request;
  return { text, shown, body: Buffer.from(shown.body.base64, "base64").toString() };
}

it.each([
  ...["refresh", "pin", "otp", "pw", "passcode", "passphrase", "userpass", "userPin", "smsOtp", "mfa_code", "one-time-code", "admin_key"],
  ...["roomKey", "pwd", "authorization", "auth", "signature", "code", "key", "sig", "jwt", "client_secret"],
])("[BL-211] what is named %s is a credential in records and in exports, wherever it is", async (name) => {
  expect(isSecretField(name)).toBe(true);
  const nowhere = async (...[target, json, headers]: Parameters<typeof exported>) => {
    const { text, body } = await exported(target, json, headers);
    expect(text + body).not.toContain("v4lue");
  };
  await nowhere(`/?${name}=v4lue`, "", []);
  await nowhere("/", JSON.stringify({ user: "joe", [name]: "v4lue" }), [["Content-Type", "application/json"]]);
  await nowhere("/", "", [[`X-${name}`, "v4lue"]]);
});

it("[BL-211] a scheme of Authorization in a field of another name tells a credential too, but for a challenge", async () => {
  const challenge: HeaderList = [["WWW-Authenticate", "Basic realm=a"]];
  const { text, shown } = await exported("/", "", [["X-Echo", "Bearer v4lue"], ...challenge]);
  expect(text).not.toContain("v4lue");
  expect(shown.headers).toEqual([["X-Echo", "Bearer ••••••"], ...challenge]);
});

it("[BL-211] words that contain the name of a credential are shown", async () => {
  const json = JSON.stringify({
    author: "a",
    passengers: 3,
    bypass: 1,
    refreshRate: 60,
    statusCode: 200,
    spinner: "x",
    timecode: "t",
    monkey: "m",
  });
  const headers: HeaderList = [
    ["Status-Code", "200"],
    ["Idempotency-Key", "i1-k2"],
    [":authority", "localhost"],
  ];
  const { shown, body } = await exported("/?author=me&page=2", json, headers);
  expect([shown.target, body, shown.headers]).toEqual(["/?author=me&page=2", json, headers]);
});
