import type { ConfigField } from "../../../../contract/config.ts";
import type { ServiceId } from "../../../../contract/service.ts";
import { createFrameStore, createKeyedStore } from "../../control/frame-store.ts";
import { askBeforeUnload } from "../../ui/ask-before-unload.ts";
import { parseRows, rowsDraft } from "./rows-draft.ts";

/** The value of a field while it is edited: text, or a boolean for a switch. */
export type Draft = string | boolean;

/** The value for the settings file, or the problem. */
export type Parsed = { readonly value: unknown } | { readonly problem: string };

export function draftOf(field: ConfigField): Draft {
  const { value } = field;
  switch (field.type.kind) {
    case "boolean":
      return value === true;
    case "list":
      return Array.isArray(value) ? value.join(", ") : "";
    case "rows":
      return rowsDraft(field.type, value);
    case "credentials":
      return Array.isArray(value) ? value.join("\n") : "";
    case "secret":
      // Secrets are never sent to the window.
      return "";
    case "integer":
    case "number":
    case "text":
    case "choice":
      return value === undefined || value === null ? "" : String(value);
    default:
      return field.type satisfies never;
  }
}

/** Where the value under a change was changed since, as by another window. */
export function changedUnder(field: ConfigField, edited: EditedField | undefined): string | undefined {
  const value = draftOf(field);
  if (edited === undefined || edited.over === value) return undefined;
  const text = typeof value === "boolean" ? (value ? "on" : "off") : value;
  const isShort = text !== "" && text.length <= 80 && !text.includes("\n") && field.type.kind !== "rows";
  return `Changed meanwhile${isShort ? ` to ${text}` : ""}. Save replaces that, Discard keeps it.`;
}

/** Checks what can be checked without the supervisor, which checks all of it again. */
export function parseDraft(field: ConfigField, draft: Draft): Parsed {
  const { type } = field;
  const text = String(draft).trim();
  switch (type.kind) {
    case "boolean":
      return { value: draft === true };
    case "list":
      return {
        value: text
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== ""),
      };
    case "integer":
    case "number": {
      const value = Number(text);
      if (text === "" || !Number.isFinite(value)) return { problem: "Enter a number." };
      if (type.kind === "integer" && !Number.isInteger(value)) return { problem: "Enter a whole number." };
      if (type.minimum !== undefined && value < type.minimum) return { problem: `At least ${type.minimum}.` };
      if (type.maximum !== undefined && value > type.maximum) return { problem: `At most ${type.maximum}.` };
      return { value };
    }
    case "rows":
      return parseRows(type, String(draft));
    case "credentials":
      return parseCredentials(credentialsOf(draft));
    case "text":
    case "secret":
    case "choice":
      return { value: String(draft) };
    default:
      return type satisfies never;
  }
}

/** A line of a field with credentials. */
export interface Credential {
  readonly name: string;
  /** The mask, if the password is set and was not edited. */
  readonly secret: string;
}

export function credentialsOf(draft: Draft): readonly Credential[] {
  if (draft === "" || typeof draft === "boolean") return [];
  return draft.split("\n").map((line) => {
    const colon = line.indexOf(":");
    return { name: line.slice(0, colon), secret: line.slice(colon + 1) };
  });
}

export const credentialsDraft = (credentials: readonly Credential[]): Draft =>
  credentials.map(({ name, secret }) => `${name}:${secret}`).join("\n");

function parseCredentials(rows: readonly Credential[]): Parsed {
  const credentials = rows.filter(({ name, secret }) => name !== "" || secret !== "");
  for (const [place, { name, secret }] of credentials.entries()) {
    if (name.trim() === "") return { problem: "A user needs a name." };
    if (secret === "") return { problem: `${name} needs a password.` };
    if (credentials.findIndex((other) => other.name === name) !== place) return { problem: `Duplicate name: ${name}.` };
  }
  return { value: credentials.map(({ name, secret }) => `${name}:${secret}`) };
}

/** That the saved value is removed: the default applies then, or what is stronger than a saved value and applies already. */
export function resetOf(field: ConfigField): EditedField {
  const over = draftOf(field);
  return { draft: field.source === "file" ? draftOf({ ...field, value: field.default }) : over, over, resets: true };
}

/** The problem of a field: with the typed value, else with the sent one, else with the current one. */
export function problemOf(field: ConfigField, edited: EditedField | undefined, refused: string | undefined): string | undefined {
  if (edited === undefined) return refused ?? field.problem;
  if (edited.resets) return refused;
  const parsed = parseDraft(field, edited.draft);
  return "problem" in parsed ? parsed.problem : refused;
}

/** A field's default as text. */
export function defaultText(field: ConfigField): string {
  const value = field.default;
  if (Array.isArray(value)) return value.length > 0 ? value.join(", ") : "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (value === undefined || value === null || value === "") return "empty";
  return field.unit ? `${String(value)} ${field.unit}` : String(value);
}

export interface EditedField {
  readonly draft: Draft;
  /** The saved value is to be removed; the draft shows what applies then. */
  readonly resets?: true;
  /** The value that it was typed over. */
  readonly over: Draft;
}

export type Drafts = Readonly<Record<string, EditedField>>;

const noDrafts: Drafts = {};

/** Unsaved values are kept in memory while the window is open, also when the tab is left; secrets are not stored anywhere. */
const storeOf = createKeyedStore<string, Drafts>(
  () => noDrafts,
  (run) => run(),
);

/** Per profile, since a draft changes the values of the profile for which it was typed. */
export const configDrafts = (id: ServiceId, profile: string | undefined) => storeOf(`${id} ${profile ?? ""}`);

askBeforeUnload(() => storeOf.all().some((store) => Object.keys(store.latest()).length > 0));

interface AskedField {
  readonly id: ServiceId;
  readonly name: string;
}

/** A field chosen in the palette, which the Config tab shows once. */
export const askedField = createFrameStore<AskedField | undefined>(undefined, (run) => run());

export const fieldInputId = (service: ServiceId, name: string): string => `config-${service}-${name}`;
