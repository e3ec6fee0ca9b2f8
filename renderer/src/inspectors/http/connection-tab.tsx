import { type HttpExchangeFacts, headerValue } from "../../../../contract/traffic/http.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";
import styles from "./http-inspector.module.css";

export function ConnectionTab({ exchange }: { readonly exchange: HttpExchangeFacts }) {
  const { connection, request, at } = exchange;
  const agent = headerValue(request.headers, "user-agent");
  return (
    <dl className={styles.connection}>
      <Fact name="Client" value={connection.remote} copy />
      <Fact name="Server" value={connection.local} copy />
      <Fact name="Protocol" value={`HTTP/${request.httpVersion}`} />
      <Fact name="Encryption" value={connection.tls?.replace("TLSv", "TLS ") ?? "none"} />
      <Fact name="User agent" value={agent || "not said"} copy={agent !== ""} />
      <Fact name="Connection" value={`#${connection.id}`} />
      <Fact
        name="Opened"
        value={`${clockTime(connection.openedAt)}, ${formatTook(Math.max(0, at - connection.openedAt))} before this request`}
        title={isoTime(connection.openedAt)}
      />
      <Fact
        name="Reuse"
        value={connection.requests <= 1 ? "first request on it" : `request ${formatCount(connection.requests)} on it, kept alive`}
      />
    </dl>
  );
}

function Fact({
  name,
  value,
  title,
  copy = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly title?: string;
  readonly copy?: boolean;
}) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd title={title}>
        {shownText(value)}
        {copy && <CopyButton text={value} what={name.toLowerCase()} />}
      </dd>
    </div>
  );
}
