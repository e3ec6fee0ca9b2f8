import type { IceFindingCode } from "../../../contract/services/webrtc-ice-check.ts";

/** A first request without credentials gets 401, which is no error (RFC 8489 §9.2.1). Its count stands apart. */
export const unauthenticated = 1_401;
export const staleNonce = 438;

/** What the codes of refused allocations mean. */
export const allocateWords: Readonly<Record<number, string>> = {
  400: "a bad request",
  401: "wrong credentials",
  403: "forbidden",
  437: "there is an allocation for this address and port already",
  440: "there are no relays of that address family",
  441: "the allocation belongs to another user",
  442: "only UDP is relayed",
  486: "the user has as many allocations as it may have",
  500: "a fault of the server",
  508: "no port or no place is free",
};
/** The findings of those that have one of their own. */
export const allocateFindings: Readonly<Record<number, IceFindingCode>> = { 401: "wrong-credentials", 486: "over-quota" };
/** What to do about them. */
export const allocateAdvice: Readonly<Record<number, string>> = {
  401: "Use user name and credential of the newest welcome unchanged: they end after a time.",
  403: "Look for faults on demand that refuse allocations.",
  437: "Close connections that are no longer used, or wait until their allocations expire.",
  442: "Remove the transport from the request; transport=tcp in the address is for the way to the server.",
  486: "Close connections that are no longer used, or raise the quota in Config.",
  508: "Close connections that are no longer used, or widen the range of relay ports in Config.",
};
