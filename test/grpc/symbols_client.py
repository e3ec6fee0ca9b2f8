"""Asks reflection for files, symbols and extensions, on one stream, and prints what it answers."""
import json
import sys

from google.protobuf import descriptor_pb2
from reflected import Reflected

address, version, asked = sys.argv[1:]
server = Reflected(address, version)
answers = []
requests = [server.request(**one) for one in json.loads(asked)]
for answer in server.info(iter(requests), timeout=10):
    if answer.HasField("files"):
        names = [descriptor_pb2.FileDescriptorProto.FromString(data).name for data in answer.files.file_descriptor_proto]
        answers.append(names)
    elif answer.HasField("numbers"):
        answers.append({answer.numbers.base_type_name: list(answer.numbers.extension_number)})
    else:
        answers.append(answer.error.error_code)
# What was sent can be put together again: each type with its fields, and the extensions of one.
types = {
    name: [field.name for field in server.type(name).DESCRIPTOR.fields] for name in ("my.test.M", "my.test.M.Inner", "my.test.Opt", "my.test.sub.Base")
}
extended = server.type("my.test.Opt").DESCRIPTOR
extensions = sorted(extension.full_name for extension in server.pool.FindAllExtensions(extended))
print(json.dumps({"answers": answers, "types": types, "extensions": extensions}))
