import { useMemo } from "react";
import type { HttpExchange } from "../../../../contract/traffic/http.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { headerValue } from "../../viewer/body-content.ts";
import { BodyView } from "../../viewer/body-view.tsx";
import styles from "./exchange-inspector.module.css";
import { HeaderListView } from "./header-list.tsx";

export function RequestTab({ exchange: { request } }: { readonly exchange: HttpExchange }) {
  const { headers, trailers, body } = request;
  const query = useMemo(() => queryOf(request.target), [request.target]);
  return (
    <>
      <section className={styles.requested} aria-label="Target">
        <code>{request.target}</code>
        <CopyButton text={request.target} what="the target" />
      </section>
      {query.length > 0 && <HeaderListView title="Query" headers={query} />}
      <HeaderListView headers={headers} />
      {trailers.length > 0 && <HeaderListView title="Trailers" headers={trailers} />}
      <div className={styles.body}>
        <BodyView
          of="request"
          cutBy="Recorded body"
          body={body}
          contentType={headerValue(headers, "content-type")}
          contentEncoding={headerValue(headers, "content-encoding")}
          emptyText="The request has no body."
        />
      </div>
    </>
  );
}

function queryOf(target: string): readonly (readonly [string, string])[] {
  const at = target.indexOf("?");
  return at < 0 ? [] : [...new URLSearchParams(target.slice(at + 1))];
}
