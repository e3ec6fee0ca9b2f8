import { linkFragment } from "../../../contract/wire.ts";

/** The token of the link with which this page was opened, stored per origin. */
export interface LinkToken {
  read(): string | undefined;
  /** A new link was opened, here or in another tab. */
  onChange(listener: () => void): void;
}

const storageKey = "backlot.link";

/** Removes the token from the address immediately, so that it is neither copied with it nor visible on a shared screen. */
export function createLinkToken(page: Window): LinkToken {
  /** For a browser that denies storage. */
  let held: string | undefined;
  const listeners = new Set<() => void>();

  function takeFromAddress(previousHash: string): boolean {
    const { hash } = page.location;
    if (!hash.startsWith(linkFragment)) return false;
    held = hash.slice(linkFragment.length);
    try {
      page.localStorage.setItem(storageKey, held);
    } catch {
      // The token is then kept until the page is closed.
    }
    page.history.replaceState(null, "", previousHash || page.location.pathname);
    return true;
  }
  const notify = () => {
    for (const listener of listeners) listener();
  };

  takeFromAddress("");
  // The link was pasted into the address bar of an open page, which does not load again.
  page.addEventListener("hashchange", ({ oldURL }) => takeFromAddress(new URL(oldURL).hash) && notify());
  page.addEventListener("storage", ({ key }) => key === storageKey && notify());

  return {
    read() {
      try {
        return page.localStorage.getItem(storageKey) ?? held;
      } catch {
        return held;
      }
    },
    onChange: (listener) => void listeners.add(listener),
  };
}
