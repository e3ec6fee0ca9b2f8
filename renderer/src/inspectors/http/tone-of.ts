import type { HeaderList, HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import type { Tone } from "../../../../contract/traffic/row.ts";
import { mediaTypeOf } from "../../viewer/content-format.ts";
import { headerValue } from "./headers.ts";

/** How an exchange stands, in a tone and a word. */
export function toneOf(exchange: HttpExchangeFacts | undefined): { readonly tone: Tone; readonly word: string } {
  if (!exchange) return { tone: "pending", word: "" };
  const { response, aborted, timing } = exchange;
  if (response === undefined) return aborted === undefined ? { tone: "pending", word: "pending" } : { tone: "aborted", word: aborted };
  const word = String(response.status);
  if (aborted !== undefined && !isEventStream(response.headers)) return { tone: "aborted", word: `${word}, ${aborted}` };
  if (timing.totalMs === undefined) return { tone: "pending", word: `${word}, open` };
  return { tone: toneOfStatus(response.status), word };
}

/** Such an answer goes on until its client leaves: that is its end, not a mishap. */
export const isEventStream = (headers: HeaderList): boolean => mediaTypeOf(headerValue(headers, "content-type")) === "text/event-stream";

export function toneOfStatus(status: number): Tone {
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  return status >= 300 ? "neutral" : "ok";
}
