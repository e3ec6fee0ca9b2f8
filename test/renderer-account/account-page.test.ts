import { describe, expect, it } from "vitest";
import type { AccountUserDetails } from "../../contract/services/account.ts";
import { contactFields } from "../../contract/services/account.ts";
import { refusalWords } from "../../contract/traffic/refusal-words.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { noFilter, trafficMatcher } from "../../renderer/src/list/filter/traffic-filter.ts";
import { claimLines, decodeToken } from "../../renderer/src/services/account/try/claim-lines.ts";
import { maskSecrets } from "../../renderer/src/services/account/try/try-answer.tsx";
import { languages, tryCommands } from "../../renderer/src/services/account/try/try-commands.ts";
import { firstDraft, triedParams } from "../../renderer/src/services/account/try/try-draft.ts";
import { formatShift, widestShiftSeconds, withinWidest } from "../../renderer/src/services/account/users/clock-shift.ts";
import { changesOf, contactOrder, draftOf, isEmail } from "../../renderer/src/services/account/users/user-draft.ts";
import { apiTime, timeLeft, wallTime, wallTimeMs } from "../../renderer/src/services/account/wall-time.ts";

const contact = Object.fromEntries(contactFields.map((name) => [name, ""])) as AccountUserDetails["contact"];

describe("times of the account page", () => {
  it("says how far a clock is off", () => {
    expect([0, 600, 3_600, -3_600, 90_061, 31 * 86_400].map(formatShift)).toEqual([
      "on time",
      "+10 min",
      "+1 h",
      "−1 h",
      "+1 d 1 h",
      "+31 d",
    ]);
  });

  it("requests no shift beyond the service's limit", () => {
    expect([withinWidest(1e12), withinWidest(-1e12), withinWidest(1.4)]).toEqual([widestShiftSeconds, -widestShiftSeconds, 1]);
  });

  it("reads the API's time as UTC and shows it like other times", () => {
    expect([apiTime("2016-12-30 12:24:28"), apiTime(""), apiTime("0000-00-00 00:00:00")]).toEqual([
      1_483_100_668_000,
      undefined,
      undefined,
    ]);
    const local = new Date(1_483_100_668_000);
    expect(wallTime(1_483_100_668_000)).toContain(String(local.getHours()).padStart(2, "0"));
    expect(wallTimeMs(1_483_100_668_007)).toBe(`${wallTime(1_483_100_668_000)}.007`);
  });

  it("counts a token's time down in two units", () => {
    expect([0, -5_000, 900, 61_000, 3_600_000, 2_592_000_000].map(timeLeft)).toEqual([
      "0 s",
      "0 s",
      "1 s",
      "1 m 01 s",
      "1 h 00 m",
      "30 d 00 h",
    ]);
  });
});

describe("why a call was refused", () => {
  it("is shown as text, with the field; an unknown reason is shown as it is", () => {
    expect(["wronglogin", "tokenrevoked", "invalidfield: country", "busy, brandnew"].map(refusalWords)).toEqual([
      "wrong user or password",
      "token revoked",
      "field not valid: country",
      "busy, brandnew",
    ]);
  });

  it("is found by the text filter, as the user is", () => {
    const row = {
      service: "account",
      verb: "GET",
      target: "/details",
      tone: "refused",
      outcome: "401",
      client: "curl",
      peer: "127.0.0.1:1",
      preview: "",
    };
    const matches = (text: string) =>
      trafficMatcher({ ...noFilter, text })({ ...row, user: "api@example.com", reason: "tokenexpired" } as TrafficRow);
    expect([matches("API@"), matches("expired"), matches("nobody")]).toEqual([true, true, false]);
    expect([matches("token expired"), matches('reason:"token expired"'), matches("tokenexpired")]).toEqual([true, true, true]);
  });
});

describe("a token", () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

  it("is decoded with its times as text, also with non-ASCII text", () => {
    const decoded = decodeToken(`${part({ alg: "HS256", typ: "JWT" })}.${part({ iss: "Büro", exp: 1_795_234_942 })}.x`);
    expect(decoded && claimLines(decoded)).toEqual([
      { name: "alg", value: "HS256" },
      { name: "iss", value: "Büro" },
      { name: "exp", value: "1795234942", note: expect.stringMatching(/^2026-11-2\d \d\d:\d\d:22$/) },
    ]);
  });

  it.each(["", "a.b", "eyJ.eyJ.x", `${part(1)}.${part({})}.x`, "a.b.c.d"])("%j is not a token", (text) => {
    expect(decodeToken(text)).toBeUndefined();
  });

  it("and other secrets are masked in a body, however deep", () => {
    const body = { token: "eyJabc", refresh: "eyJdef", mfa: { token: "x" }, payload: { code: "123456" }, client: { city: "Oslo" } };
    const { text, masked } = maskSecrets(JSON.stringify(body));
    expect(masked).toBe(true);
    expect(JSON.parse(text)).toEqual({
      token: "eyJ••••••",
      refresh: "eyJ••••••",
      mfa: { token: "••••••" },
      payload: { code: "••••••" },
      client: { city: "Oslo" },
    });
  });

  it("[BL-180] leaves a body unchanged that is nested too deeply", () => {
    const deep = `{"token":"eyJabc","a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(maskSecrets(deep).text.length).toBe(deep.length);
  });

  it("leaves a body without secrets, and one that is not JSON, unchanged", () => {
    expect([maskSecrets('{ "city": "Oslo" }'), maskSecrets("token")]).toEqual([
      { text: '{ "city": "Oslo" }', masked: false },
      { text: "token", masked: false },
    ]);
  });
});

describe("the form of a user", () => {
  const known = { email: "a@example.com", contact: { ...contact, city: "Oslo" } };

  it("sends only changed fields, and nothing without a change", () => {
    expect(changesOf(draftOf(known), known)).toBeUndefined();
    expect(changesOf({ ...draftOf(known), city: "Bergen" }, known)).toEqual({ contact: { city: "Bergen" } });
    expect(changesOf({ ...draftOf(known), email: " b@example.com " }, known)).toEqual({ email: "b@example.com", contact: {} });
  });

  it("shows each field of the contract once", () => {
    expect([...contactOrder].sort()).toEqual([...contactFields].sort());
  });

  it("validates an e-mail address like the contract", () => {
    expect(["a@b", "a", "a@b@c", "a b@c", "a:b@c", ""].map(isEmail)).toEqual([true, false, false, false, false, false]);
  });
});

describe("a try", () => {
  it("sends a path that begins with a slash, no body with GET, and the digits of the code", () => {
    expect(triedParams({ ...firstDraft, target: "details", body: "{}" }, "p", "123 456")).toEqual({
      username: "api@example.com",
      password: "p",
      scheme: "bearer",
      code: "123456",
      method: "GET",
      target: "/details",
      body: "",
    });
  });

  it.each(languages)("is written in %s with login, code and call", (language) => {
    const text = tryCommands(language, { origin: "http://127.0.0.1:8081", draft: firstDraft, password: "it's", code: "123456" });
    for (const part of ["/login", "/mfa/verify", "123456", "/details", "Bearer "]) expect(text).toContain(part);
  });

  it("quotes a password for the shell", () => {
    const text = tryCommands("curl", {
      origin: "http://127.0.0.1:8081",
      draft: { ...firstDraft, scheme: "basic" },
      password: "it's",
      code: "",
    });
    expect(text).toBe(String.raw`curl -u 'api@example.com:it'\''s' http://127.0.0.1:8081/details`);
  });
});
