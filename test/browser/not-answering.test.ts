import { expect, it, onTestFinished } from "vitest";
import { portHolder } from "../../servers/supervisor/port-doctor.ts";
import { openBrowserShell } from "./browser-shell.ts";

it.skipIf(process.platform === "win32")("[BL-300] a service that hangs is shown as not answering, until it answers again", async () => {
  const { page, origin } = await openBrowserShell("http");
  const pid = (await portHolder(Number(new URL(origin).port)))?.pid ?? 0;
  expect(pid).toBeGreaterThan(0);
  const goOn = () => void process.kill(pid, "SIGCONT");
  process.kill(pid, "SIGSTOP");
  // Before Backlot ends, which ends the process.
  onTestFinished(goOn);
  await page.getByRole("main").getByText("Not answering", { exact: true }).waitFor();
  const inRail = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /^HTTP/ });
  await inRail.getByText("not answering").waitFor();
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  const card = page.getByRole("article", { name: "HTTP" });
  await card.getByText("Not answering", { exact: true }).waitFor();
  await card.getByText("A restart ends it").waitFor();
  await page.getByRole("main").getByText("1 not answering").waitFor();
  goOn();
  await card.getByText("Running", { exact: true }).waitFor();
  await inRail.getByText("not answering").waitFor({ state: "detached" });
});
