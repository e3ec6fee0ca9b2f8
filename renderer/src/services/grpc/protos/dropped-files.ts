import { isDescriptorSet, isDescriptorSetInFolder, isProtoFile, isSkippedInFolder } from "../../../../../contract/services/grpc.ts";

export interface NamedFile {
  /** With the folders that it was dropped with, from the outermost: "shop/v1/item.proto". */
  readonly name: string;
  readonly file: Pick<File, "size" | "slice">;
}

export interface FoundFiles {
  readonly files: readonly NamedFile[];
  /** Names of files that are not protocol files, and of folders without one. */
  readonly others: readonly string[];
}

const mostNesting = 64;

/** Some programs drag files that have no entry. */
export type DroppedEntry = FileSystemFileEntry | FileSystemDirectoryEntry | File;

/** To be called during the event: a DataTransfer is empty after it. */
export const droppedEntries = ({ items }: DataTransfer): readonly DroppedEntry[] =>
  [...items].map((item) => (item.webkitGetAsEntry() as DroppedEntry | null) ?? item.getAsFile()).filter((entry) => entry !== null);

/** The protocol files and descriptor sets of a drop, also those in folders. Rejects if something cannot be read. */
export async function readDropped(entries: readonly DroppedEntry[]): Promise<FoundFiles> {
  const files: NamedFile[] = [];
  const others: string[] = [];
  for (const entry of entries) {
    const before = files.length;
    if (isDirectory(entry)) await readFolder(entry, entry.name, 1, files);
    else if (isTaken(entry.name)) files.push({ name: entry.name, file: await fileOf(entry) });
    if (files.length === before) others.push(entry.name);
  }
  return { files, others };
}

/** Of a file input; for a folder the browser names the files by their paths in it. */
export function chosenFiles(chosen: readonly File[]): FoundFiles {
  const named = chosen.map((file) => ({ name: file.webkitRelativePath || file.name, file }));
  const files = named.filter(({ name }) => {
    const [first = "", ...inner] = name.split("/");
    return inner.length === 0 ? isTaken(first) : isTakenInFolder(name) && !inner.some(isSkippedInFolder);
  });
  const tops = (from: readonly { readonly name: string }[]) => new Set(from.map(({ name }) => name.split("/", 1)[0] as string));
  const taken = tops(files);
  return { files, others: [...tops(named)].filter((name) => !taken.has(name)) };
}

const isTaken = (name: string): boolean => isProtoFile(name) || isDescriptorSet(name);
const isTakenInFolder = (name: string): boolean => isProtoFile(name) || isDescriptorSetInFolder(name);
const isDirectory = (entry: DroppedEntry): entry is FileSystemDirectoryEntry => "isDirectory" in entry && entry.isDirectory;
const fileOf = (entry: FileSystemFileEntry | File): Promise<File> =>
  new Promise((resolve, reject) => ("file" in entry ? entry.file(resolve, reject) : resolve(entry)));

async function readFolder(folder: FileSystemDirectoryEntry, within: string, nesting: number, files: NamedFile[]): Promise<void> {
  if (nesting > mostNesting) return;
  const reader = folder.createReader();
  const next = (): Promise<FileSystemEntry[]> => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  // Chromium gives at most 100 at a time; an empty answer is the end.
  for (let entries = await next(); entries.length > 0; entries = await next()) {
    for (const entry of entries as DroppedEntry[]) {
      if (isSkippedInFolder(entry.name)) continue;
      const name = `${within}/${entry.name}`;
      if (isDirectory(entry)) await readFolder(entry, name, nesting + 1, files);
      else if (isTakenInFolder(name)) files.push({ name, file: await fileOf(entry) });
    }
  }
}
