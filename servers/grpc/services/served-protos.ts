import type { GrpcMethods, ServedMethod } from "../engine/handlers.ts";
import { type DescriptorPool, revisionOf } from "../protos/descriptor-pool.ts";
import { createServedMethods, type MethodsToServe, type ServedMethods } from "./served-methods.ts";

interface Schema {
  readonly revision: string;
  /** Serialized files. */
  readonly files: readonly Uint8Array[];
}

/** Earlier revisions are kept for the calls that began with them. */
const earlierSchemas = 8;
const earlierBytes = 32 << 20;

/** The served methods. They can be replaced at any time; open calls keep the method and types that they began with. */
export class ServedProtos implements GrpcMethods {
  readonly #handlers: Pick<MethodsToServe, "handlers" | "replies">;
  readonly #onChange: () => void;
  #current: ServedMethods;
  #earlier: readonly Schema[] = [];

  constructor(own: DescriptorPool, handlers: Pick<MethodsToServe, "handlers" | "replies">, onChange: () => void) {
    this.#handlers = handlers;
    this.#onChange = onChange;
    this.#current = createServedMethods({ ...handlers, pool: own, revision: revisionOf(own.files.map(own.bytes)) });
  }

  get pool(): DescriptorPool {
    return this.#current.pool;
  }

  get current(): ServedMethods {
    return this.#current;
  }

  find(path: string): ServedMethod | undefined {
    return this.#current.find(path);
  }

  serve(pool: DescriptorPool, revision: string): void {
    if (revision === this.#current.revision) return;
    let bytes = 0;
    this.#earlier = [schemaOf(this.#current), ...this.#earlier]
      .filter((schema) => schema.revision !== revision)
      .slice(0, earlierSchemas)
      .filter(({ files }, index) => {
        bytes += files.reduce((sum, { length }) => sum + length, 0);
        return index === 0 || bytes <= earlierBytes;
      });
    this.#current = createServedMethods({ ...this.#handlers, pool, revision });
    this.#onChange();
  }

  /** A serialized FileDescriptorSet of a revision; of the current one if it is not kept. */
  schema(revision = this.#current.revision): { readonly revision: string; readonly set: Buffer } {
    const { files, ...schema } = this.#earlier.find((earlier) => earlier.revision === revision) ?? schemaOf(this.#current);
    return { ...schema, set: Buffer.concat(files.flatMap((file) => [prefixOf(file.length), file])) };
  }
}

const schemaOf = ({ pool, revision }: ServedMethods): Schema => ({ revision, files: pool.files.map(pool.bytes) });

/** Field 1 of google.protobuf.FileDescriptorSet. */
function prefixOf(length: number): Uint8Array {
  const prefix = [(1 << 3) | 2];
  let left = length;
  for (; left >= 0x80; left >>>= 7) prefix.push((left & 0x7f) | 0x80);
  return Uint8Array.from([...prefix, left]);
}
