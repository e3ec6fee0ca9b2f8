import path from "node:path";
import { expect, it } from "vitest";
import { curl } from "../http/curl.ts";
import { email, password, startAccount } from "./harness.ts";

it("[AC-60] HTTPS is a switch with a port of its own: curl trusts it by the installation's authority", async () => {
  const { endpoints, dataDir, ended } = await startAccount({ https: true, httpsPort: 0 });
  expect(endpoints.map(({ label }) => label)).toEqual(["HTTP", "HTTPS"]);
  const trusted = ["--cacert", path.join(dataDir, "certificates", "authority-with-private-key.pem")];
  const answer = await curl(...trusted, "-u", `${email}:${password}`, `${endpoints[1]?.url}/details`);
  expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
  expect(await ended(({ target }) => target === "/details")).toMatchObject({ tone: "ok", user: email });
});
