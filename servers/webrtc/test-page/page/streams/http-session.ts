/** WHEP (a stream is played) and WHIP (RFC 9725, a stream is published): one offer by POST, ended by DELETE. */
export type StreamDirection = "play" | "publish";

export interface HttpSession {
  readonly connection: RTCPeerConnection;
  readonly stream: MediaStream;
  /** What the answer leaves out, in words. */
  readonly notes: readonly string[];
  stop(): void;
}

/** A refusal, in words that are shown. */
export class StreamRefused extends Error {}

/** With all candidates in one offer: this wait is enough for servers that answer. */
const gatheringMs = 3_000;

export interface OpenSessionOptions {
  readonly direction: StreamDirection;
  readonly path: string;
  readonly configuration: RTCConfiguration;
  /** Of a publisher. */
  readonly media: MediaStream | undefined;
}

export async function openHttpSession({ direction, path, configuration, media }: OpenSessionOptions): Promise<HttpSession> {
  const connection = new RTCPeerConnection(configuration);
  const stream = new MediaStream();
  connection.ontrack = ({ track }) => stream.addTrack(track);
  try {
    if (direction === "play") {
      for (const kind of ["video", "audio"]) connection.addTransceiver(kind, { direction: "recvonly" });
    } else {
      for (const track of media?.getTracks() ?? [])
        connection.addTransceiver(track, { direction: "sendonly", streams: media ? [media] : [] });
    }
    await connection.setLocalDescription();
    await gathered(connection);
    const endpoint = `/${direction === "play" ? "whep" : "whip"}/${path.split("/").map(encodeURIComponent).join("/")}`;
    const { answer, session, leftOut } = await post(endpoint, connection.localDescription?.sdp ?? "");
    await connection.setRemoteDescription({ type: "answer", sdp: answer });
    return {
      ...{ connection, stream, notes: leftOut },
      stop() {
        connection.close();
        // As the page goes, too.
        if (session !== undefined) void fetch(session, { method: "DELETE", keepalive: true }).catch(() => {});
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

interface Posted {
  readonly answer: string;
  /** Where the session is ended. */
  readonly session: string | undefined;
  readonly leftOut: readonly string[];
}

async function post(endpoint: string, offer: string): Promise<Posted> {
  let response: Response;
  try {
    response = await fetch(endpoint, { method: "POST", headers: { "content-type": "application/sdp" }, body: offer });
  } catch {
    throw new StreamRefused("The server does not answer. Is the WebRTC service running?");
  }
  const text = await response.text();
  if (!response.ok) throw new StreamRefused(detailOf(text) ?? `The server answered ${response.status} ${response.statusText}.`);
  const location = response.headers.get("location");
  const leftOut = response.headers.get("x-left-out");
  return {
    answer: text,
    session: location === null ? undefined : new URL(location, response.url).pathname,
    leftOut: leftOut === null ? [] : [leftOut],
  };
}

/** Of a problem (RFC 9457). */
function detailOf(text: string): string | undefined {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown };
    return typeof detail === "string" ? detail : undefined;
  } catch {
    return undefined;
  }
}

function gathered(connection: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, gatheringMs);
    const check = () => {
      if (connection.iceGatheringState !== "complete") return;
      clearTimeout(timer);
      resolve();
    };
    connection.addEventListener("icegatheringstatechange", check);
    check();
  });
}
