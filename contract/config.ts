/** A service's configuration as a form: rendered from its zod schema, so there is one source for all. */

/** The weakest first; `run` is what was chosen in the dashboard for this run only. */
export type ConfigSource = "default" | "file" | "environment" | "flag" | "run";

export type ConfigKind =
  | { readonly kind: "boolean" }
  | { readonly kind: "integer" | "number"; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: "text" }
  | { readonly kind: "secret" }
  /** Lines `name:secret`, one per name, with the secrets masked. A line that comes back with the mask keeps its secret. */
  | { readonly kind: "credentials" }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "list" }
  | ({ readonly kind: "rows" } & ConfigRows);

/** A list whose items have parts, with spaces between them. */
export interface ConfigRows {
  /** What an item is called: "rule". */
  readonly row: string;
  /** A part is one word, except the last one, which takes the rest. */
  readonly columns: readonly ConfigColumn[];
}

export interface ConfigColumn {
  readonly title: string;
  /** Choices; without `otherwise` no other value is allowed. A new row starts with the first one. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** Label of the choice "any other text". */
  readonly otherwise?: string;
  readonly placeholder?: string;
  /** Regular expression of the whole part. */
  readonly pattern: string;
  /** Message for a part that does not match. */
  readonly problem: string;
}

/** Shown in the form in place of a secret that is set. */
export const secretMask = "••••••••";

export interface ConfigField {
  readonly name: string;
  readonly title: string;
  readonly help: string;
  readonly unit?: string;
  /** Heading under which the form shows it. */
  readonly group: string;
  /** Environment variables that set it, the strongest first. */
  readonly env: readonly string[];
  readonly flag: string;
  readonly type: ConfigKind;
  readonly default: unknown;
  /** Value in force at the next start. */
  readonly value: unknown;
  readonly source: ConfigSource;
  /** The variable or flag that sets it, or that would set it without the value of this run. */
  readonly setBy?: string;
  /** Why `value` is invalid: the service does not start with it. */
  readonly problem?: string;
  /** The value in the settings file, even if the environment or a flag overrides it. */
  readonly stored?: unknown;
  /** True where a running service takes the change only after a restart. */
  readonly needsRestart: boolean;
}

export interface ConfigView {
  readonly fields: readonly ConfigField[];
  readonly restartNeeded: boolean;
}
