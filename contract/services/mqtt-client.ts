/** A client of the broker: its connection, session, queue and rates. */

export interface MqttSubscription {
  readonly filter: string;
  readonly qos: number;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: number;
  /** 0 without. */
  readonly identifier: number;
}

export interface MqttClient {
  readonly clientId: string;
  readonly connected: boolean;
  /** 3, 4 (3.1.1) or 5; of the last connection. */
  readonly version: number;
  readonly username?: string;
  readonly transport?: "tcp" | "tls" | "ws" | "wss";
  readonly peer?: string;
  /** When it connected, or when it left. */
  readonly since: number;
  readonly keepAliveSeconds: number;
  /** 4294967295 is never. */
  readonly sessionExpirySeconds: number;
  readonly subscriptions: readonly MqttSubscription[];
  readonly subscriptionCount: number;
  readonly will?: { readonly topic: string; readonly qos: number; readonly retain: boolean; readonly delaySeconds: number };
  readonly queued: number;
  readonly queuedBytes: number;
  readonly queueLimit: number;
  readonly inflight: number;
  readonly inflightLimit: number;
  readonly dropped: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Bytes that the client has not read yet. */
  readonly unreadBytes: number;
  /** Set while it is frozen or delayed from the page. */
  readonly activeFault?: { readonly how: "frozen" | "delayed"; readonly until: number };
}

export interface MqttClientPage {
  /** When it was read: rates are computed by this clock. */
  readonly at: number;
  readonly clients: readonly MqttClient[];
  readonly matching: number;
}
