export interface Issue {
  /** "recent_actions.0"; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** An answer that is not what the client hoped for, in the shape that clients know. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly issues: readonly Issue[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, options: { issues?: readonly Issue[]; headers?: Readonly<Record<string, string>> } = {}) {
    super(message);
    this.status = status;
    this.issues = options.issues;
    this.headers = options.headers ?? {};
  }
}

export const validationFailed = (issues: readonly Issue[]): Refusal => new Refusal(400, "Validation failed", { issues });

export const errorBody = (_status: number, message: string): string => JSON.stringify({ error: message });
