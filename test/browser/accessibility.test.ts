import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import { expect, it } from "vitest";
import { services } from "../../servers/catalog.ts";
import { openBrowserShell } from "./browser-shell.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const rules = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] };

it.each(services.map(({ id }) => id))(
  "every page of %s passes axe in both schemes (WCAG 2.1 AA)",
  async (service) => {
    const { page } = await openBrowserShell(service);
    const tabs = page.getByRole("main").getByRole("tab");
    await tabs.first().waitFor();
    await page.evaluate(axe);
    const found: string[] = [];
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const name of await tabs.allTextContents()) {
        await page.getByRole("tab", { name, exact: true }).first().click();
        // A page that is still coming has colours in between.
        await page.evaluate(() =>
          Promise.allSettled(
            document
              .getAnimations()
              .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
              .map((animation) => animation.finished),
          ),
        );
        const { violations } = await page.evaluate(
          (options) => (globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(options),
          rules,
        );
        found.push(...violations.map(({ id, nodes }) => `${colorScheme} ${name}: ${id} at ${nodes[0]?.target.join(" ")}`));
      }
    }
    expect(found).toEqual([]);
  },
  90_000,
);
