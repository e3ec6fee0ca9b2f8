/** What Node's parser reports with a `clientError`. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** How far into the packet the parser came. */
  readonly bytesParsed?: number;
}

export interface Verdict {
  readonly status: number;
  readonly message: string;
}

export const otherVersion: Verdict = { status: 505, message: "Only HTTP/1.1 and HTTP/1.0 are spoken here" };

/** `bytes` begin with the malformed message, as far as they arrived together. */
export function malformedVerdict(error: ClientError, bytes: Buffer | undefined, maxHeaderBytes: number): Verdict {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      const lineEnd = bytes?.indexOf(10) ?? -1;
      // RFC 9112 §3: a request line longer than the server parses is 414.
      if (bytes && startsLikeRequest(bytes) && (lineEnd === -1 || lineEnd > maxHeaderBytes)) {
        return { status: 414, message: "The request target is too long" };
      }
      return { status: 431, message: `The header is larger than ${maxHeaderBytes} bytes` };
    }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, message: "The chunk extensions are too large" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request did not arrive in time" };
    case "HPE_INVALID_METHOD":
      // RFC 9110 §9.1: a method that is well-formed but unknown is 501.
      if (bytes && /^[!#$%&'*+.^`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/.test(bytes.toString("latin1", 0, 4_096))) {
        return { status: 501, message: "The method is not known here" };
      }
      break;
    case "HPE_PAUSED_H2_UPGRADE":
      return otherVersion;
    case "HPE_INVALID_VERSION":
      // The parser blames the version for whatever stands behind it, a lone LF too.
      if (isOtherVersion(bytes)) return otherVersion;
      break;
  }
  if (bytes && endsFirstLineWithLf(bytes)) {
    // RFC 9112 §2.2: LF alone may be taken for a line end; who does so reads other messages than a proxy before it.
    return { status: 400, message: "Malformed request: lines end with CRLF, not with LF alone" };
  }
  const detail = error.reason ?? error.message.replace(/^Parse Error:?\s*/, "");
  return { status: 400, message: `Malformed request${detail ? `: ${detail}` : ""}` };
}

const startsLikeRequest = (bytes: Buffer) => /^[A-Z]+ \S/.test(bytes.toString("latin1", 0, 40));

function isOtherVersion(bytes: Buffer | undefined): boolean {
  const version = /^\S+ \S+ HTTP\/(\d\.\d)(?=\r|\n|$)/.exec(bytes?.toString("latin1") ?? "")?.[1];
  return version !== undefined && version !== "1.1" && version !== "1.0";
}

function endsFirstLineWithLf(bytes: Buffer): boolean {
  const lineEnd = bytes.indexOf(10);
  return lineEnd > 0 && bytes[lineEnd - 1] !== 13;
}

/** As much of the request line as can be read, for the row. */
export function startLine(bytes: Buffer | undefined): { method: string; target: string; httpVersion: string } {
  // A head that did not arrive in time is not handed over.
  if (!bytes) return { method: "?", target: "(incomplete)", httpVersion: "" };
  const match = /^([A-Z-]{1,20}) ([\x21-\x7e\x80-\xff]*)(?: HTTP\/(\d\.\d))?/.exec(bytes.toString("latin1", 0, 2_048));
  return { method: match?.[1] ?? "?", target: match?.[2] || "(malformed)", httpVersion: match?.[3] ?? "" };
}

/**
 * The packet from where the malformed message begins: a packet may bring valid requests before it.
 * `lastLength` is the Content-Length of the request before, whose body may stand between.
 */
export function malformedBytes({ code, rawPacket, bytesParsed = 0 }: ClientError, lastLength: number): Buffer | undefined {
  // An empty line that ends where the parser stopped is the malformed message's own, unless its first line was at fault.
  const latestEnd = bytesParsed - (/^HPE_INVALID_(?:METHOD|CONSTANT|URL|VERSION)$/.test(code ?? "") ? 4 : 5);
  const headEnd = latestEnd >= 0 ? (rawPacket?.lastIndexOf("\r\n\r\n", latestEnd) ?? -1) : -1;
  if (headEnd === -1) return rawPacket;
  const start = headEnd + 4 + lastLength;
  return rawPacket?.subarray(start <= bytesParsed ? start : headEnd + 4);
}
