import { hashKey, keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Failure } from "../../../contract/service.ts";
import { readFailure } from "./failure-error.ts";

interface AnswerOptions<Value> {
  /** What is asked; begins with the service's id where one answers. */
  readonly key: readonly unknown[];
  readonly ask: () => Promise<Value>;
  /** False while it must not be asked. */
  readonly enabled?: boolean;
  /** Asked again when this differs, after the answer that is under way: questions never pile up. */
  readonly version?: unknown;
  /** With another version at the earliest so long after the last answer, and three times as long as that took. */
  readonly restMs?: number;
  /** Asked again after so long, by the newest answer where it is a function. */
  readonly everyMs?: number | false | ((newest: Value | undefined) => number | false);
  /** Shows the answer to the key before until there is one to this. */
  readonly keepsPrevious?: boolean;
}

export interface Answer<Value> {
  /** The newest; it stays where asking again fails. */
  readonly value: Value | undefined;
  /** Why the newest question was not answered; a lost connection is shown by the frame. */
  readonly failure: Failure | undefined;
  /** It answers the present key. */
  readonly isCurrent: boolean;
  readonly isReading: boolean;
  /** Puts in what another call answered. */
  set(value: Value): void;
  again(): unknown;
}

/** A slow question is asked the more seldom: whoever answers has others to answer. */
const restPerMs = 3;

/** The answer to a call, and its renewal. */
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
  // Asked again after a failure, the query forgets why: the reason stays on screen until there is an answer.
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
