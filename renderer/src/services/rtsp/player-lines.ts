import { shellQuoted } from "../../ui/copy/copy-text.ts";

export const rtspTransports = ["tcp", "udp", "multicast", "http", "tls"] as const;
/** How a player gets its packets; "http" is RTSP in a tunnel, "tls" is RTSPS. */
export type RtspTransport = (typeof rtspTransports)[number];

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
const gstreamerProtocols: Readonly<Record<RtspTransport, string>> = {
  tcp: "tcp",
  udp: "udp",
  multicast: "udp-mcast",
  http: "http",
  // The certificate is of this installation's own authority.
  tls: "tls tls-validation-flags=0",
};

/** Plays a stream: a command, or lines of Python. Undefined where the player cannot. */
export function playerLine(player: Player, stream: PlayedStream): string | undefined {
  const { transport, url } = stream;
  const address = loginUrl(stream);
  switch (player) {
    case "ffplay":
      return `ffplay -fflags nobuffer -rtsp_transport ${ffmpegTransports[transport]} ${shellQuoted(address)}`;
    case "gstreamer":
      return `gst-launch-1.0 rtspsrc location=${shellQuoted(address)} protocols=${gstreamerProtocols[transport]} latency=100 ! application/x-rtp,media=video ! decodebin ! videoconvert ! autovideosink`;
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
