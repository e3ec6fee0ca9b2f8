import type { RtspTransport } from "../../../../contract/services/rtsp.ts";
import { shellQuoted } from "../../ui/copy/shells.ts";

export const transportTitles: Readonly<Record<RtspTransport, string>> = {
  tcp: "TCP",
  udp: "UDP",
  multicast: "Multicast",
  http: "HTTP tunnel",
  tls: "RTSPS",
};

export const players = [
  { value: "ffplay", label: "ffplay" },
  { value: "gstreamer", label: "GStreamer" },
  { value: "vlc", label: "VLC" },
  { value: "opencv", label: "OpenCV" },
] as const;
export type Player = (typeof players)[number]["value"];

export interface PlayedStream {
  /** "rtsp://127.0.0.1:8554/stream"; of RTSPS for "tls". */
  readonly url: string;
  readonly transport: RtspTransport;
  readonly username?: string;
  readonly password?: string;
}

/** The address with user name and password, as all of these players take it. */
function loginUrl({ url, username = "", password = "" }: PlayedStream): string {
  if (username === "") return url;
  const login = [username, ...(password === "" ? [] : [password])].map(encodeURIComponent).join(":");
  return url.replace("://", `://${login}@`);
}

const ffmpegTransports: Readonly<Record<RtspTransport, string>> = {
  tcp: "tcp",
  udp: "udp",
  multicast: "udp_multicast",
  http: "http",
  tls: "tcp",
};
/** Of rtspsrc; the scheme of the address says the rest. */
const gstreamerOptions: Readonly<Record<RtspTransport, string>> = {
  tcp: "protocols=tcp",
  udp: "protocols=udp",
  multicast: "protocols=udp-mcast",
  http: "",
  // The certificate is of this installation's own authority.
  tls: "protocols=tcp tls-validation-flags=0",
};

function gstreamerLine(transport: RtspTransport, address: string): string {
  const location = shellQuoted(transport === "http" ? address.replace("rtsp:", "rtsph:") : address);
  const source = ["rtspsrc", `location=${location}`, gstreamerOptions[transport], "latency=100"].filter(Boolean).join(" ");
  return `gst-launch-1.0 ${source} ! application/x-rtp,media=video ! decodebin ! videoconvert ! autovideosink`;
}

/** Plays a stream: a command, or lines of Python. Undefined where the player cannot. */
export function playerLine(player: Player, stream: PlayedStream): string | undefined {
  const { transport, url } = stream;
  const address = loginUrl(stream);
  switch (player) {
    case "ffplay":
      return `ffplay -fflags nobuffer -rtsp_transport ${ffmpegTransports[transport]} ${shellQuoted(address)}`;
    case "gstreamer":
      return gstreamerLine(transport, address);
    case "vlc":
      return vlcLine(transport, new URL(url).port, address);
    case "opencv":
      return openCvLines(ffmpegTransports[transport], address);
    default:
      return player satisfies never;
  }
}

function vlcLine(transport: RtspTransport, port: string, address: string): string | undefined {
  // VLC speaks no RTSPS.
  if (transport === "tls") return undefined;
  const options = { tcp: "--rtsp-tcp ", udp: "", multicast: "--rtsp-mcast ", http: `--rtsp-http --rtsp-http-port=${port} ` };
  return `vlc ${options[transport]}${shellQuoted(address)}`;
}

const openCvLines = (transport: string, address: string): string => `import os
import cv2

os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = "rtsp_transport;${transport}"
capture = cv2.VideoCapture(${JSON.stringify(address)}, cv2.CAP_FFMPEG)
while True:
    read, picture = capture.read()
    if not read:
        break
    cv2.imshow("stream", picture)
    if cv2.waitKey(1) == 27:
        break`;
