import { describe, expect, it } from "vitest";
import { z } from "zod";
import { secretMask } from "../../contract/config.ts";
import { commonFields, field, portField } from "../../servers/core/config/common-fields.ts";
import {
  type ConfigSources,
  checkConfigValues,
  configFields,
  environmentNames,
  flagName,
  resolveConfig,
  restoreSecrets,
} from "../../servers/core/config/config.ts";
import { issueSentence, neededText } from "../../servers/core/config/issue-text.ts";
import { defineService } from "../../servers/core/service/service.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";

const rtsp = defineService({
  id: "rtsp",
  title: "RTSP",
  purpose: "Test",
  rateUnit: "pkt/s",
  config: z.strictObject({
    port: portField(8_554, { title: "Port", env: "RTSP_PORT" }),
    httpPort: portField(8_888, { title: "HTTP port", env: "HTTP_PORT" }),
    ...commonFields("rtsp"),
    hosts: field(z.array(z.string()).default([]), { title: "Hosts", env: "HOSTS" }),
    password: field(z.string().max(10).default(""), { title: "Password", env: "RTSP_PASSWORD", secret: true }),
    users: field(z.array(z.string().regex(/^.+:.+$/)).default([]), { title: "Users", env: "USERS", credentials: true }),
    database: field(z.string().max(200).default(""), { title: "Database", env: "DATABASE", address: true }),
    codec: field(z.enum(["H264", "H265", "none"]).default("H264"), { title: "Codec", env: "RTSP_CODEC" }),
    gain: field(z.number().min(0).max(2).default(1), { title: "Gain", env: "GAIN" }),
  }),
  actions: {},
  details: {},
  ports: [
    { field: "port", transport: "tcp" },
    { field: "httpPort", transport: "tcp" },
  ],
  endpoints: () => [],
  snippets: () => [],
  start: async () => [],
});

const none: ConfigSources = { file: {}, environment: {}, flags: {} };
const failure = (sources: Partial<ConfigSources>) => {
  try {
    return resolveConfig(rtsp, { ...none, ...sources });
  } catch (error) {
    return toFailure(error);
  }
};
const fieldNamed = (name: string, sources: Partial<ConfigSources>) =>
  configFields(rtsp, { ...none, ...sources }).find((candidate) => candidate.name === name);

describe("configuration", () => {
  it("[BL-20] takes default < file < environment < flag", () => {
    const file = { port: 1 };
    const environment = { RTSP_PORT: "2" };
    const flags = { port: "3" };
    expect(resolveConfig(rtsp, none).port).toBe(8_554);
    expect(resolveConfig(rtsp, { ...none, file }).port).toBe(1);
    expect(resolveConfig(rtsp, { ...none, file, environment }).port).toBe(2);
    expect(resolveConfig(rtsp, { file, environment, flags }).port).toBe(3);
    expect(fieldNamed("port", { file, environment, flags })).toMatchObject({
      value: 3,
      source: "flag",
      stored: 1,
      default: 8_554,
      flag: "--rtsp-port",
    });
    expect(fieldNamed("port", { file, environment })).toMatchObject({ value: 2, source: "environment", env: ["RTSP_PORT"] });
    expect(fieldNamed("port", {})).toMatchObject({ value: 8_554, source: "default" });
    expect(fieldNamed("port", {})).not.toHaveProperty("stored");
  });

  it("[BL-20] a wrong value in a weaker source is ignored", () => {
    expect(resolveConfig(rtsp, { file: { port: "x" }, environment: { RTSP_PORT: "y" }, flags: { port: "4" } }).port).toBe(4);
    expect(resolveConfig(rtsp, { ...none, environment: { LOG_LEVEL: "loud", RTSP_LOG_LEVEL: "error" } }).logLevel).toBe("error");
  });

  it("[BL-21] reads the prefixed and the plain name; the prefixed one wins", () => {
    expect(resolveConfig(rtsp, { ...none, environment: { LOG_LEVEL: "error" } }).logLevel).toBe("error");
    expect(resolveConfig(rtsp, { ...none, environment: { LOG_LEVEL: "error", RTSP_LOG_LEVEL: "debug" } }).logLevel).toBe("debug");
    expect(fieldNamed("logLevel", {})?.env).toEqual(["RTSP_LOG_LEVEL", "LOG_LEVEL"]);
    expect(flagName(rtsp, "httpPort")).toBe("--rtsp-http-port");
  });

  it("[BL-22] reads another service's variable only when it runs alone", () => {
    const environment = { HTTP_PORT: "9000" };
    expect(resolveConfig(rtsp, { ...none, environment }).httpPort).toBe(8_888);
    expect(resolveConfig(rtsp, { ...none, environment, alone: true }).httpPort).toBe(9_000);
    expect(resolveConfig(rtsp, { ...none, environment: { ...environment, RTSP_HTTP_PORT: "9001" }, alone: true }).httpPort).toBe(9_001);
    expect(environmentNames(rtsp, { env: "HTTP_PORT" })).toEqual(["RTSP_HTTP_PORT"]);
  });

  it("[BL-23] reads booleans, lists, choices and numbers from text", () => {
    for (const text of ["true", "1", "yes", "ON"])
      expect(resolveConfig(rtsp, { ...none, environment: { RTSP_LAN: text } }).openToLan).toBe(true);
    for (const text of ["false", "0", "No", "off"])
      expect(resolveConfig(rtsp, { ...none, file: { openToLan: true }, environment: { RTSP_LAN: text } }).openToLan).toBe(false);
    expect(resolveConfig(rtsp, { ...none, environment: { HOSTS: " a, b ,,c" } }).hosts).toEqual(["a", "b", "c"]);
    expect(resolveConfig(rtsp, { ...none, environment: { LOG_LEVEL: "WARNING" } }).logLevel).toBe("warning");
    expect(resolveConfig(rtsp, { ...none, environment: { GAIN: "0.5" } }).gain).toBe(0.5);
    expect(resolveConfig(rtsp, { ...none, environment: { RTSP_PORT: "" } }).port).toBe(8_554);
  });

  it("[BL-159] accepts a choice in any case, and returns it as written in the schema", () => {
    for (const text of ["h265", "H265", " H265 "])
      expect(resolveConfig(rtsp, { ...none, environment: { RTSP_CODEC: text } }).codec).toBe("H265");
    expect(resolveConfig(rtsp, { ...none, flags: { codec: "None" } }).codec).toBe("none");
    expect(failure({ flags: { codec: "VP8" } })).toMatchObject({ field: { problem: "H264, H265 or none is needed" } });
  });

  it.each<[z.ZodType, unknown, string, string]>([
    [
      z.object({ path: z.string().max(8_192) }),
      { path: "x".repeat(9_000) },
      "The path is too long (at most 8,192 characters)",
      "at most 8,192 characters are allowed",
    ],
    [z.object({ keptRows: z.int().min(1_000) }), { keptRows: 1 }, "The kept rows is too small (at least 1,000)", "at least 1000 is needed"],
    [z.object({ port: z.int() }), { port: 1.5 }, "The port is not a whole number", "a whole number is needed"],
    [z.object({ name: z.string().min(1) }), { name: "" }, "The name is empty", "it may not be empty"],
    [z.object({ name: z.string() }), {}, "The name is missing", "it is missing"],
    [z.object({ users: z.array(z.string()) }), { users: ["a", 1] }, "The users, entry 2 is not a text", "a text is needed"],
    [
      z.object({ list: z.array(z.string()).max(2) }),
      { list: ["", "", ""] },
      "The list has too many entries (at most 2 entries)",
      "at most 2 entries are allowed",
    ],
    [
      z.object({ fault: z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]) }),
      { fault: { kind: "c" } },
      "The kind is not a or b",
      "a or b is needed",
    ],
    [z.strictObject({}), { more: 1 }, "The request has an unknown field: more", "there is no field more"],
    [z.object({ name: z.string().regex(/^a/) }), { name: "b" }, "The name has the wrong form", "the form is wrong"],
    [
      z.object({ name: z.string().refine(() => false, "It needs an @.") }),
      { name: "b" },
      "The name is not valid: It needs an @",
      "It needs an @",
    ],
  ])("[BL-160] a schema's refusal is a full sentence: %#", (schema, value, sentence, need) => {
    const [issue] = schema.safeParse(value).error?.issues ?? [];
    expect([issueSentence(issue), neededText(issue)]).toEqual([sentence, need]);
  });

  it("[BL-24] names service, field and source of a wrong value", () => {
    expect(failure({ environment: { RTSP_PORT: "abc" } })).toMatchObject({
      code: "CONFIG_INVALID",
      message: 'RTSP, port (from RTSP_PORT): "abc" is not a number',
      field: { name: "port", problem: '"abc" is not a number' },
    });
    expect(failure({ environment: { RTSP_PORT: "70000" } })).toMatchObject({
      message: expect.stringMatching(/^RTSP, port \(from RTSP_PORT\): .*65535/),
    });
    expect(failure({ flags: { port: "-1" } })).toMatchObject({ message: expect.stringContaining("(from --rtsp-port)") });
    expect(failure({ flags: { port: "" } })).toMatchObject({ message: expect.stringContaining("(from --rtsp-port)") });
    expect(failure({ file: { gain: 3 } })).toMatchObject({
      message: expect.stringContaining("gain (from the settings file)"),
      field: { name: "gain" },
    });
    expect(failure({ environment: { RTSP_LAN: "maybe" } })).toMatchObject({ message: expect.stringContaining("neither true nor false") });
    expect(failure({ environment: { LOG_LEVEL: "loud" } })).toMatchObject({
      message: expect.stringContaining("logLevel (from LOG_LEVEL)"),
    });
  });

  it("[BL-24] never shows a secret in an error", () => {
    expect(JSON.stringify(failure({ environment: { RTSP_PASSWORD: "open-sesame-please" } }))).not.toContain("sesame");
  });

  it("[BL-25] shows a wrong value as it was given, with the problem", () => {
    expect(fieldNamed("port", { environment: { RTSP_PORT: "abc" } })).toMatchObject({
      value: "abc",
      source: "environment",
      problem: '"abc" is not a number',
    });
    expect(fieldNamed("gain", { file: { gain: 3 } })).toMatchObject({ value: 3, problem: expect.stringContaining("2") });
    expect(fieldNamed("gain", {})).not.toHaveProperty("problem");
  });

  it("[BL-26] refuses an unknown field, also one named like an inherited property", () => {
    for (const name of ["colour", "constructor", "__proto__", "toString"]) {
      expect(() => checkConfigValues(rtsp, Object.fromEntries([[name, 1]]))).toThrow(/no such field/);
    }
    expect(() => checkConfigValues(rtsp, { port: "1" })).toThrow(/RTSP, port/);
  });

  it("[BL-27] shows a secret as a mask", () => {
    const shown = fieldNamed("password", { file: { password: "sesame" } });
    expect(shown).toMatchObject({ type: { kind: "secret" }, value: secretMask, stored: secretMask });
    expect(fieldNamed("password", {})).toMatchObject({ value: "" });
    const wrong = fieldNamed("password", { file: { password: "much-too-long-sesame" } });
    expect(JSON.stringify(wrong)).not.toContain("sesame");
  });

  it("[BL-27] shows the names of credentials, each once, and masks their passwords", () => {
    const users = ["ada:sesame", "bob:open:sesame", "ada:again"];
    const masked = [`ada:${secretMask}`, `bob:${secretMask}`];
    expect(fieldNamed("users", { file: { users } })).toMatchObject({ type: { kind: "credentials" }, value: masked, stored: masked });
    for (const wrong of [["sesame"], "sesame", { sesame: 1 }]) {
      expect(JSON.stringify(fieldNamed("users", { file: { users: wrong } }))).not.toContain("sesame");
    }
    expect(fieldNamed("users", {})).toMatchObject({ value: [] });
  });

  it("[BL-27] a name saved with its mask keeps its password, and is refused if it has none", () => {
    const stored = { users: ["ada:1", "bob:2", "ada:3"] };
    expect(restoreSecrets(rtsp, { users: [`ada:${secretMask}`, "eve:4"] }, stored)).toEqual({ users: ["ada:1", "ada:3", "eve:4"] });
    expect(restoreSecrets(rtsp, { users: [], password: secretMask, gain: 1 }, stored)).toEqual({ users: [], gain: 1 });
    expect(() => restoreSecrets(rtsp, { users: [`eve:${secretMask}`] }, stored)).toThrow("eve has no password");
    expect(() => checkConfigValues(rtsp, restoreSecrets(rtsp, { users: ["sesame"] }, stored))).toThrow(/RTSP, users/);
  });

  it.each([
    ["/var/lib/events.db", "/var/lib/events.db"],
    ["C:\\data\\events@home.db", "C:\\data\\events@home.db"],
    ["", ""],
    ["postgres://ada@db:5432/events", "postgres://ada@db:5432/events"],
    ["postgres://ada:sesame@db:5432/events", `postgres://ada:${secretMask}@db:5432/events`],
    ["postgres://ada:ses@me/a:me@db/events", `postgres://ada:${secretMask}@db/events`],
    ["redis://:sesame@[::1]:6379/0", `redis://:${secretMask}@[::1]:6379/0`],
    ["postgres://db/events?user=ada&password=sesame&x=1", `postgres://db/events?user=ada&password=${secretMask}&x=1`],
    [
      "rtsp://cam/1?api_key=a&session=b&sig=c&auth=d&user=ada&author=e",
      `rtsp://cam/1?api_key=${secretMask}&session=${secretMask}&sig=${secretMask}&auth=${secretMask}&user=ada&author=e`,
    ],
    ["POSTGRES:/ada:sesame@db", `POSTGRES:/ada:${secretMask}@db`],
  ])("[BL-27] shows the URL %s without its passwords", (database, shown) => {
    const shownField = fieldNamed("database", { file: { database } });
    expect(shownField).toMatchObject({ type: { kind: "text" }, value: shown, stored: shown });
    // What comes back untouched is what was there.
    expect(restoreSecrets(rtsp, { database: shown }, { database })).toEqual({ database });
  });

  it("[BL-27] a masked password in a URL is kept for the same server and user only", () => {
    const stored = { database: "postgres://ada:sesame@db:5432/events?sslpassword=open" };
    const back = (database: string) => restoreSecrets(rtsp, { database }, stored).database;
    expect(back(`postgres://ada:${secretMask}@db:5432/other?sslpassword=${secretMask}`)).toBe(
      "postgres://ada:sesame@db:5432/other?sslpassword=open",
    );
    expect(back("postgres://eve:new@elsewhere/x")).toBe("postgres://eve:new@elsewhere/x");
    expect(back("/a/file.db")).toBe("/a/file.db");
    for (const wrong of [
      `postgres://ada:${secretMask}@elsewhere:5432/events`,
      `postgres://eve:${secretMask}@db:5432/events`,
      `redis://ada:${secretMask}@db:5432/events`,
      `postgres://ada:${secretMask}@db:5432/events?password=${secretMask}`,
    ])
      expect(() => back(wrong)).toThrow("the password is needed");
    expect(() => restoreSecrets(rtsp, { database: `postgres://ada:${secretMask}@db/x` }, {})).toThrow("the password is needed");
  });
});
