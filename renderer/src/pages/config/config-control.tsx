import { NativeSelect, Switch, TextInput } from "@mantine/core";
import { PasswordField } from "../../ui/forms/password-field.tsx";
import styles from "./config-tab.module.css";
import { type ControlProps, CredentialsControl } from "./credentials-control.tsx";
import { RowsControl } from "./rows-control.tsx";

export function ConfigControl({ field, id, draft, disabled, problem, onChange }: ControlProps) {
  const { type, unit } = field;
  const common = {
    id,
    disabled,
    error: problem,
    "aria-describedby": field.help ? `${id}-help` : undefined,
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  switch (type.kind) {
    case "boolean":
      return (
        <Switch
          {...common}
          size="sm"
          checked={draft === true}
          label={draft === true ? "on" : "off"}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case "choice":
      return <NativeSelect {...common} data={[...type.choices]} value={String(draft)} w={160} />;
    case "secret":
      return (
        <PasswordField
          {...common}
          value={String(draft)}
          placeholder={field.value ? "set; type to change it" : "not set"}
          autoComplete="new-password"
          onChange={onChange}
        />
      );
    case "credentials":
      return <CredentialsControl field={field} id={id} draft={draft} disabled={disabled} problem={problem} onChange={onChange} />;
    case "rows":
      return (
        <RowsControl type={type} id={id} title={field.title} draft={draft} disabled={disabled} problem={problem} onChange={onChange} />
      );
    case "integer":
    case "number":
      return (
        <div className={styles.number}>
          <TextInput {...common} value={String(draft)} inputMode="numeric" classNames={{ wrapper: styles.digits ?? "" }} />
          {unit && <span className={styles.unit}>{unit}</span>}
        </div>
      );
    case "text":
      return <TextInput {...common} value={String(draft)} spellCheck={false} />;
    case "list":
      return <TextInput {...common} value={String(draft)} spellCheck={false} placeholder="none; separate with commas" />;
    default:
      return type satisfies never;
  }
}
