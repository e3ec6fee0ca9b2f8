import { useEffect, useState } from "react";
import { failureOf } from "../../control/failure-error.ts";
import { notifyFailure } from "../../ui/notify.tsx";

export interface AccountPage<Row> {
  readonly rows: readonly Row[];
  readonly matching: number;
}

interface AccountListOptions<Row> {
  /** What the service tells unasked: the first rows of all. */
  readonly told: AccountPage<Row> | undefined;
  /** What is looked for, as a text that differs where it differs; empty for all. */
  readonly query: string;
  readonly read: (offset: number, limit: number) => Promise<AccountPage<Row>>;
  readonly running: boolean;
}

/** As many as the service tells unasked, and as one call may ask for. */
const pageRows = 100;
const askAfterMs = 120;

/** A list as the service tells it, and further pages or a filtered list by asking, anew with each change that it tells. */
export function useAccountList<Row>({ told, query, read, running }: AccountListOptions<Row>) {
  const [pages, setPages] = useState(1);
  const [asked, setAsked] = useState<{ readonly of: string; readonly page: AccountPage<Row> }>();
  const mustAsk = running && (query !== "" || pages > 1);
  const of = `${query}\n${pages}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `told` is the signal that something changed; `read` is new with every drawing.
  useEffect(() => {
    if (!mustAsk) return;
    let wanted = true;
    const timer = setTimeout(async () => {
      try {
        const parts = await Promise.all(Array.from({ length: pages }, (_, index) => read(index * pageRows, pageRows)));
        if (wanted) setAsked({ of, page: { rows: parts.flatMap((part) => part.rows), matching: parts[0]?.matching ?? 0 } });
      } catch (error) {
        // The frame tells of a lost connection.
        if (wanted && failureOf(error).code !== "CONNECTION_LOST") notifyFailure(error);
      }
    }, askAfterMs);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [mustAsk, of, told]);

  // Until the answer is there, what is shown stays, but for a list that was told already.
  const isAnswered = mustAsk && asked?.of.startsWith(`${query}\n`);
  const page = asked && (isAnswered || query !== "") ? asked.page : told;
  const loadMore = () => {
    if (page && page.rows.length < page.matching && page.rows.length >= pages * pageRows) setPages(pages + 1);
  };
  return { page, loadMore, firstPages: () => setPages(1) };
}
