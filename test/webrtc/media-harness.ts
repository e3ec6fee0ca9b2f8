import type { ServiceId } from "../../contract/service.ts";
import type { RtspActions, RtspViews } from "../../contract/services/rtsp.ts";
import type { WebrtcActions, WebrtcViews } from "../../contract/services/webrtc.ts";
import type { RtspSession } from "../../contract/traffic/rtsp.ts";
import type { WebrtcMedia } from "../../contract/traffic/webrtc-media.ts";
import type { Service } from "../../servers/core/service/service.ts";
import { createPeerClient } from "../../servers/core/streams/peer-client.ts";
import { rtspService } from "../../servers/rtsp/rtsp-service.ts";
import { createPeerBroker, type Peer } from "../../servers/supervisor/peer-broker.ts";
import { webrtcService } from "../../servers/webrtc/webrtc-service.ts";
import { type ServiceContract, type ServiceUnderTest, type StartOptions, startService } from "../support/start-service.ts";

interface RtspContract {
  readonly actions: RtspActions;
  readonly views: RtspViews;
  readonly detail: RtspSession;
}
interface WebrtcContract {
  readonly actions: WebrtcActions;
  readonly views: WebrtcViews;
  readonly detail: WebrtcMedia;
}

export interface MediaUnderTest {
  readonly rtsp: ServiceUnderTest<RtspContract>;
  readonly webrtc: ServiceUnderTest<WebrtcContract>;
  /** "http://127.0.0.1:8443" */
  readonly url: string;
  /** "rtsp://127.0.0.1:8554" */
  readonly rtspUrl: string;
  /** Sends an offer to /whep/… or /whip/…. */
  offer(path: string, sdp: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  stopRtsp(): Promise<void>;
}

/** The RTSP and the WebRTC service in this process, connected as the supervisor connects them. */
export async function startMediaServices(
  config: { readonly rtsp?: Record<string, unknown>; readonly webrtc?: Record<string, unknown> } = {},
): Promise<MediaUnderTest> {
  const peers = new Map<ServiceId, Peer>();
  const broker = createPeerBroker((id) => peers.get(id));
  async function start<Contract extends ServiceContract>(service: Service, options: StartOptions): Promise<ServiceUnderTest<Contract>> {
    const { id, title } = service;
    const client = createPeerClient((message) => broker.fromConsumer(id, message));
    const started = await startService<Contract>(service, {
      ...options,
      services: client.services,
      onStream(message) {
        if (message.type !== "binary" && message.type !== "binaryDropped") broker.fromProvider(id, message);
      },
    });
    peers.set(id, {
      title,
      isRunning: true,
      postStream(message) {
        if (message.type === "peerItem" || message.type === "peerResult" || message.type === "peerEnd") client.receive(message);
        else started.running.receiveStream(message);
      },
    });
    return started;
  }
  // A busy machine may take long for a handshake, and between two checks.
  const patient = { mediaConnectSeconds: 120, consentSeconds: 120 };
  const webrtc = await start<WebrtcContract>(webrtcService, {
    config: { port: 0, mediaPort: 0, turn: false, ...patient, ...config.webrtc },
  });
  const rtsp = await start<RtspContract>(rtspService, { config: { port: 0, rtpPort: 0, httpPort: 0, tlsPort: 0, ...config.rtsp } });
  const [endpoint] = webrtc.endpoints;
  const url = (endpoint?.url ?? "").replace(/^ws/, "http").replace(/\/ws$/, "");
  return {
    rtsp,
    webrtc,
    url,
    rtspUrl: (rtsp.endpoints[0]?.url ?? "").replace(/\/stream$/, ""),
    offer: (path, body, headers = {}) =>
      fetch(`${url}${path}`, { method: "POST", headers: { "content-type": "application/sdp", ...headers }, body }),
    async stopRtsp() {
      broker.gone("rtsp", false);
      peers.delete("rtsp");
      await rtsp.stop();
    },
  };
}

const fingerprint = `sha-256 ${Array.from({ length: 32 }, () => "AB").join(":")}`;

export interface OfferedLine {
  readonly kind: "audio" | "video";
  readonly direction: "recvonly" | "sendonly";
  /** Payload type, then what a=rtpmap and a=fmtp say. */
  readonly codecs: readonly (readonly [type: number, map: string, parameters?: string])[];
}

export const opus = [111, "opus/48000/2", "minptime=10;useinbandfec=1"] as const;
export const h264 = [102, "H264/90000", "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"] as const;
export const vp8 = [96, "VP8/90000"] as const;

/** An offer as a browser makes it, of a client that never connects. */
export function offerOf(lines: readonly OfferedLine[], change: (sdp: string) => string = (sdp) => sdp): string {
  const media = lines.map(({ kind, direction, codecs }, mid) => [
    `m=${kind} 9 UDP/TLS/RTP/SAVPF ${codecs.map(([type]) => type).join(" ")}`,
    "c=IN IP4 0.0.0.0",
    "a=ice-ufrag:abcd",
    "a=ice-pwd:abcdefghijklmnopqrstuvwx",
    `a=fingerprint:${fingerprint}`,
    "a=setup:actpass",
    `a=mid:${mid}`,
    `a=${direction}`,
    "a=rtcp-mux",
    ...codecs.flatMap(([type, map, parameters]) => [`a=rtpmap:${type} ${map}`, ...(parameters ? [`a=fmtp:${type} ${parameters}`] : [])]),
  ]);
  const group = `a=group:BUNDLE ${lines.map((_, mid) => mid).join(" ")}`;
  return change(["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", group, ...media.flat(), ""].join("\r\n"));
}

export const playerOffer = (change?: (sdp: string) => string): string =>
  offerOf(
    [
      { kind: "audio", direction: "recvonly", codecs: [opus] },
      { kind: "video", direction: "recvonly", codecs: [vp8, h264] },
    ],
    change,
  );

export const publisherOffer = (change?: (sdp: string) => string): string =>
  offerOf(
    [
      { kind: "audio", direction: "sendonly", codecs: [opus] },
      { kind: "video", direction: "sendonly", codecs: [vp8, h264] },
    ],
    change,
  );
