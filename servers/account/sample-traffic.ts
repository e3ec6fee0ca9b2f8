import type { HttpSample } from "../core/http/http-sample-traffic.ts";
import type { Log } from "../core/service/log.ts";
import { sampleUser } from "./store/sample-data.ts";

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

/** Logs in, reads and refreshes. It stops when its login is refused: failures are counted. */
export const accountSample = (log: Log): HttpSample => ({
  intervalMs: 400,
  maxSockets: 1,
  begin(send, stop) {
    const basic = `Basic ${Buffer.from(`${sampleUser.email}:${sampleUser.password}`).toString("base64")}`;
    let busy = false;
    let turn = 0;
    let token = "";
    let refresh = "";

    /** Gets a new pair, with the refresh token if there is one. */
    async function signIn(): Promise<void> {
      const isLogin = refresh === "";
      const body = isLogin ? { username: sampleUser.email, password: sampleUser.password } : { refresh_token: refresh };
      const answer = await send({ method: "POST", path: isLogin ? "/login" : "/token", software: portal }, body);
      // The service may be stopping: the sample traffic ignores that.
      if (!answer) return;
      const pair = answer.status === 200 ? (JSON.parse(answer.text) as { token?: unknown; refresh?: unknown }) : {};
      token = typeof pair.token === "string" ? pair.token : "";
      refresh = typeof pair.refresh === "string" ? pair.refresh : "";
      if (!isLogin || token !== "") return;
      log.warning(`Sample traffic stopped: ${sampleUser.email} cannot log in with the sample password`);
      stop();
    }

    async function read({ method, target, as, software }: Turn): Promise<void> {
      const authorization = as === "bearer" ? `Bearer ${token}` : basic;
      await send({ method, path: target, software, headers: as === "nobody" ? {} : { Authorization: authorization } });
    }

    async function next(): Promise<void> {
      if (busy) return;
      busy = true;
      if (turn % turnsPerLogin === 0 || token === "") await signIn();
      else await read(turns[turn % turns.length] as Turn);
      turn += 1;
      busy = false;
    }

    return () => void next();
  },
});
