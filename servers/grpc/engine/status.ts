/** Names of the status codes, by code. */
export const statusNames = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;
export type StatusName = (typeof statusNames)[number];

export const statusCode = (name: StatusName): number => statusNames.indexOf(name);

export const statusName = (code: number): string => statusNames[code] ?? `code ${code}`;

/** What a handler throws to end its call with a status. */
export class StatusError extends Error {
  readonly code: number;

  constructor(name: StatusName, message: string) {
    super(message);
    this.code = statusCode(name);
  }
}
