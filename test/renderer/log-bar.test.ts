import { expect, it } from "vitest";
import type { LogLine } from "../../contract/log.ts";
import type { ServiceStatus } from "../../contract/service.ts";
import { unseenErrors } from "../../renderer/src/pages/logs/log-rows.ts";

const line = (at: number, source: LogLine["source"], level: LogLine["level"] = "error"): LogLine => ({
  seq: at,
  at,
  source,
  level,
  text: "",
});

it("[BL-315] the count of errors leaves out those that were seen, and those of a service that runs again since", () => {
  const lines = [line(10, "http"), line(20, "http"), line(30, "http", "warning"), line(20, "mqtt"), line(20, "backlot")];
  const failed: ServiceStatus = { state: "failed", since: 20, failure: { code: "CRASHED", message: "", hint: "" } };
  const running: ServiceStatus = { state: "running", since: 25, pid: 1, endpoints: [] };
  const counted = (seenAt: number, status: ServiceStatus) =>
    unseenErrors(lines, seenAt, [{ id: "http", status }]).map(({ source, at }) => `${source} ${at}`);
  expect(counted(0, failed)).toEqual(["http 10", "http 20", "mqtt 20", "backlot 20"]);
  expect(counted(15, failed)).toEqual(["http 20", "mqtt 20", "backlot 20"]);
  expect(counted(0, running)).toEqual(["mqtt 20", "backlot 20"]);
});
