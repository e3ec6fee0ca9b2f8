/** A piece of code among values that are written out as literals. */
export class Code {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value as JavaScript writes it: `{ qos: 1, properties: { contentType: "text/plain" } }`; what is undefined is left out. */
export function javaScriptText(value: unknown): string {
  if (value instanceof Code) return value.text;
  if (Array.isArray(value)) return `[${value.map(javaScriptText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  if (entries.length === 0) return "{}";
  const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
  return `{ ${entries.map(([name, entry]) => `${key(name)}: ${javaScriptText(entry)}`).join(", ")} }`;
}

/** A value as Python writes it. */
export function pythonText(value: string | number | boolean): string {
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}
