import { CopyButton } from "../../ui/copy-button.tsx";
import { formatBytes } from "../../ui/quantity.ts";
import styles from "../../viewer/body-view.module.css";
import { hexText } from "../../viewer/hex-lines.ts";
import type { Part } from "../../viewer/multipart.ts";

/** Names and values of a form, decoded. */
export function FieldList({ label, fields }: { readonly label: string; readonly fields: readonly (readonly [string, string])[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section className={styles.fields} aria-label={label} tabIndex={0}>
      {fields.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice, and the list never changes.
        <div key={index} className={styles.field}>
          <span className={styles.name}>{name}</span>
          <span className={styles.value}>{value}</span>
          <CopyButton text={value} what={name} />
        </div>
      ))}
    </section>
  );
}

const shownBytes = 2_048;

/** The parts of a multipart body: fields as text, files with their name, type and size. */
export function PartList({ label, parts }: { readonly label: string; readonly parts: readonly Part[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section className={styles.fields} aria-label={label} tabIndex={0}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a name may come twice, and the list never changes.
        <div key={index} className={styles.part}>
          <div className={styles.partHead}>
            <span className={styles.name}>{part.name || "(no name)"}</span>
            <span className={styles.partFacts}>
              {[part.filename, part.contentType, `${part.cut ? "first " : ""}${formatBytes(part.bytes.length)}`]
                .filter(Boolean)
                .join(" · ")}
            </span>
          </div>
          <pre className={styles.partText}>{partText(part)}</pre>
        </div>
      ))}
    </section>
  );
}

function partText({ bytes }: Part): string {
  const start = bytes.subarray(0, shownBytes);
  const more = bytes.length > start.length ? `\n… ${formatBytes(bytes.length - start.length)} more` : "";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: start.length < bytes.length });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells text from bytes.
    if (!/[\x00-\x08\x0e-\x1f]/.test(text)) return text + more;
  } catch {
    // Not text: shown as bytes.
  }
  const few = bytes.subarray(0, 256);
  return hexText(few) + (bytes.length > few.length ? `\n… ${formatBytes(bytes.length - few.length)} more` : "");
}
