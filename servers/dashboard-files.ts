/** The built dashboard, as both shells serve it. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "./core/service/service-error.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

export interface DashboardFile {
  readonly content: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The file that a decoded path names, with its headers; undefined where there is none, or where the path leaves the folder.
 * `connectSources` are those that the page may connect to beside its own origin.
 */
export async function readDashboardFile(
  dashboardDir: string,
  pathname: string,
  connectSources: readonly string[] = [],
): Promise<DashboardFile | undefined> {
  const file = path.join(dashboardDir, pathname === "/" ? "index.html" : pathname);
  if (!file.startsWith(dashboardDir + path.sep)) return undefined;
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch {
    return undefined;
  }
  return {
    content,
    headers: {
      ...securityHeaders(connectSources),
      "content-type": contentTypes[path.extname(file)] ?? "application/octet-stream",
      "content-length": String(content.length),
      // Vite names assets by their content.
      "cache-control": pathname.startsWith("/assets/") ? "private, max-age=31536000, immutable" : "no-cache",
    },
  };
}

const securityHeaders = (connectSources: readonly string[]) => ({
  "content-security-policy": [
    "default-src 'self'",
    // Mantine sets its variables in style elements.
    "style-src 'self' 'unsafe-inline'",
    `connect-src ${["'self'", ...connectSources].join(" ")}`,
    "object-src 'none'",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
});

/** Says where the dashboard's files should be when they are not. Throws DASHBOARD_MISSING. */
export async function checkDashboard(dashboardDir: string): Promise<void> {
  await readFile(path.join(dashboardDir, "index.html")).catch((cause) => {
    throw new ServiceError("DASHBOARD_MISSING", `The dashboard is not built (${dashboardDir})`, "Run npm run build.", { cause });
  });
}
