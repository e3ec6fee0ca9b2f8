/** What the codes mean here (RFC 8489 §14.8, RFC 8656 §19), each with its standard phrase first. */
const meanings: Readonly<Record<number, string>> = {
  300: "Try alternate: another server is to be used.",
  400: "Bad request: the message is not what its method needs.",
  401: "Unauthenticated: without credentials, which the answer asks for, or with wrong ones.",
  403: "Forbidden: this peer is not among those that relays may reach. Config has the list.",
  420: "Unknown attribute: the request has one that must be understood, and is not.",
  437: "Allocation mismatch: this address and port have an allocation already, or have none.",
  438: "Stale nonce: the client repeats the request with the new nonce of the answer.",
  440: "Address family not supported: there are no relays of this family.",
  441: "Wrong credentials: the allocation belongs to another user.",
  442: "Unsupported transport: only UDP is relayed.",
  443: "Peer address family mismatch: the allocation has no relay of this family.",
  486: "Allocation quota reached: the user has as many as it may have.",
  500: "Server error.",
  508: "Insufficient capacity: no port or no place is free.",
};

export const turnErrorMeaning = (code: number): string | undefined => meanings[code];

/** `RTCPeerConnectionIceErrorEvent.errorCode` of a server from which no answer came. */
const unreachable = 701;

/** A failure of a browser's request to a server of STUN or TURN: "TURN over TCP at 127.0.0.1:3478 refused the allocation: 486, …". */
export function candidateErrorText({ url, code, text }: { readonly url: string; readonly code: number; readonly text: string }): string {
  const [, scheme = "", address = url] = /^(\w+):([^?]*)/.exec(url) ?? [];
  const over = scheme === "turns" ? "TLS" : url.includes("transport=tcp") ? "TCP" : "UDP";
  const server = `${scheme.startsWith("turn") ? "TURN" : "STUN"} over ${over} at ${address}`;
  if (code === unreachable) {
    const why = over === "TLS" ? "the port is blocked, or the browser does not trust the certificate" : "the port is closed or blocked";
    return `no answer of ${server}: ${why}${text === "" ? "" : ` (${text.replace(/\.$/, "")})`}`;
  }
  const meaning = code === 401 ? "Unauthenticated: its credentials are wrong or have ended." : turnErrorMeaning(code);
  return `${server} refused the allocation with ${code}, ${(meaning ?? text).replace(/^./, (letter) => letter.toLowerCase()).replace(/\.$/, "")}`;
}
