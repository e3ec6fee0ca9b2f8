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
  /** The imports of a .proto file are looked for in its folder. */
  readonly importsBeside: boolean;
}

export interface CompileJob {
  /** If two files have the same name, that of the earlier source is used. */
  readonly sources: readonly ProtoSourcePath[];
  readonly limits: ProtoLimits;
}

export interface ProtoProblem {
  /** Id of the source. */
  readonly source: string;
  readonly file: string;
  /** From 1; absent if the problem is of the whole file. */
  readonly line?: number;
  readonly column?: number;
  readonly problem: string;
}

export interface SourceReport {
  readonly id: string;
  /** Served files. */
  readonly files: number;
  /** Files that an earlier source has, too, and which are served of that one. */
  readonly repeated: number;
  readonly services: readonly string[];
}

export interface CompileResult {
  /** A hash of the files: the same after a restart. */
  readonly revision: string;
  /** Serialized descriptors without Backlot's own, one after the other; each follows its imports. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
  readonly sources: readonly SourceReport[];
  readonly problems: readonly ProtoProblem[];
  /** Folders that were read: any change in them may matter. */
  readonly folders: readonly string[];
  /** Folders of sources and of single files: only some names in them matter. */
  readonly around: readonly string[];
}
