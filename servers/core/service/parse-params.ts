import type { z } from "zod";
import { issueSentence } from "../config/issue-text.ts";
import { ServiceError } from "./service-error.ts";

/** Parameters of a call or an action after their schema; throws CALL_INVALID with what is wrong first. */
export function parseParams<Schema extends z.ZodType>(schema: Schema, params: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new ServiceError("CALL_INVALID", issueSentence(parsed.error.issues[0]), "Correct the value and try again.", {
    cause: new Error(`${name}: ${parsed.error.message}`),
  });
}
