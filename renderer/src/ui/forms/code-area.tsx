import { Textarea, type TextareaProps } from "@mantine/core";
import type { Ref } from "react";
import { withBreaksOf, withPlainBreaks } from "../texts/line-breaks.ts";
import styles from "./code-area.module.css";

interface CodeAreaProps extends Omit<TextareaProps, "onChange" | "autosize" | "spellCheck" | "className"> {
  readonly ref?: Ref<HTMLTextAreaElement>;
  /** Its line breaks stay as they are, where they are not edited. */
  readonly value: string;
  /** False keeps its lines: they are the lines that problems name. */
  readonly wraps?: boolean;
  readonly onChange: (value: string) => void;
}

/** A field for JSON or other code that grows with its text. */
export const CodeArea = ({ wraps = true, value, onChange, ...rest }: CodeAreaProps) => (
  <Textarea
    {...rest}
    value={withPlainBreaks(value)}
    className={wraps ? styles.code : `${styles.code} ${styles.lines}`}
    autosize
    spellCheck={false}
    onChange={(event) => onChange(withBreaksOf(value, event.currentTarget.value))}
  />
);
