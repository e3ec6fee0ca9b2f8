/** Protocol files of a user, and what the service makes of them. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { GrpcProtosAdded, GrpcViews } from "../../contract/services/grpc.ts";
import { flatMessage } from "../../servers/grpc/engine/message-type.ts";
import { callMethod } from "./calls.ts";
import type { GrpcUnderTest } from "./harness.ts";

export const empty = flatMessage("shop.Empty", {});
export const named = flatMessage("shop.Named", { name: [1, "string"] });

/** Writes files, with their folders; the folder. */
export function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  return folder;
}

export const shop = {
  "shop/item.proto": 'syntax = "proto3"; package shop; message Item { string sku = 1; int32 count = 2; }',
  "shop/orders.proto": `syntax = "proto3"; package shop; import "shop/item.proto"; import "google/protobuf/timestamp.proto";
    message Order { string name = 1; repeated Item items = 2; google.protobuf.Timestamp made_at = 3; }
    message Empty {}
    service Orders {
      rpc Get(Empty) returns (Order); rpc Watch(Empty) returns (stream Order);
      rpc Put(stream Order) returns (Item); rpc Talk(stream Order) returns (stream Item);
    }`,
};
export const serviceProto = (name: string, more = "") =>
  `syntax = "proto3"; package shop; message ${name}Reply { string name = 1; ${more} } service ${name} { rpc Get(${name}Reply) returns (${name}Reply); }`;

export const servicesOf = ({ views }: GrpcUnderTest) =>
  (views.get("services")?.services ?? []).map(({ name }) => name).filter((name) => !/^(?:example|grpc)\./.test(name));
export const protosOf = ({ views }: GrpcUnderTest) => views.get("protos") as GrpcViews["protos"];
export const get = (of: GrpcUnderTest, name: string) => callMethod(of.client(), `/shop.${name}/Get`, empty, named, [{}]);

/** Views come at most ten times a second. */
export const polled = (read: () => unknown): ReturnType<typeof expect.poll> => expect.poll(read);

export async function drop(to: GrpcUnderTest, files: Readonly<Record<string, string | Uint8Array>>): Promise<GrpcProtosAdded> {
  const { upload } = await to.act("protos.begin");
  const pieces = Object.entries(files).map(([name, content]) => ({ name, base64: Buffer.from(content as string).toString("base64") }));
  await to.act("protos.put", { upload, pieces });
  return to.act("protos.end", { upload });
}
