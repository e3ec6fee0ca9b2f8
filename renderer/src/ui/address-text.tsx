import styles from "./address-text.module.css";
import { hostAndPort } from "./texts/address.ts";

interface AddressTextProps {
  /** "http://127.0.0.1:8080", or without the scheme. */
  readonly text: string;
  readonly title: string;
  readonly className?: string | undefined;
}

/** An address in one line: if there is no room, its host is cut, and not its port. */
export function AddressText({ text, title, className = "" }: AddressTextProps) {
  const [host, port] = hostAndPort(text);
  return (
    <code className={`${styles.address} ${className}`} title={title}>
      <span>
        <bdi>{host}</bdi>
      </span>
      <span>{port}</span>
    </code>
  );
}
