/** Authentication and authorization, as the engine needs them; `servers/mqtt/access` implements them. */

export interface Credentials {
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Buffer | undefined;
  /** Common name of a client certificate that was verified. */
  readonly certificateName: string | undefined;
  readonly address: string;
}

export interface Identity {
  readonly clientId: string;
  readonly username: string | undefined;
}

export type Verdict =
  | { readonly allowed: true; readonly username: string | undefined }
  | { readonly allowed: false; readonly why: "bad user name or password" | "not authorized" | "too many failures" };

/** One enhanced authentication in progress (MQTT 5.0 §4.12). */
export interface AuthExchange {
  /** Processes the client's data and returns the next step. */
  step(data: Buffer): AuthStep | Promise<AuthStep>;
}

export type AuthStep =
  | { readonly state: "continue"; readonly data: Buffer }
  | { readonly state: "done"; readonly data: Buffer | undefined; readonly username: string }
  | { readonly state: "failed" };

export interface Access {
  authenticate(credentials: Credentials): Verdict | Promise<Verdict>;
  /** Undefined where the method is not known. */
  exchange(method: string, address: string): AuthExchange | undefined;
  mayPublish(identity: Identity, topic: string): boolean;
  /** A topic is a filter as well: whether it may be read. */
  maySubscribe(identity: Identity, filter: string): boolean;
  /** Topics that no subscription brings, though it is allowed and matches them; undefined where there are none. */
  hiddenFrom(identity: Identity): ((topic: string) => boolean) | undefined;
  /** False where every client may read and write everything. */
  readonly restricts: boolean;
}
