import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { isEventStream } from "../../list/cells/tone-mark.tsx";
import { HeaderListView } from "../header-list.tsx";
import { InspectorContent, InspectorNote } from "../inspector-frame.tsx";
import { HttpBodyViewer } from "./http-body-viewer.tsx";
import styles from "./http-inspector.module.css";
import { TimingSummary } from "./timing.tsx";

export function ResponseTab({ exchange }: { readonly exchange: HttpExchangeFacts }) {
  const { response, timing, aborted } = exchange;
  const isStream = response !== undefined && isEventStream(response.headers);
  return (
    <>
      <TimingSummary exchange={exchange} />
      {aborted !== undefined && !isStream && <p className={styles.aborted}>{`Ended early: ${aborted}.`}</p>}
      {response ? (
        <>
          <HeaderListView headers={response.headers} />
          <InspectorContent>
            <HttpBodyViewer
              of="response"
              route={`${exchange.request.method} ${exchange.request.target}`}
              body={response.body}
              headers={response.headers}
              emptyText={timing.totalMs === undefined ? "None yet." : "The answer has no body."}
            />
          </InspectorContent>
        </>
      ) : (
        <InspectorNote>{aborted === undefined ? "No answer yet. It appears here when it begins." : "No answer was sent."}</InspectorNote>
      )}
    </>
  );
}
