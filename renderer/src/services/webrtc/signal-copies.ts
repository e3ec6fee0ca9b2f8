import { readCarriedSignal } from "../../../../contract/services/webrtc-description.ts";
import type { WebrtcSignal } from "../../../../contract/traffic/webrtc.ts";
import { notKept } from "../../inspectors/kind-commands.ts";
import { fromBase64 } from "../../viewer/decode/bytes.ts";

const textOf = ({ base64 }: WebrtcSignal): string => new TextDecoder().decode(fromBase64(base64));

/** What can be copied of a message. */
export const signalCopies = [
  { title: "message", text: textOf },
  {
    title: "SDP or candidate",
    text: (signal: WebrtcSignal) => {
      const { sdp, candidate } = readCarriedSignal(textOf(signal));
      const text = sdp ?? candidate;
      if (text === undefined) throw notKept();
      return text;
    },
  },
];
