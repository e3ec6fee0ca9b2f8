/** A protocol file that cannot be compiled: which file, where in it, and why. Lines and columns count from 1. */
export class ProtoError extends Error {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;

  constructor(file: string, problem: string, at: { readonly line: number; readonly column: number } = { line: 1, column: 1 }) {
    super(`${file}:${at.line}:${at.column}: ${problem}`);
    this.file = file;
    this.problem = problem;
    this.line = at.line;
    this.column = at.column;
  }
}
