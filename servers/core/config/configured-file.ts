import { readFile } from "node:fs/promises";
import { ServiceError } from "../service/service-error.ts";
import type { FieldMeta } from "./common-fields.ts";

/** A file that a field of the configuration names. */
export interface ConfiguredFile {
  /** Empty where there is none. */
  readonly path: string;
  readonly field: string;
  readonly title: string;
  readonly env: string;
}

interface FileField {
  meta(): Partial<FieldMeta> | undefined;
}

/** By its field's name. */
export function configuredFile<Name extends string>(
  shape: { readonly [Field in Name]: FileField },
  config: { readonly [Field in Name]: string },
  field: Name,
): ConfiguredFile {
  const { title = field, env = field } = shape[field].meta() ?? {};
  return { path: config[field], field, title, env };
}

/** Throws CONFIG_INVALID where it cannot be read. */
export async function readConfiguredFile(file: ConfiguredFile): Promise<string> {
  try {
    return await readFile(file.path, "utf8");
  } catch (cause) {
    throw fileProblem(file, "cannot be read", `Correct the path in ${file.env}, or leave it empty.`, cause);
  }
}

/** `problem` follows the file's name in the sentence: "holds no certificate". */
export function fileProblem({ path, field, title }: ConfiguredFile, problem: string, hint: string, cause?: unknown): ServiceError {
  return new ServiceError("CONFIG_INVALID", `${title}${path === "" ? "" : `: ${path}`} ${problem}`, hint, {
    cause,
    field: { name: field, problem },
  });
}
