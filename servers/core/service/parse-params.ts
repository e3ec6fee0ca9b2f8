import type { z } from "zod";
import { ServiceError } from "./service-error.ts";

/** Parameters of a call or an action after their schema; throws CALL_INVALID naming the first field that is wrong. */
export function parseParams<Schema extends z.ZodType>(schema: Schema, params: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue && issue.path.length > 0 ? ` (${issue.path.join(".")})` : "";
  throw new ServiceError("CALL_INVALID", `${name}${where}: ${issue?.message ?? "invalid parameters"}`, "Correct the value and try again.");
}
