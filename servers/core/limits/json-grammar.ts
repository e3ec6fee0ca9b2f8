/** Bytes after which a caller may do something else: a fraction of a millisecond. */
export const stepBytes = 8 << 10;

/** Instead of a position: all of it is JSON. */
export const noFault = -1;

/**
 * RFC 8259 over bytes, one after another: it makes no value of them, so that neither their number nor their depth takes memory or time of its
 * own. Returns the position of the first byte that does not belong there, in steps.
 */
export function* jsonFault(bytes: Uint8Array): Generator<void, number> {
  /** Closing brackets of the lists and objects that are open: there may be as many as bytes. */
  let open = new Uint8Array(64);
  let depth = 0;
  let at = spaceEnd(bytes, 0);
  let nextStep = stepBytes;
  for (;;) {
    if (at >= nextStep) {
      nextStep = at + stepBytes;
      yield;
    }
    const first = bytes[at];
    if (first === openList || first === openObject) {
      const close = first + 2;
      at = spaceEnd(bytes, at + 1);
      if (bytes[at] !== close) {
        if (depth === open.length) open = twiceAsLong(open);
        open[depth++] = close;
        if (close === closeObject) at = memberValue(bytes, at);
        if (at < 0) return ~at;
        continue;
      }
      at += 1;
    } else at = scalarEnd(bytes, at);
    for (;;) {
      if (at < 0) return ~at;
      at = spaceEnd(bytes, at);
      const close = open[depth - 1];
      if (close === undefined) return at === bytes.length ? noFault : at;
      if (bytes[at] === comma) break;
      if (bytes[at] !== close) return at;
      depth--;
      at += 1;
    }
    at = spaceEnd(bytes, at + 1);
    if (open[depth - 1] === closeObject) at = memberValue(bytes, at);
    if (at < 0) return ~at;
  }
}

function twiceAsLong(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(2 * bytes.length);
  longer.set(bytes);
  return longer;
}

/**
 * Lists, objects, names, and what follows a comma: so many values are made of it, at least. Ends early where it is more
 * than `most`, and where the bytes are not JSON.
 */
export function valuesOfJson(bytes: Uint8Array, most: number): number {
  let values = 0;
  for (let at = 0; at < bytes.length && values <= most; at++) {
    switch (bytes[at]) {
      case quote: {
        const end = stringEnd(bytes, at);
        if (end < 0) return values;
        at = end - 1;
        break;
      }
      case comma:
      case colon:
      case openList:
      case openObject:
        values++;
        break;
      default:
    }
  }
  return values;
}

/** Whether lists and objects are in one another more often than that: a parser takes a multiple of the time for deep ones. It makes no values. */
export function isDeeperJson(bytes: Uint8Array, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote: {
        const end = stringEnd(bytes, at);
        if (end < 0) return false;
        at = end - 1;
        break;
      }
      case openList:
      case openObject:
        if (++depth > levels) return true;
        break;
      case closeList:
      case closeObject:
        depth--;
        break;
      default:
    }
  }
  return false;
}

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openList = 0x5b;
export const closeList = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;

export const isSpace = (code: number | undefined): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

export function spaceEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

/** Instead of a position behind a token: it is none, because of the byte at `at`. */
const fault = (at: number): number => ~at;

/** Behind a name and its colon. */
function memberValue(bytes: Uint8Array, from: number): number {
  const end = bytes[from] === quote ? stringEnd(bytes, from) : fault(from);
  if (end < 0) return end;
  const at = spaceEnd(bytes, end);
  return bytes[at] === colon ? spaceEnd(bytes, at + 1) : fault(at);
}

function scalarEnd(bytes: Uint8Array, from: number): number {
  switch (bytes[from]) {
    case quote:
      return stringEnd(bytes, from);
    case 0x74:
      return wordEnd(bytes, from, "true");
    case 0x66:
      return wordEnd(bytes, from, "false");
    case 0x6e:
      return wordEnd(bytes, from, "null");
    default:
      return numberEnd(bytes, from);
  }
}

function wordEnd(bytes: Uint8Array, from: number, word: string): number {
  for (let index = 0; index < word.length; index++) if (bytes[from + index] !== word.charCodeAt(index)) return fault(from + index);
  return from + word.length;
}

function stringEnd(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const code = bytes[at] as number;
    if (code === quote) return at + 1;
    if (code < 0x20) return fault(at);
    if (code !== backslash) continue;
    at += 1;
    if (bytes[at] === 0x75) {
      for (let digit = 0; digit < 4; digit++) if (!isHexDigit(bytes[++at])) return fault(at);
    } else if (!isEscaped(bytes[at])) return fault(at);
  }
  return fault(bytes.length);
}

const isDigit = (code = 0) => code >= 0x30 && code <= 0x39;
const isHexDigit = (code = 0) => isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
const escaped = new Set(Buffer.from('"\\/bfnrt'));
const isEscaped = (code = 0) => escaped.has(code);

function numberEnd(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === 0x2d ? from + 1 : from;
  at = bytes[at] === 0x30 ? at + 1 : digitsEnd(bytes, at);
  if (bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1);
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    const sign = bytes[at + 1];
    at = digitsEnd(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
  }
  return at;
}

/** Behind at least one digit. */
function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  return at === from ? fault(at) : at;
}
