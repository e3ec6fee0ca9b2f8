import { expect, it } from "vitest";
import { supervise } from "./supervise.ts";

const http = { id: "http" } as const;

it("[BL-283] sends the newest line alone, and notable lines, to a page that does not show the log", async () => {
  const { dashboard, supervisor } = await supervise();
  await supervisor.start("http");
  const [newest, notable] = [dashboard.follow("log/newest"), dashboard.follow("log/notable")];
  const say = (level: string, text: string) => dashboard.call("service.action", { ...http, action: "log", params: { level, text } });
  for (let count = 0; count < 100; count++) await say(count === 50 ? "warning" : "info", `line ${count}`);
  await newest.until(({ text }) => text === "line 99");
  await notable.until(({ text }) => text === "line 50");
  expect(newest.items.length).toBeLessThan(50);
  expect(notable.items.filter(({ text }) => text.startsWith("line"))).toMatchObject([{ level: "warning", text: "line 50" }]);
});
