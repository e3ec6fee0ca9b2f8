import { useEffect, useEffectEvent, useRef, useState } from "react";
import { type EventFilter, eventsActions, type OutcomePlot } from "../../../../contract/services/events.ts";
import { useControl } from "../../control/client-context.tsx";
import type { ShownFilter } from "./event-filter.ts";

const againMs = 1_000;
/** Nothing came, but time passed. */
const idleMs = 15_000;

interface OutcomePlots {
  readonly plot: OutcomePlot | undefined;
  /** Over all languages and providers. */
  readonly acceptance: OutcomePlot | undefined;
}

/** The plots' figures for the filter, renewed while events come; `version` changes when there is something new. */
export function useOutcomePlot(options: { readonly filter: ShownFilter; readonly version: string; readonly held: boolean }): OutcomePlots {
  const { filter, version, held } = options;
  const client = useControl();
  const [plots, setPlots] = useState<OutcomePlots>({ plot: undefined, acceptance: undefined });
  const { range, device, language, provider } = filter;
  const text = filter.text.trim();
  /** What is asked; an answer to another question is not shown. */
  const asked = useRef("");
  const busyUntil = useRef(0);
  const question = JSON.stringify([range, device, language, provider, text]);

  const read = useEffectEvent(async () => {
    // Without the outcome: it chooses among the series, and acceptance is a share of all of them.
    const whole: EventFilter = { ...(device && { device_id: device }), ...(text && { text }) };
    const only: EventFilter = { ...whole, ...(language && { language }), ...(provider && { provider }) };
    const startedAt = performance.now();
    const plot = await client.action(eventsActions, "events", "plot", { range, filter: only }).catch(() => undefined);
    const acceptance =
      language || provider ? await client.action(eventsActions, "events", "plot", { range, filter: whole }).catch(() => undefined) : plot;
    busyUntil.current = performance.now() + Math.max(againMs, 3 * (performance.now() - startedAt));
    if (asked.current === question && plot) setPlots({ plot, acceptance });
    return plot?.behind ?? 0;
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that there is something new to read.
  useEffect(() => {
    if (held && asked.current === question) return;
    const waitMs = asked.current === question ? Math.max(0, busyUntil.current - performance.now()) : 0;
    asked.current = question;
    let timer = setTimeout(again, waitMs);
    let wanted = true;
    async function again() {
      const behind = await read();
      if (wanted) timer = setTimeout(again, behind > 0 ? 50 : idleMs);
    }
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [question, version, held]);
  return plots;
}
