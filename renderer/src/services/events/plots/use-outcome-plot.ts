import { useRef } from "react";
import { type EventFilter, eventsActions, type OutcomePlot } from "../../../../../contract/services/events.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import type { ShownFilter } from "../event-filter.ts";

const restMs = 1_000;
/** No event arrived, but time has passed. */
const idleMs = 15_000;
/** Events wait to be counted. */
const behindMs = 50;

export interface OutcomePlots {
  readonly plot: OutcomePlot;
  /** Over all languages and providers. */
  readonly acceptance: OutcomePlot;
}

/** The plots' figures for the filter, updated while events arrive; `version` changes with new data. */
export function useOutcomePlot(options: {
  readonly filter: ShownFilter;
  readonly version: string;
  readonly held: boolean;
}): Answer<OutcomePlots> {
  const { filter, version, held } = options;
  const client = useControl();
  const { range, device, language, provider } = filter;
  const text = filter.text.trim();
  const heldVersion = useRef(version);
  if (!held) heldVersion.current = version;
  const behind = useRef(0);
  return useAnswer<OutcomePlots>({
    key: ["events", "plot", range, device, language, provider, text],
    ask: async () => {
      // Without the outcome: it chooses among the series, and acceptance is a share of all of them.
      const whole: EventFilter = { ...(device && { device_id: device }), ...(text && { text }) };
      const only: EventFilter = { ...whole, ...(language && { language }), ...(provider && { provider }) };
      const plot = await client.action(eventsActions, "events", "plot", { range, filter: only });
      const acceptance = language || provider ? await client.action(eventsActions, "events", "plot", { range, filter: whole }) : plot;
      behind.current = plot.behind;
      return { plot, acceptance };
    },
    version: heldVersion.current,
    restMs,
    everyMs: () => (held ? false : behind.current > 0 ? behindMs : idleMs),
  });
}
