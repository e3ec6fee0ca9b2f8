import { hexDigit } from "../../../../contract/percent-decoded.ts";
import { resultOf } from "../../turns/work-connection.ts";

/** Bytes of fields that are decoded in a step: a fraction of a millisecond. */
const stepBytes = 4 << 10;
/** Of a text. */
const textStepBytes = 32 << 10;

export type FormField = readonly [name: string, value: string];

const ampersand = 0x26;
const equals = 0x3d;
const plus = 0x2b;
const percent = 0x25;
const space = 0x20;

/**
 * The fields of application/x-www-form-urlencoded (WHATWG URL §5.1), in steps. Bad percent-encoding stays as it is. Node's URLSearchParams is one step, and
 * takes 80 ms for a megabyte of "+".
 */
export function* formFieldsInSteps(bytes: Uint8Array): Generator<void, readonly FormField[]> {
  const fields: FormField[] = [];
  const decoded = Buffer.allocUnsafe(bytes.length);
  let name: string | undefined;
  let length = 0;
  let nextStep = stepBytes;
  let isEmpty = true;
  for (let at = 0; at <= bytes.length; at++) {
    if (at >= nextStep) {
      nextStep = at + stepBytes;
      yield;
    }
    const code = at === bytes.length ? ampersand : (bytes[at] as number);
    if (code === ampersand) {
      if (!isEmpty) {
        const text = yield* utf8InSteps(decoded.subarray(0, length));
        fields.push(name === undefined ? [text, ""] : [name, text]);
      }
      name = undefined;
      length = 0;
      isEmpty = true;
      continue;
    }
    isEmpty = false;
    if (code === equals && name === undefined) {
      name = yield* utf8InSteps(decoded.subarray(0, length));
      length = 0;
    } else if (code === plus) decoded[length++] = space;
    else {
      const byte = code === percent ? (hexDigit(bytes[at + 1]) << 4) | hexDigit(bytes[at + 2]) : -1;
      decoded[length++] = byte < 0 ? code : byte;
      if (byte >= 0) at += 2;
    }
  }
  return fields;
}

/** What is no UTF-8 is replaced. A byte order mark stays. */
export function* utf8InSteps(bytes: Buffer): Generator<void, string> {
  if (bytes.length <= textStepBytes) return bytes.toString();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; at += textStepBytes) {
    text += decoder.decode(bytes.subarray(at, at + textStepBytes), { stream: true });
    yield;
  }
  return text + decoder.decode();
}

/** The fields of a query, which has no more bytes than a head. Of equal names `get` has the first. */
export class QueryFields implements Iterable<FormField> {
  readonly #fields: readonly FormField[];

  /** Without the "?". */
  constructor(text: string) {
    this.#fields = resultOf(formFieldsInSteps(Buffer.from(text)));
  }

  get(name: string): string | null {
    return this.#fields.find(([other]) => other === name)?.[1] ?? null;
  }

  [Symbol.iterator](): Iterator<FormField> {
    return this.#fields[Symbol.iterator]();
  }
}

/** Of a request target. */
export function queryFieldsOf(target: string): QueryFields {
  const start = target.indexOf("?");
  return new QueryFields(start === -1 ? "" : target.slice(start + 1));
}
