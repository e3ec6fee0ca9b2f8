import { expect, it } from "vitest";
import { interceptAnswers } from "./answers.ts";
import { loadAgain, openBrowserShell } from "./browser-shell.ts";

it("[BL-391] the Overview's plot is read again by itself after a read that failed, and stays where there is an older one", async () => {
  const { page, origin } = await openBrowserShell("http");
  const answers = await interceptAnswers(page);
  const failed = page.getByRole("alert").filter({ hasText: "Could not read the traffic" }).first();
  const shown = page.getByRole("img", { name: /^Bytes a second/ });
  await fetch(new URL("/api/data", origin));
  answers.treat("rate.history", { kind: "failing" });
  await loadAgain(page, "overview");
  await failed.waitFor();
  answers.treat("rate.history", undefined);
  await shown.waitFor();
  await failed.waitFor({ state: "detached" });
  answers.treat("rate.history", { kind: "failing" });
  const asked = answers.asked("rate.history");
  await expect.poll(() => answers.asked("rate.history")).toBeGreaterThan(asked + 1);
  expect(await shown.isVisible()).toBe(true);
});
