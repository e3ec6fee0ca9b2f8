import type { Log } from "../../core/service/log.ts";
import { sampleUser } from "../store/sample-data.ts";
import type { OwnRequest, OwnRequests } from "./own-request.ts";

const everyMs = 400;

type Turn = { readonly method: "GET"; readonly target: string; readonly as: "bearer" | "basic" | "nobody"; readonly software: string };
const script = "python-requests/2.32.3";
const shell = "curl/8.5.0";
const portal = "portal-app/3.1";

const turns: readonly Turn[] = [
  { method: "GET", target: "/details", as: "bearer", software: portal },
  { method: "GET", target: "/service", as: "bearer", software: portal },
  { method: "GET", target: "/invoice", as: "bearer", software: portal },
  { method: "GET", target: "/api/dns", as: "basic", software: shell },
  { method: "GET", target: "/api/service/292/dns/1178", as: "basic", software: shell },
  { method: "GET", target: "/balance", as: "bearer", software: portal },
  { method: "GET", target: "/api/details", as: "basic", software: script },
  { method: "GET", target: "/service/32723", as: "bearer", software: portal },
  { method: "GET", target: "/details", as: "nobody", software: script },
  { method: "GET", target: "/invoice/1003", as: "bearer", software: portal },
];
const turnsPerLogin = 25;

/** A client of our own that logs in, reads and refreshes, so that a new user sees something move. It stops when its login is refused: failures are counted. */
export function createSampleTraffic(parts: {
  readonly requests: OwnRequests;
  readonly log: Log;
  readonly show: (view: { readonly running: boolean }) => void;
}) {
  const { requests, log, show } = parts;
  const basic = `Basic ${Buffer.from(`${sampleUser.email}:${sampleUser.password}`).toString("base64")}`;
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let turn = 0;
  let token = "";
  let refresh = "";

  function stop(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    show({ running: false });
  }

  /** A new pair, by the refresh token where there is one. */
  async function signIn(): Promise<void> {
    const body = refresh === "" ? { username: sampleUser.email, password: sampleUser.password } : { refresh_token: refresh };
    const answer = await requests.send({
      ...{ method: "POST", target: refresh === "" ? "/login" : "/token" },
      headers: [
        ["User-Agent", portal],
        ["Content-Type", "application/json"],
      ],
      body: JSON.stringify(body),
    });
    const pair = answer.status === 200 ? (JSON.parse(answer.body.toString("utf8")) as { token?: unknown; refresh?: unknown }) : {};
    const failedLogin = refresh === "" && typeof pair.token !== "string";
    token = typeof pair.token === "string" ? pair.token : "";
    refresh = typeof pair.refresh === "string" ? pair.refresh : "";
    if (!failedLogin) return;
    log.warning(`Sample traffic stopped: ${sampleUser.email} cannot log in with the sample password`);
    stop();
  }

  async function next(): Promise<void> {
    if (busy) return;
    busy = true;
    try {
      if (turn % turnsPerLogin === 0 || token === "") await signIn();
      else await requests.send(requestOf(turns[turn % turns.length] as Turn));
      turn += 1;
    } catch {
      // The service may be stopping: then there is simply nothing to see.
    } finally {
      busy = false;
    }
  }

  function requestOf({ method, target, as, software }: Turn): OwnRequest {
    const authorization = as === "bearer" ? `Bearer ${token}` : basic;
    return {
      method,
      target,
      headers: [["User-Agent", software], ...(as === "nobody" ? [] : ([["Authorization", authorization]] as const))],
      body: "",
    };
  }

  show({ running: false });
  return {
    start() {
      if (timer !== undefined) return;
      timer = setInterval(() => void next(), everyMs);
      show({ running: true });
    },
    stop,
  };
}
