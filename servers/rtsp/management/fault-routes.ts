import { z } from "zod";
import { faultKinds, faultSeed, faultTime, rtspFault } from "../../../contract/services/rtsp-faults.ts";
import { faultKindOf, faultStartOf } from "../../core/faults/fault-query.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { FaultControl } from "../faults/fault-control.ts";
import type { ActiveFault, Faults, FaultTarget } from "../faults/faults.ts";
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
    if (!faults.stop(target, faultKindOf(query, faultKinds))) throw new HttpRefusal(404, "fault not found");
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
        control.startOnPath(checkedPath(path), faultStartOf(query, rtspStart));
        return done;
      },
    },
    { method: "DELETE", path: /^\/faults\/paths\/(.+?)\/?$/, changes: ofPath, answer: ([path = ""], query) => release(path, query) },
    {
      method: "POST",
      path: /^\/faults\/sessions\/([^/]+)\/?$/,
      changes: ofSession,
      answer([id = ""], query) {
        const start = faultStartOf(query, rtspStart);
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

const rtspStart = z.strictObject({ fault: rtspFault, forMs: faultTime, seed: faultSeed });
