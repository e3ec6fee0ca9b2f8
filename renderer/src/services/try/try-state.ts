import type { Failure } from "../../../../contract/service.ts";

/** What became of the last try. */
export type TryState<Answer> =
  | { readonly state: "untried" }
  | { readonly state: "sending" }
  | { readonly state: "answered"; readonly answer: Answer }
  | { readonly state: "failed"; readonly failure: Failure };
