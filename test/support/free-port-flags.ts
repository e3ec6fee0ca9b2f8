import { services } from "../../servers/catalog.ts";
import { flagName } from "../../servers/core/config/config.ts";

/** Flags that give services free ports, so that those of tests beside one another, and a program that runs already, do not meet. */
export function freePortFlags(ids: readonly string[] = services.map(({ id }) => id)): string[] {
  const flags = services
    .filter(({ id }) => ids.includes(id))
    .flatMap((service) => service.ports.filter(isSingle).map(({ field }) => flagName(service, field)));
  return [...new Set(flags)].flatMap((flag) => [flag, "0"]);
}

/** A service finds free ones in a range by itself, and listens to no destination. */
const isSingle = ({ block }: (typeof services)[number]["ports"][number]): boolean => block === undefined || block.kind === "pair";
