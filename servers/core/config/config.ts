import { z } from "zod";
import { type ConfigField, type ConfigKind, type ConfigSource, secretMask } from "../../../contract/config.ts";
import { serviceIds } from "../../../contract/service.ts";
import {
  maskedAddressLines,
  maskedCredentials,
  maskedPassword,
  restoredAddressLines,
  restoredCredentials,
  restoredPassword,
} from "../credentials/masked-secrets.ts";
import type { Service } from "../service/service.ts";
import { ServiceError } from "../service/service-error.ts";
import type { FieldMeta } from "./common-fields.ts";
import { neededText } from "./issue-text.ts";

type Values = Readonly<Record<string, unknown>>;

/** Where a service's configuration comes from, the weakest first after the schema's defaults. */
export interface ConfigSources {
  /** From the settings file. */
  readonly file: Values;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From the command line, as text, by field name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Chosen in the dashboard for this run. */
  readonly run?: Values;
  /** Only this service was asked for: it may use variables that elsewhere are another service's. */
  readonly alone?: boolean;
}

interface JsonProperty extends Partial<FieldMeta> {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

/** Whole configuration from values of the right types; throws CONFIG_INVALID. */
export function parseConfig(service: Service, values: Values): Record<string, unknown> {
  const parsed = service.config.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(service, String(issue?.path[0] ?? "configuration"), neededText(issue), "its configuration", parsed.error);
}

/** Resolves default < file < environment < flag < run. Throws CONFIG_INVALID, naming the variable, flag or file that is wrong. */
export function resolveConfig(service: Service, sources: ConfigSources): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  const from: Record<string, Given> = {};
  for (const [name, property] of configProperties(service)) {
    const strongest = strongestSource(service, name, property, sources);
    if (!strongest) continue;
    from[name] = strongest;
    given[name] = typedValue(service, name, property, strongest);
  }
  const parsed = service.config.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? "");
  throw invalid(service, name, neededText(issue), from[name]?.name ?? "its configuration", parsed.error);
}

/** The form. A wrong value is shown as it was given, with its problem. */
export function configFields(service: Service, sources: ConfigSources): ConfigField[] {
  return configProperties(service).map(([name, property]): ConfigField => {
    const strongest = strongestSource(service, name, property, sources);
    const setBy = outsideSource(service, name, property, sources)?.name;
    const { value, problem } = checkedValue(service, name, property, strongest);
    return {
      name,
      title: property.title ?? name,
      help: property.help ?? "",
      ...(property.unit && { unit: property.unit }),
      group: property.group ?? "General",
      env: environmentNames(service, property, sources.alone),
      flag: flagName(service, name),
      type: kindOf(property),
      default: property.default,
      value: maskSecrets(service, name, property, value),
      source: strongest?.source ?? "default",
      ...(setBy !== undefined && { setBy }),
      ...(problem !== undefined && { problem }),
      ...(Object.hasOwn(sources.file, name) && { stored: maskSecrets(service, name, property, sources.file[name]) }),
      needsRestart: property.live !== true,
    };
  });
}

/** A value as the form shows it: secrets are masked. */
function maskSecrets(service: Service, name: string, property: JsonProperty, value: unknown): unknown {
  if (property.secret) return value ? secretMask : value;
  if (property.credentials) return maskedCredentials(credentialLines(service, name, value) ?? []);
  if (property.address) return Array.isArray(value) ? maskedAddressLines(value.map(String)) : maskedPassword(String(value ?? ""));
  return value;
}

/** Undefined where the value is not a list of credentials. */
function credentialLines(service: Service, name: string, value: unknown): readonly string[] | undefined {
  const parsed = z.safeParse(service.config.shape[name] as z.ZodType, value);
  return parsed.success && Array.isArray(parsed.data) ? parsed.data : undefined;
}

/** Restores the secrets that the form shows as a mask. Throws CONFIG_INVALID if there is none. */
export function restoreSecrets(service: Service, values: Values, stored: Values): Values {
  const properties = new Map(configProperties(service));
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
      const property = properties.get(name);
      if (property?.address && Array.isArray(value)) return [[name, restoredLines(service, name, value.map(String), stored[name])]];
      if (property?.address && typeof value === "string") return [[name, restoredAddress(service, name, value, stored[name])]];
      if (!property?.credentials) return value === secretMask ? [] : [[name, value]];
      const lines = credentialLines(service, name, value);
      if (!lines) return [[name, value]];
      const restored = restoredCredentials(lines, credentialLines(service, name, stored[name]) ?? []);
      if ("unknown" in restored) throw invalid(service, name, `${restored.unknown} has no password`, "its configuration");
      return [[name, restored.lines]];
    }),
  );
}

function restoredLines(service: Service, name: string, lines: readonly string[], stored: unknown): readonly string[] {
  const restored = restoredAddressLines(lines, Array.isArray(stored) ? stored.map(String) : []);
  if ("lines" in restored) return restored.lines;
  throw invalid(
    service,
    name,
    `the password of ${restored.unknown} is needed: the hidden one is not known for this server`,
    "its configuration",
  );
}

function restoredAddress(service: Service, name: string, value: string, stored: unknown): string {
  const restored = restoredPassword(value, String(stored ?? ""));
  if (restored === undefined)
    throw invalid(service, name, "the password is needed: the hidden one is not known for this server", "its configuration");
  return restored;
}

/** A value with its origin; from the environment and the command line it is text. */
interface Given {
  readonly value: unknown;
  readonly source: ConfigSource;
  /** Name of the variable or flag, for messages. */
  readonly name: string;
}

/** A wrong value in a weaker source is ignored. */
function strongestSource(service: Service, name: string, property: JsonProperty, sources: ConfigSources): Given | undefined {
  if (sources.run && Object.hasOwn(sources.run, name)) return { value: sources.run[name], source: "run", name: "this run" };
  const outside = outsideSource(service, name, property, sources);
  if (outside) return outside;
  return Object.hasOwn(sources.file, name) ? { value: sources.file[name], source: "file", name: "the settings file" } : undefined;
}

/** The environment variable or flag that sets a field, which the dashboard cannot change. */
function outsideSource(service: Service, name: string, property: JsonProperty, sources: ConfigSources): Given | undefined {
  const flag = sources.flags[name];
  if (flag !== undefined) return { value: flag, source: "flag", name: flagName(service, name) };
  for (const variable of environmentNames(service, property, sources.alone)) {
    const text = sources.environment[variable];
    if (text !== undefined && text !== "") return { value: text, source: "environment", name: variable };
  }
  return undefined;
}

function typedValue(service: Service, name: string, property: JsonProperty, given: Given): unknown {
  return given.source === "file" || given.source === "run"
    ? given.value
    : fromText(service, name, property, String(given.value), given.name);
}

function checkedValue(
  service: Service,
  name: string,
  property: JsonProperty,
  given: Given | undefined,
): { value: unknown; problem?: string } {
  try {
    const value = given && typedValue(service, name, property, given);
    const parsed = z.safeParse(service.config.shape[name] as z.ZodType, value);
    return parsed.success ? { value: parsed.data } : { value, problem: neededText(parsed.error.issues[0]) };
  } catch (error) {
    return { value: given?.value, problem: (error instanceof ServiceError && error.field?.problem) || String(error) };
  }
}

/** Checks values for the settings file against their fields alone; throws CONFIG_INVALID at the first that is wrong. */
export function checkConfigValues(service: Service, values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    const schema = Object.hasOwn(service.config.shape, name) && service.config.shape[name];
    if (!schema) throw invalid(service, name, "there is no such field", "its configuration");
    const parsed = z.safeParse(schema, value);
    if (!parsed.success) throw invalid(service, name, neededText(parsed.error.issues[0]), "its configuration", parsed.error);
  }
}

/** Checks flags, which are text, against their fields alone; throws CONFIG_INVALID at the first that is wrong. */
export function checkFlags(service: Service, flags: Readonly<Record<string, string>>): void {
  for (const [name, property] of configProperties(service)) {
    const text = flags[name];
    if (text === undefined) continue;
    const source = flagName(service, name);
    const parsed = z.safeParse(service.config.shape[name] as z.ZodType, fromText(service, name, property, text, source));
    if (!parsed.success) throw invalid(service, name, neededText(parsed.error.issues[0]), source, parsed.error);
  }
}

type ConfigProperties = readonly (readonly [name: string, property: JsonProperty])[];
/** Cached: converting a schema takes milliseconds, and the supervisor needs it for every line that it logs. */
const convertedSchemas = new WeakMap<Service["config"], ConfigProperties>();

/** The schema as JSON Schema properties, with the `.meta()` of each. */
export function configProperties({ config }: Service): ConfigProperties {
  const known = convertedSchemas.get(config);
  if (known) return known;
  const schema = z.toJSONSchema(config, { io: "input" }) as { properties?: Record<string, JsonProperty> };
  const properties = Object.entries(schema.properties ?? {});
  convertedSchemas.set(config, properties);
  return properties;
}

/** The strongest first. A name with another service's prefix works only when this service is started alone. */
export function environmentNames(service: Service, meta: Partial<FieldMeta>, alone = false): string[] {
  if (!meta.env) return [];
  const own = `${service.id.toUpperCase()}_`;
  if (meta.env.startsWith(own)) return [meta.env];
  const belongsToAnother = serviceIds.some((id) => id !== service.id && meta.env?.startsWith(`${id.toUpperCase()}_`));
  return belongsToAnother && !alone ? [own + meta.env] : [own + meta.env, meta.env];
}

/** "bodyBytes" of http is `--http-body-bytes`. */
export const flagName = (service: Pick<Service, "id">, name: string) =>
  `--${service.id}-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function kindOf(property: JsonProperty): ConfigKind {
  if (property.secret) return { kind: "secret" };
  if (property.credentials) return { kind: "credentials" };
  if (property.rows) return { kind: "rows", ...property.rows };
  if (property.enum) return { kind: "choice", choices: property.enum };
  switch (property.type) {
    case "boolean":
      return { kind: "boolean" };
    case "integer":
    case "number":
      return {
        kind: property.type,
        ...(property.minimum !== undefined && { minimum: property.minimum }),
        ...(property.maximum !== undefined && { maximum: property.maximum }),
      };
    case "array":
      return { kind: "list" };
    default:
      return { kind: "text" };
  }
}

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

function fromText(service: Service, name: string, property: JsonProperty, text: string, source: string): unknown {
  const kind = kindOf(property);
  switch (kind.kind) {
    case "boolean": {
      const value = truths[text.trim().toLowerCase()];
      if (value === undefined) throw invalid(service, name, `"${text}" is neither true nor false`, source);
      return value;
    }
    case "integer":
    case "number": {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) throw invalid(service, name, `"${text}" is not a number`, source);
      return value;
    }
    case "choice":
      return kind.choices.find((choice) => choice.toLowerCase() === text.trim().toLowerCase()) ?? text.trim();
    case "list":
    case "rows":
      return text
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
    case "text":
    case "secret":
    case "credentials":
      return text;
    default:
      return kind satisfies never;
  }
}

function invalid(service: Service, field: string, problem: string, source: string, cause?: unknown): ServiceError {
  return new ServiceError(
    "CONFIG_INVALID",
    `${service.title}, ${field} (from ${source}): ${problem}`,
    "Correct the value, or remove it to use the default.",
    {
      cause,
      field: { name: field, problem },
    },
  );
}
