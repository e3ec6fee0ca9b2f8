import type { CustomScheme, Protocol } from "electron";
import { DashboardFiles } from "../servers/dashboard-files.ts";
import { dashboardHost, dashboardScheme } from "./dashboard-address.ts";

/** To be registered before the app is ready. */
export const appScheme: CustomScheme = {
  scheme: dashboardScheme,
  privileges: { standard: true, secure: true, supportFetchAPI: true },
};

/** Serves the built dashboard, and nothing outside its folder. */
export function serveDashboardFiles(protocol: Protocol, dashboardDir: string): void {
  protocol.handle(dashboardScheme, createDashboardFiles(dashboardDir));
}

export function createDashboardFiles(dashboardDir: string): (request: Pick<Request, "method" | "url">) => Promise<Response> {
  const files = new DashboardFiles(dashboardDir);
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(405);
    const pathname = pathOf(request.url);
    const file = pathname === undefined ? undefined : await files.read(pathname);
    if (!file) return refuse(404);
    return new Response(request.method === "HEAD" ? null : new Uint8Array(file.content), { headers: file.headers });
  };
}

/** Decoded; undefined if the URL names another host or is not valid. */
function pathOf(address: string): string | undefined {
  const url = URL.parse(address);
  if (url?.host !== dashboardHost) return undefined;
  try {
    return decodeURIComponent(url.pathname);
  } catch {
    return undefined;
  }
}

const refuse = (status: number) => new Response(null, { status, headers: { "x-content-type-options": "nosniff" } });
