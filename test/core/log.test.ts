import { expect, it } from "vitest";
import { logLevels } from "../../contract/log.ts";
import { createLog, type LogEntry } from "../../servers/core/service/log.ts";

it("[BL-40] writes lines of the level and above", () => {
  const written = logLevels.map((level) => {
    const entries: LogEntry[] = [];
    const log = createLog({ level: () => level, write: (entry) => entries.push(entry), now: () => 7 });
    for (const each of logLevels) log[each](each);
    log.notable("notable");
    expect(logLevels.filter((each) => log.enabled(each))).toEqual(entries.filter((entry) => !entry.notable).map((entry) => entry.level));
    return [level, entries.map(({ text }) => text)];
  });
  expect(written).toEqual([
    ["debug", ["debug", "info", "warning", "error", "notable"]],
    ["info", ["info", "warning", "error", "notable"]],
    ["warning", ["warning", "error"]],
    ["error", ["error"]],
  ]);
});
