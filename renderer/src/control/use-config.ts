import { useQueries } from "@tanstack/react-query";
import type { ConfigView } from "../../../contract/config.ts";
import type { ServiceId } from "../../../contract/service.ts";
import { useControl } from "./client-context.tsx";
import type { ControlClient } from "./control-client.ts";
import { type Answer, useAnswer } from "./use-answer.ts";

/** One key, so that all components share a service's configuration. */
const configOf = (client: ControlClient, id: ServiceId) => ({ key: [id, "config"], ask: () => client.call("config.read", { id }) });

/** A service's configuration; requested again when `version` changes. */
export function useConfig(id: ServiceId, version?: unknown): Answer<ConfigView> {
  return useAnswer({ ...configOf(useControl(), id), version, keepsPrevious: false });
}

/** The configurations of several services, in their order; undefined for one that does not answer. */
export function useConfigs(ids: readonly ServiceId[], enabled: boolean): readonly (ConfigView | undefined)[] {
  const client = useControl();
  return useQueries({
    queries: ids.map((id) => {
      const { key, ask } = configOf(client, id);
      return { queryKey: key, queryFn: ask, enabled };
    }),
  }).map(({ data }) => data);
}
