import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { isDescriptorSet, isDescriptorSetInFolder, isProtoFile, isSkippedInFolder } from "../../../contract/services/grpc.ts";
import type { ProtoLimits, ProtoProblem, ProtoSourcePath } from "./compile-job.ts";
import { fileNameProblem } from "./proto-file-name.ts";
import { readDescriptorSet } from "./read-descriptor-set.ts";

/** A file by the name under which it is imported. */
export interface ReadProto {
  readonly source: string;
  readonly name: string;
  readonly content: { readonly text: string } | { readonly descriptor: FileDescriptorProto };
}

export interface ReadSources {
  /** In the order of their sources; a name may occur more than once. */
  readonly files: readonly ReadProto[];
  readonly problems: readonly ProtoProblem[];
  readonly folders: readonly string[];
  readonly around: readonly string[];
}

const mostNesting = 64;
const mostFolders = 10_000;

/** Reads all protocol files of the sources, within the limits. What cannot be read is left out and reported. */
export function readSources(sources: readonly ProtoSourcePath[], limits: ProtoLimits): ReadSources {
  const reader = new SourceReader(limits);
  for (const source of sources) reader.source(source);
  return reader;
}

class SourceReader implements ReadSources {
  readonly files: ReadProto[] = [];
  readonly problems: ProtoProblem[] = [];
  readonly #folders = new Set<string>();
  readonly #around = new Set<string>();
  readonly #limits: ProtoLimits;
  #count = 0;
  #bytes = 0;
  #isFull = false;

  constructor(limits: ProtoLimits) {
    this.#limits = limits;
  }

  get folders(): readonly string[] {
    return [...this.#folders];
  }

  get around(): readonly string[] {
    return [...this.#around];
  }

  source({ id, path: file, importsBeside }: ProtoSourcePath): void {
    this.#around.add(path.dirname(file));
    const stat = this.#stat(id, file, file);
    if (!stat) return;
    if (stat.isDirectory()) this.#folder(id, file, "", new Set());
    else if (isProtoFile(file)) {
      const before = this.files.length;
      this.#proto(id, file, path.basename(file), stat);
      const read = this.files[before];
      if (importsBeside && read) this.#imports(id, path.dirname(file), read);
    } else if (isDescriptorSet(file)) this.#set(id, file, path.basename(file), stat);
    else
      this.#problem(id, file, "its name is not that of a .proto file, a descriptor set or a buf image (.binpb, .bin, .pb, .desc, .json)");
  }

  #problem(source: string, file: string, problem: string, place?: { readonly line: number; readonly column: number }): void {
    this.problems.push({ source, file, problem, ...place });
  }

  #stat(source: string, file: string, shown: string): Stats | undefined {
    try {
      return statSync(file);
    } catch (error) {
      this.#problem(source, shown, reasonOf(error));
      return undefined;
    }
  }

  #folder(source: string, folder: string, within: string, above: ReadonlySet<string>): void {
    const real = this.#entered(source, folder, within, above);
    if (real === undefined) return;
    for (const entry of this.#entries(source, folder, within)) {
      if (this.#isFull) return;
      if (isSkippedInFolder(entry.name)) continue;
      const file = path.join(folder, entry.name);
      const name = within === "" ? entry.name : `${within}/${entry.name}`;
      const isTaken = isProtoFile(name) || isDescriptorSetInFolder(name);
      if (!isTaken && !entry.isDirectory() && !entry.isSymbolicLink()) continue;
      // Follows links.
      const stat = isTaken || entry.isDirectory() ? this.#stat(source, file, name) : statOrNone(file);
      if (stat?.isDirectory()) this.#folder(source, file, name, new Set([...above, real]));
      else if (stat && isTaken) {
        if (isProtoFile(name)) this.#proto(source, file, name, stat);
        else this.#set(source, file, name, stat);
      }
    }
  }

  #entered(source: string, folder: string, within: string, above: ReadonlySet<string>): string | undefined {
    try {
      const real = realpathSync(folder);
      if (above.has(real)) this.#problem(source, within, "this link leads back to a folder around it, and is left out");
      else if (above.size >= mostNesting) this.#problem(source, within, `folders are nested more than ${mostNesting} deep`);
      else if (this.#folders.size >= mostFolders) this.#problem(source, within, `there are more than ${mostFolders} folders`);
      else {
        this.#folders.add(folder);
        return real;
      }
    } catch (error) {
      this.#problem(source, within, reasonOf(error));
    }
    return undefined;
  }

  #entries(source: string, folder: string, within: string): readonly Dirent[] {
    try {
      return readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
    } catch (error) {
      this.#problem(source, within || folder, reasonOf(error));
      return [];
    }
  }

  #read(source: string, file: string, name: string, stat: Stats): Buffer | undefined {
    if (this.#isFull) return undefined;
    if (!stat.isFile()) {
      this.#problem(source, name, "it is not a regular file");
      return undefined;
    }
    const { files, bytes } = this.#limits;
    const limit = this.#count >= files ? `${files} files` : this.#bytes + stat.size > bytes ? `${bytes} bytes` : undefined;
    if (limit !== undefined) {
      this.#isFull = true;
      this.#problem(source, name, `with it there would be more than ${limit} in all: it and what follows are left out`);
      return undefined;
    }
    this.#count++;
    this.#bytes += stat.size;
    try {
      return readFileSync(file);
    } catch (error) {
      this.#problem(source, name, reasonOf(error));
      return undefined;
    }
  }

  #proto(source: string, file: string, name: string, stat: Stats): void {
    const wrongName = fileNameProblem(name);
    if (wrongName !== undefined) {
      this.#problem(source, name, wrongName);
      return;
    }
    const bytes = this.#read(source, file, name, stat);
    if (!bytes) return;
    try {
      this.files.push({ source, name, content: { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) } });
    } catch {
      this.#problem(source, name, "the text is not UTF-8 here", placeOfDamage(bytes));
    }
  }

  #set(source: string, file: string, name: string, stat: Stats): void {
    const bytes = this.#read(source, file, name, stat);
    if (!bytes) return;
    try {
      const set = readDescriptorSet(bytes, /\.json$/i.test(name));
      for (const descriptor of set.files) {
        if (++this.#count > this.#limits.files) {
          this.#isFull = true;
          this.#problem(source, name, `with its files there would be more than ${this.#limits.files} in all: the rest is left out`);
          return;
        }
        this.files.push({ source, name: descriptor.name, content: { descriptor } });
      }
      for (const { file: inner, problem } of set.problems) this.#problem(source, `${name}: ${inner}`, problem);
    } catch (error) {
      this.#problem(source, name, reasonOf(error));
    }
  }

  /** Looks for the imports of a file in its folder, and for their imports. */
  #imports(source: string, folder: string, first: ReadProto): void {
    const names = new Set([first.name]);
    const open = [first];
    for (let next = open.pop(); next && "text" in next.content; next = open.pop()) {
      for (const [, name = ""] of next.content.text.matchAll(/\bimport\s+(?:public\s+|weak\s+)?["']([^"'\n]+)["']\s*;/g)) {
        if (names.has(name) || fileNameProblem(name) !== undefined) continue;
        names.add(name);
        const file = path.join(folder, name);
        const stat = statOrNone(file);
        if (!stat?.isFile()) continue;
        this.#around.add(path.dirname(file));
        const before = this.files.length;
        this.#proto(source, file, name, stat);
        const read = this.files[before];
        if (read) open.push(read);
      }
    }
  }
}

function statOrNone(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "it may not be read",
  EPERM: "it may not be read",
  ELOOP: "this link leads in a circle",
  ENAMETOOLONG: "its name is too long",
};

function reasonOf(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** Lines can be checked one by one: a line end is never within a character. */
function placeOfDamage(bytes: Buffer): { readonly line: number; readonly column: number } {
  let line = 1;
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(10, from);
    const text = bytes.toString("utf8", from, end < 0 ? bytes.length : end);
    const column = text.indexOf("\uFFFD") + 1;
    if (column > 0) return { line, column };
    if (end < 0) break;
    from = end + 1;
  }
  return { line, column: 1 };
}
