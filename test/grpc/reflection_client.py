"""A client that knows nothing of the server but its address: all types come by reflection."""
import json
import sys

import grpc
from reflected import Reflected

address, version = sys.argv[1:]
server = Reflected(address, version)


def method(path):
    call, request, _ = server.method(path)
    return call, request


say_hello, Hello = method("example.Greeter/SayHello")
stream_data, Data = method("example.Greeter/StreamData")
client_stream, Message = method("example.Greeter/ClientStream")
bidi_stream, _ = method("example.Greeter/BidirectionalStream")
check, Health = method("grpc.health.v1.Health/Check")
reply = say_hello(Hello(name="Py"), timeout=10)
try:
    say_hello(Hello(name="Py"), timeout=10, metadata=[("x-backlot-status", "UNAVAILABLE")])
    error = None
except grpc.RpcError as failed:
    error = [failed.code().name, failed.details()]

print(
    json.dumps(
        {
            "services": server.services,
            "unary": {"message": reply.message, "status": reply.status},
            "serverStream": [item.value for item in stream_data(Data(count=3, prefix="p"), timeout=10)],
            "clientStream": client_stream(iter([Message(message=text) for text in "abc"]), timeout=10).response,
            "bidiStream": [answer.response for answer in bidi_stream(iter([Message(message=text) for text in "ab"]), timeout=10)],
            "health": check(Health(), timeout=10).status,
            "error": error,
            "missing": server.reflect(file_containing_symbol="no.Such").error.error_code,
        }
    )
)
