import type { ConfigField } from "../../contract/config.ts";

/** The hint of a service names fields by their variables. Here each is named by what sets it: the flag, the other variable, or Config. */
export function namedAsSet(hint: string, fields: readonly Pick<ConfigField, "env" | "source" | "setBy" | "title">[]): string {
  return hint.replace(/\w+/g, (variable) => {
    const field = fields.find(({ env }) => env.includes(variable));
    switch (field?.source) {
      case "flag":
      case "environment":
        return field.setBy ?? variable;
      case "file":
      case "run":
        return `Config (${field.title})`;
      default:
        return variable;
    }
  });
}
