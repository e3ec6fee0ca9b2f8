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
});
