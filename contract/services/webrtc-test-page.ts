/** The test page of the WebRTC service, which is opened by browsers and phones. */

import type { QrCode } from "../service.ts";

/** Each call with moving pictures takes some of a processor, at both ends. */
export const standardTestPageCalls = 24;

export interface WebrtcTestPage {
  /** "http://127.0.0.1:8443/", on this computer. */
  readonly local: string;
  readonly openToLan: boolean;
  /** Most calls that it opens by itself. */
  readonly calls: number;
  /** By which other devices reach it, each as https, with a code to scan. Empty unless it is open to the LAN. */
  readonly lan: readonly { readonly url: string; readonly qr: QrCode }[];
  /** Of the certificate authority that the devices have to trust; absent where the user has certificates of their own. */
  readonly authority?: {
    /** SHA-256, in hexadecimal with colons. */
    readonly fingerprint: string;
  };
}

/** `view/webrtc`. */
export interface WebrtcTestPageViews {
  readonly testPage: WebrtcTestPage;
}
