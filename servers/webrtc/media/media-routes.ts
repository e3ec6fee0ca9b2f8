import { STATUS_CODES } from "node:http";
import type { IceServer } from "../../../contract/services/webrtc.ts";
import type { WebrtcMediaProtocol } from "../../../contract/traffic/webrtc-media.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { send, sendEmpty } from "../../core/http/messages/http-answer.ts";
import { readBody } from "../../core/http/messages/request-body.ts";
import { plainAddress } from "../../core/net/client-socket.ts";
import { oneStep } from "../../core/turns/work-connection.ts";
import type { WebRoutes } from "../web/web-routes.ts";
import { MediaProblem } from "./sessions/media-problem.ts";
import { addressText, type MediaClient, type MediaSession } from "./sessions/media-session.ts";
import type { MediaSessions, Opened } from "./sessions/media-sessions.ts";

export interface MediaRoutesOptions {
  readonly sessions: MediaSessions;
  /** For a client that has reached this computer by `host`, an IP address. */
  readonly iceServers: (host: string, user: string) => readonly IceServer[];
  readonly bodyBytes: number;
}

/** What is read is read in the step itself: many may be told at once that it is their turn. */
const inTurnOf =
  ({ work }: HttpRequest) =>
  <Result>(act: () => Result): Promise<Result> =>
    work.run(oneStep(act));

const sdpType = "application/sdp";
const fragmentType = "application/trickle-ice-sdpfrag";
/** As the RTSP service takes them. */
const mostPathLength = 1_000;
const mostAuthorizationLength = 4_096;
const problemType = "application/problem+json";
const endpointMethods = "POST, OPTIONS";
const sessionMethods = "PATCH, DELETE, OPTIONS";
const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
/** For pages of other origins that may use the service. */
const exposed = "Location, ETag, Link, Accept-Post, Accept-Patch, Retry-After, X-Left-Out";

interface Target {
  readonly protocol: WebrtcMediaProtocol;
  /** Of the RTSP service. */
  readonly path: string;
  /** Of a session. */
  readonly id: string | undefined;
}

/** WHIP (RFC 9725) at /whip/{path} and WHEP (draft-ietf-wish-whep) at /whep/{path}. A session is a resource below its path. */
export function mediaRoutes({ sessions, iceServers, bodyBytes }: MediaRoutesOptions): WebRoutes {
  /** RFC 9725 §4.6: how the client reaches STUN and TURN. */
  function links({ socket }: HttpRequest, { protocol }: Target): { readonly Link?: readonly string[] } {
    const servers = iceServers(plainAddress(socket.localAddress ?? "127.0.0.1"), protocol);
    const fields = servers.flatMap(({ urls, username, credential }) =>
      urls.map((url) => {
        const isTurn = username !== undefined && credential !== undefined && /^turns?:/.test(url);
        const access = isTurn ? `; username=${quoted(username)}; credential=${quoted(credential)}; credential-type="password"` : "";
        return `<${url}>; rel="ice-server"${access}`;
      }),
    );
    return fields.length > 0 ? { Link: fields } : {};
  }

  function sessionOf({ protocol, path, id = "" }: Target): MediaSession {
    const session = sessions.get(id);
    if (session?.protocol !== protocol || session.path !== path) throw new MediaProblem(404, "There is no such session: it has ended.");
    return session;
  }

  async function open(request: HttpRequest, response: HttpResponse, target: Target): Promise<void> {
    if (target.id !== undefined) throw wrongMethod(target);
    checkType(request, sdpType);
    const offer = (await readBody(request, response, bodyBytes)).toString();
    const { authorization = "" } = request.headers;
    if (target.path === "" || target.path.length > mostPathLength) throw new MediaProblem(404, "There is no stream of this name.");
    if (authorization.length > mostAuthorizationLength) throw new MediaProblem(400, "The field Authorization is too long.");
    const client = clientOf(request);
    const opening = { path: target.path, offer, authorization: request.headers.authorization, client, inTurn: inTurnOf(request) };
    const opened = await (target.protocol === "whep" ? sessions.play(opening) : sessions.publish(opening));
    created(request, response, target, opened);
  }

  function created(request: HttpRequest, response: HttpResponse, target: Target, { session, answer }: Opened): void {
    const path = session.path.split("/").map(encodeURIComponent).join("/");
    const leftOut = session.leftOut.map(({ kind, reason }) => `${kind}: ${reason}`).join(" ");
    send(response, 201, sdpType, answer, {
      Location: `/${session.protocol}/${path}/${session.id}`,
      ETag: session.etag,
      "Accept-Patch": fragmentType,
      "Access-Control-Expose-Headers": exposed,
      ...(leftOut !== "" && { "X-Left-Out": leftOut }),
      ...links(request, target),
    });
  }

  async function patch(request: HttpRequest, response: HttpResponse, target: Target): Promise<void> {
    if (target.id === undefined) throw wrongMethod(target);
    checkType(request, fragmentType);
    const fragment = (await readBody(request, response, bodyBytes)).toString();
    const session = sessionOf(target);
    const restarted = await inTurnOf(request)(() => sessions.patch(session, request.headers["if-match"], fragment));
    const headers = { ETag: session.etag, "Access-Control-Expose-Headers": exposed };
    if (restarted === undefined) sendEmpty(response, 204, headers);
    else send(response, 200, fragmentType, restarted, headers);
  }

  function end(_request: HttpRequest, response: HttpResponse, target: Target): void {
    if (target.id === undefined) throw wrongMethod(target);
    sessions.delete(sessionOf(target));
    sendEmpty(response, 200);
  }

  function describe(request: HttpRequest, response: HttpResponse, target: Target): void {
    sendEmpty(response, 204, {
      ...acceptedBy(target),
      "Access-Control-Expose-Headers": exposed,
      ...(target.id === undefined && links(request, target)),
    });
  }

  const routesOf = (protocol: WebrtcMediaProtocol) => {
    const path = `/${protocol}/*path`;
    const answered =
      (answer: (request: HttpRequest, response: HttpResponse, target: Target) => void | Promise<void>): HttpHandler =>
      async (request, response) => {
        try {
          await answer(request, response, targetOf(protocol, request));
        } catch (error) {
          if (!(error instanceof MediaProblem)) throw error;
          sendProblem(response, error);
        }
      };
    return [
      { path, methods: ["POST"] as const, handle: answered(open) },
      { path, methods: ["PATCH"] as const, handle: answered(patch) },
      { path, methods: ["DELETE"] as const, handle: answered(end) },
      { path, methods: ["OPTIONS"] as const, handle: answered(describe) },
      // RFC 9725 §4.2 reserves them.
      {
        path,
        methods: ["GET", "PUT"] as const,
        handle: answered((_request, _response, target) => {
          throw wrongMethod(target);
        }),
      },
    ];
  };
  return {
    http: [...routesOf("whep"), ...routesOf("whip")],
    preflightFields(path) {
      const names = /^\/(?:whep|whip)\/(.+)$/.exec(path)?.[1]?.split("/");
      return names && acceptedBy(resourceOf(names));
    },
  };
}

/** RFC 9725 §4.2: what OPTIONS says of a path or a session, also to the preflight of a page. */
const acceptedBy = ({ id }: Pick<Target, "id">): Readonly<Record<string, string>> =>
  id === undefined ? { Allow: endpointMethods, "Accept-Post": sdpType } : { Allow: sessionMethods, "Accept-Patch": fragmentType };

const wrongMethod = ({ id }: Target): MediaProblem =>
  id === undefined
    ? new MediaProblem(405, "An offer is sent with POST.", { Allow: endpointMethods })
    : new MediaProblem(405, "A session takes PATCH and DELETE.", { Allow: sessionMethods });

function sendProblem(response: HttpResponse, { status, message: detail, headers }: MediaProblem): void {
  if (response.entry) response.entry.reason = detail;
  const body = JSON.stringify({ type: "about:blank", title: STATUS_CODES[status] ?? "", status, detail });
  send(response, status, problemType, `${body}\n`, { ...headers, "Access-Control-Expose-Headers": exposed });
}

const targetOf = (protocol: WebrtcMediaProtocol, { params }: HttpRequest): Target => ({
  protocol,
  ...resourceOf([params.path ?? []].flat()),
});

/** Of the names behind /whep/ or /whip/. */
function resourceOf(segments: readonly string[]): Pick<Target, "path" | "id"> {
  const names = segments.filter((name) => name !== "");
  const id = names.length > 1 && uuid.test(names.at(-1) ?? "") ? names.pop() : undefined;
  return { path: names.join("/"), id };
}

function clientOf({ socket, headers }: HttpRequest): MediaClient {
  const address = plainAddress(socket.remoteAddress ?? "");
  return { address, remote: addressText(address, socket.remotePort ?? 0), userAgent: headers["user-agent"] ?? "" };
}

function checkType({ headers }: HttpRequest, wanted: string): void {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== wanted) throw new MediaProblem(415, `The body has to be ${wanted}; it is ${type || "of no type"}.`);
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;
