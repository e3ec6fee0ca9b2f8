import styles from "./address-text.module.css";
import { addressParts } from "./texts/address.ts";

interface AddressTextProps {
  /** "http://127.0.0.1:8080", or without the scheme. */
  readonly text: string;
  readonly title: string;
  readonly className?: string | undefined;
}

/** An address in one line: if there is no room, the end of its path is cut, then its host, and not its port. */
export function AddressText({ text, title, className = "" }: AddressTextProps) {
  const [host, port, path] = addressParts(text);
  return (
    <code className={`${styles.address} ${className}`} title={title}>
      <span className={styles.host}>
        <bdi>{host}</bdi>
      </span>
      <span>{port}</span>
      {path !== "" && <span className={styles.path}>{path}</span>}
    </code>
  );
}
