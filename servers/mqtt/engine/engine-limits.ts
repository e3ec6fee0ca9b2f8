/** What the engine allows; every queue is bounded by something here. */
export interface EngineLimits {
  /** Of a packet from a client. */
  readonly maximumPacketSize: number;
  /** Waiting messages of one session, with QoS 1 and 2. */
  readonly queueMessages: number;
  readonly queueBytes: number;
  /** Of all sessions' waiting messages together. */
  readonly allQueueBytes: number;
  /** Which message gives way when a queue is full. */
  readonly queuePolicy: "drop newest" | "drop oldest";
  /** Messages with QoS 1 and 2 sent to one client and not acknowledged; its own receive maximum may be lower. */
  readonly inflightMessages: number;
  /** What a client may have unacknowledged towards the broker (MQTT 5.0). */
  readonly receiveMaximum: number;
  readonly topicAliasMaximum: number;
  /** Bytes that a client may leave unread before QoS 0 is dropped for it and the rest waits. */
  readonly unreadBytes: number;
  /** Of all clients together: each may leave its part of it unread, but for the first 64 KiB. */
  readonly allUnreadBytes: number;
  readonly clients: number;
  /** Open connections, with those of clients that have not said yet who they are; more are closed at once. */
  readonly sockets: number;
  /** Of connected and absent clients. */
  readonly sessions: number;
  /** Of one client. */
  readonly subscriptions: number;
  /** Of a topic and of a filter. */
  readonly topicLevels: number;
  readonly connectTimeoutMs: number;
  /** 0: whatever the client asks for. */
  readonly keepAliveSeconds: number;
  readonly sessionExpirySeconds: number;
  readonly retainedMessages: number;
  readonly retainedBytes: number;
  /** Of each client; 0 is no limit. Faster ones are read more slowly. */
  readonly messagesPerSecond: number;
  /** Given to clients that ask for it; %c is the client identifier. Empty: none. */
  readonly responseInformation: string;
  /** MQTT 5.0: say in words what was wrong. */
  readonly reasonStrings: boolean;
}

/** Deeper filters and topics stand in lists beside the trees of levels: a level takes memory, and a topic may have 65,535. */
export const treeLevels = 100;
/** MQTT 5.0 §3.1.2.11.2: a session that never expires. */
export const neverExpires = 0xffff_ffff;
