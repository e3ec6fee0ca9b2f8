import { createFileRegistry, createRegistry, type DescFile, type Registry } from "@bufbuild/protobuf";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import * as wellKnown from "@bufbuild/protobuf/wkt";
import { interpretOptions } from "./interpret-options.ts";
import { failAt } from "./proto-context.ts";
import { ProtoError } from "./proto-error.ts";
import { parseProto } from "./proto-parser.ts";
import { resolveTypes, SymbolTable } from "./resolve-types.ts";

/** Files by the name under which others import them. */
export interface ProtoSource {
  readonly name: string;
  readonly text: string;
}

export interface CompiledProtos {
  /** Each after the files that it imports. */
  readonly files: readonly DescFile[];
  readonly registry: Registry;
  /** What could not be compiled, and is left out with all that imports it. */
  readonly errors: readonly ProtoError[];
}

/** google/protobuf/*.proto, which every compiler brings along. */
const wellKnownFiles: ReadonlyMap<string, FileDescriptorProto> = new Map(
  Object.entries(wellKnown).flatMap(([name, value]) =>
    name.startsWith("file_") && typeof value === "object" && "kind" in value && value.kind === "file"
      ? [[value.proto.name, value.proto] as const]
      : [],
  ),
);

/**
 * Compiles .proto files to descriptors as protoc makes them, with their names, imports and options. `compiled` are descriptors from
 * elsewhere that belong to them. A broken file is left out and named in `errors`; the others go on.
 */
export function compileProtos(sources: readonly ProtoSource[], compiled: readonly FileDescriptorProto[] = []): CompiledProtos {
  const compiler = new Compiler(sources, compiled);
  for (const { name } of compiled) compiler.need(name);
  for (const { name } of sources) compiler.need(name);
  return compiler.result();
}

class Compiler {
  readonly #sources: ReadonlyMap<string, ProtoSource>;
  readonly #given: ReadonlyMap<string, FileDescriptorProto>;
  readonly #done = new Map<string, DescFile>();
  readonly #failed = new Map<string, ProtoError>();
  readonly #open = new Set<string>();
  readonly #symbols = new SymbolTable();

  constructor(sources: readonly ProtoSource[], given: readonly FileDescriptorProto[]) {
    this.#sources = new Map(sources.map((source) => [source.name, source]));
    this.#given = new Map(given.map((file) => [file.name, file]));
  }

  result(): CompiledProtos {
    const files = [...this.#done.values()];
    return { files, registry: createRegistry(...files), errors: [...this.#failed.values()] };
  }

  /** Compiles a file and what it imports, once. */
  need(name: string): "done" | "failed" | "open" | "missing" {
    if (this.#done.has(name)) return "done";
    if (this.#failed.has(name)) return "failed";
    if (this.#open.has(name)) return "open";
    const source = this.#sources.get(name);
    const descriptor = this.#given.get(name) ?? (source ? undefined : wellKnownFiles.get(name));
    if (!source && !descriptor) return "missing";
    this.#open.add(name);
    try {
      this.#done.set(name, descriptor ? this.#takeDescriptor(descriptor) : this.#compile(source as ProtoSource));
      return "done";
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.#failed.set(name, error instanceof ProtoError ? error : new ProtoError(name, problem));
      return "failed";
    } finally {
      this.#open.delete(name);
    }
  }

  #takeDescriptor(file: FileDescriptorProto): DescFile {
    for (const imported of file.dependency) this.#import(file.name, imported);
    this.#symbols.add(file, (_, name, by) => {
      throw new ProtoError(file.name, `${name} is defined in ${by} already`);
    });
    return this.#describe(file);
  }

  #compile({ name, text }: ProtoSource): DescFile {
    const parsed = parseProto(name, text);
    const { file } = parsed;
    for (const [imported, place] of parsed.imports) this.#import(name, imported, place);
    this.#symbols.add(file, (part, taken, by) => failAt(parsed, part, `${taken} is defined in ${by === name ? "this file" : by} already`));
    resolveTypes(parsed, this.#symbols);
    interpretOptions(parsed, () => {
      // The file's own extensions and those of all that it may import.
      const registry = createRegistry(...this.#done.values(), this.#describe(file));
      return { registry, extensionName: (written) => this.#symbols.resolve(written, file.package, name, "extension")?.name.slice(1) };
    });
    return this.#describe(file);
  }

  #import(by: string, name: string, place?: { readonly line: number; readonly column: number }): void {
    const state = this.need(name);
    if (state === "done") return;
    const problem = {
      open: `${name} imports this file too: imports go in a circle`,
      failed: `${name}, which it imports, is broken`,
      missing: `there is no file ${name} to import`,
    }[state];
    throw new ProtoError(by, problem, place);
  }

  #describe(file: FileDescriptorProto): DescFile {
    const described = createFileRegistry(file, (name) => this.#done.get(name)).getFile(file.name);
    if (!described) throw new ProtoError(file.name, "the file cannot be read");
    return described;
  }
}
