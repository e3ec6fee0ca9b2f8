import { expect, it, onTestFinished } from "vitest";
import { portHolder } from "../../servers/supervisor/port-doctor.ts";
import { openBrowserShell } from "./browser-shell.ts";

it.skipIf(process.platform === "win32")("[BL-300] a service that hangs is shown as not answering, until it answers again", async () => {
  const { page, origin } = await openBrowserShell("http");
  const pid = (await portHolder(Number(new URL(origin).port)))?.pid ?? 0;
  expect(pid).toBeGreaterThan(0);
  process.kill(pid, "SIGSTOP");
  let isStopped = true;
  const goOn = () => {
    if (isStopped) process.kill(pid, "SIGCONT");
    isStopped = false;
  };
  onTestFinished(goOn);
  const state = page.getByRole("main").getByText("Not answering", { exact: true });
  await state.waitFor();
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page.getByRole("article", { name: "HTTP" }).getByText("Not answering", { exact: true }).waitFor();
  await page.getByRole("main").getByText("1 not answering").waitFor();
  goOn();
  await page.getByRole("article", { name: "HTTP" }).getByText("Running", { exact: true }).waitFor();
});
