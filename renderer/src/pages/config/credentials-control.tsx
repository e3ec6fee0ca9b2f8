import { ActionIcon, Button, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { type ConfigField, secretMask } from "../../../../contract/config.ts";
import { PasswordField } from "../../ui/forms/password-field.tsx";
import styles from "./config-tab.module.css";
import { type Credential, credentialsDraft, credentialsOf, type Draft, draftOf } from "./draft.ts";

/** Props of every control of a field. */
export interface ControlProps {
  readonly field: ConfigField;
  readonly id: string;
  readonly draft: Draft;
  readonly disabled: boolean;
  readonly problem: string | undefined;
  onChange(draft: Draft): void;
}

/** Names with passwords: a password that is set is never shown, and stays unless a new one is typed. */
export function CredentialsControl({ field, id, draft, disabled, problem, onChange }: ControlProps) {
  const credentials = credentialsOf(draft);
  const isStored = (name: string) => credentialsOf(draftOf(field)).some((credential) => credential.name === name);
  const put = (place: number, part: Partial<Credential>) =>
    onChange(credentialsDraft(credentials.map((other, index) => (index === place ? { ...other, ...part } : other))));
  return (
    <fieldset id={id} className={styles.entries} aria-label={field.title} tabIndex={-1}>
      {credentials.map(({ name, secret }, place) => {
        const isSet = secret === secretMask;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place; names change while they are typed.
          <div key={place} className={styles.credential}>
            <TextInput
              aria-label={`Name of user ${place + 1}`}
              placeholder="name"
              spellCheck={false}
              autoComplete="off"
              value={name}
              // A row that was just added is about to be filled in.
              autoFocus={name === "" && secret === ""}
              disabled={disabled}
              // A password belongs to its name, so the name of an existing user cannot be changed.
              readOnly={isSet}
              onChange={(event) => put(place, { name: event.currentTarget.value.replace(/[:\n]/g, "") })}
            />
            <PasswordField
              aria-label={`Password of ${name || `user ${place + 1}`}`}
              placeholder={isSet ? "set; type to change it" : "password"}
              autoComplete="new-password"
              value={isSet ? "" : secret}
              disabled={disabled}
              onChange={(value) => put(place, { secret: value || (isStored(name) ? secretMask : "") })}
            />
            {!disabled && (
              <ActionIcon
                aria-label={`Remove ${name || `user ${place + 1}`}`}
                onClick={() => onChange(credentialsDraft(credentials.filter((_, index) => index !== place)))}
              >
                <IconX size={14} stroke={1.5} />
              </ActionIcon>
            )}
          </div>
        );
      })}
      {credentials.length === 0 && disabled && <span className={styles.quiet}>none</span>}
      {!disabled && (
        <Button
          size="compact-xs"
          leftSection={<IconPlus size={12} stroke={1.5} />}
          onClick={() => onChange(credentialsDraft([...credentials, { name: "", secret: "" }]))}
        >
          Add a user
        </Button>
      )}
      {problem !== undefined && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
