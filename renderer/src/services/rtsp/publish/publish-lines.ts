import { shellQuoted } from "../../../ui/copy/shells.ts";

export const publishers = [
  { value: "ffmpeg", label: "ffmpeg" },
  { value: "gstreamer", label: "GStreamer" },
  { value: "obs", label: "OBS" },
] as const;
export type Publisher = (typeof publishers)[number]["value"];

/** How a publisher sends: RTSP over TCP or UDP, RTSPS, or RTMP. */
export const publishTransports = ["tcp", "udp", "tls", "rtmp"] as const;
export type PublishTransport = (typeof publishTransports)[number];

export interface PublishedStream {
  /** Of the service, without a path: "rtsp://127.0.0.1:8554", "rtmp://127.0.0.1:1935". */
  readonly origin: string;
  /** "live/mine" */
  readonly path: string;
  readonly transport: PublishTransport;
  /** Where publishers log in. */
  readonly login?: { readonly username: string; readonly password: string };
}

/** What OBS asks for. */
export interface ObsFields {
  readonly server: string;
  readonly streamKey: string;
}

/** Undefined for a path of one name: RTMP needs that of an application before that of the stream. */
export function obsFields({ origin, path, login }: Omit<PublishedStream, "transport">): ObsFields | undefined {
  const names = path.split("/").map(encodeURIComponent);
  const name = names.pop();
  if (names.length === 0 || name === undefined) return undefined;
  const query = login ? `?user=${encodeURIComponent(login.username)}&pass=${encodeURIComponent(login.password)}` : "";
  return { server: `${origin}/${names.join("/")}`, streamKey: name + query };
}

function addressOf(stream: PublishedStream): string | undefined {
  const { origin, path, transport, login } = stream;
  if (transport === "rtmp") {
    const fields = obsFields(stream);
    return fields && `${fields.server}/${fields.streamKey}`;
  }
  const user = login ? `${encodeURIComponent(login.username)}:${encodeURIComponent(login.password)}@` : "";
  return `${origin.replace("://", `://${user}`)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** A command that publishes a stream; undefined as `obsFields`. */
export function publishLine(publisher: Exclude<Publisher, "obs">, stream: PublishedStream): string | undefined {
  const { transport } = stream;
  const address = addressOf(stream);
  if (address === undefined) return undefined;
  const location = shellQuoted(address);
  const protocol = transport === "udp" ? "udp" : "tcp";
  switch (publisher) {
    case "ffmpeg": {
      const sink = transport === "rtmp" ? `-f flv ${location}` : `-f rtsp -rtsp_transport ${protocol} ${location}`;
      return `ffmpeg -re -stream_loop -1 -i clip.mp4 -c copy ${sink}`;
    }
    case "gstreamer": {
      const source = "gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency key-int-max=25";
      if (transport === "rtmp") return `${source} ! flvmux streamable=true ! rtmp2sink location=${location}`;
      // The certificate is of this installation's own authority.
      const tls = transport === "tls" ? " tls-validation-flags=0" : "";
      return `${source} ! rtspclientsink protocols=${protocol}${tls} location=${location}`;
    }
    default:
      return publisher satisfies never;
  }
}
