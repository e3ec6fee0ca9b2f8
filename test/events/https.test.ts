import path from "node:path";
import { expect, it } from "vitest";
import { curl } from "../http/curl.ts";
import { eventBody, startEvents } from "./harness.ts";

it("[EV-90] HTTPS is a switch with a port of its own: curl trusts it by the installation's authority", async () => {
  const { endpoints, dataDir } = await startEvents({ https: true, httpsPort: 0 });
  expect(endpoints.map(({ label }) => label)).toEqual(["Collect", "Stats", "Collect (HTTPS)", "Stats (HTTPS)"]);
  const trusted = ["--cacert", path.join(dataDir, "certificates", "authority-with-private-key.pem")];
  const stored = await curl(...trusted, "-d", JSON.stringify(eventBody()), endpoints[2]?.url ?? "");
  expect([stored.status, stored.body]).toEqual([201, '{"ok":true}']);
  expect((await curl(...trusted, endpoints[3]?.url ?? "")).body).toContain('"total_events":1');
});
