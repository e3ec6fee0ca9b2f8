/** RFC 6455 §7.4.1 and the registry of IANA. */
export const closeCode = {
  normal: 1_000,
  goingAway: 1_001,
  protocolError: 1_002,
  unsupportedData: 1_003,
  noStatus: 1_005,
  abnormal: 1_006,
  invalidData: 1_007,
  policy: 1_008,
  tooBig: 1_009,
  internalError: 1_011,
  tryAgain: 1_013,
} as const;
