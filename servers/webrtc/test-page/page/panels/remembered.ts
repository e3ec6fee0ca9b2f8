/** What is typed is kept for the next visit, but for passwords. */
const keys = { name: "backlot-name", room: "backlot-room", play: "backlot-play", publish: "backlot-publish" } as const;

export function remembered(what: keyof typeof keys, otherwise: string): string {
  try {
    return localStorage.getItem(keys[what]) ?? otherwise;
  } catch {
    // A browser that keeps nothing for this page.
    return otherwise;
  }
}

export function remember(what: keyof typeof keys, value: string): void {
  try {
    localStorage.setItem(keys[what], value);
  } catch {
    // It is typed again next time.
  }
}
