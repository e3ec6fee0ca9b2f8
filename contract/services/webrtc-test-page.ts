/** The test page of the WebRTC service, which is opened by browsers and phones. */

/** As a square of modules; `path` is the data of an SVG path in units of a module. ISO/IEC 18004 asks for four light ones around it. */
export interface QrCode {
  readonly modules: number;
  readonly path: string;
}

export interface WebrtcTestPage {
  /** "http://127.0.0.1:8443/", on this computer. */
  readonly local: string;
  readonly openToLan: boolean;
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
