/** People type passwords into the wrong field: only what looks like an address is shown. */
export const shownAccount = (username: string): string | undefined =>
  /^[^\s@:]+@[^\s@:]+\.[^\s@:]+$/.test(username) && username.length <= 200 ? username : undefined;
