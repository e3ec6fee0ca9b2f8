/** Entry of a fixture service's process, as `servers/service-process.ts` is of the real ones. */
import { enableCompileCache } from "node:module";
import path from "node:path";

// Tests start hundreds of them, and a service's process does not inherit the variable for it.
enableCompileCache(path.join(import.meta.dirname, "../../node_modules/.cache/node-compile"));
const { parentLink } = await import("../../servers/core/service/link.ts");
const { serviceMain } = await import("../../servers/core/service/service-main.ts");
const { fixtureServices } = await import("./fixture-service.ts");
const { streamFixtures } = await import("./fixture-streams.ts");

serviceMain({
  services: [...fixtureServices, ...streamFixtures],
  id: process.argv[2] ?? "",
  link: parentLink(),
  exit: (code) => process.exit(code),
});
