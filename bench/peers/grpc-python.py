"""The methods that are measured, by grpcio. python3 grpc-python.py FOLDER_OF_PROTO PORT"""

import datetime
import os
import subprocess
import sys
import tempfile
import time
from concurrent import futures

import grpc

folder, port = sys.argv[1:]
with tempfile.TemporaryDirectory() as generated:
    subprocess.run(["protoc", f"-I{folder}", f"--python_out={generated}", "example.proto"], check=True)
    sys.path.insert(0, generated)
    import example_pb2 as example


def now():
    return datetime.datetime.utcnow().isoformat(timespec="milliseconds") + "Z"


def answer(response, sequence):
    return example.ServerResponse(server_id="bench", response=response, received_sequence=sequence, timestamp=now())


def say_hello(request, context):
    return example.HelloReply(message=f"Hello, {request.name} from bench!", status=200)


def client_stream(requests, context):
    received = 0
    for _ in requests:
        received += 1
    return answer(f"Received {received} messages", received)


def bidirectional_stream(requests, context):
    for request in requests:
        yield answer(f"Echo: {request.message}", request.sequence)


def subscribe(request, context):
    """As fast as the client takes them, unless it asks for a pace."""
    position = 0
    while (request.count == 0 or position < request.count) and context.is_active():
        yield example.StreamItem(position=position, value=f"item-{position}", timestamp=now())
        position += 1
        if request.rate < 1:
            time.sleep(1 / request.rate)


def handler(make, handle, request, reply):
    return make(handle, request_deserializer=request.FromString, response_serializer=reply.SerializeToString)


unary, server_stream = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
client_messages, both = grpc.stream_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
# Each open call has a thread.
server = grpc.server(futures.ThreadPoolExecutor(max_workers=1_100))
server.add_generic_rpc_handlers(
    (
        grpc.method_handlers_generic_handler(
            "example.Greeter",
            {
                "SayHello": handler(unary, say_hello, example.HelloRequest, example.HelloReply),
                "ClientStream": handler(client_messages, client_stream, example.ClientMessage, example.ServerResponse),
                "BidirectionalStream": handler(both, bidirectional_stream, example.ClientMessage, example.ServerResponse),
            },
        ),
        grpc.method_handlers_generic_handler(
            "example.StreamService",
            {"Subscribe": handler(server_stream, subscribe, example.StreamRequest, example.StreamItem)},
        ),
    )
)
server.add_insecure_port(f"127.0.0.1:{port}")
server.start()
server.wait_for_termination()
