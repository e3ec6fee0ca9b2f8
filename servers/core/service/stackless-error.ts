/** An error that tells a client something: its stack would take longer than the answer, and says nothing. */
export class StacklessError extends Error {
  constructor(message?: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Node and the handlers make an error for each request that is cut. Its stack would take most of the time, and says nothing. */
export function withoutStacks<Result>(act: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
