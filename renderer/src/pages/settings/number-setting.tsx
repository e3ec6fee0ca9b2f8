import { TextInput } from "@mantine/core";
import { useEffect, useId, useState } from "react";
import { formatCount } from "../../ui/texts/quantity.ts";
import { SettingRow } from "./setting-row.tsx";
import styles from "./settings-page.module.css";

interface NumberSettingProps {
  readonly label: string;
  readonly help: string;
  readonly unit: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly value: number;
  onSave(value: number): void;
}

/** Saved with Enter or on leaving the field. */
export function NumberSetting({ label, help, unit, minimum, maximum, value, onSave }: NumberSettingProps) {
  const id = useId();
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  const typed = Number(text);
  const isRight = Number.isInteger(typed) && typed >= minimum && typed <= maximum;
  const save = () => {
    if (isRight && typed !== value) onSave(typed);
  };
  return (
    <SettingRow label={label} help={`${help} ${formatCount(minimum)} to ${formatCount(maximum)} ${unit}.`} name={id}>
      <TextInput
        id={id}
        flex="none"
        w={124}
        inputMode="numeric"
        rightSection={<span className={styles.unit}>{unit}</span>}
        rightSectionWidth={44}
        value={text}
        error={!isRight}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === "Enter" && save()}
      />
    </SettingRow>
  );
}
