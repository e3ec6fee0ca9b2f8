import { useEffect, useRef, useState } from "react";
import type { MqttFigures } from "../../../contract/mqtt.ts";

interface FlowRates {
  readonly inPerSecond: number;
  readonly outPerSecond: number;
}
const still: FlowRates = { inPerSecond: 0, outPerSecond: 0 };
/** The figures are not sent while nothing moves. */
const stillAfterMs = 2_500;
const leastWindowMs = 900;

/** Messages a second into and out of the broker, over the last second. */
export function useFlowRates(figures: MqttFigures | undefined): FlowRates {
  const [rates, setRates] = useState(still);
  const before = useRef<{ readonly at: number; readonly figures: MqttFigures }>(undefined);
  useEffect(() => {
    if (!figures) return;
    const now = performance.now();
    const from = before.current;
    if (!from || figures.messagesIn < from.figures.messagesIn || now - from.at > 4 * stillAfterMs) before.current = { at: now, figures };
    else if (now - from.at >= leastWindowMs) {
      const seconds = (now - from.at) / 1_000;
      setRates({
        inPerSecond: (figures.messagesIn - from.figures.messagesIn) / seconds,
        outPerSecond: Math.max(0, figures.messagesOut - from.figures.messagesOut) / seconds,
      });
      before.current = { at: now, figures };
    }
    const timer = setTimeout(() => setRates(still), stillAfterMs);
    return () => clearTimeout(timer);
  }, [figures]);
  return rates;
}
