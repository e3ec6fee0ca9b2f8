import { configProperties, environmentNames, flagName } from "../../servers/core/config/config.ts";
import type { Service } from "../../servers/core/service/service.ts";

/** The Markdown table of every configuration field, as README's section "Variables" holds it. */
export function variablesTable(services: readonly Service[]): string {
  const rows = services.flatMap((service) =>
    configProperties(service).map(([field, property]) => {
      const variables = environmentNames(service, property).map((name) => `\`${name}\``);
      const fallback = [property.default ?? ""].flat().join(",");
      const unit = property.unit ? ` ${property.unit}` : "";
      return [
        service.title,
        variables.join(", "),
        `\`${flagName(service, field)}\``,
        fallback === "" ? "" : `${fallback}${unit}`,
        [property.title, property.help].filter(Boolean).join(": "),
      ];
    }),
  );
  const lines = [["Service", "Variable", "Flag", "Default", "Meaning"], ["---", "---", "---", "---", "---"], ...rows];
  return `${lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n")}\n`;
}
