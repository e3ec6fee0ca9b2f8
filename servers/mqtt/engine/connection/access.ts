/** Authentication and authorization interface of the engine, implemented by `servers/mqtt/access`. */

import type { LoginClient } from "../../../core/credentials/login-queue.ts";

export interface Credentials {
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Buffer | undefined;
  /** Common name of a verified client certificate. */
  readonly certificateName: string | undefined;
  readonly client: LoginClient;
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
  /** Undefined if the method is unknown. */
  exchange(method: string, client: LoginClient): AuthExchange | undefined;
  mayPublish(identity: Identity, topic: string): boolean;
  /** Also used with a topic name, to check whether the client may read it. */
  maySubscribe(identity: Identity, filter: string): boolean;
  /** Tests for topics that are not delivered although an allowed subscription matches them; undefined if there are none. */
  hiddenFrom(identity: Identity): ((topic: string) => boolean) | undefined;
  /** False if every client may read and write everything. */
  readonly restricts: boolean;
}
