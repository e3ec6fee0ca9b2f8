import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { trustSteps } from "../../renderer/src/ui/services/trust-steps.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { supervise } from "./supervise.ts";

it("[BL-158] the dashboard gets the authority, which is created on the first request", async () => {
  const dataDir = temporaryDir();
  const { dashboard } = await supervise({ dataDir });
  const authority = await dashboard.call("certificate.authority", {});
  const certificate = new X509Certificate(readFileSync(authority.file));
  expect(authority).toEqual({
    subject: expect.stringMatching(/^CN=Backlot authority of .+, O=Backlot$/),
    fingerprint: certificate.fingerprint256,
    validUntil: Date.parse(certificate.validTo),
    file: path.join(dataDir, "certificates/backlot-authority.crt"),
    pem: certificate.toString(),
  });
  expect(await dashboard.call("certificate.authority", {})).toEqual(authority);
});

it("[BL-158] the commands to trust it name the file, quoted if needed", () => {
  const systems = trustSteps("/data/backlot.crt");
  expect(systems.map(({ name }) => name)).toEqual(["Linux", "macOS", "Windows", "iOS", "Android", "Firefox", "Programs"]);
  expect(systems.at(-1)?.commands?.[0]?.command).toBe("curl --cacert /data/backlot.crt https://localhost:PORT/");
  const commands = trustSteps("C:\\My Data\\backlot.crt")
    .flatMap(({ commands }) => commands ?? [])
    .map(({ command }) => command);
  expect(commands.filter((command) => !command.includes('"C:\\My Data\\backlot.crt"'))).toEqual([]);
});
