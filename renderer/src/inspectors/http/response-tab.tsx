import type { HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { isEventStream } from "../../list/tone-mark.tsx";
import { Caption, SectionTitle } from "../../ui/panel.tsx";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";
import { HeaderListView } from "../header-list.tsx";
import { InspectorContent, InspectorNote } from "../inspector-frame.tsx";
import { HttpBodyViewer } from "./http-body-viewer.tsx";
import styles from "./http-inspector.module.css";
import { TimingBar } from "./timing.tsx";

export function ResponseTab({ exchange }: { readonly exchange: HttpExchangeFacts }) {
  const { response, timing, aborted } = exchange;
  const isStream = response !== undefined && isEventStream(response.headers);
  return (
    <>
      <section className={styles.time} aria-label="Time">
        <div className={styles.timeHead}>
          <SectionTitle as="h3">Time</SectionTitle>
          <Caption className={styles.facts}>
            {timing.totalMs === undefined ? "in progress," : <b>{formatTook(timing.totalMs)}</b>} at{" "}
            <span className={styles.mono} title={isoTime(exchange.at)}>
              {clockTime(exchange.at)}
            </span>
          </Caption>
        </div>
        <TimingBar timing={timing} />
      </section>
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
