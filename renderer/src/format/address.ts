/** Host, port and path without the scheme, as cards show it; port 0 is whichever will be free. */
export const addressOf = (url: string): string =>
  url
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, "")
    .replace(/:0(?=\/|$)/, ":any")
    .replace(/\/$/, "");
