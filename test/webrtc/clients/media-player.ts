/**
 * A player that prints how many packets it has received. Where it is told to, it publishes what it plays. With "passive" it waits for the ClientHello
 * of the service.
 */
import nodeDataChannel, { type Track } from "node-datachannel";
import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters } from "werift";

const [library, playUrl = "", lossPercent = "0", publishUrl = "", setup = "actpass"] = process.argv.slice(2);
const counts = { video: 0, audio: 0, keyFrames: 0 };
const parameters = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f";
const types = { video: 102, audio: 111 } as const;

async function exchange(url: string, offer: string): Promise<string> {
  const body = offer.replaceAll("a=setup:actpass", `a=setup:${setup}`);
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/sdp" }, body });
  return await response.text();
}

function weriftConnection(): RTCPeerConnection {
  const rtcpFeedback = [{ type: "nack" }, { type: "nack", parameter: "pli" }];
  return new RTCPeerConnection({
    iceServers: [],
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    codecs: {
      video: [new RTCRtpCodecParameters({ mimeType: "video/H264", clockRate: 90_000, payloadType: types.video, parameters, rtcpFeedback })],
      audio: [new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2, payloadType: types.audio })],
    },
  });
}

async function connectWerift(connection: RTCPeerConnection, url: string): Promise<void> {
  await connection.setLocalDescription(await connection.createOffer());
  await connection.setRemoteDescription({ type: "answer", sdp: await exchange(url, connection.localDescription?.sdp ?? "") });
}

async function playWithWerift(): Promise<void> {
  const published = { video: new MediaStreamTrack({ kind: "video" }), audio: new MediaStreamTrack({ kind: "audio" }) };
  if (publishUrl !== "") {
    const publisher = weriftConnection();
    for (const track of Object.values(published)) publisher.addTransceiver(track, { direction: "sendonly" });
    await connectWerift(publisher, publishUrl);
  }
  const player = weriftConnection();
  player.onTrack.subscribe((track) => {
    const kind = track.kind as "video" | "audio";
    track.onReceiveRtp.subscribe((packet) => {
      counts[kind]++;
      if (publishUrl !== "") published[kind].writeRtp(packet);
    });
  });
  const video = player.addTransceiver("video", { direction: "recvonly" });
  player.addTransceiver("audio", { direction: "recvonly" });
  await connectWerift(player, playUrl);
  const { connection } = video.dtlsTransport.iceTransport;
  const { onData } = connection;
  const receive = onData.execute;
  // What comes behind the handshake, and is media.
  onData.execute = (bytes: Buffer) => {
    const isLost = (bytes[0] as number) >= 128 && counts.video > 20 && Math.random() * 100 < Number(lossPercent);
    if (!isLost) receive.call(onData, bytes);
  };
}

type Direction = "RecvOnly" | "SendOnly";

/** Connects it when its tracks are told. */
function nodeDataChannelTracks(name: string, direction: Direction) {
  const connection = new nodeDataChannel.PeerConnection(name, { iceServers: [], disableAutoNegotiation: true });
  const video = new nodeDataChannel.Video("0", direction);
  video.addH264Codec(types.video, parameters);
  const audio = new nodeDataChannel.Audio("1", direction);
  audio.addOpusCodec(types.audio);
  if (direction === "SendOnly") {
    video.addSSRC(types.video, name);
    audio.addSSRC(types.audio, name);
  }
  const tracks = { video: connection.addTrack(video), audio: connection.addTrack(audio) };
  async function connect(url: string): Promise<void> {
    const gathered = new Promise<void>((resolve) => {
      connection.onGatheringStateChange((state) => state === "complete" && resolve());
    });
    connection.setLocalDescription("offer" as never);
    await gathered;
    connection.setRemoteDescription(await exchange(url, connection.localDescription()?.sdp ?? ""), "answer" as never);
  }
  return { tracks, connect };
}

async function playWithNodeDataChannel(): Promise<void> {
  let published: { readonly video: Track; readonly audio: Track } | undefined;
  if (publishUrl !== "") {
    const publisher = nodeDataChannelTracks("publisher", "SendOnly");
    published = publisher.tracks;
    await publisher.connect(publishUrl);
  }
  const { tracks, connect } = nodeDataChannelTracks("player", "RecvOnly");
  for (const kind of ["video", "audio"] as const) {
    const track = tracks[kind];
    // Without it the library sends no RTCP.
    track.setMediaHandler(new nodeDataChannel.RtcpReceivingSession());
    track.onMessage((packet: Buffer) => {
      if (((packet[1] as number) & 0x7f) !== types[kind]) return;
      counts[kind]++;
      // The parameter sets before a key frame share a packet.
      if (kind === "video" && ((packet[12] as number) & 0x1f) === 24) counts.keyFrames++;
      if (!published?.[kind].isOpen()) return;
      const copy = Buffer.from(packet);
      copy.writeUInt32BE(types[kind], 8);
      published[kind].sendMessageBinary(copy);
    });
  }
  await connect(playUrl);
  process.stdin.on("data", () => tracks.video.requestKeyframe());
}

await (library === "werift" ? playWithWerift() : playWithNodeDataChannel());
setInterval(() => console.log(JSON.stringify(counts)), 200);
