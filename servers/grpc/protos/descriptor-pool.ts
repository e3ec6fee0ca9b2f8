import { createHash } from "node:crypto";
import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { FileDescriber } from "./file-describer.ts";

/** Everything that is defined in the served files, by name. Files are serialized on first use. */
export interface DescriptorPool {
  readonly files: readonly DescFile[];
  /** Types and extensions, for JSON. */
  readonly registry: Registry;
  readonly services: readonly DescService[];
  /** Throws for a name that is not defined. */
  message(name: string): DescMessage;
  file(name: string): DescFile | undefined;
  /** Of a message, enum, service, method, extension, field, oneof or value of an enum. */
  fileOfSymbol(symbol: string): DescFile | undefined;
  extension(extendee: string, number: number): DescExtension | undefined;
  /** Sorted; undefined if there is no such message. */
  extensionNumbers(extendee: string): readonly number[] | undefined;
  /** The serialized FileDescriptorProto. */
  bytes(file: DescFile): Uint8Array;
}

/** A revision of serialized files: a hash, so the same files have the same one. */
export function revisionOf(files: Iterable<Uint8Array>): string {
  const hash = createHash("sha256");
  for (const bytes of files) hash.update(bytes);
  return hash.digest("hex").slice(0, 16);
}

export function createDescriptorPool(files: readonly DescFile[]): DescriptorPool {
  const builder = new PoolBuilder();
  for (const file of files) builder.add(file);
  return builder.pool();
}

/** Builds a pool file by file, so that its caller can pause in between. */
export class PoolBuilder {
  readonly #describer = new FileDescriber();
  readonly #symbols = new Map<string, DescFile>();
  readonly #extensions = new Map<string, Map<number, DescExtension>>();
  readonly #bytes = new WeakMap<DescFile, Uint8Array>();
  readonly #services: DescService[] = [];

  /** The imports of the file were added before. `bytes` is the serialized `proto`. */
  describe(proto: FileDescriptorProto, bytes: Uint8Array): DescFile {
    const file = this.#describer.describe(proto);
    this.#bytes.set(file, bytes);
    return file;
  }

  add(file: DescFile): void {
    this.#describer.add(file);
    for (const message of file.messages) this.#addMessage(message);
    for (const type of file.enums) this.#addEnum(type);
    for (const extension of file.extensions) this.#addExtension(extension);
    for (const service of file.services) {
      this.#services.push(service);
      this.#symbols.set(service.typeName, file);
      for (const { name } of service.methods) this.#symbols.set(`${service.typeName}.${name}`, file);
    }
  }

  #addMessage(message: DescMessage): void {
    const { typeName, file } = message;
    this.#symbols.set(typeName, file);
    for (const { name } of message.fields) this.#symbols.set(`${typeName}.${name}`, file);
    for (const { name } of message.oneofs) this.#symbols.set(`${typeName}.${name}`, file);
    for (const nested of message.nestedMessages) this.#addMessage(nested);
    for (const type of message.nestedEnums) this.#addEnum(type);
    for (const extension of message.nestedExtensions) this.#addExtension(extension);
  }

  #addEnum({ typeName, name, values, file }: DescEnum): void {
    this.#symbols.set(typeName, file);
    // As in C++: values are siblings of their enum.
    const scope = typeName.slice(0, typeName.length - name.length);
    for (const value of values) this.#symbols.set(scope + value.name, file);
  }

  #addExtension(extension: DescExtension): void {
    this.#symbols.set(extension.typeName, extension.file);
    const extendee = extension.extendee.typeName;
    const ofMessage = this.#extensions.get(extendee) ?? new Map<number, DescExtension>();
    this.#extensions.set(extendee, ofMessage.set(extension.number, extension));
  }

  /** Of what was added; nothing is added after it. */
  pool(): DescriptorPool {
    const { registry } = this.#describer;
    return {
      files: this.#describer.files(),
      registry,
      services: this.#services,
      message(name) {
        const message = registry.getMessage(name);
        if (!message) throw new Error(`there is no message ${name}`);
        return message;
      },
      file: (name) => this.#describer.get(name),
      fileOfSymbol: (symbol) => this.#symbols.get(symbol),
      extension: (extendee, number) => this.#extensions.get(extendee)?.get(number),
      extensionNumbers: (extendee) =>
        registry.getMessage(extendee) && [...(this.#extensions.get(extendee)?.keys() ?? [])].sort((left, right) => left - right),
      bytes: (file) => {
        const known = this.#bytes.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
        this.#bytes.set(file, known);
        return known;
      },
    };
  }
}
