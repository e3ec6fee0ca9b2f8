import { Textarea, type TextareaProps } from "@mantine/core";
import type { Ref } from "react";
import styles from "./code-area.module.css";

interface CodeAreaProps extends Omit<TextareaProps, "onChange" | "autosize" | "spellCheck" | "className"> {
  readonly ref?: Ref<HTMLTextAreaElement>;
  readonly value: string;
  /** False keeps its lines: they are the lines that problems name. */
  readonly wraps?: boolean;
  readonly onChange: (value: string) => void;
}

/** A field for JSON or other code that grows with its text. */
export const CodeArea = ({ wraps = true, onChange, ...rest }: CodeAreaProps) => (
  <Textarea
    {...rest}
    className={wraps ? styles.code : `${styles.code} ${styles.lines}`}
    autosize
    spellCheck={false}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
