import type { RtspActions, RtspViews } from "../../contract/services/rtsp.ts";
import type { WebrtcActions, WebrtcViews } from "../../contract/services/webrtc.ts";
import type { RtspSession } from "../../contract/traffic/rtsp.ts";
import type { WebrtcMedia } from "../../contract/traffic/webrtc-media.ts";
import { rtspService } from "../../servers/rtsp/rtsp-service.ts";
import { webrtcService } from "../../servers/webrtc/webrtc-service.ts";
import { connectedServices } from "../support/connected-services.ts";
import type { Row } from "../support/records.ts";
import { onEnd, type ServiceUnderTest } from "../support/start-service.ts";
import { type MediaServer, mediaServer } from "./media-offers.ts";

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

export interface MediaUnderTest extends MediaServer {
  readonly rtsp: ServiceUnderTest<RtspContract>;
  readonly webrtc: ServiceUnderTest<WebrtcContract>;
  /** "rtsp://127.0.0.1:8554" */
  readonly rtspUrl: string;
  /** The row of the session of this peer, once it has ended. */
  ended(peer: { readonly ownPort: number }): Promise<Row>;
  stopRtsp(): Promise<void>;
}

/** The RTSP and the WebRTC service in this process. */
export async function startMediaServices(
  config: { readonly rtsp?: Record<string, unknown>; readonly webrtc?: Record<string, unknown> } = {},
): Promise<MediaUnderTest> {
  const services = connectedServices();
  // A busy machine may take long for a handshake, and between two checks.
  const patient = { mediaConnectSeconds: 120, consentSeconds: 120 };
  const webrtc = await services.start<WebrtcContract>(webrtcService, {
    config: { port: 0, mediaPort: 0, turn: false, ...patient, ...config.webrtc },
  });
  const rtsp = await services.start<RtspContract>(rtspService, {
    config: { port: 0, rtpPort: 0, httpPort: 0, tlsPort: 0, ...config.rtsp },
  });
  const [endpoint] = webrtc.endpoints;
  return {
    ...mediaServer((endpoint?.url ?? "").replace(/^ws/, "http").replace(/\/ws$/, ""), onEnd),
    rtsp,
    webrtc,
    rtspUrl: (rtsp.endpoints[0]?.url ?? "").replace(/\/stream$/, ""),
    ended: ({ ownPort }) =>
      webrtc.ended(({ id, kind }) => kind === "webrtc-media" && webrtc.detail(id).pair?.remote === `127.0.0.1:${ownPort}`),
    async stopRtsp() {
      services.gone("rtsp");
      await rtsp.stop();
    },
  };
}
