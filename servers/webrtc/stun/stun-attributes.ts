/** Numbers of RFC 8489 (STUN) and RFC 8656 (TURN), as IANA registers them. */
export const stunMethods = {
  binding: 0x001,
  allocate: 0x003,
  refresh: 0x004,
  send: 0x006,
  data: 0x007,
  createPermission: 0x008,
  channelBind: 0x009,
} as const;

/** By the two class bits (RFC 8489 §5). */
export const stunClasses = ["request", "indication", "success", "error"] as const;
export type StunClass = (typeof stunClasses)[number];

export const stunAttributes = {
  mappedAddress: 0x0001,
  changeRequest: 0x0003,
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  unknownAttributes: 0x000a,
  channelNumber: 0x000c,
  lifetime: 0x000d,
  xorPeerAddress: 0x0012,
  data: 0x0013,
  realm: 0x0014,
  nonce: 0x0015,
  xorRelayedAddress: 0x0016,
  requestedAddressFamily: 0x0017,
  evenPort: 0x0018,
  requestedTransport: 0x0019,
  dontFragment: 0x001a,
  messageIntegritySha256: 0x001c,
  passwordAlgorithm: 0x001d,
  userhash: 0x001e,
  xorMappedAddress: 0x0020,
  reservationToken: 0x0022,
  additionalAddressFamily: 0x8000,
  addressErrorCode: 0x8001,
  passwordAlgorithms: 0x8002,
  icmp: 0x8004,
  software: 0x8022,
  fingerprint: 0x8028,
  /** ADDITIONAL-ADDRESS-FAMILY as clients of coturn 4.6 and older send it, by a draft of RFC 8656. */
  additionalAddressFamilyOfDraft: 0x8032,
} as const;

/** Attributes from here on are ignored by those that do not know them (RFC 8489 §14). */
export const firstOptionalAttribute = 0x8000;

/** RFC 8489 §18.5 */
export const passwordAlgorithmNumbers = { MD5: 1, "SHA-256": 2 } as const;
export type PasswordAlgorithm = keyof typeof passwordAlgorithmNumbers;

/** RFC 8489 §14.8, RFC 8656 §19, RFC 8445 §16.2 */
export const errorReasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthenticated",
  403: "Forbidden",
  420: "Unknown Attribute",
  437: "Allocation Mismatch",
  438: "Stale Nonce",
  440: "Address Family not Supported",
  441: "Wrong Credentials",
  442: "Unsupported Transport Protocol",
  443: "Peer Address Family Mismatch",
  486: "Allocation Quota Reached",
  487: "Role Conflict",
  500: "Server Error",
  508: "Insufficient Capacity",
};
