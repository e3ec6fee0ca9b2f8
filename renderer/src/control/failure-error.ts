import type { Failure } from "../../../contract/service.ts";
import { maxFrameBytes } from "../../../contract/wire.ts";

/** The rejection of a call: the supervisor's failure, or the loss of the connection. */
export class FailureError extends Error {
  override readonly name = "FailureError";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const connectionLost = (): FailureError =>
  new FailureError({
    code: "CONNECTION_LOST",
    message: "Not connected to Backlot.",
    hint: "Try again when the dashboard is connected.",
  });

export const tooLarge = (): FailureError =>
  new FailureError({
    code: "CALL_INVALID",
    message: `This is more than a page can send at once: ${maxFrameBytes / (1 << 20)} MiB.`,
    hint: "Send less, or fewer messages at once. Nothing was sent.",
  });

/** Any rejected value as a failure that can be shown. */
export const failureOf = (error: unknown): Failure =>
  error instanceof FailureError
    ? error.failure
    : {
        code: "INTERNAL",
        message: error instanceof Error ? error.message : String(error),
        hint: "This is an error in the dashboard. Reload it. If it happens again, please report it.",
      };

/** Why something could not be read, shown in its place. A lost connection is shown by the frame. */
export function readFailure(error: unknown): Failure | undefined {
  const failure = failureOf(error);
  return failure.code === "CONNECTION_LOST" ? undefined : failure;
}
