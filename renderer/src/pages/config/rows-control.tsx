import { ActionIcon, Button, NativeSelect, TextInput } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconPlus, IconX } from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import type { ConfigColumn, ConfigRows } from "../../../../contract/config.ts";
import config from "./config-tab.module.css";
import type { Draft } from "./draft.ts";
import styles from "./rows-control.module.css";
import { draftOfRows, movedTo, newRow, type Row, rowsOf, wrongColumn } from "./rows-draft.ts";

interface RowsControlProps {
  readonly type: ConfigRows;
  readonly id: string;
  readonly title: string;
  readonly draft: Draft;
  readonly disabled: boolean;
  /** Problem of the whole field, if no row has one. */
  readonly problem: string | undefined;
  onChange(draft: Draft): void;
}

/** A list of items with several parts: one line per item, in the order in which they are saved. */
export function RowsControl({ type, id, title, draft, disabled, problem, onChange }: RowsControlProps) {
  const rows = rowsOf(String(draft));
  const change = (next: readonly Row[]) => onChange(draftOfRows(next));
  const wrong = rows.map((row) => wrongColumn(type, row));
  const template = type.columns.map(({ choices, otherwise }) => (otherwise ? "minmax(0, 5fr)" : choices ? "130px" : "minmax(0, 6fr)"));
  const style = { gridTemplateColumns: `${template.join(" ")} auto` };
  const move = (from: number, to: number) => change(movedTo(rows, from, to));
  const onKeyDown = (event: KeyboardEvent, place: number) => {
    if (!event.altKey || disabled) return;
    if (event.key === "ArrowUp") move(place, place - 1);
    else if (event.key === "ArrowDown") move(place, place + 1);
    else return;
    event.preventDefault();
  };
  return (
    <fieldset id={id} className={`${config.entries} ${styles.rows}`} aria-label={title} tabIndex={-1}>
      {rows.length > 0 && (
        <div className={styles.head} style={style} aria-hidden="true">
          {type.columns.map((column) => (
            <span key={column.title}>{column.title}</span>
          ))}
          {!disabled && <span className={styles.tools} />}
        </div>
      )}
      {rows.map((row, place) => {
        const name = `${type.row} ${place + 1}`;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place; its parts change while they are typed.
          // biome-ignore lint/a11y/useSemanticElements: a fieldset within the fieldset would be announced twice.
          <div key={place} role="group" aria-label={name} onKeyDown={(event) => onKeyDown(event, place)}>
            <div className={styles.row} style={style}>
              {type.columns.map((column, index) => (
                <Part
                  key={column.title}
                  column={column}
                  label={`${column.title} of ${name}`}
                  value={row[index] ?? ""}
                  disabled={disabled}
                  isWrong={wrong[place] === index}
                  onChange={(part) => change(rows.with(place, row.with(index, part)))}
                />
              ))}
              {!disabled && (
                <span className={styles.tools}>
                  <ActionIcon aria-label={`Move ${name} up`} disabled={place === 0} onClick={() => move(place, place - 1)}>
                    <IconArrowUp size={14} stroke={1.5} />
                  </ActionIcon>
                  <ActionIcon aria-label={`Move ${name} down`} disabled={place === rows.length - 1} onClick={() => move(place, place + 1)}>
                    <IconArrowDown size={14} stroke={1.5} />
                  </ActionIcon>
                  <ActionIcon aria-label={`Remove ${name}`} onClick={() => change(rows.toSpliced(place, 1))}>
                    <IconX size={14} stroke={1.5} />
                  </ActionIcon>
                </span>
              )}
            </div>
          </div>
        );
      })}
      {rows.length === 0 && disabled && <span className={styles.none}>none</span>}
      {!disabled && (
        <Button size="compact-xs" leftSection={<IconPlus size={12} stroke={1.5} />} onClick={() => change([...rows, newRow(type)])}>
          {`Add a ${type.row}`}
        </Button>
      )}
      {problem !== undefined && wrong.every((column) => column < 0) && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

interface PartProps {
  readonly column: ConfigColumn;
  readonly label: string;
  readonly value: string;
  readonly disabled: boolean;
  readonly isWrong: boolean;
  onChange(part: string): void;
}

/** A value of the select that differs from every choice. */
const own = "\n";

function Part({ column, label, value, disabled, isWrong, onChange }: PartProps) {
  const { choices, otherwise, placeholder, problem } = column;
  // An empty part is not reported as wrong before something was typed.
  const words = isWrong ? (value === "" ? { description: problem } : { error: problem }) : {};
  const text = (
    <TextInput
      aria-label={otherwise ? `${otherwise}, ${label}` : label}
      placeholder={placeholder ?? ""}
      spellCheck={false}
      autoComplete="off"
      value={value}
      // A new row gets the focus.
      autoFocus={value === ""}
      disabled={disabled}
      inputWrapperOrder={["label", "input", "description", "error"]}
      {...words}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
  if (!choices) return text;
  const isChoice = choices.some((choice) => choice.value === value);
  const data = [
    ...choices,
    ...(otherwise ? [{ value: own, label: otherwise }] : []),
    ...(isChoice || otherwise ? [] : [{ value, label: value }]),
  ];
  const select = (
    <NativeSelect
      aria-label={label}
      data={data}
      value={isChoice || !otherwise ? value : own}
      disabled={disabled}
      {...(isWrong && !otherwise && { error: problem })}
      onChange={(event) => onChange(event.currentTarget.value === own ? "" : event.currentTarget.value)}
    />
  );
  if (!otherwise) return select;
  return (
    <span className={styles.either}>
      {select}
      {!isChoice && text}
    </span>
  );
}
