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
    const { answer, session } = await post(endpoint, connection.localDescription?.sdp ?? "");
    await connection.setRemoteDescription({ type: "answer", sdp: answer });
    return {
      ...{ connection, stream, notes: notesOf(direction, answer) },
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

async function post(endpoint: string, offer: string): Promise<{ readonly answer: string; readonly session: string | undefined }> {
  let response: Response;
  try {
    response = await fetch(endpoint, { method: "POST", headers: { "content-type": "application/sdp" }, body: offer });
  } catch {
    throw new StreamRefused("The server does not answer. Is the WebRTC service running?");
  }
  const text = await response.text();
  if (!response.ok) throw new StreamRefused(refusalText(response, text));
  const location = response.headers.get("location");
  return { answer: text, session: location === null ? undefined : new URL(location, response.url).pathname };
}

function refusalText(response: Response, text: string): string {
  const told = messageIn(text);
  if (told !== undefined) return told;
  switch (response.status) {
    case 401:
    case 403:
      return "The server asks for a login for this path.";
    case 404:
      return "There is no stream at this path. The RTSP service has /stream and /test while it runs.";
    case 409:
      return "Somebody publishes to this path already.";
    case 503:
      return "The stream cannot be had now. Is the RTSP service running?";
    default:
      return `The server answered ${response.status} ${response.statusText}.`;
  }
}

/** Of an error as the service writes it, or as a short text. */
function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } };
    return typeof error?.message === "string" ? error.message : undefined;
  } catch {
    return text !== "" && text.length < 300 && !text.includes("<") ? text.trim() : undefined;
  }
}

/** RFC 8829 §5.3.1: a part that is not taken has the port 0. */
function notesOf(direction: StreamDirection, answer: string): readonly string[] {
  const parts = answer.split(/^m=/m).slice(1);
  const isLeftOut = (kind: string) =>
    parts.some((part) => part.startsWith(`${kind} 0 `) || (part.startsWith(`${kind} `) && /^a=inactive\s*$/m.test(part)));
  if (direction === "publish") return isLeftOut("audio") ? ["The sound is not taken."] : [];
  return [
    ...(isLeftOut("video") ? ["The stream has no video that browsers can play over WebRTC."] : []),
    ...(isLeftOut("audio") ? ["Played without sound: the stream has no Opus, and browsers take no AAC over WebRTC."] : []),
  ];
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
