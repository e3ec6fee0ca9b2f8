/** One HTTP request and its answer, as the server saw both. */
import type { ConnectionHead } from "./connection.ts";
import type { PartHead, PartsSummary } from "./parts.ts";

/** Name and value, in the order and spelling in which they crossed the wire. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface HttpBody {
  /** Bytes that crossed the wire. */
  readonly bytes: number;
  /** The first bytes, base64; shorter than `bytes` where the recorder's limit cut it. */
  readonly base64: string;
  /** Set where values in `base64` were redacted: the number of bytes before that. */
  readonly hiddenIn?: number;
  /** Set where it was cut because so much of other bodies was kept at the time. */
  readonly overBudget?: boolean;
  /** Set where the exchange ended before all of it was read, as one that was refused by its head: what was read is `bytes`. */
  readonly isPart?: boolean;
}

/** The detail of a request to any service that speaks HTTP. */
export interface HttpExchange extends HttpExchangeFacts {
  readonly kind: "http";
  /** Of an event stream: the events that were sent. */
  readonly parts?: PartsSummary;
}

/** Times are milliseconds. */
export interface HttpExchangeFacts {
  readonly id: number;
  readonly at: number;
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly httpVersion: string;
    readonly headers: HeaderList;
    readonly trailers: HeaderList;
    readonly body: HttpBody;
    /** Of a request that could not be parsed: the bytes that arrived with its beginning. `headers` has the lines of it that can be read. */
    readonly unparsed?: HttpBody;
  };
  /** Absent where no answer was begun. */
  readonly response?: {
    readonly status: number;
    readonly reason: string;
    readonly headers: HeaderList;
    readonly body: HttpBody;
  };
  /** Why it ended early; absent after a complete answer. */
  readonly aborted?: string;
  /** Each one is absent until its phase is over. */
  readonly timing: {
    /** From the request's head to the last byte of its body. */
    readonly receiveMs?: number;
    /** From then to the answer's head. */
    readonly answerMs?: number;
    /** From then to the answer's last byte handed to the system. */
    readonly sendMs?: number;
    readonly totalMs?: number;
  };
  readonly connection: ConnectionHead & {
    /** Number of requests on this connection so far, this one included. */
    readonly requests: number;
  };
}

/** Server-sent events (WHATWG HTML §9.2): the stream is an HTTP exchange, each event a part of it. */
export interface SseEventPart extends PartHead {
  readonly kind: "sse-event";
  /** Bytes of the whole block on the wire. */
  readonly bytes: number;
  /** The block as it was sent, with the empty line that ends it; cut where it is longer than the limit. */
  readonly text: string;
}

/** Of the whole body of a request, also where a part of it came; undefined where nobody knows. */
export function wholeBytes({ body, headers }: Pick<HttpExchangeFacts["request"], "body" | "headers">): number | undefined {
  if (!body.isPart) return body.bytes;
  const announced = headerValue(headers, "content-length");
  return announced === "" ? undefined : Math.max(body.bytes, Number(announced));
}

export const headerValue = (headers: HeaderList, name: string): string =>
  headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? "";
