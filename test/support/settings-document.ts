import { configProperties, environmentNames, flagName } from "../../servers/core/config/config.ts";
import type { Service } from "../../servers/core/service/service.ts";

type Property = ReturnType<typeof configProperties>[number];

/** docs/settings.md: a table for each group of a service's configuration fields, in the order of its schema. */
export function settingsDocument(services: readonly Service[]): string {
  const sections = services.flatMap((service) => {
    const groups = Map.groupBy(configProperties(service), ([, property]) => property.group ?? "General");
    return [`## ${service.title}`, ...[...groups].map(([group, properties]) => `### ${group}\n\n${table(service, properties)}`)];
  });
  return `${[heading, ...sections].join("\n\n")}\n`;
}

const heading = `# Settings

Every setting of every service, with the environment variables and the flag that set it. The dashboard shows the same settings on each service's Config
tab. A flag is stronger than the environment, which is stronger than the settings file, which is stronger than the default. Where two variables are
listed, the first one wins; a name without the service's prefix works where it is listed here. Lists are written with commas.

This file is generated: \`npm test -- settings-document --update=all\` writes it anew.`;

function table(service: Service, properties: readonly Property[]): string {
  const rows = properties.map(([field, property]) => {
    const fallback = [property.default ?? ""].flat().join(",");
    return [
      property.title ?? field,
      environmentNames(service, property)
        .map((name) => `\`${name}\``)
        .join(", "),
      `\`${flagName(service, field)}\``,
      fallback === "" ? "" : `${fallback}${property.unit ? ` ${property.unit}` : ""}`,
      property.help ?? "",
    ];
  });
  const lines = [["Setting", "Variables", "Flag", "Default", "Meaning"], ["---", "---", "---", "---", "---"], ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n");
}
