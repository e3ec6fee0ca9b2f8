/** What passes between the service and the worker that compiles the user's protocol files. */

export interface ProtoLimits {
  /** Of all files together. */
  readonly bytes: number;
  readonly files: number;
  /** Messages and enums of all files together. */
  readonly types: number;
}

/** A file or a folder with protocol files. */
export interface ProtoSourcePath {
  readonly id: string;
  /** As it is shown. */
  readonly title: string;
  readonly path: string;
  /** A .proto file may import what is beside it. */
  readonly importsBeside: boolean;
}

export interface CompileJob {
  /** Of two files with one name that of the earlier source is used. */
  readonly sources: readonly ProtoSourcePath[];
  readonly limits: ProtoLimits;
}

export interface ProtoProblem {
  /** Id of the source. */
  readonly source: string;
  readonly file: string;
  /** From 1; absent where the file as a whole is meant. */
  readonly line?: number;
  readonly column?: number;
  readonly problem: string;
}

export interface SourceReport {
  readonly id: string;
  /** That are served. */
  readonly files: number;
  readonly services: readonly string[];
}

export interface CompileResult {
  /** Follows from the files alone: the same files have the same one, also after a restart. */
  readonly revision: string;
  /** Serialized descriptors, each after those that it imports, one behind the other; without Backlot's own files. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
  readonly sources: readonly SourceReport[];
  readonly problems: readonly ProtoProblem[];
  /** What is read of them may change the result. */
  readonly folders: readonly string[];
  /** Folders around sources, and of single files: there only some names matter. */
  readonly around: readonly string[];
}
