import type { Protocol } from "electron";
import type { Route } from "playwright-core";
import { coverOptions, strict } from "./strict.ts";

type Handler = Parameters<Protocol["handle"]>[1];

/** Chromium alone has no schemes of ours: app://name is shown to it as http://name.app.localhost, which is as secure a context. */
export interface Schemes {
  readonly protocol: object;
  toPage(url: string): string;
  fromPage(url: string): string;
  /** Answers a request of a page for one of the schemes; false where it is for something else. */
  answer(route: Route): Promise<boolean>;
}

export function createSchemes(): Schemes {
  const privileged = new Set<string>();
  const handlers = new Map<string, Handler>();
  const fromPage = (url: string) => url.replace(/^http:\/\/([^/]+)\.([a-z]+)\.localhost(?=\/|$)/, "$2://$1");
  return {
    protocol: strict("protocol", {
      registerSchemesAsPrivileged(schemes: { scheme: string; privileges: object }[]) {
        for (const { scheme, privileges } of schemes) {
          coverOptions("privileges", privileges, ["standard", "secure", "supportFetchAPI"]);
          privileged.add(scheme);
        }
      },
      handle(scheme: string, handler: Handler) {
        if (!privileged.has(scheme)) throw new Error(`The electron double covers privileged schemes only, not ${scheme}:`);
        handlers.set(scheme, handler);
      },
    }),
    toPage: (url) =>
      url.replace(/^([a-z]+):\/\/([^/]+)/, (all, scheme: string, host: string) =>
        handlers.has(scheme) ? `http://${host}.${scheme}.localhost` : all,
      ),
    fromPage,
    async answer(route) {
      const request = route.request();
      const url = fromPage(request.url());
      const handler = handlers.get(url.slice(0, url.indexOf(":")));
      if (!handler) return false;
      // A Request of Node keeps the URL as it is, also with a scheme it does not know.
      const response = await handler(new Request(url, { method: request.method(), headers: request.headers() }) as never);
      await route.fulfill({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: Buffer.from(await response.arrayBuffer()),
      });
      return true;
    },
  };
}
