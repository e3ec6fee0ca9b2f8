import type { Failure, PortTransport, SuggestedFix } from "../../../contract/service.ts";
import type { ErrorCode } from "./error-codes.ts";

export interface ServiceErrorOptions {
  readonly cause?: unknown;
  readonly fix?: SuggestedFix | undefined;
  readonly port?: number | undefined;
  readonly transport?: PortTransport | undefined;
  readonly field?: Failure["field"];
}

/** The one error whose text reaches a user: what went wrong, and what to do about it. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  readonly hint: string;
  readonly fix: SuggestedFix | undefined;
  readonly port: number | undefined;
  readonly transport: PortTransport | undefined;
  readonly field: Failure["field"];

  constructor(code: ErrorCode, message: string, hint: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = hint;
    this.fix = options.fix;
    this.port = options.port;
    this.transport = options.transport;
    this.field = options.field;
  }
}

/** The message of a thrown value. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Turns a failure from another process back into an error. */
export const errorOfFailure = (failure: Failure): ServiceError =>
  new ServiceError(failure.code as ErrorCode, failure.message, failure.hint, failure);

/** Turns any thrown value into a failure; everything but a ServiceError becomes INTERNAL. */
export function toFailure(error: unknown): Failure {
  if (error instanceof ServiceError) {
    const { code, message, hint, fix, port, transport, field } = error;
    return {
      code,
      message,
      hint,
      ...(fix && { fix }),
      ...(port !== undefined && { port }),
      ...(transport && { transport }),
      ...(field && { field }),
    };
  }
  return { code: "INTERNAL", message: errorText(error), hint: "This is a bug in Backlot. The log has the details; please report it." };
}
