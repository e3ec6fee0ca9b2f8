import { ActionIcon, Badge } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import type { ConfigField } from "../../../../contract/config.ts";
import { Tooltip } from "../../ui/tooltip.tsx";
import { ConfigControl } from "./config-control.tsx";
import styles from "./config-tab.module.css";
import { changedUnder, type Draft, defaultText, draftOf, type EditedField } from "./draft.ts";

interface ConfigFieldRowProps {
  readonly inputId: string;
  readonly field: ConfigField;
  readonly edited: EditedField | undefined;
  readonly problem: string | undefined;
  onChange(draft: Draft): void;
  onReset(): void;
}

export function ConfigFieldRow({ inputId, field, edited, problem, onChange, onReset }: ConfigFieldRowProps) {
  const draft = edited?.draft;
  const meanwhile = changedUnder(field, edited);
  const isFixed = field.source === "environment" || field.source === "flag" || field.source === "run";
  return (
    <div className={styles.row} data-changed={draft !== undefined || undefined} data-wide={field.type.kind === "rows" || undefined}>
      <div className={styles.what}>
        <label htmlFor={inputId} className={styles.title}>
          {field.title}
        </label>
        {field.help && (
          <p className={styles.help} id={`${inputId}-help`}>
            {field.help}
          </p>
        )}
      </div>
      <div className={styles.control}>
        <ConfigControl
          field={field}
          id={inputId}
          draft={draft ?? draftOf(field)}
          disabled={isFixed}
          problem={problem}
          onChange={onChange}
        />
        {meanwhile && (
          <p className={styles.fixed} role="status">
            {meanwhile}
          </p>
        )}
        {isFixed && <p className={styles.fixed}>{edited?.resets ? "Save removes the saved value under it." : fixedText(field)}</p>}
      </div>
      <div className={styles.origin}>
        <span className={styles.badges}>
          <SourceBadge field={field} draft={draft} />
          <span className={styles.when}>{field.needsRestart ? "applies after restart" : "applies immediately"}</span>
        </span>
        <span className={styles.names}>
          {field.env.map((name) => (
            <code key={name}>{name}</code>
          ))}
          <code>{field.flag}</code>
        </span>
      </div>
      <Tooltip label={field.source === "run" ? "Discard the value of this run" : `Back to the default: ${defaultText(field)}`}>
        <ActionIcon
          className={styles.reset}
          aria-label={
            field.source === "run"
              ? `Discard the value of this run for ${field.title}`
              : `Reset ${field.title} to its default, ${defaultText(field)}`
          }
          disabled={field.source !== "run" && (field.stored === undefined ? edited === undefined : edited?.resets === true)}
          onClick={onReset}
        >
          <IconArrowBackUp size={16} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

function fixedText(field: ConfigField): string {
  if (field.source === "run")
    return `Used for this run only${field.setBy ? `, in place of ${field.setBy}` : ""}. Reset the field to end that.`;
  const by = field.source === "flag" ? `The flag ${field.flag}` : `The environment (${field.setBy ?? "a variable"})`;
  return `${by} sets this and overrides the saved value${field.stored === undefined ? "." : `, ${storedText(field)}.`}`;
}

function storedText({ type, stored }: ConfigField): string {
  if (type.kind === "credentials" && Array.isArray(stored)) return stored.map((line) => String(line).split(":")[0]).join(", ") || "none";
  return String(stored);
}

function SourceBadge({ field, draft }: { field: ConfigField; draft: Draft | undefined }) {
  if (draft !== undefined) return <Badge className={styles.edited}>not saved</Badge>;
  switch (field.source) {
    case "default":
      return <Badge className={styles.default}>default</Badge>;
    case "file":
      return <Badge className={styles.file}>saved</Badge>;
    case "environment":
      return <Badge className={styles.strong}>environment wins</Badge>;
    case "flag":
      return <Badge className={styles.strong}>flag wins</Badge>;
    case "run":
      return <Badge className={styles.strong}>this run only</Badge>;
    default:
      return field.source satisfies never;
  }
}
