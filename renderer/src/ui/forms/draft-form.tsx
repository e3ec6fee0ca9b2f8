import {
  Checkbox,
  type CheckboxProps,
  Input,
  NumberInput,
  type NumberInputProps,
  SegmentedControl,
  Select,
  Textarea,
  TextInput,
  type TextInputProps,
} from "@mantine/core";
import type { HTMLAttributes, ReactNode } from "react";
import { withBreaksOf, withPlainBreaks } from "../texts/line-breaks.ts";
import styles from "./draft-form.module.css";

/** A form bound to a draft object: each field shows and changes one property. */
export interface DraftForm<Draft> {
  readonly draft: Draft;
  readonly set: (part: Partial<Draft>) => void;
  /** The problem of a field. */
  readonly problem: (field: string) => string | undefined;
}

/** `parsed` has the first invalid field, if any. */
export function draftForm<Draft extends object>(
  draft: Draft,
  onDraft: (draft: Draft) => void,
  parsed: object | { readonly field: string; readonly problem: string },
): DraftForm<Draft> {
  return {
    draft,
    set: (part) => onDraft({ ...draft, ...part }),
    problem: (field) => ("problem" in parsed && "field" in parsed && parsed.field === field ? String(parsed.problem) : undefined),
  };
}

type FieldsOf<Draft, Value> = { [Name in keyof Draft]: Draft[Name] extends Value ? Name : never }[keyof Draft] & string;

interface FieldProps<Draft, Value> {
  readonly form: DraftForm<Draft>;
  readonly name: FieldsOf<Draft, Value>;
}

type Own = "form" | "name" | "value" | "checked" | "error" | "onChange" | "classNames" | "className";

interface TextFieldOptions {
  /** A protocol text: a topic, an identifier. */
  readonly mono?: boolean;
  readonly className?: string | undefined;
}

const classes = (mono: boolean, className = "") => `${mono ? styles.mono : ""} ${className}`;

export function TextField<Draft>({
  form,
  name,
  mono = false,
  className,
  ...rest
}: FieldProps<Draft, string> & TextFieldOptions & Omit<TextInputProps, Own>) {
  return (
    <TextInput
      {...rest}
      className={classes(mono, className)}
      spellCheck={false}
      value={form.draft[name] as string}
      error={form.problem(name)}
      onChange={(event) => form.set({ [name]: event.currentTarget.value } as Partial<Draft>)}
    />
  );
}

interface TextAreaFieldProps<Draft> extends FieldProps<Draft, string>, TextFieldOptions {
  readonly label?: string;
  readonly "aria-label"?: string;
  readonly placeholder?: string;
  readonly description?: string;
  readonly minRows: number;
  readonly maxRows: number;
}

/** As high as its text, within bounds. */
export function TextAreaField<Draft>({ form, name, mono = false, className, ...rest }: TextAreaFieldProps<Draft>) {
  return (
    <Textarea
      {...rest}
      className={classes(mono, className)}
      autosize
      spellCheck={false}
      value={withPlainBreaks(form.draft[name] as string)}
      error={form.problem(name)}
      onChange={(event) => form.set({ [name]: withBreaksOf(form.draft[name] as string, event.currentTarget.value) } as Partial<Draft>)}
    />
  );
}

export function CheckField<Draft>({
  form,
  name,
  className,
  ...rest
}: FieldProps<Draft, boolean> & { readonly className?: string | undefined } & Omit<CheckboxProps, Own>) {
  return (
    <Checkbox
      {...rest}
      size="xs"
      {...(className !== undefined && { className })}
      checked={form.draft[name] as boolean}
      error={form.problem(name)}
      onChange={(event) => form.set({ [name]: event.currentTarget.checked } as Partial<Draft>)}
    />
  );
}

/** The typed text may not be a number yet. */
export function NumberField<Draft>({
  form,
  name,
  ...rest
}: FieldProps<Draft, number | string> & Omit<NumberInputProps, Own | "form" | "name">) {
  return (
    <NumberInput
      {...rest}
      size="xs"
      value={form.draft[name] as number | string}
      error={form.problem(name)}
      onChange={(value) => form.set({ [name]: value } as Partial<Draft>)}
    />
  );
}

interface ChoiceFieldProps<Draft, Value extends string | number> extends FieldProps<Draft, Value> {
  readonly label: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly disabled?: boolean;
  readonly className?: string | undefined;
}

/** A choice among a few values, side by side. */
export function ChoiceField<Draft, Value extends string | number>(props: ChoiceFieldProps<Draft, Value>) {
  const { form, name, label, choices, disabled = false, className } = props;
  return (
    <SegmentedControl
      {...(className !== undefined && { className })}
      aria-label={label}
      data={choices.map((choice) => ({ value: String(choice.value), label: choice.label }))}
      disabled={disabled}
      value={String(form.draft[name])}
      onChange={(value) => {
        const chosen = choices.find((choice) => String(choice.value) === value);
        if (chosen) form.set({ [name]: chosen.value } as unknown as Partial<Draft>);
      }}
    />
  );
}

/** A choice among many values, in a list that opens; among fields in two columns over both. */
export function SelectField<Draft, Value extends string | number>(props: Omit<ChoiceFieldProps<Draft, Value>, "className" | "disabled">) {
  const { form, name, label, choices } = props;
  return (
    <Select
      label={label}
      className={styles.wide ?? ""}
      size="xs"
      data={choices.map((choice) => ({ value: String(choice.value), label: choice.label }))}
      value={String(form.draft[name])}
      allowDeselect={false}
      comboboxProps={{ withinPortal: false, floatingStrategy: "fixed" }}
      onChange={(value) => {
        const chosen = choices.find((choice) => String(choice.value) === value);
        if (chosen) form.set({ [name]: chosen.value } as unknown as Partial<Draft>);
      }}
    />
  );
}

/** Fields below each other. */
export function FormStack(props: HTMLAttributes<HTMLDivElement>) {
  return <div {...props} className={styles.form} />;
}

/** Fields in two columns. */
export function FormColumns(props: HTMLAttributes<HTMLDivElement>) {
  return <div {...props} className={styles.columns} />;
}

interface LabelledLineProps {
  readonly label: string;
  /** Over both columns. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** Controls side by side under one label, as high as a field with a label. */
export function LabelledLine({ label, isWide = false, children }: LabelledLineProps) {
  return (
    <Input.Wrapper label={label} labelElement="div" className={isWide ? styles.wide : undefined}>
      <div className={styles.labelled}>{children}</div>
    </Input.Wrapper>
  );
}

/** Fields side by side, with their own widths. */
export function FormLine(props: HTMLAttributes<HTMLDivElement>) {
  return <div {...props} className={styles.line} />;
}
