import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { holdPort } from "../support/port-holder.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { supervise } from "./supervise.ts";

const http = { id: "http" } as const;

it("[BL-35] profiles are copies with their own names", async () => {
  const { dashboard } = await supervise();
  const followed = dashboard.follow("profile");
  await dashboard.call("config.write", { ...http, values: { label: "first" } });
  expect(await dashboard.call("profile.create", { name: " Second " })).toEqual({ active: "Second", names: ["Default", "Second"] });
  await followed.until(({ active }) => active === "Second");
  const label = async () => (await dashboard.call("config.read", http)).fields.find(({ name }) => name === "label")?.value;
  expect(await label()).toBe("first");
  await dashboard.call("config.write", { ...http, values: { label: "second" } });
  await dashboard.call("profile.activate", { name: "Default" });
  expect(await label()).toBe("first");
  expect(await dashboard.call("profile.rename", { name: "Second", to: "Third" })).toEqual({
    active: "Default",
    names: ["Default", "Third"],
  });
  const refused = [
    await dashboard.refusal("profile.create", { name: "Third" }),
    await dashboard.refusal("profile.rename", { name: "Third", to: "Default" }),
    await dashboard.refusal("profile.activate", { name: "constructor" }),
    await dashboard.refusal("profile.remove", { name: "gone" }),
  ];
  expect(refused.map(({ code }) => code)).toEqual(["PROFILE_INVALID", "PROFILE_INVALID", "PROFILE_INVALID", "PROFILE_INVALID"]);
  expect(await dashboard.refusal("profile.create", { name: "__proto__" })).toMatchObject({ code: "CALL_INVALID" });
  expect(await dashboard.call("profile.remove", { name: "Default" })).toEqual({ active: "Third", names: ["Third"] });
  expect(await label()).toBe("second");
  expect(await dashboard.refusal("profile.remove", { name: "Third" })).toMatchObject({ code: "PROFILE_INVALID" });
});

it("[BL-36] activating a profile stops nothing, says what needs a restart, and applies the log level at once", async () => {
  const { dashboard, supervisor, statuses } = await supervise();
  await dashboard.call("profile.create", { name: "Loud" });
  await dashboard.call("config.write", { ...http, values: { logLevel: "debug", label: "loud" } });
  await dashboard.call("profile.activate", { name: "Default" });
  const lines = dashboard.follow("log");
  await supervisor.start("http");
  const restartNeeded = statuses.next(({ id, restartNeeded }) => id === "http" && restartNeeded);
  await dashboard.call("profile.activate", { name: "Loud" });
  expect(await restartNeeded).toMatchObject({ status: { state: "running" } });
  await dashboard.call("service.action", { ...http, action: "log", params: { level: "debug", text: "heard" } });
  await lines.until(({ text }) => text === "heard");
});

it("[BL-487] why a start failed is forgotten when the profile or the setting that it is about changes, and kept otherwise", async () => {
  const holder = await holdPort();
  const { dashboard } = await supervise();
  const state = async () => (await dashboard.call("service.list", {})).find(({ id }) => id === "http")?.status.state;
  const failAt = async (values: Record<string, unknown>, code: string) => {
    await dashboard.call("config.write", { ...http, values });
    expect(await dashboard.refusal("service.start", http)).toMatchObject({ code });
  };
  await dashboard.call("profile.create", { name: "Busy" });
  await failAt({ port: holder.port }, "PORT_IN_USE");
  await dashboard.call("config.write", { ...http, values: { logLevel: "debug" } });
  await dashboard.call("profile.rename", { name: "Busy", to: "Taken" });
  expect(await state()).toBe("failed");
  await dashboard.call("profile.activate", { name: "Default" });
  expect(await state()).toBe("stopped");
  await dashboard.call("profile.activate", { name: "Taken" });
  await failAt({}, "PORT_IN_USE");
  await dashboard.call("config.write", { ...http, values: { port: 0 } });
  expect(await state()).toBe("stopped");
  await failAt({ starts: "fails" }, "CONFIG_INVALID");
  await dashboard.call("config.write", { ...http, values: { starts: "well" } });
  expect(await state()).toBe("stopped");
});

it.each(["well", "fails", "never"])(
  "[BL-498] a start under way begins anew with another profile, and nothing is told of one that %s",
  async (how) => {
    const { dashboard, statuses } = await supervise();
    const lines = dashboard.follow("log");
    await dashboard.call("profile.create", { name: "Before" });
    await dashboard.call("config.write", { ...http, values: { starts: how, label: "before" } });
    await dashboard.call("profile.create", { name: "After" });
    await dashboard.call("config.write", { ...http, values: { starts: "well", label: "after" } });
    await dashboard.call("profile.activate", { name: "Before" });
    const seen = statuses.items.length;
    const started = dashboard.call("service.start", http);
    await statuses.until(({ id, status }) => id === "http" && status.state === "starting");
    await dashboard.call("profile.activate", { name: "After" });
    expect(await started).toMatchObject({ status: { state: "running" }, restartNeeded: false });
    const states = statuses.items.slice(seen).flatMap(({ id, status }) => (id === "http" ? status.state : []));
    expect(new Set(states)).toEqual(new Set(["starting", "running"]));
    expect(states.filter((state, index) => state !== states[index - 1]).filter((state) => state === "running")).toHaveLength(1);
    expect(lines.items.filter(({ level }) => level === "error")).toEqual([]);
  },
);

it("[BL-498] a profile with which it cannot start tells of its own failure, and a stop ends a start that begins anew", async () => {
  const { dashboard, statuses } = await supervise();
  await dashboard.call("profile.create", { name: "Fails" });
  await dashboard.call("config.write", { ...http, values: { starts: "fails" } });
  await dashboard.call("profile.create", { name: "Never" });
  await dashboard.call("config.write", { ...http, values: { starts: "never" } });
  const starting = () => statuses.next(({ id, status }) => id === "http" && status.state === "starting");
  let begun = starting();
  const failing = dashboard.refusal("service.start", http);
  await begun;
  await dashboard.call("profile.activate", { name: "Fails" });
  expect(await failing).toMatchObject({ code: "CONFIG_INVALID" });
  await dashboard.call("profile.activate", { name: "Never" });
  begun = starting();
  const stopped = dashboard.refusal("service.start", http);
  await begun;
  await dashboard.call("profile.activate", { name: "Default" });
  await dashboard.call("service.stop", http);
  await stopped.catch(() => {});
  expect((await dashboard.call("service.list", {})).find(({ id }) => id === "http")?.status.state).toBe("stopped");
});

it("[BL-487] a setting that was refused is told of until it is valid", async () => {
  const { dashboard } = await supervise({ environment: { MQTT_PORT: "none" } });
  const state = async () => (await dashboard.call("service.list", {})).find(({ id }) => id === "mqtt")?.status.state;
  expect(await dashboard.refusal("service.start", { id: "mqtt" })).toMatchObject({ code: "CONFIG_INVALID" });
  await dashboard.call("config.write", { id: "mqtt", values: { label: "other" } });
  expect(await state()).toBe("failed");
  await dashboard.call("config.override", { id: "mqtt", values: { port: 0 } });
  expect(await state()).toBe("stopped");
});

it("[BL-487] a start that fails after its configuration was changed leaves the service stopped", async () => {
  const { dashboard } = await supervise();
  await dashboard.call("config.write", { ...http, values: { starts: "fails" } });
  const refused = dashboard.refusal("service.start", http);
  await dashboard.call("config.write", { ...http, values: { starts: "well" } });
  expect(await refused).toMatchObject({ code: "CONFIG_INVALID" });
  expect((await dashboard.call("service.list", {})).find(({ id }) => id === "http")?.status).toEqual({ state: "stopped" });
});

/** Two Backlots with one data folder. */
async function two(options: Parameters<typeof supervise>[0] = {}) {
  const dataDir = temporaryDir();
  return [await supervise({ ...options, dataDir }), await supervise({ ...options, dataDir })] as const;
}
const labelOf = async ({ dashboard }: Awaited<ReturnType<typeof supervise>>) =>
  (await dashboard.call("config.read", http)).fields.find(({ name }) => name === "label")?.value;

it("[BL-502] what is saved goes to the profile that is active in this run, whichever another Backlot has activated", async () => {
  const [one, other] = await two();
  await one.dashboard.call("profile.create", { name: "ci" });
  await one.dashboard.call("config.write", { ...http, values: { label: "of ci", openToLan: true } });
  const profiles = other.dashboard.follow("profile");
  await other.dashboard.call("config.write", { ...http, values: { logLevel: "debug" } });
  // Those that the other one has made are known from then on.
  await profiles.until(({ active, names }) => active === "Default" && names.includes("ci"));
  expect(await other.dashboard.call("profile.list", {})).toEqual({ active: "Default", names: ["Default", "ci"] });
  expect(await labelOf(other)).toBe("plain");
  expect((await other.dashboard.call("service.list", {})).find(({ id }) => id === "http")?.openToLan).toBe(false);
  expect(await one.dashboard.call("profile.remove", { name: "Default" })).toEqual({ active: "ci", names: ["ci"] });
  expect(await labelOf(one)).toBe("of ci");
});

it("[BL-503] values that another Backlot has saved are shown once they are read, of all services", async () => {
  const [one, other] = await two();
  await one.dashboard.call("config.write", { ...http, values: { label: "theirs" } });
  const shown = other.statuses.next(({ id, configRevision }) => id === "http" && configRevision > 0);
  await other.dashboard.call("config.write", { id: "mqtt", values: { label: "ours" } });
  await shown;
  expect(await labelOf(other)).toBe("theirs");
});

it("[BL-503] what another Backlot has saved is shown without a save here", async () => {
  const [one, other] = await two({ settingsLookMs: 10 });
  await other.supervisor.start("http");
  const [shown, profiles] = [
    other.statuses.next(({ id, restartNeeded }) => id === "http" && restartNeeded),
    other.dashboard.follow("profile"),
  ];
  await one.dashboard.call("config.write", { ...http, values: { label: "theirs" } });
  await shown;
  expect(await labelOf(other)).toBe("theirs");
  await one.dashboard.call("profile.create", { name: "new" });
  expect(await profiles.until(({ names }) => names.includes("new"))).toMatchObject({ active: "Default" });
});

it.each(["removed", "renamed"])(
  "[BL-504] a profile that another Backlot has %s is said to be gone, and nothing is saved in another one",
  async (how) => {
    const [one, other] = await two();
    await other.dashboard.call("profile.create", { name: "mine" });
    await other.dashboard.call("config.write", { ...http, values: { label: "mine" } });
    await one.dashboard.call("config.write", { ...http, values: { label: "theirs" } });
    if (how === "removed") await one.dashboard.call("profile.remove", { name: "mine" });
    else await one.dashboard.call("profile.rename", { name: "mine", to: "theirs" });
    const [profiles, lines] = [other.dashboard.follow("profile"), other.dashboard.follow("log")];
    expect(await other.dashboard.refusal("config.write", { ...http, values: { port: 1 } })).toMatchObject({
      code: "SETTINGS_CHANGED",
      message: expect.stringMatching(/^The profile "mine" is no longer active: "(Default|theirs)" is$/),
    });
    const { active } = await profiles.until(({ names }) => !names.includes("mine"));
    await lines.until(
      ({ level, text }) => level === "warning" && text.startsWith(`The profile "mine" is gone`) && text.includes(`"${active}"`),
    );
    const port = (await other.dashboard.call("config.read", http)).fields.find(({ name }) => name === "port");
    expect(port).not.toHaveProperty("stored");
    await other.dashboard.call("config.write", { ...http, values: { label: "here" } });
    expect([await labelOf(other), (await other.dashboard.call("profile.list", {})).active]).toEqual(["here", active]);
  },
);

it.each([
  ["renamed", ["Aaa", "Mine", "CI"], "CI"],
  ["removed", ["Aaa", "Mine"], "Mine"],
] as const)("[BL-475] a profile for this run that is %s leaves the active one of the file", async (how, names, active) => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "settings.json");
  writeFileSync(file, JSON.stringify({ version: 1, activeProfile: "Mine", profiles: { Aaa: {}, Mine: {}, ci: {} } }));
  const { dashboard } = await supervise({ dataDir, profile: "ci" });
  const changed =
    how === "removed" ? dashboard.call("profile.remove", { name: "ci" }) : dashboard.call("profile.rename", { name: "ci", to: "CI" });
  expect(await changed).toEqual({ active, names });
  expect(JSON.parse(readFileSync(file, "utf8")).activeProfile).toBe("Mine");
});
