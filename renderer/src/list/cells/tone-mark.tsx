import { type HeaderList, type HttpExchangeFacts, headerValue } from "../../../../contract/traffic/http.ts";
import type { Tone, TrafficRow } from "../../../../contract/traffic/row.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { mediaTypeOf } from "../../viewer/content-format.ts";
import styles from "./tone-mark.module.css";

/** What a mark shows: a result, or `running` for what is under way and `ended` for a session, which has no result. */
export type MarkTone = Tone | "running" | "ended";

/** Whether more may come. */
export const isUnderWay = (tone: MarkTone): boolean => tone === "pending" || tone === "running";

/**
 * The mark of a row. One that is open is under way once the service has begun to answer, such as a stream of events or a session that
 * plays; before that it waits.
 */
export function rowMark({ tone, kind, outcome, bytesOut }: Pick<TrafficRow, "tone" | "kind" | "outcome" | "bytesOut">): MarkTone {
  switch (kind) {
    case "rtsp":
      if (tone === "pending") return outcome === "playing" || outcome === "recording" ? "running" : "pending";
      return tone === "ok" || tone === "neutral" ? "ended" : tone;
    case "grpc-call":
      return tone === "pending" && bytesOut > 0 ? "running" : tone;
    case "http":
    case "websocket":
      return tone === "pending" && outcome !== "" ? "running" : tone;
    case "webrtc-peer":
    case "webrtc-media":
    case "turn-allocation":
      if (tone === "pending") return "running";
      return tone === "ok" || tone === "neutral" ? "ended" : tone;
    case "websocket-message":
    case "webrtc-signal":
    case "turn-request":
    case "mqtt-message":
    case "mqtt-event":
      return tone;
    default:
      return kind satisfies never;
  }
}

/** Disc, ring, arrow, triangle, diamond, half disc or cross for the state of an exchange, so that it does not depend on colour. */
function outline(tone: MarkTone) {
  switch (tone) {
    case "ok":
    case "running":
      return <circle cx="4" cy="4" r="3" fill="currentColor" />;
    case "ended":
      return <circle cx="4" cy="4" r="2.9" fill="none" stroke="currentColor" strokeWidth="1.2" />;
    case "neutral":
      return <path d="M.8 4h6M4.6 1.8 6.8 4 4.6 6.2" fill="none" stroke="currentColor" strokeWidth="1.4" />;
    case "refused":
      return <path d="M4 .4 8 7.6H0Z" fill="currentColor" />;
    case "failed":
      return <path d="M4 0 8 4 4 8 0 4Z" fill="currentColor" />;
    case "pending":
      return (
        <>
          <circle cx="4" cy="4" r="2.9" fill="none" stroke="currentColor" strokeWidth="1.2" />
          <path d="M4 1.1a2.9 2.9 0 0 1 0 5.8Z" fill="currentColor" />
        </>
      );
    case "aborted":
      return <path d="m1.4 1.4 5.2 5.2m0-5.2-5.2 5.2" fill="none" stroke="currentColor" strokeWidth="1.5" />;
    default:
      return tone satisfies never;
  }
}

/** Its shape and its word; `title` explains a short word. */
export function ToneMark({ tone, word, title }: { readonly tone: MarkTone; readonly word: string; readonly title?: string }) {
  return (
    <span className={`${styles.mark} ${styles[tone]}`} title={shownText(title ?? word)}>
      <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true">
        {outline(tone)}
      </svg>
      <span className={styles.word}>{shownText(word)}</span>
    </span>
  );
}

/** The state of an exchange, as a tone and a word. */
export function toneOf(exchange: HttpExchangeFacts | undefined): { readonly tone: MarkTone; readonly word: string } {
  if (!exchange) return { tone: "pending", word: "" };
  const { request, response, aborted, timing } = exchange;
  if (response === undefined) return aborted === undefined ? { tone: "pending", word: "pending" } : { tone: "aborted", word: aborted };
  const word = String(response.status);
  // Its reason is a sentence.
  if (request.unparsed) return { tone: toneOfStatus(response.status), word };
  if (aborted !== undefined && !isEventStream(response.headers)) return { tone: "aborted", word: `${word}, ${aborted}` };
  if (timing.totalMs === undefined) return { tone: "running", word: `${word}, open` };
  return { tone: toneOfStatus(response.status), word };
}

/** A stream ends when its client disconnects, which is not a failure. */
export const isEventStream = (headers: HeaderList): boolean => mediaTypeOf(headerValue(headers, "content-type")) === "text/event-stream";

export function toneOfStatus(status: number): Tone {
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  return status >= 300 ? "neutral" : "ok";
}
