import { readFileSync } from "node:fs";
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { compileProtos, isWellKnownFile, type ProtoSource } from "../protos/compile-protos.ts";
import { type DescriptorPool, revisionOf } from "../protos/descriptor-pool.ts";
import { ownProtoFile } from "../protos/own-protos.ts";
import type { ProtoError } from "../protos/proto-tokens.ts";
import type { CompileJob, CompileResult, ProtoProblem, SourceReport } from "./compile-job.ts";
import { type ReadProto, readSources } from "./read-sources.ts";

/** The service makes the descriptors of a file in one step: a larger file would delay its calls for too long. */
const largestFile = { types: 5_000, bytes: 1 << 20 };

/** Reads and compiles the user's protocol files beside Backlot's own. */
export function compileSources({ sources, limits }: CompileJob, own: DescriptorPool): CompileResult {
  const read = readSources(sources, limits);
  const problems: ProtoProblem[] = [...read.problems];
  const titles = new Map(sources.map(({ id, title }) => [id, title]));
  const repeated = new Map<string, number>();
  const chosen = chooseFiles({ files: read.files, own, titles, problems, repeated });
  const { files, errors } = compileProtos({
    base: own.files,
    sources: [...chosen.values()].flatMap(({ name, content }): ProtoSource[] => ("text" in content ? [{ name, text: content.text }] : [])),
    descriptors: [...chosen.values()].flatMap(({ content }) => ("descriptor" in content ? [content.descriptor] : [])),
    limits: { types: limits.types, ofFile: largestFile },
  });
  problems.push(...problemsOf(errors, chosen));
  const parts = files.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return {
    revision: revisionOf([...own.files.map(own.bytes), ...parts]),
    bytes: new Uint8Array(Buffer.concat(parts)),
    lengths: parts.map(({ length }) => length),
    sources: sources.map(({ id }) => ({ ...reportOf(id, files, chosen), repeated: repeated.get(id) ?? 0 })),
    problems,
    folders: read.folders,
    around: read.around,
  };
}

const namedImporters = 5;

/** Files that only import a broken one are one problem together. */
function problemsOf(errors: readonly ProtoError[], chosen: ReadonlyMap<string, ReadProto>): readonly ProtoProblem[] {
  const sourceOf = (file: string) => chosen.get(file)?.source ?? "";
  const [broken, importers] = [
    errors.filter(({ because }) => because === undefined),
    errors.filter(({ because }) => because !== undefined),
  ];
  const left = Map.groupBy(importers, ({ file, because }) => JSON.stringify([sourceOf(file), because]));
  return [
    ...broken.map(({ file, line, column, problem }) => {
      const from = chosen.get(file);
      // A descriptor has no lines.
      const hasLines = from !== undefined && "text" in from.content;
      return { source: sourceOf(file), file, problem, ...(hasLines && { line, column }) };
    }),
    ...[...left.values()].map((group) => {
      const [{ file, because = "" }] = group as [ProtoError];
      const names = group.slice(0, namedImporters).map((one) => one.file);
      const more = group.length - names.length;
      const text = `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
      const problem = group.length === 1 ? `${text} imports it and is left out, too` : `${text} import it and are left out, too`;
      return { source: sourceOf(file), file: because, problem };
    }),
  ];
}

interface Choice {
  readonly files: readonly ReadProto[];
  readonly own: DescriptorPool;
  /** Of sources, by id. */
  readonly titles: ReadonlyMap<string, string>;
  readonly problems: ProtoProblem[];
  /** Counts by source. */
  readonly repeated: Map<string, number>;
}

/** One file for each name, the first that has it. */
function chooseFiles({ files, own, titles, problems, repeated }: Choice): ReadonlyMap<string, ReadProto> {
  const chosen = new Map<string, ReadProto>();
  for (const file of files) {
    const { name, source } = file;
    // Copies of these are in many folders and in each buf image.
    if (isWellKnownFile(name) || (own.file(name) && /^(?:google|grpc)\//.test(name))) continue;
    const ours = own.file(name);
    const first = chosen.get(name);
    if (ours) {
      if (!isOwn(file, ours, own))
        problems.push({ source, file: name, problem: "Backlot has a file of its own with this name: give it another one" });
    } else if (!first) chosen.set(name, file);
    else if (isSame(first, file)) repeated.set(source, (repeated.get(source) ?? 0) + 1);
    else {
      const where = first.source === source ? "this source" : titles.get(first.source);
      problems.push({ source, file: name, problem: `another file with this name, of ${where}, is served in its place` });
    }
  }
  return chosen;
}

function isOwn({ content }: ReadProto, ours: DescFile, own: DescriptorPool): boolean {
  if ("text" in content) return content.text === readFileSync(ownProtoFile(ours.proto.name), "utf8");
  return Buffer.from(own.bytes(ours)).equals(toBinary(FileDescriptorProtoSchema, content.descriptor));
}

function isSame({ content: left }: ReadProto, { content: right }: ReadProto): boolean {
  if ("text" in left) return "text" in right && left.text === right.text;
  if ("text" in right) return false;
  return Buffer.from(toBinary(FileDescriptorProtoSchema, left.descriptor)).equals(toBinary(FileDescriptorProtoSchema, right.descriptor));
}

function reportOf(id: string, files: readonly DescFile[], chosen: ReadonlyMap<string, ReadProto>): Omit<SourceReport, "repeated"> {
  const own = files.filter(({ proto }) => chosen.get(proto.name)?.source === id);
  return { id, files: own.length, services: own.flatMap(({ services }) => services.map(({ typeName }) => typeName)) };
}
