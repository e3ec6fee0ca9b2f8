import { useEffect, useMemo, useState } from "react";
import { type ContentLayout, type LayoutRequest, layOutContent } from "./layout/content-layout.ts";
import { layOutHex } from "./layout/hex-lines.ts";

/** Smaller content is laid out here: that takes less time than posting it to the worker. */
const atOnceBytes = 16 * 1_024;
/** A layout that takes longer is cancelled; the content may be an attack. */
const budgetMs = 10_000;
const progressAfterMs = 1_000;
/** Shown when the budget is used up. */
const shortBytes = 16 * 1_024;

export interface ContentLayoutState {
  /** Undefined while the first one is being made. */
  readonly laidOut: ContentLayout | undefined;
  /** It takes long enough for the page to say so. */
  readonly isSlow: boolean;
}

const sizeOf = ({ bytes, before }: LayoutRequest): number => bytes.length + (before?.bytes.length ?? 0);

/** Lays content out, in a worker where it is large. The request has to keep its identity between renders. */
export function useContentLayout(request: LayoutRequest): ContentLayoutState {
  const atOnce = useMemo(() => (sizeOf(request) <= atOnceBytes ? layOutContent(request) : undefined), [request]);
  const [made, setMade] = useState<{ readonly request: LayoutRequest; readonly laidOut: ContentLayout }>();
  const [slow, setSlow] = useState<LayoutRequest>();
  useEffect(() => {
    if (atOnce) return;
    const worker = new Worker(new URL("./layout/layout-worker.ts", import.meta.url), { type: "module" });
    const slowTimer = setTimeout(() => setSlow(request), progressAfterMs);
    const stop = () => {
      clearTimeout(slowTimer);
      clearTimeout(budgetTimer);
      worker.terminate();
    };
    const finish = (laidOut: ContentLayout) => {
      stop();
      setMade({ request, laidOut });
    };
    const giveUp = (problem: string) => {
      const start = request.bytes.subarray(0, shortBytes);
      finish({ ...layOutHex(start, request.bytesInLine), format: "hex", problem });
    };
    const budgetTimer = setTimeout(() => giveUp("laying it out took too long: the first bytes are shown"), budgetMs);
    worker.onmessage = ({ data }: MessageEvent<ContentLayout>) => finish(data);
    worker.onerror = () => giveUp("it could not be laid out: the first bytes are shown");
    worker.postMessage(request);
    return stop;
  }, [request, atOnce]);
  // The previous layout stays until there is a new one, but not for long: it shows other content.
  const isSlow = !atOnce && slow === request && made?.request !== request;
  return { laidOut: atOnce ?? (isSlow ? undefined : made?.laidOut), isSlow };
}
