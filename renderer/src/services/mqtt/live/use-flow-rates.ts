import { useEffect, useRef, useState } from "react";
import type { MqttFigures } from "../../../../../contract/services/mqtt.ts";

interface FlowRates {
  readonly inPerSecond: number;
  readonly outPerSecond: number;
}
const still: FlowRates = { inPerSecond: 0, outPerSecond: 0 };
/** The figures are not sent while nothing changes. */
const stillAfterMs = 2_500;
const leastWindowMs = 900;

/** Messages per second into and out of the broker, over the last second. */
export function useFlowRates(figures: MqttFigures | undefined): FlowRates {
  const [rates, setRates] = useState(still);
  const before = useRef<MqttFigures>(undefined);
  useEffect(() => {
    if (!figures) return;
    const from = before.current;
    const passedMs = figures.at - (from?.at ?? 0);
    if (!from || figures.messagesIn < from.messagesIn || passedMs > 4 * stillAfterMs) before.current = figures;
    else if (passedMs >= leastWindowMs) {
      const seconds = passedMs / 1_000;
      setRates({
        inPerSecond: (figures.messagesIn - from.messagesIn) / seconds,
        outPerSecond: Math.max(0, figures.messagesOut - from.messagesOut) / seconds,
      });
      before.current = figures;
    }
    const timer = setTimeout(() => setRates(still), stillAfterMs);
    return () => clearTimeout(timer);
  }, [figures]);
  return rates;
}
