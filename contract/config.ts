/** A service's configuration as a form: rendered from its zod schema, so there is one source for all. */

export type ConfigSource = "default" | "file" | "environment" | "flag";

export type ConfigKind =
  | { readonly kind: "boolean" }
  | { readonly kind: "integer" | "number"; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: "text" }
  | { readonly kind: "secret" }
  /** Lines `name:secret`, each name once and the secrets covered; a line that comes back covered keeps its secret. */
  | { readonly kind: "credentials" }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "list" };

/** Stands in the form for a secret that is set. */
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
  /** Why `value` is refused: the service does not start with it. */
  readonly problem?: string;
  /** What the settings file holds, also where the environment or a flag is stronger. */
  readonly stored?: unknown;
  /** True where a running service takes the change only after a restart. */
  readonly needsRestart: boolean;
}

export interface ConfigView {
  readonly fields: readonly ConfigField[];
  readonly restartNeeded: boolean;
}
