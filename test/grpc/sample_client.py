"""Calls each method of a service, all types by reflection, and prints the replies as JSON."""
import json
import sys

from google.protobuf import json_format
from reflected import Reflected

address, service = sys.argv[1:]
server = Reflected(address)
replies = {}
for described in server.pool.FindServiceByName(service).methods:
    call, request, kind = server.method(f"{service}/{described.name}")
    asked = iter([request(), request()]) if kind.startswith("stream") else request()
    answered = call(asked, timeout=10)
    answers = list(answered) if kind.endswith("stream") else [answered]
    replies[described.name] = [json_format.MessageToDict(answer) for answer in answers]
print(json.dumps({"files": {name: list(file.dependency) for name, file in server.files.items()}, "replies": replies}))
