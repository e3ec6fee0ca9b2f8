import { useEffect } from "react";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { useServices } from "../../control/use-store.ts";

/** Interval of the checks: the holder of a port can change at any time. */
const everyMs = 10_000;

/** Checks when shown, when the configured ports change, periodically, and when the window becomes visible again. */
export function usePortChecks() {
  const client = useControl();
  const ports = useServices()
    .map((service) => service.ports.join())
    .join(" ");
  const answer = useAnswer({
    key: ["port.check"],
    ask: () => client.call("port.check"),
    version: ports,
    everyMs,
  });
  useEffect(() => {
    addEventListener("focus", answer.again);
    return () => removeEventListener("focus", answer.again);
  });
  return answer;
}
