import { useEffect, useEffectEvent } from "react";
import type { Topic } from "../../../contract/control.ts";
import { useControl } from "./client-context.tsx";
import type { Batch, TopicListener } from "./control-client.ts";

/** Listens while mounted; the listener may close over fresh values without a new subscription. No topic, no subscription. */
export function useTopic<T extends Topic>(topic: T | undefined, listener: TopicListener<T>): void {
  const client = useControl();
  const onBatch = useEffectEvent((batch: Batch<never>) => listener(batch));
  useEffect(() => (topic === undefined ? undefined : client.subscribe(topic, (batch) => onBatch(batch as Batch<never>))), [client, topic]);
}
