/** Host, port and path without the scheme, as cards show it. */
export const addressOf = (url: string): string => url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/\/$/, "");
