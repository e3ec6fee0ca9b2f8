import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { services } from "../../servers/catalog.ts";
import { freePortFlags } from "../support/free-port-flags.ts";
import { startBacklot } from "../support/start-backlot.ts";
import { interceptAnswers } from "./answers.ts";
import { newContext } from "./shared-browser.ts";

async function holdPort(port = 0): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { server, port: (server.address() as { readonly port: number }).port };
}

it("[BL-392] the ports of the first run are checked again by themselves, when the window is shown again, and after a fix", async () => {
  const holder = await holdPort();
  const ids = services.map(({ id }) => id);
  const flags = ["--headless", "--json", "--dashboard-port", "0", ...freePortFlags(ids), "--http-port", String(holder.port)];
  const run = startBacklot(flags, { onEnd: onTestFinished });
  const { dashboard } = await run.ready();
  const page = await (await newContext(onTestFinished)).newPage();
  const answers = await interceptAnswers(page);
  await page.clock.install();
  await page.goto(dashboard);
  const row = page
    .getByRole("main")
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name: "HTTP", exact: true }) });
  const taken = row.getByText(new RegExp(`${holder.port} is taken by`));
  const free = row.getByText(`${holder.port} free`);
  await taken.waitFor();

  holder.server.close();
  const asked = answers.asked("port.check");
  await page.clock.fastForward(11_000);
  await free.waitFor();
  expect(answers.asked("port.check")).toBeGreaterThan(asked);

  await holdPort(holder.port);
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await taken.waitFor();

  await row.getByRole("button", { name: /^Use \d+/ }).click();
  await taken.waitFor({ state: "detached" });
  await row.getByText(/\d free/).waitFor();
  await row.getByRole("button", { name: "Start HTTP" }).waitFor();
});
