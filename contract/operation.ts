/** Something a page asks a running service to do beyond starting and stopping, or a call to the supervisor: the same shape. */
import type { z } from "zod";

declare const resultType: unique symbol;

export interface Operation<Params extends z.ZodType = z.ZodType, Result = unknown> {
  readonly params: Params;
  /** For the compiler only: results come from our own code and are not parsed again. */
  readonly [resultType]?: Result;
}
export type Operations = Readonly<Record<string, Operation>>;
export type ParamsOf<O> = O extends Operation<infer P> ? z.input<P> : never;
/** What the handler gets: the parameters after their schema filled in the defaults. */
export type ParsedParamsOf<O> = O extends Operation<infer P> ? z.output<P> : never;
export type ResultOf<O> = O extends Operation<z.ZodType, infer R> ? R : never;

/** `operation<Result>()(paramsSchema)`: curried so that the schema's type is inferred. */
export const operation =
  <Result>() =>
  <Params extends z.ZodType>(params: Params): Operation<Params, Result> => ({ params });

/** A complete set of handlers for a set of operations. */
export type Handlers<O extends Operations> = {
  readonly [Name in keyof O]: (params: ParsedParamsOf<O[Name]>) => ResultOf<O[Name]> | Promise<ResultOf<O[Name]>>;
};
