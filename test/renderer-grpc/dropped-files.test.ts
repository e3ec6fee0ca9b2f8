import { expect, it } from "vitest";
import { chosenFiles, type DroppedEntry, readDropped } from "../../renderer/src/services/grpc/protos/dropped-files.ts";
import { type ProtoPiece, sendProtos } from "../../renderer/src/services/grpc/protos/send-protos.ts";

interface Tree {
  readonly [name: string]: Tree | string;
}

/** As Chromium has it: a folder gives a few entries at a time, then none. */
function entry(name: string, content: Tree | string): DroppedEntry {
  if (typeof content === "string") {
    const file = (resolve: (file: File) => void) => resolve(new File([content], name));
    return { name, isDirectory: false, isFile: true, file } as unknown as DroppedEntry;
  }
  const createReader = () => {
    const left = Object.entries(content).map(([inner, of]) => entry(inner, of));
    return { readEntries: (resolve: (entries: DroppedEntry[]) => void) => resolve(left.splice(0, 2)) };
  };
  return { name, isDirectory: true, isFile: false, createReader } as unknown as DroppedEntry;
}
const entries = (tree: Tree) => Object.entries(tree).map(([name, content]) => entry(name, content));

it("[GRPC-115] of what is dropped the protocol files are read, with their folders; what has none is named", async () => {
  const { files, others } = await readDropped(
    entries({
      "a.proto": "a",
      "image.json": "{}",
      "notes.txt": "no",
      shop: {
        "item.PROTO": "b",
        "package.json": "{}",
        "set.binpb": "c",
        v1: { deep: { "x.proto": "d" } },
        ".git": { "y.proto": "e" },
        node_modules: { m: { "z.proto": "f" } },
      },
      pictures: { "a.png": "g" },
    }),
  );
  expect(files.map(({ name }) => name)).toEqual(["a.proto", "image.json", "shop/item.PROTO", "shop/set.binpb", "shop/v1/deep/x.proto"]);
  expect(others).toEqual(["notes.txt", "pictures"]);
});

it("[GRPC-115] a file that cannot be read is a failure, and nothing is sent", async () => {
  const broken = {
    name: "a.proto",
    isDirectory: false,
    file: (_: unknown, reject: (error: unknown) => void) => reject(new DOMException("gone", "NotFoundError")),
  } as unknown as DroppedEntry;
  await expect(readDropped([broken])).rejects.toThrow("gone");
});

const chosen = (path: string) =>
  Object.defineProperty(new File(["x"], path.split("/").at(-1) ?? ""), "webkitRelativePath", { value: path });

it("[GRPC-115] of a chosen folder the same is taken as of a dropped one", () => {
  const { files, others } = chosenFiles([
    ...["shop/a.proto", "shop/package.json", "shop/.git/b.proto", "shop/node_modules/m/c.proto", "empty/readme.md"].map(chosen),
    new File(["x"], "single.pb"),
  ]);
  expect(files.map(({ name }) => name)).toEqual(["shop/a.proto", "single.pb"]);
  expect(others).toEqual(["empty"]);
});

it("[GRPC-115] files are sent in pieces that fit a frame, small ones together, an empty one too", async () => {
  const contents: Readonly<Record<string, string>> = {
    "big.binpb": "0123456789".repeat(100_000),
    "empty.proto": "",
    ...Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`many/${index}.proto`, `file ${index}`])),
  };
  const received: Record<string, string> = {};
  const frames: (readonly ProtoPiece[])[] = [];
  const progress: number[] = [];
  const receiver = {
    begin: async () => ({ upload: 7 }),
    async put(upload: number, pieces: readonly ProtoPiece[]) {
      expect(upload).toBe(7);
      frames.push(pieces);
      for (const { name, base64 } of pieces) received[name] = (received[name] ?? "") + Buffer.from(base64, "base64").toString();
    },
    end: async () => ({ sources: ["dropped x"], problems: [] }),
    cancel: async () => null,
  };
  const files = Object.entries(contents).map(([name, content]) => ({ name, file: new File([content], name) }));
  const { signal } = new AbortController();
  expect(await sendProtos(receiver, files, signal, (bytes) => progress.push(bytes))).toEqual({ sources: ["dropped x"], problems: [] });
  expect(received).toEqual(contents);
  for (const pieces of frames) {
    expect(JSON.stringify(pieces).length).toBeLessThan(1 << 20);
    expect(pieces.length).toBeLessThanOrEqual(2_000);
  }
  expect(frames.length).toBeLessThan(8);
  expect(progress.at(-1)).toBe(Object.values(contents).reduce((sum, { length }) => sum + length, 0));
});

it("[GRPC-154] an upload that is cancelled is ended at once, and the service is told", async () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const receiver = {
    begin: async () => ({ upload: 7 }),
    async put() {
      calls.push("put");
      controller.abort();
    },
    async end() {
      calls.push("end");
      return { sources: [], problems: [] };
    },
    cancel: async (upload: number) => void calls.push(`cancel ${upload}`),
  };
  const file = { name: "big.binpb", file: new File(["0123456789".repeat(200_000)], "big.binpb") };
  expect(await sendProtos(receiver, [file], controller.signal, () => {})).toBeUndefined();
  expect(calls).toEqual(["put", "cancel 7"]);
});
