/** Takes the client's messages. */
export interface MessageSink {
  message(bytes: Uint8Array): void | Promise<void>;
  /** The client has sent its last message. */
  halfClose(): void | Promise<void>;
}

/** Gets messages before the handler's sink does. */
export interface MessageFilter {
  /** True for a message that the handler does not get: the filter asks for the next one, or gives it to the handler later by `pass`. */
  message(bytes: Uint8Array, pass: () => void): boolean;
  /** `pass` tells the handler; it may be called later, or not at all. */
  halfClose(pass: () => void): void;
}
