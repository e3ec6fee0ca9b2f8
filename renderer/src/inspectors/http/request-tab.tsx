import { useMemo } from "react";
import type { HttpBody, HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import { isSecretHeader, maskedValue } from "../../../../contract/traffic/secret-headers.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { useReveal } from "../../ui/forms/secret-text.tsx";
import { shownValue } from "../../ui/texts/shown-text.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../viewer/decode/bytes.ts";
import { HeaderListView } from "../header-list.tsx";
import { InspectorContent } from "../inspector-frame.tsx";
import { HttpBodyViewer } from "./http-body-viewer.tsx";
import styles from "./http-inspector.module.css";

export function RequestTab({ exchange: { request } }: { readonly exchange: HttpExchangeFacts }) {
  const { method, target, headers, trailers, body, unparsed } = request;
  const query = useMemo(() => queryOf(target), [target]);
  const { revealed, button } = useReveal("credentials in the target");
  const redacted = useMemo(() => redactTarget(target), [target]);
  return (
    <>
      <section className={styles.requested} aria-label="Target">
        <code>{shownValue(revealed ? target : redacted)}</code>
        {redacted !== target && button}
        <CopyButton text={target} what="the target" />
      </section>
      {query.length > 0 && <HeaderListView title="Query" headers={query} />}
      <HeaderListView headers={headers} />
      {trailers.length > 0 && <HeaderListView title="Trailers" headers={trailers} />}
      {unparsed && <UnparsedRequest unparsed={unparsed} />}
      <InspectorContent>
        <HttpBodyViewer
          of="request"
          route={`${method} ${target}`}
          body={body}
          headers={headers}
          emptyText={unparsed ? "Not read: the request was refused." : "The request has no body."}
        />
      </InspectorContent>
    </>
  );
}

/** The bytes of a request that could not be parsed; credentials in its lines are masked until revealed. */
function UnparsedRequest({ unparsed }: { readonly unparsed: HttpBody }) {
  const { revealed, button } = useReveal("credentials in the raw request");
  const masked = useMemo(() => maskedHead(unparsed), [unparsed]);
  const shown = masked && !revealed ? masked : unparsed;
  const content = useMemo(() => ({ bytes: fromBase64(shown.base64), totalBytes: shown.bytes, hiddenIn: shown.hiddenIn }), [shown]);
  return (
    <InspectorContent>
      <ContentViewer
        of="request"
        title="Raw request"
        content={content}
        contentType=""
        contentEncoding=""
        rememberAs="http unparsed"
        cutBy="Recorded body"
        {...(masked && { controls: button })}
      />
    </InspectorContent>
  );
}

/** Undefined where nothing is masked. */
function maskedHead(unparsed: HttpBody): HttpBody | undefined {
  const bytes = fromBase64(unparsed.base64);
  const text = String.fromCharCode(...bytes);
  const masked = text.replace(/^([!#$%&'*+.^`|~\w-]+):[ \t]*([^\r\n]+)/gm, (line, name: string, value: string) =>
    isSecretHeader(name) ? `${name}: ${maskedValue(name, value).replaceAll("•", "*")}` : line,
  );
  if (masked === text) return undefined;
  return { bytes: unparsed.bytes, base64: btoa(masked), hiddenIn: bytes.length };
}

function queryOf(target: string): readonly (readonly [string, string])[] {
  const at = target.indexOf("?");
  return at < 0 ? [] : [...new URLSearchParams(target.slice(at + 1))];
}
