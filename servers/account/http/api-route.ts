import type { Request, Response } from "express";
import type { Caller } from "../access/authenticator.ts";
import type { Client } from "../access/logins.ts";
import type { Fields } from "./request-fields.ts";

export type ApiMethod = "GET" | "POST" | "PUT" | "DELETE";

export interface Call {
  readonly request: Request;
  readonly response: Response;
  readonly client: Client;
  /** Of a path's part such as `:id`: the number, or undefined for what is none. */
  number(name: string): number | undefined;
  fields(): Promise<Fields>;
  /** Who asks, by Bearer or Basic. */
  caller(): Promise<Caller>;
  authorization(): string | undefined;
  /** Says in the row whom it concerns. */
  attributeTo(email: string): void;
}

/** One path below both bases. The handler's result is answered as JSON with 200; a refusal is thrown. */
export interface ApiRoute {
  readonly path: string;
  readonly methods: Readonly<Partial<Record<ApiMethod, (call: Call) => unknown>>>;
}
