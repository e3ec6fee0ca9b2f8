import { useMemo } from "react";
import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { HeaderListView } from "../header-list.tsx";
import { InspectorContent } from "../inspector-frame.tsx";
import { HttpBodyViewer } from "./http-body-viewer.tsx";
import styles from "./http-inspector.module.css";

export function RequestTab({ exchange: { request } }: { readonly exchange: HttpExchangeFacts }) {
  const { method, target, headers, trailers, body } = request;
  const query = useMemo(() => queryOf(target), [target]);
  return (
    <>
      <section className={styles.requested} aria-label="Target">
        <code>{target}</code>
        <CopyButton text={target} what="the target" />
      </section>
      {query.length > 0 && <HeaderListView title="Query" headers={query} />}
      <HeaderListView headers={headers} />
      {trailers.length > 0 && <HeaderListView title="Trailers" headers={trailers} />}
      <InspectorContent>
        <HttpBodyViewer of="request" route={`${method} ${target}`} body={body} headers={headers} emptyText="The request has no body." />
      </InspectorContent>
    </>
  );
}

function queryOf(target: string): readonly (readonly [string, string])[] {
  const at = target.indexOf("?");
  return at < 0 ? [] : [...new URLSearchParams(target.slice(at + 1))];
}
