import { ClientLeft } from "../service/client-left.ts";
import type { Log } from "../service/log.ts";
import { errorText } from "../service/service-error.ts";
import { createRouteTable, type HttpRequest, type HttpResponse, type HttpRoute, pathOf } from "./http-route.ts";
import type { Cors } from "./messages/cors.ts";
import { jsonType, send, sendEmpty } from "./messages/http-answer.ts";
import { HttpRefusal } from "./messages/http-refusal.ts";
import { BodyTooLarge } from "./messages/request-body.ts";

/** A service's errors for requests that no route answers. */
export interface HttpErrors {
  /** The JSON body of an error. */
  readonly body: (status: number, message: string) => string;
  readonly notFound: () => HttpRefusal;
  readonly notAllowed: (method: string, allow: string) => HttpRefusal;
  /** A path that cannot be decoded. */
  readonly badPath: () => HttpRefusal;
  readonly tooLarge: () => HttpRefusal;
  /** Any other thrown value. The service logs it if it is a fault. */
  readonly refusalOf: (error: unknown, request: HttpRequest) => HttpRefusal;
}

export interface HttpDispatchOptions {
  readonly routes: readonly HttpRoute[];
  readonly caseSensitivePaths?: boolean;
  /** Normalizes the path before the route is looked up. Throws a URIError for a path that cannot be decoded. */
  readonly tidyPath?: (path: string) => string;
  readonly cors: Cors;
  readonly errors: HttpErrors;
  readonly log: Log;
}

export type HttpDispatch = (request: HttpRequest, response: HttpResponse) => void;

/** Fields of an answer that is not sent: of its content and its framing. */
const ofContent = /^(?:content-.*|trailer|transfer-encoding)$/;

/** Finds the handler of a request's route, and turns what it throws into an answer. */
export function createHttpDispatch(options: HttpDispatchOptions): HttpDispatch {
  const { cors, errors, log, tidyPath } = options;
  const table = createRouteTable(options.routes, { caseSensitive: options.caseSensitivePaths ?? false });

  function answer(request: HttpRequest, response: HttpResponse): void | Promise<void> {
    const { method = "", url = "" } = request;
    const isOptions = method === "OPTIONS";
    if (isOptions && !cors.listsAllow && cors.isPreflight(request, undefined)) return cors.answerPreflight(request, response, undefined);
    // RFC 9110 §9.3.7: "*" asks about the server as a whole.
    if (isOptions && !cors.listsAllow && url === "*")
      return sendEmpty(response, 204, { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" });
    const path = pathOf(url);
    const found = table.find(tidyPath ? tidyPath(path) : path);
    const handle = found?.handlerOf(method);
    if (found && handle) {
      request.params = found.params;
      return handle(request, response);
    }
    if (cors.isPreflight(request, found?.allow)) return cors.answerPreflight(request, response, found?.allow);
    if (!found) throw errors.notFound();
    if (!isOptions) throw errors.notAllowed(method, found.allow);
    return sendEmpty(response, 204, { Allow: found.allow });
  }

  function fail(thrown: unknown, request: HttpRequest, response: HttpResponse): void {
    if (thrown instanceof ClientLeft || response.destroyed || response.headersSent) {
      if (response.headersSent && !(thrown instanceof ClientLeft)) {
        log.error(`${request.method} failed after its response had begun: ${errorText(thrown)}`);
      }
      // Without an answer the connection would stay open.
      response.destroy();
      return;
    }
    const refusal = refusalOf(thrown, request);
    const { entry } = response;
    if (entry) {
      entry.user ??= refusal.user;
      entry.reason = refusal.reason;
    }
    for (const name of response.getHeaderNames()) if (ofContent.test(name)) response.removeHeader(name);
    const { status, message, headers } = refusal;
    try {
      send(response, status, jsonType, refusal.body ?? errors.body(status, message), headers);
    } catch (error) {
      log.error(`${request.method} failed, and so did its refusal: ${errorText(error)}`);
      response.destroy();
    }
  }

  function refusalOf(thrown: unknown, request: HttpRequest): HttpRefusal {
    if (thrown instanceof HttpRefusal) return thrown;
    if (thrown instanceof BodyTooLarge) return errors.tooLarge();
    return thrown instanceof URIError ? errors.badPath() : errors.refusalOf(thrown, request);
  }

  return (request, response) => {
    try {
      const answering = answer(request, response);
      if (answering) answering.catch((error: unknown) => fail(error, request, response));
    } catch (error) {
      fail(error, request, response);
    }
  };
}
