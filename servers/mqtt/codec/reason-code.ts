/** MQTT 5.0 §2.4. */
export const reasonCode = {
  success: 0x00,
  grantedQos1: 0x01,
  grantedQos2: 0x02,
  disconnectWithWill: 0x04,
  noMatchingSubscribers: 0x10,
  noSubscriptionExisted: 0x11,
  continueAuthentication: 0x18,
  reAuthenticate: 0x19,
  unspecifiedError: 0x80,
  malformedPacket: 0x81,
  protocolError: 0x82,
  implementationSpecificError: 0x83,
  unsupportedProtocolVersion: 0x84,
  clientIdentifierNotValid: 0x85,
  badUserNameOrPassword: 0x86,
  notAuthorized: 0x87,
  serverUnavailable: 0x88,
  serverBusy: 0x89,
  banned: 0x8a,
  serverShuttingDown: 0x8b,
  badAuthenticationMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  sessionTakenOver: 0x8e,
  topicFilterInvalid: 0x8f,
  topicNameInvalid: 0x90,
  packetIdentifierInUse: 0x91,
  packetIdentifierNotFound: 0x92,
  receiveMaximumExceeded: 0x93,
  topicAliasInvalid: 0x94,
  packetTooLarge: 0x95,
  messageRateTooHigh: 0x96,
  quotaExceeded: 0x97,
  administrativeAction: 0x98,
  payloadFormatInvalid: 0x99,
  retainNotSupported: 0x9a,
  qosNotSupported: 0x9b,
  useAnotherServer: 0x9c,
  serverMoved: 0x9d,
  sharedSubscriptionsNotSupported: 0x9e,
  connectionRateExceeded: 0x9f,
  maximumConnectTime: 0xa0,
  subscriptionIdentifiersNotSupported: 0xa1,
  wildcardSubscriptionsNotSupported: 0xa2,
} as const;
export type ReasonCode = (typeof reasonCode)[keyof typeof reasonCode];

/** MQTT 3.1.1 §3.2.2.3. */
export const connectReturnCode = {
  accepted: 0,
  unacceptableProtocolVersion: 1,
  identifierRejected: 2,
  serverUnavailable: 3,
  badUserNameOrPassword: 4,
  notAuthorized: 5,
} as const;

const names = new Map<number, string>(
  Object.entries(reasonCode).map(([name, code]) => [code, name.replace(/[A-Z]|\d+/g, (part) => ` ${part.toLowerCase()}`)]),
);

/** Readable text of a reason: "session taken over". */
export const reasonName = (code: number): string => names.get(code) ?? `reason 0x${code.toString(16).padStart(2, "0")}`;

/** The peer violated the standard; `reason` is MQTT 5.0's reason code. */
export class PacketError extends Error {
  override readonly name = "PacketError";
  readonly reason: ReasonCode;

  constructor(reason: ReasonCode, message: string) {
    super(message);
    this.reason = reason;
  }
}
