/** What went wrong with camera or microphone, and what to do about it. */
export interface MediaProblem {
  readonly text: string;
  readonly hint: string;
  /** The page of the same server at which it works. */
  readonly link?: string;
}

/** Browsers give camera and microphone to https and to this computer only. Undefined where they do. */
export function insecurePage(): MediaProblem | undefined {
  if (window.isSecureContext && navigator.mediaDevices) return undefined;
  return {
    text: "This page came over http, and a browser gives its camera to https only.",
    hint: "Open the same address with https. The browser warns of the certificate until the device trusts Backlot’s authority: see Phone. The test picture works here too.",
    link: `https://${location.host}/`,
  };
}

/** As `getUserMedia` refuses (W3C mediacapture-streams §10.2). */
export function mediaProblemOf(error: unknown): MediaProblem {
  const name = error instanceof DOMException ? error.name : "";
  switch (name) {
    case "NotFoundError":
    case "OverconstrainedError":
      return { text: "There is no camera.", hint: "Connect one, or use the test picture." };
    case "NotAllowedError":
    case "SecurityError":
      return {
        text: "The browser does not give this page the camera.",
        hint: "Allow camera and microphone for this page, beside its address, and try again.",
      };
    case "NotReadableError":
    case "AbortError":
      return { text: "The camera cannot be opened.", hint: "Another program may use it. Close that one and try again." };
    default:
      return {
        text: `The camera cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
        hint: "Use the test picture.",
      };
  }
}
