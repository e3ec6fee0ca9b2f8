import { StacklessError } from "../../service/stackless-error.ts";

/** A refusal, thrown by a handler and answered by the dispatcher. */
export class HttpRefusal extends StacklessError {
  override readonly name = "HttpRefusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON to answer with, if not the service's usual error with this message. */
  readonly body: string | undefined;
  /** User and reason, for the row. */
  readonly user: string | undefined;
  readonly reason: string | undefined;

  constructor(status: number, message: string, options: HttpRefusalOptions = {}) {
    super(message);
    this.status = status;
    this.headers = options.headers ?? {};
    this.body = options.body;
    this.user = options.user;
    this.reason = options.reason;
  }
}

export interface HttpRefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly user?: string | undefined;
  readonly reason?: string;
}
