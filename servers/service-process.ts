/** Entry of a service's process: `service-process <id>`, started by the supervisor only. */
import { services } from "./catalog.ts";
import { parentLink } from "./core/service/link.ts";
import { serviceMain } from "./core/service/service-main.ts";

serviceMain({ services, id: process.argv[2] ?? "", link: parentLink(), exit: (code) => process.exit(code) });
