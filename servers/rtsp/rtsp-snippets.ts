import type { Endpoint, Snippet } from "../../contract/service.ts";

/** Commands to copy for the address where the service listens. */
export function rtspSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "rtsp://127.0.0.1:8554/stream";
  const server = url.replace(/\/stream$/, "");
  const rtmp = endpoints.find((endpoint) => endpoint.url.startsWith("rtmp:"))?.url;
  return [
    { label: "ffplay", language: "shell", text: `ffplay -rtsp_transport tcp -fflags nobuffer ${url}` },
    { label: "ffprobe", language: "shell", text: `ffprobe -rtsp_transport udp ${url}` },
    {
      label: "GStreamer",
      language: "shell",
      text: `gst-launch-1.0 rtspsrc location=${url} latency=100 ! rtph264depay ! avdec_h264 ! videoconvert ! autovideosink`,
    },
    { label: "VLC", language: "shell", text: `vlc --rtsp-tcp ${url}` },
    {
      label: "ffmpeg, publish",
      language: "shell",
      text: `ffmpeg -re -stream_loop -1 -i clip.mp4 -c copy -f rtsp -rtsp_transport tcp ${server}/mine`,
    },
    {
      label: "GStreamer, publish",
      language: "shell",
      text: `gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency key-int-max=25 ! rtspclientsink protocols=tcp location=${server}/mine`,
    },
    ...(rtmp === undefined
      ? []
      : [
          {
            label: "ffmpeg, publish by RTMP",
            language: "shell" as const,
            text: `ffmpeg -re -stream_loop -1 -i clip.mp4 -c copy -f flv ${rtmp}/mine`,
          },
        ]),
    {
      label: "OpenCV",
      language: "python",
      text: `import cv2

capture = cv2.VideoCapture("${url}", cv2.CAP_FFMPEG)
while capture.isOpened():
    read, picture = capture.read()
    if not read:
        break
    cv2.imshow("stream", picture)
    if cv2.waitKey(1) == 27:
        break`,
    },
  ];
}
