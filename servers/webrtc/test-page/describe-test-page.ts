import { X509Certificate } from "node:crypto";
import type { WebrtcTestPage } from "../../../contract/services/webrtc-test-page.ts";
import { qrCode } from "../../core/files/qr-code.ts";
import { reachableEndpoints } from "../../core/net/reachable-endpoints.ts";

export interface TestPagePlace {
  readonly port: number;
  readonly openToLan: boolean;
  readonly calls: number;
  /** As PEM, of the authority that signs the service's certificate; undefined where that is the user's own. */
  readonly authority: string | undefined;
  /** For tests: as `os.networkInterfaces`. */
  readonly interfaces?: Parameters<typeof reachableEndpoints>[2];
}

/** Where the test page is, for browsers on this computer and for those of other devices. */
export function describeTestPage({ port, openToLan, calls, authority, interfaces }: TestPagePlace): WebrtcTestPage {
  const [, ...lan] = reachableEndpoints(openToLan, (host) => [{ label: "Test page", url: `https://${host}:${port}/` }], interfaces);
  return {
    ...{ local: `http://127.0.0.1:${port}/`, openToLan, calls },
    lan: lan.map(({ url }) => ({ url, qr: qrCode(url) })),
    ...(authority !== undefined && { authority: { fingerprint: new X509Certificate(authority).fingerprint256 } }),
  };
}
