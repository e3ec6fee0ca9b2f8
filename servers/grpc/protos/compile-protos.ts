import { createRegistry, type DescFile, type Registry, toBinary } from "@bufbuild/protobuf";
import * as wellKnown from "@bufbuild/protobuf/wkt";
import { type DescriptorProto, type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { errorText } from "../../core/service/service-error.ts";
import { FileDescriber } from "./file-describer.ts";
import { interpretOptions } from "./interpret-options.ts";
import { failAt, type ParsedProto } from "./proto-context.ts";
import { parseProto } from "./proto-parser.ts";
import { ProtoError } from "./proto-tokens.ts";
import { resolveTypes, SymbolTable } from "./resolve-types.ts";

/** Files by the name under which others import them. */
export interface ProtoSource {
  readonly name: string;
  readonly text: string;
}

export interface ProtosToCompile {
  readonly sources?: readonly ProtoSource[];
  /** Descriptors from elsewhere, such as a descriptor set. They are checked, too. */
  readonly descriptors?: readonly FileDescriptorProto[];
  /** Files that are compiled already, with all their imports. They are not part of the result. */
  readonly base?: readonly DescFile[];
  /** Messages, enums and methods of all files together and of one, and bytes of one serialized descriptor. */
  readonly limits?: { readonly types: number; readonly ofFile: { readonly types: number; readonly bytes: number } };
}

export interface CompiledProtos {
  /** Each after the files that it imports. */
  readonly files: readonly DescFile[];
  /** Includes the types of `base`. */
  readonly registry: Registry;
  /** What could not be compiled, and is left out with all that imports it. A broken file is before those that import it. */
  readonly errors: readonly ProtoError[];
}

/** google/protobuf/*.proto, which every compiler includes. */
const wellKnownFiles: ReadonlyMap<string, FileDescriptorProto> = new Map(
  Object.entries(wellKnown).flatMap(([name, value]) =>
    name.startsWith("file_") && typeof value === "object" && "kind" in value && value.kind === "file"
      ? [[value.proto.name, value.proto] as const]
      : [],
  ),
);

export const isWellKnownFile = (name: string): boolean => wellKnownFiles.has(name);

/**
 * Compiles .proto files to descriptors as protoc makes them, with their names, imports and options. A broken file is left out and named
 * in `errors`; the others go on.
 */
export function compileProtos(protos: ProtosToCompile): CompiledProtos {
  const compiler = new Compiler(protos);
  for (const { name } of protos.descriptors ?? []) compiler.need(name);
  for (const { name } of protos.sources ?? []) compiler.need(name);
  return compiler.result();
}

/** Imports are compiled recursively. */
const deepestImports = 500;

class Compiler {
  readonly #sources: ReadonlyMap<string, ProtoSource>;
  readonly #given: ReadonlyMap<string, FileDescriptorProto>;
  readonly #base: ReadonlySet<string>;
  readonly #limits: ProtosToCompile["limits"];
  readonly #describer = new FileDescriber();
  readonly #done: DescFile[] = [];
  readonly #failed = new Map<string, ProtoError>();
  readonly #open = new Set<string>();
  readonly #symbols = new SymbolTable();
  #types = 0;

  constructor({ sources = [], descriptors = [], base = [], limits }: ProtosToCompile) {
    this.#sources = new Map(sources.map((source) => [source.name, source]));
    this.#given = new Map(descriptors.map((file) => [file.name, file]));
    this.#base = new Set(base.map(({ proto }) => proto.name));
    this.#limits = limits;
    for (const file of base) {
      this.#symbols.add(file.proto, (_, name) => {
        throw new Error(`${name} is defined twice`);
      });
      this.#describer.add(file);
    }
  }

  result(): CompiledProtos {
    return { files: this.#done, registry: this.#describer.registry, errors: [...this.#failed.values()] };
  }

  /** Compiles a file and what it imports, once. */
  need(name: string): "done" | "failed" | "open" | "missing" {
    if (this.#describer.get(name)) return "done";
    if (this.#failed.has(name)) return "failed";
    if (this.#open.has(name)) return "open";
    const source = this.#sources.get(name);
    const given = this.#given.get(name);
    const known = given || source ? undefined : wellKnownFiles.get(name);
    if (!source && !given && !known) return "missing";
    this.#open.add(name);
    try {
      const file = known ? this.#takeKnown(known) : given ? this.#takeDescriptor(given) : this.#compile(source as ProtoSource);
      this.#describer.add(file);
      this.#done.push(file);
      return "done";
    } catch (error) {
      const problem = errorText(error);
      this.#failed.set(name, error instanceof ProtoError ? error : new ProtoError(name, problem));
      this.#symbols.remove(name);
      return "failed";
    } finally {
      this.#open.delete(name);
    }
  }

  #takeKnown(file: FileDescriptorProto): DescFile {
    for (const imported of file.dependency) this.#import(file.name, imported);
    this.#define({ file });
    return this.#describer.describe(file);
  }

  #takeDescriptor(file: FileDescriptorProto): DescFile {
    this.#count(file);
    for (const imported of file.dependency) this.#import(file.name, imported);
    this.#define({ file });
    resolveTypes({ file, places: new WeakMap() }, this.#symbols);
    return this.#describe(file);
  }

  #compile({ name, text }: ProtoSource): DescFile {
    const parsed = parseProto(name, text);
    const { file } = parsed;
    this.#count(file);
    for (const [imported, place] of parsed.imports) this.#import(name, imported, place);
    this.#define(parsed);
    resolveTypes(parsed, this.#symbols);
    interpretOptions(parsed, () => {
      // The file's own extensions and those of all that it may import.
      const own = createRegistry(this.#describer.describe(file));
      const { registry } = this.#describer;
      return {
        extension: (written) => {
          const found = this.#symbols.resolve(written, file.package, name, "extension")?.name.slice(1) ?? written;
          return own.getExtension(found) ?? registry.getExtension(found);
        },
        message: (typeName) => own.getMessage(typeName) ?? registry.getMessage(typeName),
      };
    });
    return this.#describe(file);
  }

  /** Of a file with its options. */
  #describe(file: FileDescriptorProto): DescFile {
    const { length } = toBinary(FileDescriptorProtoSchema, file);
    const { bytes } = this.#limits?.ofFile ?? { bytes: Number.POSITIVE_INFINITY };
    if (length > bytes) throw new ProtoError(file.name, `its descriptor has ${length} bytes; that of one file may have ${bytes}`);
    return this.#describer.describe(file);
  }

  #define(parsed: Pick<ParsedProto, "file"> & Partial<ParsedProto>): void {
    const { file, places = new WeakMap() } = parsed;
    this.#symbols.add(file, (part, name, by) => {
      const where = by === file.name ? "this file" : by;
      failAt(
        { file, places },
        part,
        this.#base.has(by) ? `${name} is Backlot's own and cannot be replaced` : `${name} is defined in ${where} already`,
      );
    });
  }

  #count(file: FileDescriptorProto): void {
    if (!this.#limits) return;
    const count = countTypes(file);
    const { types, ofFile } = this.#limits;
    const what = "messages, enums and methods";
    if (this.#types + count > types) throw new ProtoError(file.name, `with its ${count} ${what} there would be more than ${types} in all`);
    if (count > ofFile.types) throw new ProtoError(file.name, `it has ${count} ${what}; one file may have ${ofFile.types}`);
    this.#types += count;
  }

  #import(by: string, name: string, place?: { readonly line: number; readonly column: number }): void {
    if (this.#open.size > deepestImports) throw new ProtoError(by, `imports are nested more than ${deepestImports} deep`, place);
    const state = this.need(name);
    if (state === "done") return;
    const because = state === "failed" ? (this.#failed.get(name)?.because ?? name) : undefined;
    const problem = {
      open: `${name} imports this file too: the imports are circular`,
      failed: `imports ${because}, which is broken`,
      missing: `there is no file ${name} to import`,
    }[state];
    throw new ProtoError(by, problem, place, because);
  }
}

/** Without the entries of maps. */
function countTypes(file: FileDescriptorProto): number {
  const within = (message: DescriptorProto): number =>
    message.nestedType.reduce((sum, nested) => sum + (nested.options?.mapEntry ? 0 : within(nested)), 1 + message.enumType.length);
  const methods = file.service.reduce((sum, { method }) => sum + 1 + method.length, 0);
  return file.messageType.reduce((sum, message) => sum + within(message), file.enumType.length + methods);
}
