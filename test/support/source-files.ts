import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "./start-backlot.ts";

export interface SourceFile {
  /** From the root of the project, with slashes. */
  readonly name: string;
  readonly text: string;
  readonly imports: readonly SourceImport[];
}

export interface SourceImport {
  /** As written: "../core/log.ts", "zod". */
  readonly specifier: string;
  /** The file that it means, from the root of the project; undefined for a package. */
  readonly file: string | undefined;
  readonly typeOnly: boolean;
}

/** TypeScript sources in these folders, with what they import. */
export function readSources(folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file) && !/(^|[\\/])node_modules[\\/]/.test(file))
      .map((file): SourceFile => {
        const name = path.posix.join(folder, file.replaceAll("\\", "/"));
        const text = readFileSync(path.join(projectRoot, name), "utf8");
        return { name, text, imports: importsOf(name, text) };
      }),
  );
}

/** Good for sources in Biome's format: one statement begins a line. TypeScript 7 has no API that could do it better. */
function importsOf(name: string, text: string): SourceImport[] {
  const statements = [...text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^;"']*?\sfrom\s+)?"([^"]+)"/gm)].map((match) => ({
    typeOnly: match[1] !== undefined,
    specifier: match[2] ?? "",
  }));
  const dynamic = [...text.matchAll(/\bimport\(\s*"([^"]+)"/g)].map((match) => ({ typeOnly: false, specifier: match[1] ?? "" }));
  return [...statements, ...dynamic].map(({ typeOnly, specifier }) => ({
    specifier,
    typeOnly,
    file: specifier.startsWith(".") ? path.posix.join(path.posix.dirname(name), specifier).split("?")[0] : undefined,
  }));
}
