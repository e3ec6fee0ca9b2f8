import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Failure } from "../../../contract/service.ts";
import { failureOf } from "./failure-error.ts";

interface AnswerOptions<Value> {
  /** What is asked; begins with the service's id where one answers. */
  readonly key: readonly unknown[];
  readonly ask: () => Promise<Value>;
  /** False while it must not be asked. */
  readonly enabled?: boolean;
  /** Asked again when this differs, after the answer that is under way: questions never pile up. */
  readonly version?: unknown;
  /** Asked again after so long. */
  readonly everyMs?: number | false;
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
  again(): void;
}

/** The answer to a call, and its renewal. */
export function useAnswer<Value>(options: AnswerOptions<Value>): Answer<Value> {
  const { key, ask, enabled = true, version, everyMs = false, keepsPrevious = true } = options;
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: key,
    queryFn: ask,
    enabled,
    refetchInterval: everyMs,
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
  const { isFetching, refetch } = query;
  const asked = useRef(version);
  useEffect(() => {
    if (!enabled || isFetching || asked.current === version) return;
    asked.current = version;
    void refetch();
  }, [enabled, isFetching, refetch, version]);
  const failure = query.error ? failureOf(query.error) : undefined;
  return {
    value: query.data as Value | undefined,
    failure: failure?.code === "CONNECTION_LOST" ? undefined : failure,
    isCurrent: query.data !== undefined && !query.isPlaceholderData,
    isReading: isFetching,
    set: (value) => void queries.setQueryData(key, value),
    again: () => void refetch(),
  };
}
