"""A client that knows nothing of the server but its address: all types come by reflection."""
import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

address, version = sys.argv[1:]
STRING, INT32, BYTES, MESSAGE = 9, 5, 12, 11


def reflection_types():
    """The few fields of the reflection protocol that are used here."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection_of_the_client.proto", package="client", syntax="proto3")

    def message(name, *fields):
        made = file.message_type.add(name=name)
        for number, field, kind, repeated, type_name in fields:
            made.field.add(name=field, number=number, type=kind, label=3 if repeated else 1, type_name=type_name or None)

    message("Request", (3, "file_by_filename", STRING, False, ""), (4, "file_containing_symbol", STRING, False, ""), (7, "list_services", STRING, False, ""))
    message("Files", (1, "file_descriptor_proto", BYTES, True, ""))
    message("Service", (1, "name", STRING, False, ""))
    message("Services", (1, "service", MESSAGE, True, ".client.Service"))
    message("Error", (1, "error_code", INT32, False, ""))
    message(
        "Response",
        (4, "files", MESSAGE, False, ".client.Files"),
        (6, "services", MESSAGE, False, ".client.Services"),
        (7, "error", MESSAGE, False, ".client.Error"),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return [factory.GetPrototype(pool.FindMessageTypeByName(f"client.{name}")) for name in ("Request", "Response")]


Request, Response = reflection_types()
channel = grpc.insecure_channel(address)
info = channel.stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo", Request.SerializeToString, Response.FromString)


def reflect(**asked):
    return next(info(iter([Request(**asked)]), timeout=10))


pool = descriptor_pool.DescriptorPool()
known = set()
services = sorted(service.name for service in reflect(list_services="*").services.service)
for service in services:
    for data in reflect(file_containing_symbol=service).files.file_descriptor_proto:
        file = descriptor_pb2.FileDescriptorProto.FromString(data)
        if file.name not in known:
            known.add(file.name)
            pool.AddSerializedFile(data)

factory = message_factory.MessageFactory(pool)


def method(path):
    service, name = path.split("/")
    found = pool.FindServiceByName(service).FindMethodByName(name)
    request, response = factory.GetPrototype(found.input_type), factory.GetPrototype(found.output_type)
    proto = descriptor_pb2.MethodDescriptorProto()
    found.CopyToProto(proto)
    kind = ("stream" if proto.client_streaming else "unary") + "_" + ("stream" if proto.server_streaming else "unary")
    return getattr(channel, kind)(f"/{path}", request.SerializeToString, response.FromString), request


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
            "services": services,
            "unary": {"message": reply.message, "status": reply.status},
            "serverStream": [item.value for item in stream_data(Data(count=3, prefix="p"), timeout=10)],
            "clientStream": client_stream(iter([Message(message=text) for text in "abc"]), timeout=10).response,
            "bidiStream": [answer.response for answer in bidi_stream(iter([Message(message=text) for text in "ab"]), timeout=10)],
            "health": check(Health(), timeout=10).status,
            "error": error,
            "missing": reflect(file_containing_symbol="no.Such").error.error_code,
        }
    )
)
