import { describe, expect, it } from "vitest";
import { services } from "../../servers/catalog.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { onEnd, startService } from "../support/start-service.ts";
import { hostileServices } from "./hostile-services.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20_261_122);

describe.each(Object.entries(hostileServices))("%s under attack", (id, { config, openBystander, attacks }) => {
  it.each(Object.keys(attacks))(`[BL-303] answers others during and after: %s (seed ${seed})`, async (name) => {
    const service = services.find((one) => one.id === id);
    if (!service) throw new Error(`There is no service ${id}`);
    const { endpoints, logs } = await startService(service, { config: { port: 0, ...config } });
    const port = Number(new URL(endpoints[0]?.url ?? "").port);
    const bystander = await openBystander(port);
    onEnd(bystander.close);
    await Promise.all([attacks[name]?.({ port, random: seededRandom(seed), holdMs: 100 }), bystander.ask()]);
    await bystander.ask();
    expect(logs.filter(({ level, text }) => level === "error" && !/wrong|refused/i.test(text))).toEqual([]);
  });
});
