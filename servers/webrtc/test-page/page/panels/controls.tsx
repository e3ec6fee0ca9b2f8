import { type ReactNode, useEffect, useRef } from "react";
import styles from "../page.module.css";

export type Tone = "ok" | "warn" | "bad" | "idle";

/** A shape and a word: colour is never alone. */
export const State = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span className={styles.state} data-tone={tone}>
    <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true">
      {tone === "ok" && <circle cx="4" cy="4" r="4" fill="currentColor" />}
      {tone === "bad" && <path d="M4-.6 8.6 4 4 8.6-.6 4Z" fill="currentColor" />}
      {tone === "idle" && <circle cx="4" cy="4" r="3.1" fill="none" stroke="currentColor" strokeWidth="1.6" />}
      {tone === "warn" && (
        <>
          <circle cx="4" cy="4" r="3.2" fill="none" stroke="currentColor" strokeWidth="1.4" />
          <path d="M4 .8a3.2 3.2 0 0 1 0 6.4Z" fill="currentColor" />
        </>
      )}
    </svg>
    {children}
  </span>
);

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly values: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export function Choice<Value extends string>({ label, values, value, onChange }: ChoiceProps<Value>) {
  return (
    <label className={styles.field}>
      {label}
      <select value={value} onChange={({ target }) => onChange(target.value as Value)}>
        {(Object.entries(values) as [Value, string][]).map(([one, title]) => (
          <option key={one} value={one}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "password";
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly disabled?: boolean;
}

export const Field = ({ label, value, onChange, type = "text", placeholder, maxLength = 100, disabled }: FieldProps) => (
  <label className={styles.field}>
    {label}
    <input
      {...{ type, value, maxLength, disabled, placeholder }}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);

interface NoticeProps {
  readonly tone: "warn" | "bad";
  readonly children: ReactNode;
  readonly onDismiss?: () => void;
}

export const Notice = ({ tone, children, onDismiss }: NoticeProps) => (
  <div className={styles.notice} data-tone={tone} role="alert">
    <div>{children}</div>
    {onDismiss && (
      <button type="button" className={styles.quiet} onClick={onDismiss} aria-label="Dismiss">
        Dismiss
      </button>
    )}
  </div>
);

/** The video of a stream. */
export function Video({ stream, isMuted, label }: { readonly stream: MediaStream; readonly isMuted: boolean; readonly label: string }) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    if (element.srcObject !== stream) element.srcObject = stream;
    element.play().catch(() => {
      // Where the browser lets no sound begin by itself, its own button does.
      element.controls = true;
    });
  }, [stream]);
  return <video ref={video} className={styles.video} muted={isMuted} autoPlay playsInline aria-label={label} />;
}
