import { z } from "zod";
import { faultKinds, faultSeed, faultTime, rtspFault } from "../../../contract/services/rtsp-faults.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { FaultControl } from "../faults/fault-control.ts";
import type { ActiveFault, FaultStart, Faults, FaultTarget } from "../faults/faults.ts";
import { isPathName } from "../protocol/header-fields.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { type ManagementAnswer, type ManagementRoute, sessionOf } from "./management-routes.ts";

export interface FaultRouteParts {
  readonly faults: Faults;
  readonly control: FaultControl;
  readonly sessions: Pick<SessionTable, "list">;
}

const done: ManagementAnswer = { body: { status: "ok" } };
/** Paths and sessions in an answer; thousands may have faults. */
const mostListed = 1_000;

/** Faults on demand over HTTP: the query has what the page's dialog has. docs/rtsp-faults.md explains them. */
export function faultRoutes({ faults, control, sessions }: FaultRouteParts): readonly ManagementRoute[] {
  function release(target: FaultTarget, query: URLSearchParams): ManagementAnswer {
    const kind = z
      .enum(faultKinds)
      .optional()
      .safeParse(query.get("kind") ?? undefined);
    if (!kind.success) throw new HttpRefusal(400, "invalid kind");
    if (!faults.stop(target, kind.data)) throw new HttpRefusal(404, "fault not found");
    return done;
  }
  const ofPath = ([path = ""]: readonly string[]) => [path];
  const ofSession = ([id = ""]: readonly string[]) => [sessionOf(sessions, id).path];
  return [
    { method: "GET", path: /^\/faults\/?$/, answer: () => ({ body: listed() }) },
    {
      method: "DELETE",
      path: /^\/faults\/?$/,
      changes: () => faults.list().map(({ target }) => (typeof target === "string" ? target : target.path)),
      answer() {
        faults.stopAll();
        return done;
      },
    },
    {
      method: "POST",
      path: /^\/faults\/paths\/(.+?)\/?$/,
      changes: ofPath,
      answer([path = ""], query) {
        control.startOnPath(checkedPath(path), faultOf(query));
        return done;
      },
    },
    { method: "DELETE", path: /^\/faults\/paths\/(.+?)\/?$/, changes: ofPath, answer: ([path = ""], query) => release(path, query) },
    {
      method: "POST",
      path: /^\/faults\/sessions\/([^/]+)\/?$/,
      changes: ofSession,
      answer([id = ""], query) {
        const start = faultOf(query);
        if (start.fault.kind === "description") throw new HttpRefusal(400, "a path has descriptions, and a session has none");
        if (!control.startOnSession(sessionOf(sessions, id), start))
          throw new HttpRefusal(400, "the session publishes or plays by multicast: no packets are its own");
        return done;
      },
    },
    {
      method: "DELETE",
      path: /^\/faults\/sessions\/([^/]+)\/?$/,
      changes: ofSession,
      answer: ([id = ""], query) => release(sessionOf(sessions, id), query),
    },
  ];

  function listed() {
    const paths: object[] = [];
    const ofSessions: object[] = [];
    const shown = (active: readonly ActiveFault[]) =>
      active.map(({ fault, until, seed }) => ({ ...fault, until: new Date(until).toISOString(), ...(seed !== undefined && { seed }) }));
    const ids = new Map<FaultTarget, string>(sessions.list().map((session) => [session, session.publicId]));
    for (const { target, faults: active } of faults.list(mostListed)) {
      if (typeof target === "string") paths.push({ path: target, faults: shown(active) });
      else ofSessions.push({ session: ids.get(target), path: target.path, faults: shown(active) });
    }
    return { paths, sessions: ofSessions };
  }
}

function checkedPath(path: string): string {
  if (!isPathName(path)) throw new HttpRefusal(400, "invalid path");
  return path;
}

/** Throws an HttpRefusal of 400 with what is wrong. */
function faultOf(query: URLSearchParams): FaultStart {
  const { forMs, seed, ...fault } = Object.fromEntries([...query].map(([name, text]) => [name, fieldOf(name, text)]));
  const parsed = z.strictObject({ fault: rtspFault, forMs: faultTime, seed: faultSeed }).safeParse({
    fault,
    forMs,
    ...(seed !== undefined && { seed }),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HttpRefusal(400, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`);
}

/** Seeds and names are texts, also where they are digits. */
const fieldOf = (name: string, text: string): string | number => (name !== "seed" && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text);
