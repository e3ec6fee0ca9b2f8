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
  /** The first rows of all, which the service publishes. */
  readonly pushed: AccountPage<Row> | undefined;
  /** A text that differs where what is looked for differs; empty for all. */
  readonly query: string;
  readonly read: (offset: number, limit: number) => Promise<AccountPage<Row>>;
  readonly running: boolean;
}

/** As many as the service publishes, and as one call may ask for. */
const pageRows = 100;
const typingMs = 120;

/** A list as the service publishes it; further pages and filtered lists are asked for, and again with each change. */
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
  // Until there is an answer, what is shown stays.
  const page = isAsked ? (answer.value ?? (failure ? undefined : pushed)) : pushed;
  const loadMore = () => {
    if (page && page.rows.length < page.matching && page.rows.length >= pages * pageRows) setPages(pages + 1);
  };
  return { answer: { value: page, failure, isReading: answer.isReading, again: answer.again }, loadMore, firstPages: () => setPages(1) };
}
