import { useSyncExternalStore } from "react";
import { type ServiceId, serviceIds } from "../../../contract/service.ts";

export type Route =
  | { readonly page: "overview" | "timeline" | "settings" }
  | { readonly page: "service"; readonly id: ServiceId /** A name that the page does not know is its first tab. */; readonly tab: string };

/** In an address that names no tab. */
const firstTab = "live";
const rememberedKey = "backlot.page";

/** `#/http/config`; an unknown page is the Overview. */
export function parseRoute(hash: string): Route {
  const [first = "", second = ""] = hash.replace(/^#\/?/, "").split("/");
  const id = serviceIds.find((known) => known === first);
  if (id) return { page: "service", id, tab: /^[a-z-]+$/.test(second) ? second : firstTab };
  return { page: first === "timeline" || first === "settings" ? first : "overview" };
}

export const hashOf = (route: Route): string => (route.page === "service" ? `#/${route.id}/${route.tab}` : `#/${route.page}`);

export const servicePage = (id: ServiceId, tab = firstTab): Route => ({ page: "service", id, tab });

/** The tab of each service that was shown last in this window. */
const lastTabs = new Map<ServiceId, string>();

function note(hash: string): void {
  const route = parseRoute(hash);
  if (route.page === "service") lastTabs.set(route.id, route.tab);
}

/** Back to what was shown last of a service; from the service itself to its first tab. */
export const returnTo = (id: ServiceId, from: Route): Route =>
  from.page === "service" && from.id === id ? servicePage(id) : servicePage(id, lastTabs.get(id));

export const goTo = (route: Route): void => {
  location.hash = hashOf(route);
};

/** Opens the last visited page if the address names none. */
export function restoreRoute(): void {
  const remembered = localStorage.getItem(rememberedKey);
  if (location.hash.length < 3 && remembered) history.replaceState(null, "", hashOf(parseRoute(remembered)));
  note(location.hash);
}

function subscribe(listener: () => void): () => void {
  const onChange = () => {
    localStorage.setItem(rememberedKey, location.hash);
    note(location.hash);
    listener();
  };
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return parseRoute(hash);
}
