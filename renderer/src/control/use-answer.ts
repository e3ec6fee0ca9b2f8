import { hashKey, keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Failure } from "../../../contract/service.ts";
import { readFailure } from "./failure-error.ts";

interface AnswerOptions<Value> {
  /** Key of the query; begins with the service's id if a service answers. */
  readonly key: readonly unknown[];
  readonly ask: () => Promise<Value>;
  /** False while it must not be requested. */
  readonly enabled?: boolean;
  /** Requested again when this changes, after the pending answer: requests never accumulate. */
  readonly version?: unknown;
  /** Shortest time between the last answer and a request for a new version; at least three times as long as that answer took. */
  readonly restMs?: number;
  /** Interval of repeated requests; a function computes it from the newest answer. */
  readonly everyMs?: number | false | ((newest: Value | undefined) => number | false);
  /** Shows the answer to the previous key until there is one to this. */
  readonly keepsPrevious?: boolean;
}

export interface Answer<Value> {
  /** The newest; it stays if a later request fails. */
  readonly value: Value | undefined;
  /** Why the newest request failed; a lost connection is shown by the frame. */
  readonly failure: Failure | undefined;
  /** The answer belongs to the current key. */
  readonly isCurrent: boolean;
  readonly isReading: boolean;
  /** Replaces the answer by that of another call. */
  set(value: Value): void;
  again(): unknown;
}

/** Slow requests are sent less often: the service has others to answer. */
const restPerMs = 3;

/** The answer to a call, kept up to date. */
export function useAnswer<Value>(options: AnswerOptions<Value>): Answer<Value> {
  const { key, ask, enabled = true, version, restMs = 0, everyMs = false, keepsPrevious = true } = options;
  const queries = useQueryClient();
  const restUntil = useRef(0);
  const query = useQuery({
    queryKey: key,
    queryFn: async () => {
      const startedAt = performance.now();
      try {
        return await ask();
      } finally {
        const endedAt = performance.now();
        restUntil.current = restMs === 0 ? 0 : endedAt + Math.max(restMs, restPerMs * (endedAt - startedAt));
      }
    },
    enabled,
    refetchInterval: typeof everyMs === "function" ? ({ state }) => everyMs(state.data as Value | undefined) : everyMs,
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
  const { isFetching, refetch } = query;
  const asked = useRef(version);
  useEffect(() => {
    if (!enabled || isFetching || asked.current === version) return;
    const timer = setTimeout(
      () => {
        asked.current = version;
        void refetch({ cancelRefetch: false });
      },
      Math.max(0, restUntil.current - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [enabled, isFetching, refetch, version]);
  // A retry clears the query's error: the reason stays on screen until there is an answer.
  const lastFailed = useRef<{ readonly key: string; readonly error: unknown }>(undefined);
  const keyText = hashKey(key);
  if (query.error) lastFailed.current = { key: keyText, error: query.error };
  else if (!isFetching || query.data !== undefined || lastFailed.current?.key !== keyText) lastFailed.current = undefined;
  const failure = lastFailed.current && readFailure(lastFailed.current.error);
  return {
    value: query.data as Value | undefined,
    failure,
    isCurrent: query.data !== undefined && !query.isPlaceholderData,
    isReading: isFetching,
    set: (value) => void queries.setQueryData(key, value),
    again: () => void refetch({ cancelRefetch: false }),
  };
}
