import { Autocomplete, type AutocompleteProps, type OptionsFilter, Select } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./try-fields.module.css";

/** Within the page's landmarks, and not clipped by the scrolling column. */
const inPlace = { withinPortal: false, floatingStrategy: "fixed" } as const;

/** After a choice the text is not a search, so all are offered again. */
const all: OptionsFilter = ({ options }) => options;

/** Method, target and what sends them, in one line. */
export function TryLine({ children }: { readonly children: ReactNode }) {
  return <div className={styles.line}>{children}</div>;
}

interface MethodFieldProps {
  readonly methods: readonly string[];
  readonly value: string;
  readonly onChange: (method: string | null) => void;
}

export function MethodField({ methods, value, onChange }: MethodFieldProps) {
  return (
    <Select
      aria-label="Method"
      className={styles.method}
      data={[...methods]}
      value={value}
      allowDeselect={false}
      withCheckIcon={false}
      comboboxProps={{ ...inPlace, width: 120, position: "bottom-start" }}
      withScrollArea={false}
      onChange={onChange}
    />
  );
}

interface TargetFieldProps {
  readonly label: string;
  readonly value: string;
  readonly suggestions: NonNullable<AutocompleteProps["data"]>;
  /** All suggestions are offered, and not only those that contain the value. */
  readonly offersAll: boolean;
  /** Beside a suggestion. */
  readonly hintOf?: (suggestion: string) => string | undefined;
  readonly onChange: (target: string) => void;
  readonly onPick: (suggestion: string) => void;
}

/** A path with its query, typed or picked. */
export function TargetField({ label, value, suggestions, offersAll, hintOf, onChange, onPick }: TargetFieldProps) {
  return (
    <Autocomplete
      aria-label={label}
      className={styles.target}
      data={suggestions}
      value={value}
      limit={60}
      withScrollArea={false}
      styles={{ options: { maxHeight: 360, overflowY: "auto" }, option: { padding: "4px 10px" } }}
      comboboxProps={inPlace}
      spellCheck={false}
      filter={offersAll ? all : undefined}
      onChange={onChange}
      onOptionSubmit={onPick}
      renderOption={({ option }) => (
        <span className={styles.option}>
          {option.value}
          <span className={styles.hint}>{hintOf?.(option.value)}</span>
        </span>
      )}
    />
  );
}
