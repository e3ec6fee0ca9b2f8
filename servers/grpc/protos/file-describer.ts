import { createFileRegistry, createMutableRegistry, type DescFile, type Registry } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import type { DescriptorProto, FieldDescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";

/**
 * Makes descriptors file by file, in time proportional to the size of a file. The library alone would register all direct and indirect
 * imports again for each file and each import path.
 */
export class FileDescriber {
  readonly #files = new Map<string, DescFile>();
  readonly #registry = createMutableRegistry();

  /** Types, extensions and services of all files that were added. */
  get registry(): Registry {
    return this.#registry;
  }

  get(name: string): DescFile | undefined {
    return this.#files.get(name);
  }

  files(): readonly DescFile[] {
    return [...this.#files.values()];
  }

  add(file: DescFile): void {
    this.#files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) this.#registry.add(type);
  }

  /** Does not add the file itself; its imports were added before. Throws if the file contradicts itself or its imports. */
  describe(proto: FileDescriptorProto): DescFile {
    const used = [...usedTypes(proto)].map((name) => this.#registry.get(name.slice(1)));
    const imports = proto.dependency.map((name) => this.#files.get(name));
    // The first import stands for all of them, with the types that are used and no others.
    const first = imports.find((file) => file !== undefined);
    const standIn = (file: DescFile): DescFile => ({
      ...file,
      messages: file === first ? used.filter((type) => type?.kind === "message") : [],
      enums: file === first ? used.filter((type) => type?.kind === "enum") : [],
      extensions: [],
      services: [],
      dependencies: [],
    });
    const described = createFileRegistry(proto, (name) => {
      const file = this.#files.get(name);
      return file && standIn(file);
    }).getFile(proto.name);
    if (!described) throw new Error("the file cannot be read");
    described.dependencies.splice(0, described.dependencies.length, ...imports.filter((file) => file !== undefined));
    return described;
  }
}

/** With a leading point. */
function usedTypes(file: FileDescriptorProto): ReadonlySet<string> {
  const names = new Set<string>();
  const field = ({ typeName, extendee }: FieldDescriptorProto) => {
    if (typeName !== "") names.add(typeName);
    if (extendee !== "") names.add(extendee);
  };
  const message = (type: DescriptorProto) => {
    for (const one of [...type.field, ...type.extension]) field(one);
    for (const nested of type.nestedType) message(nested);
  };
  for (const type of file.messageType) message(type);
  for (const one of file.extension) field(one);
  for (const { method } of file.service) {
    for (const { inputType, outputType } of method) names.add(inputType).add(outputType);
  }
  return names;
}
