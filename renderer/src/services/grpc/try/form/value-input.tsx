import type { JsonValue } from "@bufbuild/protobuf";
import { SegmentedControl, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { withBreaksOf, withPlainBreaks } from "../../../../ui/texts/line-breaks.ts";
import { bytesFromHex, hexOfBytes, isMarkedHex, typedNumber, type ValueShape, valueProblem } from "./form-value.ts";
import styles from "./message-form.module.css";

interface ValueInputProps<Shape extends ValueShape = ValueShape> {
  readonly shape: Shape;
  /** Where it is in the message: "lines[0].sku". */
  readonly label: string;
  readonly value: JsonValue | undefined;
  /** While it is not set. */
  readonly placeholder?: string | undefined;
  readonly onChange: (value: JsonValue) => void;
}

type ShapeOf<Kind extends ValueShape["kind"]> = Extract<ValueShape, { readonly kind: Kind }>;

/** The input of one value that is not a message. */
export function ValueInput({ shape, ...rest }: ValueInputProps<Exclude<ValueShape, { readonly kind: "message" }>>) {
  switch (shape.kind) {
    case "bool":
      return <BoolInput shape={shape} {...rest} />;
    case "enum":
      return <EnumInput shape={shape} {...rest} />;
    case "bytes":
      return <BytesInput shape={shape} {...rest} />;
    case "json":
      return <JsonInput shape={shape} {...rest} />;
    case "string":
    case "number":
    case "text":
      return <LineInput shape={shape} {...rest} />;
    default:
      return shape satisfies never;
  }
}

/** A string or number; a string with line breaks has several lines. */
function LineInput({ shape, label, value, placeholder, onChange }: ValueInputProps<ShapeOf<"string" | "number" | "text">>) {
  const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const shared = {
    "aria-label": label,
    value: text,
    spellCheck: false,
    error: valueProblem(shape, value),
    placeholder: placeholder ?? (shape.kind === "text" ? shape.example : undefined),
  };
  if (shape.kind === "string" && /[\r\n]/.test(text)) {
    return (
      <Textarea
        {...shared}
        value={withPlainBreaks(text)}
        autosize
        minRows={2}
        maxRows={8}
        onChange={(event) => onChange(withBreaksOf(text, event.currentTarget.value))}
      />
    );
  }
  const change = (typed: string) => onChange(shape.kind === "number" ? typedNumber(typed, shape.scalar) : typed);
  return (
    <TextInput
      {...shared}
      inputMode={shape.kind === "number" ? "decimal" : "text"}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

function BoolInput({ label, value, placeholder, onChange }: ValueInputProps<ShapeOf<"bool">>) {
  const state = value === undefined ? (placeholder ?? "false") : String(value === true);
  return (
    <span className={styles.bool}>
      <Switch aria-label={label} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span data-unset={value === undefined || undefined}>{state}</span>
    </span>
  );
}

function EnumInput({ shape, label, value, placeholder, onChange }: ValueInputProps<ShapeOf<"enum">>) {
  const { values } = shape.type;
  const chosen = typeof value === "number" ? (values.find(({ number }) => number === value)?.name ?? String(value)) : value;
  return (
    <Select
      aria-label={label}
      data={values.map(({ name }) => name)}
      value={typeof chosen === "string" ? chosen : null}
      placeholder={placeholder ?? values[0]?.name ?? ""}
      error={valueProblem(shape, value)}
      searchable={values.length > 8}
      size="xs"
      allowDeselect={false}
      comboboxProps={{ withinPortal: false, floatingStrategy: "fixed" }}
      onChange={(name) => name !== null && onChange(name)}
    />
  );
}

const codings = ["base64", "hex"] as const;

function BytesInput({ shape, label, value, placeholder, onChange }: ValueInputProps<ShapeOf<"bytes">>) {
  const [coding, setCoding] = useState<(typeof codings)[number]>("base64");
  const base64 = typeof value === "string" ? value : "";
  const isHex = coding === "hex" || isMarkedHex(base64);
  const text = isHex ? (hexOfBytes(base64) ?? base64) : base64;
  return (
    <span className={styles.bytes}>
      <TextInput
        aria-label={`${label}, ${isHex ? "hexadecimal" : "base64"}`}
        value={text}
        spellCheck={false}
        placeholder={placeholder}
        error={valueProblem(shape, value)}
        onChange={(event) => onChange(isHex ? bytesFromHex(event.currentTarget.value) : event.currentTarget.value)}
      />
      <SegmentedControl
        aria-label={`${label}: coding`}
        data={[...codings]}
        value={isHex ? "hex" : "base64"}
        onChange={(next) => setCoding(next as typeof coding)}
      />
    </span>
  );
}

/** Any JSON. While the input is not JSON it is kept here, and the message keeps its last value. */
function JsonInput({ shape, label, value, placeholder, onChange }: ValueInputProps<ShapeOf<"json">>) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? (value === undefined ? "" : JSON.stringify(value));
  const change = (text: string) => {
    try {
      onChange(JSON.parse(text) as JsonValue);
      // The input stays as typed until the field loses the focus.
      setTyped(text);
    } catch {
      setTyped(text);
    }
  };
  const isJson = typed === undefined || parses(typed);
  return (
    <Textarea
      aria-label={label}
      value={shown}
      autosize
      minRows={1}
      maxRows={8}
      spellCheck={false}
      placeholder={placeholder ?? shape.example}
      error={isJson ? undefined : "Not JSON: the message keeps the value before"}
      onChange={(event) => change(event.currentTarget.value)}
      onBlur={() => isJson && setTyped(undefined)}
    />
  );
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
