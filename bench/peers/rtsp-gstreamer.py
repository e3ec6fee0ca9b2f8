#!/usr/bin/python3
"""gst-rtsp-server with one shared media for all clients: rtsp-gstreamer.py FILE.mp4 PORT"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

file, port = sys.argv[1:]
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(port)
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    f"( filesrc location={file} ! qtdemux name=d "
    "d. ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 "
    "d. ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/stream", factory)
server.attach(None)
GLib.MainLoop().run()
