import { describe, expect, it } from "vitest";
import { services } from "../../servers/catalog.ts";
import type { Service } from "../../servers/core/service/service.ts";
import { connectedServices } from "../support/connected-services.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { headlessHttp, startBacklot } from "../support/start-backlot.ts";
import { onEnd } from "../support/start-service.ts";
import { dashboardControl, dashboardLabel } from "./dashboard-control.ts";
import type { Addresses, Attack, HostileService } from "./hostile-service.ts";
import { hostileServices } from "./hostile-services.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20_261_122);

async function throwOnce({ openBystander }: HostileService, attack: Attack | undefined, addresses: Addresses): Promise<void> {
  const bystander = await openBystander(addresses);
  onEnd(bystander.close);
  await Promise.all([attack?.({ ...addresses, random: seededRandom(seed), holdMs: 100 }), bystander.ask()]);
  await bystander.ask();
}

function serviceOf(id: string): Service {
  const service = services.find((one) => one.id === id);
  if (!service) throw new Error(`There is no service ${id}`);
  return service;
}

const portOf = (url: string | undefined): number => Number(new URL(url ?? "").port);

describe.each(Object.entries(hostileServices))("%s under attack", (id, hostile) => {
  it.each(Object.keys(hostile.attacks))(`[BL-303] answers others during and after: %s (seed ${seed})`, async (name) => {
    const running = connectedServices();
    const start = (one: string) =>
      running.start(serviceOf(one), { config: { port: 0, ...(hostileServices[one] as HostileService).config } });
    const { endpoints, urlOf, logs } = await start(id);
    for (const other of hostile.beside ?? []) await start(other);
    await throwOnce(hostile, hostile.attacks[name], { port: portOf(endpoints[0]?.url), urlOf });
    expect(logs.filter(({ level, text }) => level === "error" && !/wrong|refused/i.test(text))).toEqual([]);
  });
});

describe("the dashboard's connection under attack", () => {
  it(`[BL-303] answers other dashboards during and after every attack (seed ${seed})`, async () => {
    const backlot = startBacklot(headlessHttp);
    const { dashboard } = await backlot.ready();
    const { endpoints } = await backlot.state("http", "running");
    const urls = new Map([[dashboardLabel, dashboard], ...(endpoints ?? []).map(({ label, url }) => [label, url] as const)]);
    const addresses = { port: portOf(endpoints?.[0]?.url), urlOf: (label: string) => urls.get(label) ?? "" };
    for (const [name, attack] of Object.entries(dashboardControl.attacks)) {
      await throwOnce(dashboardControl, attack, addresses).catch((error: unknown) => {
        throw new Error(`during "${name}": ${String(error)} ${backlot.stderr().slice(-2_000)}`);
      });
    }
    expect(backlot.stderr()).not.toMatch(/\berror\b/i);
  }, 120_000);
});
