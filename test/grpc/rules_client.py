"""Drives reply rules: makes calls one after the other, all types by reflection, and prints how each was answered."""
import json
import sys
import threading

import grpc
from google.protobuf import any_pb2, json_format
from reflected import Reflected

address, asked = sys.argv[1:]
server = Reflected(address)
Status = server.type("google.rpc.Status")


def details_of(error):
    packed = dict(error.trailing_metadata()).get("grpc-status-details-bin")
    if packed is None:
        return []
    details = []
    for detail in Status.FromString(packed).details:
        name = detail.type_url.split("/")[-1]
        content = server.type(name).FromString(detail.value)
        details.append([name, json_format.MessageToDict(content)])
    return details


def call(path, requests, metadata=(), others=()):
    method, request, kind = server.method(path)
    messages = [json_format.ParseDict(one, request()) for one in requests]
    answers = []
    try:
        given = iter(messages) if kind.startswith("stream") else messages[0]
        answered = method(given, timeout=20, metadata=metadata)
        for answer in answered if kind.endswith("stream") else [answered]:
            answers.append(json_format.MessageToDict(answer))
            # Made from another connection once the first message is there.
            if others and len(answers) == 1:
                threading.Thread(target=lambda: [call(*other) for other in others]).start()
        return {"answers": answers}
    except grpc.RpcError as error:
        status = {"code": error.code().name, "message": error.details(), "details": details_of(error)}
        trailers = {name: value for name, value in error.trailing_metadata() if not name.endswith("-bin")}
        return {"answers": answers, **status, "trailers": trailers}


print(json.dumps([call(**one) for one in json.loads(asked)]))
