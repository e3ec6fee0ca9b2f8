import { linkFragment } from "../../../contract/wire.ts";

/** The token of the link with which this page was opened, stored per origin once the server has accepted it. */
export interface LinkToken {
  /** The one to try next. */
  read(): string | undefined;
  /** The server takes it: it is stored. */
  accepted(token: string): void;
  /** The server does not take it. Returns whether there is another one to try. */
  refused(token: string): boolean;
  /** A new link was opened here, or accepted in another tab. */
  onChange(listener: () => void): void;
}

const storageKey = "backlot.link";

/**
 * Removes the token from the address immediately, so that it is neither copied with it nor visible on a shared screen. Any web page can lead the
 * browser to an address with a token, so one that was not accepted replaces no other.
 */
export function createLinkToken(page: Window): LinkToken {
  /** Of the address, until it was accepted. */
  let offered: string | undefined;
  /** For a browser that denies storage. */
  let held: string | undefined;
  const listeners = new Set<() => void>();

  function takeFromAddress(previousHash: string): boolean {
    const { hash } = page.location;
    if (!hash.startsWith(linkFragment)) return false;
    offered = hash.slice(linkFragment.length);
    page.history.replaceState(null, "", previousHash || page.location.pathname);
    return true;
  }
  function stored(): string | undefined {
    try {
      return page.localStorage.getItem(storageKey) ?? held;
    } catch {
      return held;
    }
  }
  const notify = () => {
    for (const listener of listeners) listener();
  };

  takeFromAddress("");
  // The link was pasted into the address bar of an open page, which does not load again.
  page.addEventListener("hashchange", ({ oldURL }) => takeFromAddress(new URL(oldURL).hash) && notify());
  page.addEventListener("storage", ({ key }) => {
    if (key !== storageKey) return;
    offered = undefined;
    notify();
  });

  return {
    read: () => offered ?? stored(),
    accepted(token) {
      if (offered === token) offered = undefined;
      if (stored() === token) return;
      held = token;
      try {
        page.localStorage.setItem(storageKey, token);
      } catch {
        // It is then kept until the page is closed.
      }
    },
    refused(token) {
      const other = stored();
      if (offered !== token || other === undefined || other === token) return false;
      offered = undefined;
      return true;
    },
    onChange: (listener) => void listeners.add(listener),
  };
}
