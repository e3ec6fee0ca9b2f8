const lines = (...all: readonly string[]): string => `${all.join("\r\n")}\r\n`;

export const hostLine = "candidate:1 1 udp 2122260223 192.168.1.5 50001 typ host";
export const relayLine = "candidate:3 1 udp 41885439 127.0.0.1 50112 typ relay raddr 192.168.1.5 rport 40001 generation 0";

/** As a browser makes it, shortened. */
export const offer = lines(
  "v=0",
  "o=- 4611 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "a=group:BUNDLE 0 1",
  "a=fingerprint:sha-256 AA:BB",
  "m=video 9 UDP/TLS/RTP/SAVPF 96 97",
  "c=IN IP4 0.0.0.0",
  `a=${hostLine}`,
  "a=ice-ufrag:aaaa",
  "a=ice-pwd:secret",
  "a=setup:actpass",
  "a=mid:0",
  "a=sendrecv",
  "a=rtcp-mux",
  "a=rtpmap:96 VP8/90000",
  "a=rtpmap:97 rtx/90000",
  "a=fmtp:97 apt=96",
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "c=IN IP4 0.0.0.0",
  "a=ice-ufrag:aaaa",
  "a=setup:actpass",
  "a=mid:1",
  "a=sctp-port:5000",
);

export const answer = lines(
  "v=0",
  "o=- 9000 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "a=group:BUNDLE 0 1",
  "a=fingerprint:sha-256 CC:DD",
  "m=video 9 UDP/TLS/RTP/SAVPF 96",
  "c=IN IP4 0.0.0.0",
  "a=ice-ufrag:bbbb",
  "a=setup:active",
  "a=mid:0",
  "a=recvonly",
  "a=rtcp-mux",
  "a=rtpmap:96 VP8/90000",
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "c=IN IP4 0.0.0.0",
  "a=ice-ufrag:bbbb",
  "a=setup:active",
  "a=mid:1",
  "a=sctp-port:5000",
);
