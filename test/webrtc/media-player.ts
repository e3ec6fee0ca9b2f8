/** A player in a process of its own, since both libraries leave timers or threads open: prints how many packets it has received. */
import nodeDataChannel from "node-datachannel";
import { RTCPeerConnection, RTCRtpCodecParameters } from "werift";

const [library, url = "", lossPercent = "0"] = process.argv.slice(2);
const counts = { video: 0, audio: 0, keyFrames: 0 };
const parameters = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f";

async function exchange(offer: string): Promise<string> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/sdp" }, body: offer });
  return await response.text();
}

async function playWithWerift(): Promise<void> {
  const rtcpFeedback = [{ type: "nack" }, { type: "nack", parameter: "pli" }];
  const player = new RTCPeerConnection({
    iceServers: [],
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    codecs: {
      video: [new RTCRtpCodecParameters({ mimeType: "video/H264", clockRate: 90_000, payloadType: 102, parameters, rtcpFeedback })],
      audio: [new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2, payloadType: 111 })],
    },
  });
  player.onTrack.subscribe((track) => track.onReceiveRtp.subscribe(() => void counts[track.kind as "video" | "audio"]++));
  const video = player.addTransceiver("video", { direction: "recvonly" });
  player.addTransceiver("audio", { direction: "recvonly" });
  await player.setLocalDescription(await player.createOffer());
  await player.setRemoteDescription({ type: "answer", sdp: await exchange(player.localDescription?.sdp ?? "") });
  const { connection } = video.dtlsTransport.iceTransport;
  const { onData } = connection;
  const receive = onData.execute;
  // What comes behind the handshake, and is media.
  onData.execute = (bytes: Buffer) => {
    const isLost = (bytes[0] as number) >= 128 && counts.video > 20 && Math.random() * 100 < Number(lossPercent);
    if (!isLost) receive.call(onData, bytes);
  };
}

async function playWithNodeDataChannel(): Promise<void> {
  const player = new nodeDataChannel.PeerConnection("player", { iceServers: [], disableAutoNegotiation: true });
  const video = new nodeDataChannel.Video("0", "RecvOnly");
  video.addH264Codec(102, parameters);
  const track = player.addTrack(video);
  // Without it the library sends no RTCP.
  track.setMediaHandler(new nodeDataChannel.RtcpReceivingSession());
  track.onMessage((packet: Buffer) => {
    if (((packet[1] as number) & 0x7f) !== 102) return;
    counts.video++;
    // The parameter sets before a key frame share a packet.
    if (((packet[12] as number) & 0x1f) === 24) counts.keyFrames++;
  });
  const gathered = new Promise<void>((resolve) => {
    player.onGatheringStateChange((state) => state === "complete" && resolve());
  });
  player.setLocalDescription("offer" as never);
  await gathered;
  player.setRemoteDescription(await exchange(player.localDescription()?.sdp ?? ""), "answer" as never);
  process.stdin.on("data", () => track.requestKeyframe());
}

await (library === "werift" ? playWithWerift() : playWithNodeDataChannel());
setInterval(() => console.log(JSON.stringify(counts)), 200);
