import { expect, it } from "vitest";
import { secretMask } from "../../contract/config.ts";
import { toFailure } from "../../servers/core/service/service-error.ts";
import { mqttService } from "../../servers/mqtt/mqtt-service.ts";
import { createSavedValues, type SavedValues } from "../../servers/supervisor/saved-values.ts";
import { openSettings } from "../../servers/supervisor/settings-file.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

/** The values of one service, as each of two Backlots with one data folder has them. */
async function two() {
  const dir = temporaryDir();
  const open = async () => createSavedValues(mqttService, await openSettings(dir, () => {}));
  return [await open(), await open()] as const;
}
const usersOf = ({ current }: SavedValues) => (current.users ?? []) as readonly string[];
/** Each password has a line for each of its hashes. */
const linesOf = (saved: SavedValues, name: string) => usersOf(saved).filter((line) => line.startsWith(`${name}:`));

it("[BL-505] users and passwords that another Backlot has changed are not overwritten by those before", async () => {
  const [one, other] = await two();
  await one.write({ users: ["alice:first"] }, []);
  await other.write({ logLevel: "debug" }, []);
  expect(usersOf(other)).toEqual(usersOf(one));
  await one.write({ users: ["alice:second", "carol:third"] }, []);
  const users = [`alice:${secretMask}`, "bob:fourth"];
  const failure = await other.write({ users }, []).then(String, toFailure);
  expect(failure).toMatchObject({ code: "SETTINGS_CHANGED", message: expect.stringContaining("another Backlot has saved another value") });
  expect(usersOf(other)).toEqual(usersOf(one));
  // What it is now has been read: the second time it is meant.
  await other.write({ users }, []);
  expect(linesOf(other, "alice")).toEqual(linesOf(one, "alice"));
  expect([linesOf(other, "bob").length > 0, linesOf(other, "carol")]).toEqual([true, []]);
});

it("[BL-505] a change of one value is saved beside those that another Backlot has changed, and so is the same change", async () => {
  const [one, other] = await two();
  await one.write({ port: 21_000 }, []);
  await other.write({ port: 21_000, logLevel: "debug" }, []);
  await one.write({ logLevel: "debug" }, ["port"]);
  expect(one.current).toEqual({ logLevel: "debug" });
});

it.each(["one value", "all values", "one value of a form"])(
  "[BL-505] a reset of %s is refused where another Backlot has changed it",
  async (what) => {
    const [one, other] = await two();
    await one.write({ port: 21_000, logLevel: "debug" }, []);
    await other.write({ logLevel: "debug" }, []);
    await one.write({ port: 22_000 }, []);
    const reset = () =>
      what === "one value of a form" ? other.write({}, ["port"]) : other.remove(what === "one value" ? ["port"] : undefined);
    expect(await reset().then(String, toFailure)).toMatchObject({ code: "SETTINGS_CHANGED", field: { name: "port" } });
    expect(other.current).toEqual({ port: 22_000, logLevel: "debug" });
    // What it is now has been read: the second time it is meant.
    await reset();
    expect(other.current).toEqual(what === "all values" ? {} : { logLevel: "debug" });
    // What is reset there already is no other value.
    await one.write({}, ["logLevel"]);
    await other.remove(undefined);
    expect(other.current).toEqual({});
  },
);

it("[BL-505] of two saves at the same moment the second one has the password of the first", async () => {
  const [saved] = await two();
  await saved.write({ users: ["alice:first"] }, []);
  const before = linesOf(saved, "alice");
  await Promise.all([saved.write({ users: ["alice:second"] }, []), saved.write({ users: [`alice:${secretMask}`, "bob:third"] }, [])]);
  expect([linesOf(saved, "alice").length, linesOf(saved, "bob").length]).toEqual([before.length, before.length]);
  for (const line of linesOf(saved, "alice")) expect(before).not.toContain(line);
});

it("[BL-505] a save that waits for another one does not end in the profile that is activated meanwhile", async () => {
  const settings = await openSettings(temporaryDir(), () => {});
  const saved = createSavedValues(mqttService, settings);
  await settings.update((current) => ({ ...current, profiles: { ...current.profiles, Other: { services: {} } } }));
  const saves = [saved.write({ users: ["alice:first"] }, []), saved.write({ port: 21_000 }, [])].map((save) =>
    save.then(() => "", toFailure),
  );
  await settings.update((current) => ({ ...current, activeProfile: "Other" }));
  expect(await Promise.all(saves)).toMatchObject([{ code: "SETTINGS_CHANGED" }, { code: "SETTINGS_CHANGED" }]);
  expect(saved.current).toEqual({});
});
