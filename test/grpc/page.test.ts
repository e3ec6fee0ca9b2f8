import { expect, it } from "vitest";
import type { GrpcViews } from "../../contract/services/grpc.ts";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { callMethod, openStream } from "./calls.ts";
import { startGrpc } from "./harness.ts";

it("[GRPC-70] calls, open calls and errors of each method are counted for the page", async () => {
  const service = await startGrpc();
  const client = service.client();
  const call = (path: string, metadata = {}) => callMethod(client, path, helloRequest, helloReply, [{ name: "x" }], { metadata });
  await call("/example.Greeter/SayHello");
  await call("/example.Greeter/SayHello", { "x-backlot-status": "ABORTED" });
  await call("/no.Such/Method");
  openStream(client, "/example.EchoService/EchoBidiStream");
  const calls = await until(() => {
    const view = service.views.get("calls") as GrpcViews["calls"] | undefined;
    return view?.methods.length === 3 && view;
  });
  expect(calls.methods).toEqual([
    { path: "/example.Greeter/SayHello", begun: 2, open: 0, errors: 1 },
    { path: "unknown", begun: 1, open: 0, errors: 1 },
    { path: "/example.EchoService/EchoBidiStream", begun: 1, open: 1, errors: 0 },
  ]);
}, 20_000);
