import { useEffect, useState } from "react";
import type { Failure, ServiceId } from "../../../../contract/service.ts";
import type { HttpExchange } from "../../../../contract/traffic/http.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";

export type ExchangeState =
  | { readonly state: "reading" }
  | { readonly state: "found"; readonly exchange: HttpExchange }
  /** It has left the ring. */
  | { readonly state: "gone" }
  | { readonly state: "failed"; readonly failure: Failure };

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
        (detail): ExchangeState => (detail === null ? { state: "gone" } : { state: "found", exchange: detail as HttpExchange }),
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
