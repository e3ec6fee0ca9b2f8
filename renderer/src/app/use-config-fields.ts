import { useState } from "react";
import type { ConfigField } from "../../../contract/config.ts";
import type { ServiceView } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";

export interface ServiceFields {
  readonly service: ServiceView;
  readonly fields: readonly ConfigField[];
}

/** The configuration fields of services, as last read; a service that does not answer is left out. */
export function useConfigFields() {
  const client = useControl();
  const [known, setKnown] = useState<readonly ServiceFields[]>([]);
  const read = async (services: readonly ServiceView[]): Promise<void> => {
    const answers = await Promise.allSettled(
      services.map(async (service) => ({ service, fields: (await client.call("config.read", { id: service.id })).fields })),
    );
    setKnown(answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : [])));
  };
  return [known, read] as const;
}
