import type { DescriptorProto, FieldDescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { failAt, type ParsedProto } from "./proto-context.ts";

/** What a full name stands for. */
interface Defined {
  readonly kind: "message" | "enum" | "extension" | "other" | "package";
  /** The file that defines it; a package is in many. */
  readonly file: string;
}

export interface Resolved {
  readonly name: string;
  readonly kind: Defined["kind"];
}

/** Names of all files that are compiled together. */
export class SymbolTable {
  readonly #defined = new Map<string, Defined>();
  readonly #visible = new Map<string, ReadonlySet<string>>();
  readonly #files = new Map<string, FileDescriptorProto>();
  readonly #ofFile = new Map<string, string[]>();

  /** Adds a file whose imports were added before; calls back for a name that is taken. */
  add(file: FileDescriptorProto, onTaken: (part: object, name: string, by: string) => never): void {
    const own: string[] = [];
    this.#files.set(file.name, file);
    this.#ofFile.set(file.name, own);
    const define = (part: object, name: string, kind: Defined["kind"]) => {
      const known = this.#defined.get(name);
      if (known && !(known.kind === "package" && kind === "package")) onTaken(part, name, known.file);
      if (known) return;
      this.#defined.set(name, { kind, file: file.name });
      // Others may be in the package, too.
      if (kind !== "package") own.push(name);
    };
    const names = file.package === "" ? [] : file.package.split(".");
    for (const index of names.keys()) define(file, names.slice(0, index + 1).join("."), "package");
    const scoped = (scope: string, name: string) => (scope === "" ? name : `${scope}.${name}`);
    const defineMessage = (message: DescriptorProto, scope: string) => {
      const name = scoped(scope, message.name);
      define(message, name, "message");
      for (const part of [...message.field, ...message.oneofDecl]) define(part, `${name}.${part.name}`, "other");
      for (const extension of message.extension) define(extension, `${name}.${extension.name}`, "extension");
      for (const nested of message.nestedType) defineMessage(nested, name);
      for (const type of message.enumType) defineEnum(type, name);
    };
    const defineEnum = (type: FileDescriptorProto["enumType"][number], scope: string) => {
      define(type, scoped(scope, type.name), "enum");
      // As in C++: values are siblings of their enum.
      for (const value of type.value) define(value, scoped(scope, value.name), "other");
    };
    for (const message of file.messageType) defineMessage(message, file.package);
    for (const type of file.enumType) defineEnum(type, file.package);
    for (const extension of file.extension) define(extension, scoped(file.package, extension.name), "extension");
    for (const service of file.service) {
      const name = scoped(file.package, service.name);
      define(service, name, "other");
      for (const method of service.method) define(method, `${name}.${method.name}`, "other");
    }
  }

  /** A file that turned out to be broken: others may define the same names. */
  remove(file: string): void {
    for (const name of this.#ofFile.get(file) ?? []) this.#defined.delete(name);
    this.#ofFile.delete(file);
    this.#files.delete(file);
    this.#visible.delete(file);
  }

  /** The file itself, what it imports, and what these import publicly. */
  #visibleFrom(name: string): ReadonlySet<string> {
    const known = this.#visible.get(name);
    if (known) return known;
    const visible = new Set([name]);
    const open = [...(this.#files.get(name)?.dependency ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (visible.has(next)) continue;
      visible.add(next);
      const file = this.#files.get(next);
      for (const index of file?.publicDependency ?? []) open.push(file?.dependency[index] ?? "");
    }
    this.#visible.set(name, visible);
    return visible;
  }

  /** The full name, with a leading point, of what is written within `scope`. The innermost scope wins, as in C++. */
  resolve(written: string, scope: string, file: string, wanted: "type" | "extension" = "type"): Resolved | undefined {
    const isWanted = (kind: Defined["kind"]) => (wanted === "extension" ? kind === "extension" : kind === "message" || kind === "enum");
    const visible = this.#visibleFrom(file);
    const find = (name: string) => {
      const known = this.#defined.get(name);
      return known && (known.kind === "package" || visible.has(known.file)) ? { name: `.${name}`, kind: known.kind } : undefined;
    };
    if (written.startsWith(".")) return find(written.slice(1));
    const [first = ""] = written.split(".");
    for (let from = scope; ; from = from.includes(".") ? from.slice(0, from.lastIndexOf(".")) : "") {
      const prefix = from === "" ? "" : `${from}.`;
      const start = find(prefix + first);
      // Of a name with points its first part decides where to look.
      if (start && (first !== written || isWanted(start.kind))) {
        const found = find(prefix + written);
        if (found || start.kind !== "package") return found;
      }
      if (from === "") return undefined;
    }
  }

  isDefined(name: string): boolean {
    return this.#defined.has(name);
  }
}

/** Writes full names in place of the types' names as they were written. Throws a ProtoError. */
export function resolveTypes(parsed: Pick<ParsedProto, "file" | "places">, symbols: SymbolTable): void {
  const { file } = parsed;
  const typeOf = (part: object, written: string, scope: string) => {
    const found = symbols.resolve(written, scope, file.name);
    if (found?.kind === "message" || found?.kind === "enum") return found;
    if (!found && symbols.isDefined(written.replace(/^\./, "")))
      return failAt(parsed, part, `${written} is defined in a file that is not imported`);
    return failAt(parsed, part, found ? `${written} is neither a message nor an enum` : `there is no type ${written}`);
  };
  const messageOf = (part: object, written: string, scope: string) => {
    const found = typeOf(part, written, scope);
    return found.kind === "message" ? found.name : failAt(parsed, part, `${written} is not a message`);
  };
  const field = (part: FieldDescriptorProto, scope: string) => {
    if (part.extendee !== "") part.extendee = messageOf(part, part.extendee, scope);
    if (part.typeName === "") return;
    const { name, kind } = typeOf(part, part.typeName, scope);
    part.typeName = name;
    if (kind === "enum") part.type = Type.ENUM;
    else if (part.type !== Type.GROUP) part.type = Type.MESSAGE;
  };
  const message = (part: DescriptorProto, scope: string) => {
    const name = scope === "" ? part.name : `${scope}.${part.name}`;
    const numbers = new Map<number, string>();
    for (const one of part.field) {
      const taken = numbers.get(one.number);
      if (taken !== undefined) failAt(parsed, one, `the number ${one.number} is that of ${taken} already`);
      if (part.reservedRange.some(({ start, end }) => one.number >= start && one.number < end))
        failAt(parsed, one, `the number ${one.number} is reserved`);
      if (part.reservedName.includes(one.name)) failAt(parsed, one, `the name ${one.name} is reserved`);
      numbers.set(one.number, one.name);
      field(one, name);
    }
    for (const one of part.extension) field(one, name);
    for (const nested of part.nestedType) message(nested, name);
  };
  for (const part of file.messageType) message(part, file.package);
  for (const part of file.extension) field(part, file.package);
  for (const service of file.service) {
    for (const method of service.method) {
      const scope = file.package === "" ? service.name : `${file.package}.${service.name}`;
      method.inputType = messageOf(method, method.inputType, scope);
      method.outputType = messageOf(method, method.outputType, scope);
    }
  }
}
