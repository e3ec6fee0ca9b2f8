/** What the inspector wants to hear of the deliveries of one message. */
export interface DeliveryTrace {
  delivered(clientId: string, qos: number): void;
  acknowledged(clientId: string, reason: number): void;
  /** To a subscription that came later. */
  sentAsRetained(clientId: string, qos: number): void;
  acknowledgedAsRetained(clientId: string, reason: number): void;
  dropped(clientId: string, why: DropReason): void;
}

export type DropReason =
  /** QoS 0 to a client that reads too slowly. */
  | "slow reader"
  | "queue full"
  | "expired"
  /** Larger than the client takes. */
  | "too large"
  | "session ended";
