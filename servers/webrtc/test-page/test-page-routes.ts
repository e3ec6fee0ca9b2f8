import { X509Certificate } from "node:crypto";
import type { WebrtcTestPage } from "../../../contract/services/webrtc-test-page.ts";
import type { HttpRequest, HttpRoute } from "../../core/http/http-route.ts";
import { jsonType, send, sendEmpty } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { createPageFiles, type PageFiles } from "./page-files.ts";

export interface TestPageRouteOptions {
  readonly files?: PageFiles;
  readonly describe: () => WebrtcTestPage;
  /** As PEM; undefined where the certificate is the user's own. */
  readonly authority: () => string | undefined;
}

/** The page loads nothing from elsewhere, runs no inline code, and cannot be put into a frame. */
const policy = (request: HttpRequest): string =>
  [
    "default-src 'none'",
    ...["script-src", "style-src", "font-src", "img-src"].map((directive) => `${directive} 'self'`),
    // Not every browser takes 'self' for WebSockets.
    `connect-src 'self' ${socketSources(request).join(" ")}`.trim(),
    "media-src 'self' blob: mediastream:",
    ...["base-uri", "form-action", "frame-ancestors"].map((directive) => `${directive} 'none'`),
  ].join("; ");

function socketSources({ headers: { host = "" } }: HttpRequest): readonly string[] {
  return /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i.test(host) ? [`ws://${host}`, `wss://${host}`] : [];
}

const common = { "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin" };

/** The test page at /, its files, and what it says of its addresses and of the certificate. */
export function testPageRoutes({ files = createPageFiles(), describe, authority }: TestPageRouteOptions): readonly HttpRoute[] {
  return [
    {
      path: "/",
      methods: ["GET"],
      async handle(request, response) {
        const document = await files.document();
        if (!document) throw new HttpRefusal(503, "The test page is not built: run npm run build");
        send(response, 200, document.type, document.content, {
          ...common,
          "Content-Security-Policy": policy(request),
          "Permissions-Policy": "camera=(self), microphone=(self)",
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cache-Control": "no-cache",
        });
      },
    },
    {
      path: "/test-page/assets/:name",
      methods: ["GET"],
      async handle({ params: { name } }, response) {
        const asset = await files.asset(String(name));
        if (!asset) throw new HttpRefusal(404, "There is no such file");
        // Names change with the content.
        send(response, 200, asset.type, asset.content, { ...common, "Cache-Control": "public, max-age=31536000, immutable" });
      },
    },
    {
      path: "/test-page/page.json",
      methods: ["GET"],
      handle: (_request, response) => send(response, 200, jsonType, JSON.stringify(describe()), { ...common, "Cache-Control": "no-store" }),
    },
    {
      path: "/test-page/backlot-authority.crt",
      methods: ["GET"],
      handle(_request, response) {
        const pem = authority();
        if (pem === undefined) throw new HttpRefusal(404, "The service uses a certificate of the user's own");
        send(response, 200, "application/x-x509-ca-cert", new X509Certificate(pem).raw, {
          ...common,
          "Content-Disposition": 'attachment; filename="backlot-authority.crt"',
        });
      },
    },
    // Browsers ask for it.
    { path: "/favicon.ico", methods: ["GET"], handle: (_request, response) => sendEmpty(response, 204) },
  ];
}
