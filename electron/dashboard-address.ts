export const dashboardScheme = "app";
export const dashboardHost = "backlot";
export const dashboardUrl = `${dashboardScheme}://${dashboardHost}/`;

/** Compared by scheme and host, as URL gives a scheme of our own no origin. */
export function isDashboard(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === `${dashboardScheme}:` && parsed.host === dashboardHost;
}
