import { type DescExtension, type DescFile, type DescMessage, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** Everything that is defined in the served files, by name; the bytes of a file are made when they are first asked for. */
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

export function createDescriptorPool(files: readonly DescFile[], registry: Registry): DescriptorPool {
  const byName = new Map(files.map((file) => [file.proto.name, file]));
  const symbols = new Map<string, DescFile>();
  const messages = new Map<string, DescMessage>();
  const extensions = new Map<string, Map<number, DescExtension>>();
  const bytes = new WeakMap<DescFile, Uint8Array>();

  const addExtension = (extension: DescExtension) => {
    symbols.set(extension.typeName, extension.file);
    const ofMessage = extensions.get(extension.extendee.typeName) ?? new Map<number, DescExtension>();
    extensions.set(extension.extendee.typeName, ofMessage.set(extension.number, extension));
  };
  const addEnum = (type: DescMessage["nestedEnums"][number]) => {
    symbols.set(type.typeName, type.file);
    const scope = type.typeName.slice(0, Math.max(0, type.typeName.length - type.name.length));
    for (const { name } of type.values) symbols.set(scope + name, type.file);
  };
  const addMessage = (message: DescMessage) => {
    messages.set(message.typeName, message);
    symbols.set(message.typeName, message.file);
    for (const { name } of [...message.fields, ...message.oneofs]) symbols.set(`${message.typeName}.${name}`, message.file);
    for (const nested of message.nestedMessages) addMessage(nested);
    for (const type of message.nestedEnums) addEnum(type);
    for (const extension of message.nestedExtensions) addExtension(extension);
  };
  for (const file of files) {
    for (const message of file.messages) addMessage(message);
    for (const type of file.enums) addEnum(type);
    for (const extension of file.extensions) addExtension(extension);
    for (const service of file.services) {
      symbols.set(service.typeName, file);
      for (const { name } of service.methods) symbols.set(`${service.typeName}.${name}`, file);
    }
  }

  return {
    files,
    registry,
    services: files.flatMap((file) => file.services),
    message(name) {
      const message = messages.get(name);
      if (!message) throw new Error(`there is no message ${name}`);
      return message;
    },
    file: (name) => byName.get(name),
    fileOfSymbol: (symbol) => symbols.get(symbol),
    extension: (extendee, number) => extensions.get(extendee)?.get(number),
    extensionNumbers: (extendee) =>
      messages.has(extendee) ? [...(extensions.get(extendee)?.keys() ?? [])].sort((left, right) => left - right) : undefined,
    bytes(file) {
      const known = bytes.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
      bytes.set(file, known);
      return known;
    },
  };
}
