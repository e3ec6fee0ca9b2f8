import { useEffect, useState } from "react";
import type { GrpcMethodCalls, GrpcViews } from "../../../../../contract/services/grpc.ts";
import { useSuccessive } from "../../../control/use-successive.ts";

type Calls = GrpcViews["calls"];

export interface CallRate extends Omit<GrpcMethodCalls, "path"> {
  readonly callsPerSecond: number;
  readonly errorsPerSecond: number;
}

interface RatedCalls {
  readonly at: Calls;
  readonly rates: ReadonlyMap<string, CallRate>;
}

const none: ReadonlyMap<string, CallRate> = new Map();

/** The counts are not sent while nothing changes. */
const stillAfterMs = 2_500;

/** Rates between two views, without the quiet seconds in which none was sent; without an earlier one of the same run they are 0. */
export function callRates(newest: Calls, before: Calls | undefined): ReadonlyMap<string, CallRate> {
  const seconds = before && newest.since !== undefined ? (newest.at - Math.max(before.at, newest.since)) / 1_000 : 0;
  const isComparable = seconds > 0 && seconds * 1_000 <= 4 * stillAfterMs;
  const earlier = new Map(before?.methods.map((method) => [method.path, method]));
  return new Map(
    newest.methods.map(({ path, ...counts }) => {
      const from = earlier.get(path) ?? { begun: 0, errors: 0 };
      const rate = (now: number, then: number) => (isComparable ? Math.max(0, now - then) / seconds : 0);
      return [path, { ...counts, callsPerSecond: rate(counts.begun, from.begun), errorsPerSecond: rate(counts.errors, from.errors) }];
    }),
  );
}

/** Those of the view before stay until the rates of the newest one are known; they are 0 where no further view came, or none before. */
export function shownRates(calls: Calls, known: RatedCalls | undefined, stillAt: Calls | undefined): ReadonlyMap<string, CallRate> {
  return known && known.at !== stillAt ? known.rates : callRates(calls, undefined);
}

/** Calls and errors a second by method, over the last second. */
export function useCallRates(calls: Calls | undefined): ReadonlyMap<string, CallRate> {
  const known = useSuccessive(calls, (before: RatedCalls | undefined, newest) => ({ at: newest, rates: callRates(newest, before?.at) }));
  const [stillAt, setStillAt] = useState<Calls>();
  useEffect(() => {
    const timer = setTimeout(() => setStillAt(calls), stillAfterMs);
    return () => clearTimeout(timer);
  }, [calls]);
  return calls ? shownRates(calls, known, stillAt) : none;
}
