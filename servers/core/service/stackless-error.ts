/** An error that tells a client something: its stack would take longer than the answer, and says nothing. */
export class StacklessError extends Error {
  constructor(message?: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}
