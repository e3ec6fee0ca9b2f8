import { useEffect, useState } from "react";
import { useControl } from "../../control/client-context.tsx";
import { useService } from "../../control/use-store.ts";

/** Whether the broker takes clients without a name; undefined until that is known. */
export function useAnonymous(): boolean | undefined {
  const client = useControl();
  const service = useService("mqtt");
  const [anonymous, setAnonymous] = useState<boolean>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a start takes over what was configured.
  useEffect(() => {
    let isWanted = true;
    client.call("config.read", { id: "mqtt" }).then(
      ({ fields }) => isWanted && setAnonymous(fields.find(({ name }) => name === "anonymous")?.value === true),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [client, service?.status.state]);
  return anonymous;
}
