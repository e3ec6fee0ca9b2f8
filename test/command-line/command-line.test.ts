import path from "node:path";
import { describe, expect, it } from "vitest";
import { helpText, parseCommandLine } from "../../servers/command-line.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { defaultDataDir } from "../../servers/data-dir.ts";
import { fixtureServices } from "../supervisor/fixture-service.ts";
import { settingsDocument } from "../support/settings-document.ts";

const parse = (...argv: string[]) => parseCommandLine(argv, fixtureServices);
const failure = (...argv: string[]) => {
  try {
    return parse(...argv);
  } catch (error) {
    return toFailure(error);
  }
};

describe("command line", () => {
  it("has no options when it is empty", () => {
    expect(parse()).toEqual({
      shell: "auto",
      start: [],
      only: false,
      dataDir: undefined,
      dashboardPort: undefined,
      dashboardConnections: undefined,
      dashboardUnread: undefined,
      json: false,
      help: false,
      version: false,
      flags: {},
    });
  });

  it("[BL-70] accepts one shell option, and one of --only and --start-all", () => {
    expect((["desktop", "browser", "headless"] as const).map((shell) => parse(`--${shell}`).shell)).toEqual([
      "desktop",
      "browser",
      "headless",
    ]);
    expect(parse("--start-all")).toMatchObject({ start: ["http", "mqtt", "events"], only: false });
    expect(failure("--desktop", "--json")).toMatchObject({ code: "USAGE", message: "--desktop and --json exclude each other" });
    expect(parse("--headless", "--record", "out").record).toBe("out");
    expect(failure("--desktop", "--record", "out")).toMatchObject({ code: "USAGE", message: "--desktop and --record exclude each other" });
    expect(failure("--record=")).toMatchObject({ code: "USAGE", message: "--record names no folder" });
    expect(failure("--desktop", "--headless")).toMatchObject({ code: "USAGE", message: "--desktop and --headless exclude each other" });
    expect(failure("--only", "http", "--start-all")).toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("exclude each other"),
    });
  });

  it("[BL-71] takes names after --only", () => {
    expect(parse("--only", "mqtt, HTTP,mqtt")).toMatchObject({ start: ["mqtt", "http"], only: true });
    expect(parse("--only=http").start).toEqual(["http"]);
    expect(parse("--only", "mqtt", "--only=http,mqtt").start).toEqual(["mqtt", "http"]);
    expect(failure("--data-dir", "-1")).toMatchObject({
      message: "--data-dir has no value; one that begins with a dash is written --data-dir=-1",
    });
    expect(failure("--only", "ftp")).toMatchObject({
      code: "SERVICE_UNKNOWN",
      message: 'There is no service "ftp"',
      hint: "The services are http, mqtt, events.",
    });
    expect(failure("--only", "grpc")).toMatchObject({ code: "SERVICE_NOT_BUILT" });
    expect(failure("--only", ",")).toMatchObject({ code: "USAGE" });
    expect(failure("--only")).toMatchObject({ code: "USAGE", message: expect.stringContaining("--only") });
  });

  it("[BL-72] takes a dashboard port from 0 to 65535", () => {
    expect([parse("--dashboard-port", "0").dashboardPort, parse("--dashboard-port=65535").dashboardPort]).toEqual([0, 65_535]);
    for (const port of ["65536", "-1", "7070x", "", "1e3"]) {
      expect(failure(`--dashboard-port=${port}`)).toMatchObject({
        code: "USAGE",
        message: expect.stringContaining("--dashboard-port takes 0 to 65535"),
      });
    }
    expect(parse("--dashboard-connections", "9").dashboardConnections).toBe(9);
    expect(parse("--dashboard-unread", "64").dashboardUnread).toBe(64);
    expect(failure("--dashboard-unread=0")).toMatchObject({ message: expect.stringContaining("takes 1 to 100000") });
    expect(failure("--dashboard-connections=0")).toMatchObject({ message: expect.stringContaining("takes 1 to 100000") });
  });

  it("[BL-73] has a flag for every field, as text for the configuration to read", () => {
    expect(parse("--http-port", "9", "--mqtt-log-level=debug").flags).toEqual({ http: { port: "9" }, mqtt: { logLevel: "debug" } });
    expect(parse("--http-open-to-lan", "--json")).toMatchObject({ json: true, flags: { http: { openToLan: "true" } } });
    expect(parse("--http-open-to-lan").flags).toEqual({ http: { openToLan: "true" } });
    expect(parse("--http-open-to-lan", "off").flags).toEqual({ http: { openToLan: "off" } });
    expect(parse("--http-open-to-lan=no").flags).toEqual({ http: { openToLan: "no" } });
  });

  it("[BL-74] refuses and names unknown options", () => {
    for (const argument of ["--colour", "stray", "-x", "--grpc-port=1", "--http-colour=red", "--json=yes"]) {
      const name = argument.split("=")[0] as string;
      expect(failure(argument)).toMatchObject({ code: "USAGE", message: expect.stringContaining(name), hint: "See npm start -- --help." });
    }
    // Of a service that is not started, too.
    expect(failure("--only", "mqtt", "--http-port", "abc")).toMatchObject({
      code: "USAGE",
      message: 'Fixture http, port (from --http-port): "abc" is not a number',
    });
    expect(failure("--http-port", "99999")).toMatchObject({ code: "USAGE", message: expect.stringContaining("at most 65535") });
    expect(failure("--http-port")).toMatchObject({ code: "USAGE", message: expect.stringContaining("--http-port") });
  });

  it("[BL-75] --help lists every flag, variable and default", () => {
    const text = helpText(fixtureServices);
    for (const part of [
      "--dashboard-port N",
      "--http-port (HTTP_PORT)",
      "Port [0]",
      "--mqtt-log-level (MQTT_LOG_LEVEL, LOG_LEVEL)",
      "Log level [info]",
    ]) {
      expect(text).toContain(part);
    }
  });

  it("[BL-75] the list of settings has a table for each group and a row for each field", () => {
    const rows = settingsDocument(fixtureServices).split("\n");
    expect(rows).toContain(
      "| Log level | `HTTP_LOG_LEVEL`, `LOG_LEVEL` | `--http-log-level` | info | Lines below this level are not kept. |",
    );
    expect(rows.filter((row) => row.includes("`--http-"))).toHaveLength(8);
  });

  it("[BL-475] --profile takes a name", () => {
    expect(parse("--profile", "CI").profile).toBe("CI");
    expect(failure("--profile=")).toMatchObject({ code: "USAGE", message: "--profile names no profile" });
  });

  it("[BL-76] keeps its data in the system's folder for application data, unless another is given", () => {
    expect(parse("--data-dir", "here").dataDir).toBe("here");
    expect(failure("--data-dir", "")).toMatchObject({ code: "USAGE", message: "--data-dir names no folder" });
    const home = path.join("/home", "me");
    expect(defaultDataDir({ BACKLOT_DATA_DIR: "/data" }, "linux")).toBe(path.resolve("/data"));
    expect(defaultDataDir({ XDG_DATA_HOME: home }, "linux")).toBe(path.join(home, "backlot"));
    expect(defaultDataDir({ APPDATA: home }, "win32")).toBe(path.join(home, "Backlot"));
    expect(defaultDataDir({}, "darwin")).toMatch(/Library.Application Support.Backlot$/);
  });
});
