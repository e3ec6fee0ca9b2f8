import { useEffect, useState } from "react";
import type { Failure, ServiceId } from "../../../../contract/service.ts";
import type { Detail } from "../../../../contract/traffic/detail.ts";
import type { HttpExchange } from "../../../../contract/traffic/http.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";

export type ExchangeState =
  | { readonly state: "reading" }
  | { readonly state: "found"; readonly exchange: HttpExchange }
  /** It has left the ring. */
  | { readonly state: "gone" }
  | { readonly state: "failed"; readonly failure: Failure };

function found(detail: Detail | null): ExchangeState {
  switch (detail?.kind) {
    case "http":
      return { state: "found", exchange: detail };
    case "websocket":
      return { state: "found", exchange: { ...detail, kind: "http" } };
    case "websocket-message": {
      const { id, at, type, body, tookMs } = detail;
      const head = { httpVersion: "1.1", headers: [], trailers: [] };
      const connection = { id: 0, remote: "", local: "", requests: 0, openedAt: at };
      const timing = tookMs === undefined ? {} : { totalMs: tookMs };
      return {
        state: "found",
        exchange: { kind: "http", id, at, request: { method: type, target: "", ...head, body }, timing, connection },
      };
    }
    default:
      return { state: "gone" };
  }
}

const againAfterMs = 2_000;

/** The whole exchange behind a row; `version` changes when the row does, and while it is pending it is asked for again. */
export function useExchange(service: ServiceId, row: number, version: string, pending: boolean): ExchangeState {
  const client = useControl();
  const [known, setKnown] = useState<{ readonly row: number; readonly state: ExchangeState }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed row has changed details.
  useEffect(() => {
    let wanted = true;
    const read = async () => {
      const state = await client.call("traffic.detail", { id: service, row }).then(
        (detail): ExchangeState => found(detail),
        (error: unknown): ExchangeState => ({ state: "failed", failure: failureOf(error) }),
      );
      if (wanted) setKnown({ row, state });
    };
    void read();
    const timer = pending ? setInterval(read, againAfterMs) : undefined;
    return () => {
      wanted = false;
      clearInterval(timer);
    };
  }, [client, service, row, version, pending]);
  // The answer takes a few milliseconds: what was shown stays until then, so that walking through rows does not flicker.
  return known?.state ?? { state: "reading" };
}
