export const dashboardScheme = "app";
export const dashboardHost = "backlot";
export const dashboardOrigin = `${dashboardScheme}://${dashboardHost}`;
export const dashboardUrl = `${dashboardOrigin}/`;

/** Compared by scheme and host: URL has no origin for a custom scheme. */
export function isDashboard(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === `${dashboardScheme}:` && parsed.host === dashboardHost;
}
