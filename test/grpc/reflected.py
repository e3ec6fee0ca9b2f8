"""What a client knows of a server by reflection alone."""
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

STRING, INT32, BYTES, MESSAGE = 9, 5, 12, 11


def reflection_types():
    """The few fields of the reflection protocol that are used here."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection_of_the_client.proto", package="client", syntax="proto3")

    def message(name, *fields):
        made = file.message_type.add(name=name)
        for number, field, kind, repeated, type_name in fields:
            made.field.add(name=field, number=number, type=kind, label=3 if repeated else 1, type_name=type_name or None)

    message("Extension", (1, "containing_type", STRING, False, ""), (2, "extension_number", INT32, False, ""))
    message(
        "Request",
        (3, "file_by_filename", STRING, False, ""),
        (4, "file_containing_symbol", STRING, False, ""),
        (5, "file_containing_extension", MESSAGE, False, ".client.Extension"),
        (6, "all_extension_numbers_of_type", STRING, False, ""),
        (7, "list_services", STRING, False, ""),
    )
    message("Files", (1, "file_descriptor_proto", BYTES, True, ""))
    message("Numbers", (1, "base_type_name", STRING, False, ""), (2, "extension_number", INT32, True, ""))
    message("Service", (1, "name", STRING, False, ""))
    message("Services", (1, "service", MESSAGE, True, ".client.Service"))
    message("Error", (1, "error_code", INT32, False, ""))
    message(
        "Response",
        (4, "files", MESSAGE, False, ".client.Files"),
        (5, "numbers", MESSAGE, False, ".client.Numbers"),
        (6, "services", MESSAGE, False, ".client.Services"),
        (7, "error", MESSAGE, False, ".client.Error"),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return [factory.GetPrototype(pool.FindMessageTypeByName(f"client.{name}")) for name in ("Request", "Response")]


class Reflected:
    """All services of an address, with their types."""

    def __init__(self, address, version="v1"):
        self.request, response = reflection_types()
        self.channel = grpc.insecure_channel(address)
        path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
        self.info = self.channel.stream_stream(path, self.request.SerializeToString, response.FromString)
        self.pool = descriptor_pool.DescriptorPool()
        self.files = {}
        self._added = set()
        self.services = sorted(service.name for service in self.reflect(list_services="*").services.service)
        for service in self.services:
            self._learn(file_containing_symbol=service)
        self._factory = message_factory.MessageFactory(self.pool)

    def reflect(self, **asked):
        return next(self.info(iter([self.request(**asked)]), timeout=10))

    def _learn(self, **asked):
        for data in self.reflect(**asked).files.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(data)
            self.files[file.name] = file
        for name in self.files:
            self._add(name)

    def _add(self, name):
        if name not in self._added:
            self._added.add(name)
            for imported in self.files[name].dependency:
                self._add(imported)
            self.pool.Add(self.files[name])

    def type(self, name):
        """The class of a message that is served, whether a service uses it or not."""
        self._learn(file_containing_symbol=name)
        return self._factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def method(self, path):
        """The function that calls a method, the class of its requests, and its pattern."""
        service, name = path.split("/")
        found = self.pool.FindServiceByName(service).FindMethodByName(name)
        request, response = self._factory.GetPrototype(found.input_type), self._factory.GetPrototype(found.output_type)
        proto = descriptor_pb2.MethodDescriptorProto()
        found.CopyToProto(proto)
        kind = ("stream" if proto.client_streaming else "unary") + "_" + ("stream" if proto.server_streaming else "unary")
        return getattr(self.channel, kind)(f"/{path}", request.SerializeToString, response.FromString), request, kind
