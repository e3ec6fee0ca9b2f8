import type { HeaderFields, RtspItem, RtspStatus } from "./message.ts";

export interface ParserLimits {
  /** Of a message up to its empty line. */
  readonly headBytes: number;
  readonly headerFields: number;
  readonly bodyBytes: number;
  readonly uriBytes: number;
}

/** Bytes that are not RTSP. What follows them cannot be found: the connection ends after the answer. */
export class RtspSyntaxError extends Error {
  readonly status: RtspStatus;
  /** Of the request, where it could be read. */
  readonly cseq: string | undefined;

  constructor(status: RtspStatus, message: string, cseq?: string) {
    super(message);
    this.status = status;
    this.cseq = cseq;
  }
}

const [cr, lf, dollar] = [13, 10, 36];
const packetHead = 4;
const startBytes = 4 << 10;

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) ((?:RTSP|HTTP)\/\d+\.\d+)$/;
const statusLine = /^(RTSP\/\d+\.\d+) (\d{3})(?: (.*))?$/;
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const nothing = Buffer.alloc(0);

/**
 * Cuts the bytes of a connection into requests, answers and interleaved packets: `push` bytes, then take items with `next` until there is
 * none. Lines may end with LF alone, and empty lines may stand between messages (RFC 2326 §4, §10.12).
 */
export class RtspParser {
  readonly #limits: ParserLimits;
  /** Bytes from `#at` to `#end` are not consumed. Payloads are views of it, so nothing before `#end` is ever overwritten. */
  #bytes: Buffer = nothing;
  #at = 0;
  #end = 0;
  /** How far an incomplete head has been searched for its empty line. */
  #searched = 0;
  /** Bytes from `#at` on without which the item is not complete: it is not read again before they are there. */
  #needed = 0;

  constructor(limits: ParserLimits) {
    this.#limits = limits;
  }

  /** Bytes that wait for the rest of their item. */
  get waiting(): number {
    return this.#end - this.#at;
  }

  /** The memory of those. */
  get heldBytes(): number {
    return this.waiting === 0 ? 0 : this.#bytes.length;
  }

  push(chunk: Buffer): void {
    const rest = this.#end - this.#at;
    if (rest === 0) {
      this.#bytes = chunk;
      this.#at = 0;
      this.#end = chunk.length;
      this.#searched = 0;
      return;
    }
    if (this.#end + chunk.length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(startBytes, 2 * (rest + chunk.length)));
      this.#bytes.copy(grown, 0, this.#at, this.#end);
      this.#searched = Math.max(0, this.#searched - this.#at);
      this.#bytes = grown;
      this.#at = 0;
      this.#end = rest;
    }
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** What is left when another protocol takes the connection over. */
  take(): Buffer {
    const rest = this.#bytes.subarray(this.#at, this.#end);
    this.#bytes = nothing;
    this.#at = this.#end = 0;
    return rest;
  }

  /** Undefined until more bytes come. Throws RtspSyntaxError. */
  next(): RtspItem | undefined {
    const bytes = this.#bytes;
    while (this.#at < this.#end && (bytes[this.#at] === cr || bytes[this.#at] === lf)) this.#at++;
    if (this.#at === this.#end) {
      // What was read is not held by a connection that sends nothing more.
      this.#bytes = nothing;
      this.#at = this.#end = 0;
      return undefined;
    }
    if (this.#end - this.#at < this.#needed) return undefined;
    return bytes[this.#at] === dollar ? this.#packet() : this.#message();
  }

  #packet(): RtspItem | undefined {
    const at = this.#at;
    if (this.#end - at < packetHead) return undefined;
    const end = at + packetHead + this.#bytes.readUInt16BE(at + 2);
    if (!this.#consume(end)) return undefined;
    return { kind: "packet", channel: this.#bytes[at + 1] as number, payload: this.#bytes.subarray(at + packetHead, end) };
  }

  #message(): RtspItem | undefined {
    const first = this.#bytes[this.#at] as number;
    // A method or "RTSP" begins with a letter; anything else is refused before a whole head of it is kept.
    if (!isLetter(first)) throw new RtspSyntaxError(400, `a message cannot begin with byte 0x${first.toString(16).padStart(2, "0")}`);
    const headEnd = this.#findHeadEnd();
    const headBytes = (headEnd ?? this.#end) - this.#at;
    if (headBytes > this.#limits.headBytes) {
      const cseq = cseqIn(this.#bytes.toString("latin1", this.#at, this.#at + this.#limits.headBytes));
      throw new RtspSyntaxError(400, `the head of a message is longer than ${this.#limits.headBytes} bytes`, cseq);
    }
    if (headEnd === undefined) return undefined;
    const head = this.#bytes.subarray(this.#at, headEnd);
    const text = head.toString("latin1");
    const cseq = cseqIn(text);
    // RFC 9110 §5.5: some read a CR alone as the end of a line, and others do not.
    if (/\r(?!\n)/.test(text)) throw new RtspSyntaxError(400, "the head of a message has a CR that ends no line", cseq);
    const [startLine = "", ...lines] = unfolded(text);
    const headers = this.#headers(lines, cseq);
    const request = requestLine.exec(startLine);
    if (request) {
      const [, method = "", uri = "", version = ""] = request;
      if (uri.length > this.#limits.uriBytes)
        throw new RtspSyntaxError(414, `the URI is longer than ${this.#limits.uriBytes} characters`, cseq);
      const body = version.startsWith("HTTP") ? this.#body(headEnd, 0) : this.#body(headEnd, this.#bodyBytes(headers, cseq));
      return body && { kind: "request", method, uri, version, headers, body, head };
    }
    const answer = statusLine.exec(startLine);
    if (!answer) throw new RtspSyntaxError(400, "the start line is neither a request nor an answer", cseq);
    const [, version = "", status, reason = ""] = answer;
    const body = this.#body(headEnd, this.#bodyBytes(headers, cseq));
    return body && { kind: "response", status: Number(status), reason, version, headers, body, head };
  }

  /** The position after the empty line. */
  #findHeadEnd(): number | undefined {
    let at = Math.max(this.#at, this.#searched);
    for (;;) {
      const end = this.#bytes.indexOf(lf, at);
      if (end < 0 || end >= this.#end) break;
      const next = this.#bytes[end + 1] === cr ? end + 2 : end + 1;
      if (next >= this.#end) break;
      if (this.#bytes[next] === lf) return next + 1;
      at = end + 1;
      this.#searched = at;
    }
    return undefined;
  }

  #headers(lines: readonly string[], cseq: string | undefined): HeaderFields {
    if (lines.length > this.#limits.headerFields)
      throw new RtspSyntaxError(400, `the message has more than ${this.#limits.headerFields} header fields`, cseq);
    return lines.map((line) => {
      const colon = line.indexOf(":");
      const name = withoutBlanks(line.slice(0, Math.max(0, colon)));
      if (!fieldName.test(name)) throw new RtspSyntaxError(400, "a line of the head is not a header field", cseq);
      return [name, withoutBlanks(line.slice(colon + 1))];
    });
  }

  #bodyBytes(headers: HeaderFields, cseq: string | undefined): number {
    const lengths = new Set(headers.filter(([name]) => name.toLowerCase() === "content-length").map(([, value]) => value));
    const [length = "0"] = lengths;
    if (lengths.size > 1 || !/^\d+$/.test(length)) throw new RtspSyntaxError(400, "the Content-Length is not a number", cseq);
    if (Number(length) > this.#limits.bodyBytes)
      throw new RtspSyntaxError(413, `the body is longer than ${this.#limits.bodyBytes} bytes`, cseq);
    return Number(length);
  }

  /** Consumes the message, if its body has arrived. */
  #body(headEnd: number, length: number): Buffer | undefined {
    const end = headEnd + length;
    return this.#consume(end) ? this.#bytes.subarray(headEnd, end) : undefined;
  }

  #consume(end: number): boolean {
    if (end > this.#end) {
      this.#needed = end - this.#at;
      return false;
    }
    this.#at = end;
    this.#searched = end;
    this.#needed = 0;
    return true;
  }
}

const isLetter = (byte: number): boolean => (byte | 32) >= 97 && (byte | 32) <= 122;

const cseqIn = (head: string): string | undefined => /^cseq[ \t]*:[ \t]*(\d{1,10})[ \t]*\r?$/im.exec(head)?.[1];

/** Without spaces and tabs at its ends. By hand: a pattern for the end of a text is tried at each of its characters. */
function withoutBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t";
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

/** Lines without their ends; a line that begins with a space continues the one before (RFC 2326 §4.2, as in HTTP/1.1). */
function unfolded(head: string): readonly string[] {
  const lines: string[] = [];
  for (const line of head.split(/\r?\n/)) {
    if (/^[ \t]/.test(line) && lines.length > 1) lines[lines.length - 1] += ` ${line.trim()}`;
    else if (line !== "") lines.push(line);
  }
  return lines;
}
