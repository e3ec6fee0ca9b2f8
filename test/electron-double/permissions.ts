import type { Session } from "electron";
import type { BrowserContext } from "playwright-core";
import { CoveredEmitter, strict } from "./strict.ts";

type RequestHandler = Parameters<Session["setPermissionRequestHandler"]>[0];
type CheckHandler = Parameters<Session["setPermissionCheckHandler"]>[0];

/** Electron's names beside those of Chromium. */
const names: readonly (readonly [electron: string, chromium: string])[] = [
  ["geolocation", "geolocation"],
  ["notifications", "notifications"],
  ["media", "camera"],
  ["media", "microphone"],
  ["midi", "midi"],
  ["clipboard-read", "clipboard-read"],
  ["clipboard-sanitized-write", "clipboard-write"],
  ["local-fonts", "local-fonts"],
];

export interface Permissions {
  readonly session: object;
  /** Gives the page's origin what the app's handlers allow; as in Electron that is everything where there are none. */
  apply(context: BrowserContext, pageOrigin: string, origin: string): Promise<void>;
}

export function createPermissions(): Permissions {
  let onRequest: RequestHandler = null;
  let onCheck: CheckHandler = null;
  const allows = (permission: string, origin: string) => {
    let granted = onCheck === null || onCheck(null, permission as never, origin, {} as never);
    onRequest?.(null as never, permission as never, (answer) => (granted &&= answer), { requestingUrl: origin } as never);
    return granted;
  };
  return {
    session: strict("session", {
      defaultSession: strict(
        "session.defaultSession",
        Object.assign(new CoveredEmitter("Session", ["will-download"]), {
          setPermissionRequestHandler: (handler: RequestHandler) => {
            onRequest = handler;
          },
          setPermissionCheckHandler: (handler: CheckHandler) => {
            onCheck = handler;
          },
          setDevicePermissionHandler: () => {},
        }),
      ),
    }),
    apply: (context, pageOrigin, origin) =>
      context.grantPermissions(
        names.filter(([permission]) => allows(permission, origin)).map(([, name]) => name),
        { origin: pageOrigin },
      ),
  };
}
