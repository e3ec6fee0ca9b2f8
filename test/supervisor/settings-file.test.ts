import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { services as catalog } from "../../servers/catalog.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { openSettings, unknownFields } from "../../servers/supervisor/settings-file.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const isRoot = process.getuid?.() === 0;

async function open(dir: string) {
  const warnings: string[] = [];
  const settings = await openSettings(dir, (text) => warnings.push(text));
  const save = (port: number) =>
    settings.update((current) => ({ ...current, profiles: { ...current.profiles, Default: { services: { http: { port } } } } }));
  const port = () => settings.current.profiles.Default?.services.http?.port;
  return { settings, warnings, save, port };
}

const files = (dir: string) => readdirSync(dir).sort();

describe("settings file", () => {
  it("[BL-30] is read as it was saved, and the backup is the same", async () => {
    const dir = temporaryDir();
    const { settings, save } = await open(dir);
    expect(settings.current).toMatchObject({ version: 1, activeProfile: "Default", app: { startAtLaunch: [], keptRows: 50_000 } });
    await save(1);
    await save(2);
    expect(files(dir)).toEqual(["settings.backup.json", "settings.json"]);
    expect((await open(dir)).port()).toBe(2);
    expect(readFileSync(path.join(dir, "settings.backup.json"), "utf8")).toBe(readFileSync(path.join(dir, "settings.json"), "utf8"));
  });

  it("[BL-31] what is wrong with a file that is moved aside is said by its name", async () => {
    const dir = temporaryDir();
    const settings = { version: 1, app: { keptRows: 1 }, activeProfile: "Default", profiles: { Default: {} } };
    writeFileSync(path.join(dir, "settings.json"), JSON.stringify(settings));
    expect((await open(dir)).warnings).toEqual([expect.stringContaining("The kept rows is too small (at least 1,000)")]);
  });

  it("[BL-30] a kill while saving leaves readable settings", async () => {
    const dir = temporaryDir();
    const program = `
      import { openSettings } from ${JSON.stringify(path.resolve(import.meta.dirname, "../../servers/supervisor/settings-file.ts"))};
      const settings = await openSettings(${JSON.stringify(dir)}, () => {});
      for (let port = 1; ; port = (port % 60000) + 1) {
        await settings.update((current) => ({ ...current, padding: "x".repeat(200_000), profiles: { Default: { services: { http: { port } } } } }));
        if (port === 3) console.log("saving");
      }`;
    for (let round = 0; round < 4; round++) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
      const closed = once(child, "close");
      await once(child.stdout, "data");
      // Killed while a temporary file is there: between opening it and renaming it.
      await eventually(() => {
        if (!files(dir).some((name) => name.endsWith(".tmp"))) return false;
        child.kill("SIGKILL");
        return true;
      }, "a save is under way");
      await closed;
      const { warnings, port, save } = await open(dir);
      expect(warnings).toEqual([]);
      expect(port()).toBeGreaterThan(0);
      await save(7);
      expect((await open(dir)).port()).toBe(7);
    }
  });

  it("[BL-30] the old file is read between writing and renaming", async () => {
    const dir = temporaryDir();
    await (await open(dir)).save(1);
    writeFileSync(path.join(dir, "settings.json.0badcafe.tmp"), '{"version":1,"activePro');
    const { port, warnings } = await open(dir);
    expect([port(), warnings]).toEqual([1, []]);
  });

  it.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["of another version", JSON.stringify({ version: 2, activeProfile: "a", profiles: { a: {} } })],
    ["of another shape", JSON.stringify({ version: 1, activeProfile: "a", profiles: { a: { services: { http: 3 } } } })],
  ])("[BL-31] a file that is %s is moved aside, and the backup is read", async (_, content) => {
    const dir = temporaryDir();
    const first = await open(dir);
    await first.save(1);
    await first.save(2);
    writeFileSync(path.join(dir, "settings.json"), content);
    const { port, warnings, save } = await open(dir);
    expect(port()).toBe(2);
    const aside = files(dir).find((name) => name.startsWith("settings.json.unreadable-"));
    expect(readFileSync(path.join(dir, aside ?? ""), "utf8")).toBe(content);
    expect(warnings).toEqual([expect.stringContaining(path.join(dir, aside ?? "?"))]);
    expect(warnings[0]).toMatch(/ goes on with the settings of the backup, saved at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$/);
    await save(3);
    expect((await open(dir)).port()).toBe(3);
  });

  it("[BL-31] without a readable backup it starts with defaults, and both files are set aside", async () => {
    const dir = temporaryDir();
    writeFileSync(path.join(dir, "settings.json"), "a");
    writeFileSync(path.join(dir, "settings.backup.json"), "b");
    const { settings, warnings } = await open(dir);
    expect(settings.current.activeProfile).toBe("Default");
    expect(warnings).toEqual([expect.stringMatching(/settings\.json .*settings\.backup\.json .* goes on with the default settings\.$/)]);
    expect(files(dir)).toEqual([
      expect.stringContaining("settings.backup.json.unreadable-"),
      expect.stringContaining("settings.json.unreadable-"),
    ]);
  });

  it("[BL-31] settings of a newer Backlot are set aside, and said to be so", async () => {
    const dir = temporaryDir();
    writeFileSync(path.join(dir, "settings.json"), JSON.stringify({ version: 99, profiles: [] }));
    const { warnings } = await open(dir);
    expect(warnings).toEqual([expect.stringContaining("it is of a newer Backlot")]);
    expect(files(dir)).toEqual([expect.stringMatching(/^settings\.json\.unreadable-/)]);
  });

  it("[BL-32] keeps unknown settings", async () => {
    const dir = temporaryDir();
    const known = { version: 1, activeProfile: "Default", profiles: { Default: { services: {}, colour: "red" } } };
    writeFileSync(path.join(dir, "settings.json"), JSON.stringify({ ...known, app: { shiny: true }, later: [1] }));
    const { settings } = await open(dir);
    await settings.update((current) => ({ ...current, app: { ...current.app, keptRows: 2_000 } }));
    expect(JSON.parse(readFileSync(path.join(dir, "settings.json"), "utf8"))).toMatchObject({
      later: [1],
      app: { shiny: true, keptRows: 2_000 },
      profiles: { Default: { colour: "red" } },
    });
  });

  it("[BL-32] names fields that no service has", async () => {
    const dir = temporaryDir();
    const services = { http: { port: 8_080, bogus: 1 }, mqtt: { constructor: 1 }, later: { port: 1 } };
    writeFileSync(
      path.join(dir, "settings.json"),
      JSON.stringify({ version: 1, activeProfile: "a", profiles: { a: { services }, b: {} } }),
    );
    expect(unknownFields((await open(dir)).settings.current, catalog)).toEqual(["http.bogus", "mqtt.constructor"]);
  });

  it.each(["constructor", "gone"])("[BL-35] a missing active profile (%s) is replaced by the first", async (activeProfile) => {
    const dir = temporaryDir();
    writeFileSync(path.join(dir, "settings.json"), JSON.stringify({ version: 1, activeProfile, profiles: { one: {}, two: {} } }));
    expect((await open(dir)).settings.current.activeProfile).toBe("one");
  });

  it("[BL-475] a profile for this run is used and changed, and another one stays active in the file", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "settings.json");
    const saved = () => JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ version: 1, activeProfile: "one", profiles: { one: {}, CI: {}, three: {} } }));
    const settings = await openSettings(dir, () => {}, "CI");
    expect(settings.current.activeProfile).toBe("CI");
    await settings.update((current) => ({ ...current, app: { ...current.app, keptRows: 2_000 } }));
    expect([saved().activeProfile, saved().app.keptRows, settings.current.activeProfile]).toEqual(["one", 2_000, "CI"]);
    // Another Backlot with the same folder.
    writeFileSync(file, JSON.stringify({ ...saved(), activeProfile: "three" }));
    await settings.update((current) => ({ ...current, app: { ...current.app, keptRows: 3_000 } }));
    expect([saved().activeProfile, saved().app.keptRows, settings.current.activeProfile]).toEqual(["three", 3_000, "CI"]);
    // The one of the file is removed: there has to be one.
    await settings.update(({ profiles: { three: _, ...profiles }, ...current }) => ({ ...current, profiles }));
    expect([saved().activeProfile, settings.current.activeProfile]).toEqual(["CI", "CI"]);
    await settings.update((current) => ({ ...current, activeProfile: "one" }));
    expect([saved().activeProfile, settings.current.activeProfile]).toEqual(["one", "one"]);
  });

  it("[BL-475] a profile that does not exist is refused with the names of those that do", async () => {
    const dir = temporaryDir();
    await expect(openSettings(dir, () => {}, "CI")).rejects.toMatchObject({
      code: "USAGE",
      message: 'There is no profile "CI"',
      hint: "The profiles are Default.",
    });
    await expect(openSettings(dir, () => {}, "constructor")).rejects.toMatchObject({ code: "USAGE" });
  });

  it("[BL-33] simultaneous saves run one after the other, and none is lost", async () => {
    const dir = temporaryDir();
    const { settings } = await open(dir);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        settings.update((current) => ({ ...current, app: { ...current.app, [`key${index}`]: index } })),
      ),
    );
    expect(Object.keys((await open(dir)).settings.current.app).filter((key) => key.startsWith("key"))).toHaveLength(20);
  });

  it("[BL-38] a change is applied to what another Backlot saved in the same folder", async () => {
    const dir = temporaryDir();
    const { settings: one } = await open(dir);
    const { settings: other } = await open(dir);
    await one.update((current) => ({ ...current, profiles: { ...current.profiles, mine: { services: {} } } }));
    await other.update((current) => ({ ...current, app: { ...current.app, keptRows: 1_234 } }));
    const { settings } = await open(dir);
    expect([Object.keys(settings.current.profiles), settings.current.app.keptRows]).toEqual([["Default", "mine"], 1_234]);
  });

  it("[BL-502] each run keeps its own active profile, also where another one is activated in the file", async () => {
    const dir = temporaryDir();
    const saved = () => JSON.parse(readFileSync(path.join(dir, "settings.json"), "utf8"));
    const { settings: one } = await open(dir);
    const { settings: other, save } = await open(dir);
    await one.update((current) => ({ ...current, activeProfile: "ci", profiles: { ...current.profiles, ci: { services: {} } } }));
    await save(5);
    expect([saved().activeProfile, one.current.activeProfile, other.current.activeProfile]).toEqual(["ci", "ci", "Default"]);
    expect(saved().profiles).toEqual({ Default: { services: { http: { port: 5 } } }, ci: { services: {} } });
    // Renamed: it goes on being the one of that run alone.
    await other.update(({ profiles: { Default: mine = { services: {} }, ...profiles }, ...current }) => ({
      ...current,
      activeProfile: "mine",
      profiles: { ...profiles, mine },
    }));
    expect([saved().activeProfile, other.current.activeProfile]).toEqual(["ci", "mine"]);
    await other.update((current) => ({ ...current, activeProfile: "ci" }));
    await one.update((current) => ({ ...current, activeProfile: "mine" }));
    expect([saved().activeProfile, other.current.activeProfile]).toEqual(["mine", "ci"]);
  });

  it("[BL-38] saves of two at the same moment are both kept", async () => {
    const dir = temporaryDir();
    const both = [(await open(dir)).settings, (await open(dir)).settings];
    const names = Array.from({ length: 20 }, (_, round) => both.map((_, index) => `${round}-${index}`));
    for (const round of names) {
      const added = (name: string, index: number) =>
        both[index]?.update((current) => ({ ...current, profiles: { ...current.profiles, [name]: { services: {} } } }));
      await Promise.all(round.map(added));
    }
    const { settings } = await open(dir);
    expect(Object.keys(settings.current.profiles).sort()).toEqual(["Default", ...names.flat()].sort());
    expect(files(dir)).toEqual(["settings.backup.json", "settings.json"]);
  });

  it("[BL-503] a look at the file reads what another Backlot has saved, and leaves one that is being written by hand", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "settings.json");
    const { settings: one } = await open(dir);
    const { settings: other } = await open(dir);
    await one.update((current) => ({ ...current, app: { ...current.app, keptRows: 1_234 } }));
    await other.look();
    expect(other.current.app.keptRows).toBe(1_234);
    const text = readFileSync(file, "utf8").replace("1234", "2345");
    writeFileSync(file, text.slice(0, 20));
    await other.look();
    expect([other.current.app.keptRows, files(dir)]).toEqual([1_234, ["settings.backup.json", "settings.json"]]);
    writeFileSync(file, text);
    await other.look();
    expect(other.current.app.keptRows).toBe(2_345);
    rmSync(file);
    await other.look();
    expect(other.current.app.keptRows).toBe(2_345);
  });

  it("[BL-38] one that was killed while it saved holds up nobody for good", async () => {
    const dir = temporaryDir();
    const { save } = await open(dir);
    writeFileSync(path.join(dir, "settings.json.saving"), "");
    await save(3);
    expect((await open(dir)).port()).toBe(3);
    expect(files(dir)).toEqual(["settings.backup.json", "settings.json"]);
  });

  it("[BL-33] a save that fails changes nothing, and the next one works", async () => {
    const dir = temporaryDir();
    const { save, port } = await open(dir);
    await save(1);
    // No file can take the place of a folder, whoever runs this.
    rmSync(path.join(dir, "settings.backup.json"));
    mkdirSync(path.join(dir, "settings.backup.json"));
    const failure = await save(2).then(String, (error) => toFailure(error));
    expect(failure).toMatchObject({ code: "SETTINGS_UNWRITABLE", message: expect.stringContaining("settings.json") });
    expect(port()).toBe(1);
    expect(files(dir)).toEqual(["settings.backup.json", "settings.json"]);
  });

  it("[BL-34] an unreadable file ends the program, and is kept", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "settings.json");
    // Root reads everything but a folder.
    if (isRoot) mkdirSync(file);
    else {
      writeFileSync(file, "{}");
      chmodSync(file, 0);
    }
    expect(await open(dir).then(String, (error) => toFailure(error))).toMatchObject({ code: "SETTINGS_UNREADABLE" });
    expect(existsSync(file)).toBe(true);
  });
});
