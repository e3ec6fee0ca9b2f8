import { useCallback, useEffect, useState } from "react";
import type { PortCheck } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import { useConnection, useServices } from "../../control/use-store.ts";

/** Checked when shown, when the configured ports change, and when the window is looked at again. */
export function usePortChecks() {
  const client = useControl();
  const open = useConnection().state === "open";
  const ports = useServices()
    .map((service) => service.ports.join())
    .join(" ");
  const [checks, setChecks] = useState<readonly PortCheck[]>();
  const check = useCallback(() => {
    // Without an answer the table simply says nothing about the ports.
    client.call("port.check").then(setChecks, () => setChecks(undefined));
  }, [client]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other ports ask for another check.
  useEffect(() => {
    if (!open) return;
    check();
    addEventListener("focus", check);
    return () => removeEventListener("focus", check);
  }, [check, open, ports]);
  return { checks, check };
}
