import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useAnswer } from "../../control/use-answer.ts";

export interface AccountPage<Row> {
  readonly rows: readonly Row[];
  readonly matching: number;
}

interface AccountListOptions<Row> {
  /** "users" or "sessions". */
  readonly name: string;
  /** The first rows of the unfiltered list, which the service publishes. */
  readonly pushed: AccountPage<Row> | undefined;
  /** Identifies the filter; empty for all. */
  readonly query: string;
  readonly read: (offset: number, limit: number) => Promise<AccountPage<Row>>;
  readonly running: boolean;
}

/** Number of rows that the service publishes, and most rows of one call. */
const pageRows = 100;
const typingMs = 120;

/** A list as the service publishes it; further pages and filtered lists are requested, and again with each change. */
export function useAccountList<Row>({ name, pushed, query, read, running }: AccountListOptions<Row>) {
  const [pages, setPages] = useState(1);
  const [settled] = useDebouncedValue(query, typingMs);
  const isAsked = query !== "" || pages > 1;
  const answer = useAnswer({
    key: ["account", name, settled, pages],
    ask: async () => {
      const parts = await Promise.all(Array.from({ length: pages }, (_, index) => read(index * pageRows, pageRows)));
      return { rows: parts.flatMap((part) => part.rows), matching: parts[0]?.matching ?? 0 };
    },
    enabled: running && isAsked && settled === query,
    version: pushed,
  });
  const failure = isAsked ? answer.failure : undefined;
  // The shown rows stay until there is an answer.
  const page = isAsked ? (answer.value ?? (failure ? undefined : pushed)) : pushed;
  const loadMore = () => {
    if (page && page.rows.length < page.matching && page.rows.length >= pages * pageRows) setPages(pages + 1);
  };
  return { answer: { value: page, failure, isReading: answer.isReading, again: answer.again }, loadMore, firstPages: () => setPages(1) };
}
