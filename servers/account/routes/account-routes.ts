import { sendTexts } from "../../core/http/connections/client-work.ts";
import type { HttpMethod, HttpRequest, HttpResponse, HttpRoute } from "../../core/http/http-route.ts";
import { createClientNames } from "../../core/http/messages/client-name.ts";
import { jsonType, send } from "../../core/http/messages/http-answer.ts";
import type { Authenticator, Caller } from "../access/authenticator.ts";
import type { Client } from "../access/logins.ts";
import { type Fields, readFields } from "./request-fields.ts";

export type ApiMethod = HttpMethod & ("GET" | "POST" | "PUT" | "DELETE");

/** A long answer: texts that are JSON together, each of them made in a step. */
export class JsonTexts {
  readonly texts: Iterable<string>;

  constructor(texts: Iterable<string>) {
    this.texts = texts;
  }
}

/** One path below both bases. The handler's result is answered as JSON with 200; a refusal is thrown. */
export interface ApiRoute {
  readonly path: string;
  readonly methods: Readonly<Partial<Record<ApiMethod, (call: Call) => unknown>>>;
}

export interface Call {
  readonly response: HttpResponse;
  readonly client: Client;
  readonly authorization: string | undefined;
  /** The number in a path parameter such as `:id`, or undefined. */
  number(name: string): number | undefined;
  fields(): Promise<Fields>;
  /** The caller, by Bearer or Basic. */
  caller(): Caller | Promise<Caller>;
  /** Sets the user of the request's row. */
  attributeTo(email: string): void;
}

export interface CallParts {
  readonly authenticator: Authenticator;
  readonly clientAddress: (remote: string | undefined, forwardedFor: string | undefined) => string;
  readonly bodyBytes: number;
}

/** Base paths that clients use. */
const bases = ["", "/api"];

/** The API's routes at both bases. */
export function accountRoutes(routes: readonly ApiRoute[], parts: CallParts): readonly HttpRoute[] {
  const softwareOf = createClientNames();

  class RequestCall implements Call {
    readonly request: HttpRequest;
    readonly response: HttpResponse;

    constructor(request: HttpRequest, response: HttpResponse) {
      this.request = request;
      this.response = response;
    }

    get client(): Client {
      const { headers, socket } = this.request;
      return {
        address: parts.clientAddress(socket.remoteAddress, headers["x-forwarded-for"] as string | undefined),
        connection: socket,
        hasLeft: () => socket.destroyed,
        software: softwareOf(headers["user-agent"]),
      };
    }

    get authorization(): string | undefined {
      return this.request.headers.authorization;
    }

    number(name: string): number | undefined {
      const text = this.request.params[name];
      return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    }

    fields(): Promise<Fields> {
      return readFields(this.request, this.response, parts.bodyBytes);
    }

    caller(): Caller | Promise<Caller> {
      const caller = parts.authenticator.authenticate(this.authorization, () => this.client);
      return caller instanceof Promise ? caller.then((found) => this.#attributed(found)) : this.#attributed(caller);
    }

    attributeTo(email: string): void {
      const { entry } = this.response;
      if (entry) entry.user = email;
    }

    #attributed(caller: Caller): Caller {
      this.attributeTo(caller.user.email);
      return caller;
    }
  }

  const routeOf = (path: string, method: ApiMethod, answer: (call: Call) => unknown): HttpRoute => ({
    path,
    methods: [method],
    handle(request, response) {
      const result = answer(new RequestCall(request, response));
      if (!(result instanceof Promise)) return send(response, 200, jsonType, JSON.stringify(result));
      return result.then((value) =>
        value instanceof JsonTexts
          ? sendTexts(request, response, jsonType, value.texts)
          : send(response, 200, jsonType, JSON.stringify(value)),
      );
    },
  });
  return bases.flatMap((base) =>
    routes.flatMap(({ path, methods }) =>
      (Object.entries(methods) as [ApiMethod, (call: Call) => unknown][]).map(([method, answer]) => routeOf(base + path, method, answer)),
    ),
  );
}

/** RFC 3986 §6.2.2.2: "%64" is "d"; and clients put a slash between a base that ends with one and a path that begins with one. */
export function tidyPath(path: string): string {
  if (!path.includes("%") && !path.includes("//")) return path;
  decodeURIComponent(path);
  const plain = path.replace(/%([2-7][\da-f])/gi, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : escaped;
  });
  return plain.startsWith("/") ? plain.replace(/\/{2,}/g, "/") : plain;
}
