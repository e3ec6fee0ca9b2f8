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

/** Of its connection, and while it is away of the last one. */
export interface MqttConnectionFigures {
  readonly transport: "tcp" | "tls" | "ws" | "wss";
  readonly peer: string;
  /** 0 is none. */
  readonly keepAliveSeconds: number;
  readonly inflightLimit: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Without the figures of a connection where it had none since the start of this broker. */
export interface MqttClient extends Partial<MqttConnectionFigures> {
  readonly clientId: string;
  readonly connected: boolean;
  /** 3, 4 (3.1.1) or 5; of the last connection. */
  readonly version: number;
  readonly username?: string;
  /** When it connected, or when it left. */
  readonly since: number;
  /** 4294967295 is never. */
  readonly sessionExpirySeconds: number;
  readonly subscriptions: readonly MqttSubscription[];
  readonly subscriptionCount: number;
  readonly will?: { readonly topic: string; readonly qos: number; readonly retain: boolean; readonly delaySeconds: number };
  readonly queued: number;
  readonly queuedBytes: number;
  readonly queueLimit: number;
  readonly inflight: number;
  readonly dropped: number;
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
