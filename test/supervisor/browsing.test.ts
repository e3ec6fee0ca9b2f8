import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isAlive } from "../support/process-state.ts";
import { supervise } from "./supervise.ts";

describe("a stopped service that is browsed", () => {
  it("[BL-18] the data of a stopped service can be browsed, without a status, and browsing ends before a start", async () => {
    const { dashboard, supervisor, statuses } = await supervise();
    const echo = { id: "events", action: "echo", params: { value: "x" } } as const;
    const { browsed } = (await dashboard.call("service.action", echo)) as { browsed: number };
    expect(await dashboard.call("service.action", echo)).toMatchObject({ value: "x", browsed });
    expect(statuses.items.filter(({ id, status }) => id === "events" && status.state !== "stopped")).toEqual([]);
    await supervisor.start("events");
    expect(isAlive(browsed)).toBe(false);
    expect(await dashboard.call("service.action", echo)).toEqual({ value: "x", label: "plain" });
    await supervisor.stop("events");
    const again = (await dashboard.call("service.action", echo)) as { browsed: number };
    await supervisor.close();
    expect(isAlive(again.browsed)).toBe(false);
  });

  it("[BL-125] a browsing process gets the kept traffic of its service before its first action", async () => {
    const { dashboard, supervisor } = await supervise();
    await supervisor.start("events");
    const act = (action: string, params: object) => dashboard.call("service.action", { id: "events", action, params: { ...params } });
    await act("flood", { rows: 1_500, logs: 0 });
    await act("open", {});
    await supervisor.stop("events");
    const { rows } = (await act("echo", { value: "x" })) as { rows: string[] };
    expect(rows).toHaveLength(1_501);
    expect([rows[0], rows.at(-1)]).toEqual(["events 1 ok 3", "events 1501 aborted 8"]);
  });

  it("[BL-530] it is browsed with the configuration that a start would have: after a change of it or of the profile by another process, whose views pages get unasked", async () => {
    const { dashboard, supervisor } = await supervise();
    const id = "events";
    const echo = async () =>
      (await dashboard.call("service.action", { id, action: "echo", params: { value: "x" } })) as { browsed: number; label: string };
    const write = (values: object) => dashboard.call("config.write", { id, values: { ...values } });
    const views = dashboard.follow("view/events");

    const first = await echo();
    expect(first.label).toBe("plain");
    await write({ logLevel: "debug" });
    expect(await echo()).toEqual(first);

    await write({ label: "saved" });
    await views.until(({ name, value }) => name === "label" && value === "saved");
    const saved = await echo();
    expect([saved.label, saved.browsed === first.browsed, isAlive(first.browsed)]).toEqual(["saved", false, false]);

    await dashboard.call("profile.create", { name: "Second" });
    expect(await echo()).toEqual(saved);
    await write({ label: "of the second" });
    expect(await echo()).toMatchObject({ label: "of the second" });
    await dashboard.call("profile.activate", { name: "Default" });
    expect(await echo()).toMatchObject({ label: "saved" });
    await dashboard.call("config.override", { id, values: { label: "of this run" } });
    expect(await echo()).toMatchObject({ label: "of this run" });
    expect(supervisor.views().find((view) => view.id === id)).toMatchObject({ status: { state: "stopped" }, restartNeeded: false });
  });

  it("[BL-530] an action that comes while a process starts with the configuration before it does not reach that process", async () => {
    const { dashboard } = await supervise();
    const id = "events";
    const echo = () => dashboard.call("service.action", { id, action: "echo", params: { value: "x" } });
    const before = echo();
    // It has been given its configuration by then, and takes longer to start.
    await setImmediate();
    const override = dashboard.call("config.override", { id, values: { label: "new" } });
    const after = [echo(), echo()];
    await override;
    expect(await Promise.all(after)).toMatchObject([{ label: "new" }, { label: "new" }]);
    // It may have been under way in the process that was replaced.
    await before.catch((error: unknown) => expect(error).toMatchObject({ code: "SERVICE_NOT_RUNNING" }));
  });

  it("[BL-530] a change on which the browsing does not depend leaves it, with what is under way", async () => {
    const { dashboard, supervisor } = await supervise();
    const id = "events";
    const echo = () => dashboard.call("service.action", { id, action: "echo", params: { value: "x" } });
    const before = (await echo()) as { browsed: number };
    const hangs = dashboard.refusal("service.action", { id, action: "hang", params: {} });
    await dashboard.call("config.write", { id, values: { stops: "never", openToLan: true } });
    expect(await echo()).toEqual(before);
    await dashboard.call("config.override", { id, values: { label: "other" } });
    expect(await hangs).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
    expect(isAlive(before.browsed)).toBe(false);
    await supervisor.stop(id);
  });

  it("[BL-531] a stop of a service that is browsed ends that at once, and what was under way there", async () => {
    const { dashboard, supervisor } = await supervise();
    const id = "events";
    const { browsed } = (await dashboard.call("service.action", { id, action: "echo", params: { value: "x" } })) as { browsed: number };
    const hangs = dashboard.refusal("service.action", { id, action: "hang", params: {} });
    expect(await dashboard.call("service.stop", { id })).toMatchObject({ status: { state: "stopped" } });
    expect(isAlive(browsed)).toBe(false);
    expect(await hangs).toMatchObject({ code: "SERVICE_NOT_RUNNING" });
    const again = (await dashboard.call("service.action", { id, action: "echo", params: { value: "x" } })) as { browsed: number };
    await dashboard.call("service.stopAll", {});
    expect(isAlive(again.browsed)).toBe(false);
    await supervisor.start(id);
  });
});
