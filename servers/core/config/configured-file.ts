import { NotRegularFile, openRegularFile, readRegularFile } from "../files/regular-file.ts";
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
export const configuredFile = <Name extends string>(
  shape: { readonly [Field in Name]: FileField },
  config: { readonly [Field in Name]: string },
  field: Name,
): ConfiguredFile => oneOfField(shape, field, config[field]);

/** By the name of its field, which may have several. */
export function oneOfField<Name extends string>(shape: { readonly [Field in Name]: FileField }, field: Name, path: string): ConfiguredFile {
  const { title = field, env = field } = shape[field].meta() ?? {};
  return { path, field, title, env };
}

/** Throws CONFIG_INVALID where it cannot be read, or is no regular file. */
export const readConfiguredFile = (file: ConfiguredFile): Promise<string> => orUnreadable(file, readRegularFile(file.path));

/** For a file that is read elsewhere, and with `isMade` is made there if it is missing. Throws CONFIG_INVALID. */
export const checkConfiguredFile = (file: ConfiguredFile, { isMade = false } = {}): Promise<void> =>
  orUnreadable(
    file,
    openRegularFile(file.path).then(
      (handle) => handle.close(),
      (error: unknown) => {
        if (!isMade || !isMissing(error)) throw error;
      },
    ),
  );

/** Also where its folder is none: that is told by who makes the file. */
const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

const orUnreadable = <Result>(file: ConfiguredFile, reading: Promise<Result>): Promise<Result> =>
  reading.catch((cause: unknown) => {
    const problem = cause instanceof NotRegularFile ? "is not a regular file" : "cannot be read";
    throw fileProblem(file, problem, `Correct the path in ${file.env}, or leave it empty.`, cause);
  });

/** `problem` follows the file's name in the sentence: "holds no certificate". */
export function fileProblem({ path, field, title }: ConfiguredFile, problem: string, hint: string, cause?: unknown): ServiceError {
  return new ServiceError("CONFIG_INVALID", `${title}${path === "" ? "" : `: ${path}`} ${problem}`, hint, {
    cause,
    field: { name: field, problem },
  });
}
