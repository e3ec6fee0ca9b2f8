import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { type ParsedOption, readOption } from "./option-syntax.ts";
import { ProtoError, type Token } from "./proto-tokens.ts";
import type { TokenReader } from "./token-reader.ts";

/** A file as it was read: names of types and options are not resolved. */
export interface ParsedProto {
  readonly file: FileDescriptorProto;
  /** Where each part of `file` was written. */
  readonly places: WeakMap<object, Token>;
  /** Where each import was written. */
  readonly imports: ReadonlyMap<string, Token>;
  /** By the part of `file` that has them. */
  readonly options: ReadonlyMap<object, readonly ParsedOption[]>;
}

/** What is known while a file is read. */
export class ProtoContext implements ParsedProto {
  readonly reader: TokenReader;
  readonly file: FileDescriptorProto;
  readonly places = new WeakMap<object, Token>();
  readonly imports = new Map<string, Token>();
  readonly options = new Map<object, ParsedOption[]>();

  constructor(reader: TokenReader, file: FileDescriptorProto) {
    this.reader = reader;
    this.file = file;
  }

  get isProto2(): boolean {
    return this.file.syntax === "";
  }

  get isProto3(): boolean {
    return this.file.syntax === "proto3";
  }

  placed<Part extends object>(part: Part, place: Token): Part {
    this.places.set(part, place);
    return part;
  }

  add(of: object, ...options: ParsedOption[]): void {
    if (options.length === 0) return;
    const known = this.options.get(of);
    if (known) known.push(...options);
    else this.options.set(of, options);
  }

  /** `name = value;` after the word "option". */
  option(of: object): void {
    this.add(of, readOption(this.reader));
    this.reader.expect(";");
  }
}

/** Names the place of a part. */
export function failAt(parsed: Pick<ParsedProto, "file" | "places">, part: object, problem: string): never {
  throw new ProtoError(parsed.file.name, problem, parsed.places.get(part));
}
