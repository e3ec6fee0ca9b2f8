/** The built dashboard, as both shells serve it. */
import { readFile, stat } from "node:fs/promises";
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

interface KeptFile {
  readonly mtimeMs: number;
  readonly size: number;
  readonly content: Promise<Buffer>;
}

/** Each file is read once until it changes: answers that wait for their clients share its bytes. */
export class DashboardFiles {
  readonly #dir: string;
  /** Of files that exist, so their number is bounded. */
  readonly #kept = new Map<string, KeptFile>();

  constructor(dashboardDir: string) {
    this.#dir = dashboardDir;
  }

  /**
   * The file that a decoded path names, with its headers; undefined where there is none, or where the path leaves the folder.
   * `connectSources` are those that the page may connect to beside its own origin.
   */
  async read(pathname: string, connectSources: readonly string[] = []): Promise<DashboardFile | undefined> {
    const file = path.join(this.#dir, pathname === "/" ? "index.html" : pathname);
    if (!file.startsWith(this.#dir + path.sep)) return undefined;
    let content: Buffer;
    try {
      content = await this.#contentOf(file);
    } catch {
      this.#kept.delete(file);
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

  async #contentOf(file: string): Promise<Buffer> {
    const { mtimeMs, size } = await stat(file);
    const kept = this.#kept.get(file);
    if (kept?.mtimeMs === mtimeMs && kept.size === size) return await kept.content;
    const content = readFile(file);
    this.#kept.set(file, { mtimeMs, size, content });
    return await content;
  }
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
