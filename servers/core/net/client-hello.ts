/** RFC 8446 §5.1: the type of a record with handshake messages. No method of HTTP begins with it. */
export const handshakeRecord = 0x16;

/** The bytes begin with a record of a handshake of any version of TLS (RFC 8446 §5.1). */
export const isTls = (bytes: Uint8Array): boolean => bytes[0] === handshakeRecord && bytes[1] === 3;
const recordHeadBytes = 5;
const messageHeadBytes = 4;
/** Those of browsers have 2 KiB. */
const mostBytes = 16_384;
/** Clients that ask for short records have 512 bytes in each (RFC 6066 §4). */
const mostRecords = 64;

/**
 * Whether the first bytes of a client have the whole first message of TLS, which may be in several records (RFC 8446 §5.1): OpenSSL begins to
 * work when it is complete. Undefined while bytes are missing; "refused" for what is too large, or is no beginning in TLS. "complete" also for what
 * another protocol may begin with: OpenSSL says what it is.
 */
export function clientHelloState(bytes: Buffer): "complete" | "refused" | undefined {
  const type = bytes[0];
  if (type === undefined) return undefined;
  if (type !== handshakeRecord) {
    // Alerts and the like, after which a ClientHello could follow, and the form of SSL 2.0 (RFC 5246 appendix E.2).
    const mayGoOn = (type >= 0x14 && type <= 0x18) || type >= 0x80;
    return mayGoOn ? "refused" : "complete";
  }
  let needed: number | undefined;
  let found = 0;
  let records = 0;
  for (let at = 0; at + recordHeadBytes <= bytes.length; ) {
    if (bytes[at] !== handshakeRecord || ++records > mostRecords) return "refused";
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0) return "refused";
    // The head of the message may be cut too: such a client is none that is known.
    if (needed === undefined) {
      if (length < messageHeadBytes) return "refused";
      if (bytes.length < at + recordHeadBytes + messageHeadBytes) return undefined;
      needed = messageHeadBytes + bytes.readUIntBE(at + recordHeadBytes + 1, 3);
      if (needed > mostBytes) return "refused";
    }
    at += recordHeadBytes + length;
    if (at > bytes.length) return undefined;
    found += length;
    if (found >= needed) return "complete";
  }
  return undefined;
}
