import type { MqttDelivery } from "../../../contract/traffic/mqtt.ts";
import type { DropReason } from "../engine/routing/message.ts";

/** What became of a recorded message at one client. */
export interface NotedDelivery {
  readonly clientId: string;
  readonly qos: number;
  readonly afterMicros: number;
  /** -1 while it is awaited. */
  acknowledgedAfterMicros: number;
  reason: number;
  dropped: DropReason | undefined;
  readonly asRetained: boolean;
}

export const describeDelivery = ({
  clientId,
  qos,
  afterMicros,
  acknowledgedAfterMicros,
  reason,
  dropped,
  asRetained,
}: NotedDelivery): MqttDelivery => ({
  clientId,
  qos,
  afterMs: afterMicros / 1_000,
  ...(acknowledgedAfterMicros >= 0 && { acknowledgedAfterMs: acknowledgedAfterMicros / 1_000 }),
  ...(reason > 0 && { reason }),
  ...(dropped && { dropped }),
  ...(asRetained && { asRetained }),
});
