/** Entry of a fixture service's process, as `servers/service-process.ts` is of the real ones. */
import { parentLink } from "../../servers/core/service/link.ts";
import { serviceMain } from "../../servers/core/service/service-main.ts";
import { fixtureServices } from "./fixture-service.ts";
import { streamFixtures } from "./fixture-streams.ts";

serviceMain({
  services: [...fixtureServices, ...streamFixtures],
  id: process.argv[2] ?? "",
  link: parentLink(),
  exit: (code) => process.exit(code),
});
