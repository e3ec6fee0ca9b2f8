import { expect, it } from "vitest";
import { services } from "../../servers/catalog.ts";
import { openBrowserShell } from "./browser-shell.ts";
import { layoutFaults } from "./layout-faults.ts";

/** The last one is the second at 200 % zoom. */
const windows = [
  { width: 900, height: 700 },
  { width: 1_280, height: 800 },
  { width: 640, height: 400 },
];

/** In a narrow window bars have several lines, and placeholders end with an ellipsis. */
const isAccepted = (fault: string, width: number) => width < 1_280 && /^(bar of|field cuts)/.test(fault);

it.each(services.map(({ id }) => id))("[BL-330] no tab of %s cuts words or hides controls, at three sizes", async (service) => {
  const { page } = await openBrowserShell(service);
  await page.getByRole("button", { name: "Send sample traffic" }).first().click();
  const tabs = page.getByRole("main").getByRole("tab");
  const names = await tabs.allTextContents();
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    await page.getByRole("main").getByRole("tab", { name, exact: true }).first().click();
    for (const window of windows) {
      await page.setViewportSize(window);
      // The layout follows the window in steps: columns are measured after it.
      const faults = async () => (await page.evaluate(layoutFaults)).filter((fault) => !isAccepted(fault, window.width));
      await expect.poll(async () => ({ name, window, faults: await faults() })).toEqual({ name, window, faults: [] });
    }
  }
});
